import type { CacheState } from '@pgway/core';
import { within } from './connect.ts';
import { toError } from '@pgway/core/internal';
import { type RedisClient, redisClientFactory } from './client.ts';

export interface RedisConnectionOptions {
  /** `redis://user:password@host:6379/0`, `rediss://…` for TLS, `redis-sentinel://host:26379,host:26379/name` for Sentinel. */
  readonly url: string;
  /** Milliseconds for each command. */
  readonly timeout: number;
  /** Milliseconds that `open` waits for the first connection. Default: `timeout`. */
  readonly openTimeout?: number;
  /** Runs after each connect. No other command is sent until it resolves. */
  readonly onConnect: (send: SendCommand) => Promise<void>;
  /** Runs after `onConnect`, as soon as `send` works: for work that was added while `onConnect` ran. */
  readonly onAvailable?: () => void;
  readonly report: (state: CacheState) => void;
}

/** A Lua script with the SHA-1 of its text, in hexadecimal. */
export interface RedisScript {
  readonly text: string;
  readonly sha1: string;
}

/** @throws Error also when the server is unreachable or too slow */
export type SendCommand = (command: readonly (string | Buffer)[]) => Promise<unknown>;

/** Milliseconds between two `PING`s to a server that does not respond. */
const probeInterval = 1_000;
const maxPendingCommands = 100_000;
/** Minimum milliseconds between two reports of an unavailable server. */
const reportInterval = 10_000;
/** Replies of the type `$` (36), bulk strings, are read as bytes. */
const asBytes = { typeMapping: { 36: Buffer } };

/**
 * A connection to Redis or Valkey that reconnects automatically. Commands never wait for it. A server that does not respond counts as
 * unavailable until it does.
 */
export class RedisConnection {
  readonly #options: RedisConnectionOptions;
  #client: RedisClient | null = null;
  #available = false;
  #closed = false;
  #connecting = false;
  #probeTimer: NodeJS.Timeout | null = null;
  #reportedAt = Number.NEGATIVE_INFINITY;
  /** The reason that was last reported; null: the server is available. */
  #reportedReason: string | null = null;

  constructor(options: RedisConnectionOptions) {
    this.#options = options;
  }

  /**
   * Waits for the first connection for a limited time. Later attempts continue in the background.
   * @throws Error for a missing package or an invalid address
   */
  async open(): Promise<void> {
    const createClient = await redisClientFactory(this.#options.url, { maxPendingCommands });
    let settle!: () => void;
    const settled = new Promise<void>((resolve) => (settle = resolve));
    this.#client = createClient({
      ready: () => void this.#connected().then(settle),
      lost: (error) => {
        this.#failed(error);
        settle();
      },
    });
    void this.#client.connect();
    await within(settled, this.#options.openTimeout ?? this.#options.timeout).catch((error: unknown) =>
      this.#failed(toError(error)),
    );
  }

  /** Returns null while the server is unavailable. */
  send(command: readonly (string | Buffer)[]): Promise<{ readonly reply: unknown } | null> {
    return this.#attempt(() => this.#send(command));
  }

  /** Runs a Lua script, by its hash unless the server does not know it yet. Returns null while the server is unavailable. */
  evaluate(
    { sha1, text }: RedisScript,
    keys: readonly string[],
    values: readonly string[],
  ): Promise<{ readonly reply: unknown } | null> {
    const rest = [String(keys.length), ...keys, ...values];
    return this.#attempt(async () => {
      try {
        return await this.#send(['EVALSHA', sha1, ...rest]);
      } catch (error) {
        if (!toError(error).message.startsWith('NOSCRIPT')) throw error;
        return this.#send(['EVAL', text, ...rest]);
      }
    });
  }

  close(): void {
    this.#closed = true;
    this.#available = false;
    if (this.#probeTimer !== null) clearInterval(this.#probeTimer);
    this.#client?.destroy();
  }

  async #attempt(work: () => Promise<unknown>): Promise<{ readonly reply: unknown } | null> {
    if (!this.#available) return null;
    try {
      return { reply: await work() };
    } catch (error) {
      this.#failed(toError(error));
      return null;
    }
  }

  #send(command: readonly (string | Buffer)[]): Promise<unknown> {
    return within(this.#client!.sendCommand(command, asBytes), this.#options.timeout);
  }

  async #connected(): Promise<void> {
    if (this.#available || this.#closed || this.#connecting) return;
    this.#connecting = true;
    try {
      await this.#options.onConnect((command) => this.#send(command));
      this.#available = !this.#closed;
      if (this.#available && this.#reportedReason !== null) this.#options.report({ unavailable: null });
      this.#reportedReason = null;
      this.#stopProbing();
      if (this.#available) this.#options.onAvailable?.();
    } catch (error) {
      this.#failed(toError(error));
    } finally {
      this.#connecting = false;
    }
  }

  #failed(error: Error): void {
    if (this.#closed) return;
    this.#available = false;
    // The client reconnects automatically. Only a probe notices the end of a hang.
    this.#probeTimer ??= setInterval(() => void this.#ping(), probeInterval).unref();
    // The first reason may be a timeout, and the next one say more.
    if (error.message === this.#reportedReason || performance.now() - this.#reportedAt < reportInterval) return;
    this.#reportedReason = error.message;
    this.#reportedAt = performance.now();
    this.#options.report({ unavailable: error });
  }

  async #ping(): Promise<void> {
    if (this.#available) return this.#stopProbing();
    if (this.#client?.isReady !== true) return;
    try {
      await this.#send(['PING']);
    } catch (error) {
      this.#failed(toError(error));
      return;
    }
    await this.#connected();
  }

  #stopProbing(): void {
    if (this.#probeTimer !== null) clearInterval(this.#probeTimer);
    this.#probeTimer = null;
  }
}
