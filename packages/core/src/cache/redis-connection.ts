import type { CacheState } from '../ports/ports.ts';
import { redisClientFactory } from './redis-client.ts';

export interface RedisConnectionOptions {
  /** `redis://user:password@host:6379/0`, `rediss://…` for TLS. */
  readonly url: string;
  /** Milliseconds for each command. */
  readonly timeout: number;
  /** Milliseconds that `open` waits for the first connection. Default: `timeout`. */
  readonly openTimeout?: number;
  /** Runs after each connect. No other command is sent until it resolves. */
  readonly onConnect: (send: SendCommand) => Promise<void>;
  readonly report: (state: CacheState) => void;
}

/** A Lua script with the SHA-1 of its text, in hexadecimal. */
export interface RedisScript {
  readonly text: string;
  readonly sha1: string;
}

/** @throws Error also when the server is unreachable or too slow */
export type SendCommand = (command: readonly (string | Buffer)[]) => Promise<unknown>;

/** The methods of `@redis/client` in use. */
interface Client {
  readonly isReady: boolean;
  connect(): Promise<unknown>;
  destroy(): void;
  on(event: 'ready' | 'error' | 'end', listener: (error: Error) => void): unknown;
  sendCommand(command: readonly (string | Buffer)[], options?: object): Promise<unknown>;
}

/** Milliseconds between two `PING`s to a server that does not respond. */
const probeInterval = 1_000;
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
  #client: Client | null = null;
  #available = false;
  #closed = false;
  #connecting = false;
  #probeTimer: NodeJS.Timeout | null = null;
  #reportedAt = Number.NEGATIVE_INFINITY;
  #reported = false;

  constructor(options: RedisConnectionOptions) {
    this.#options = options;
  }

  /**
   * Waits for the first connection for a limited time. Later attempts continue in the background.
   * @throws Error for a missing package or an invalid address
   */
  async open(): Promise<void> {
    const createClient = await redisClientFactory(this.#options.url, { commandsQueueMaxLength: 100_000 });
    const client = createClient() as unknown as Client;
    this.#client = client;
    let settle!: () => void;
    const settled = new Promise<void>((resolve) => (settle = resolve));
    client.on('ready', () => void this.#connected().then(settle));
    client.on('error', (error) => {
      this.#failed(error);
      settle();
    });
    client.connect().catch((error: unknown) => {
      this.#failed(toError(error));
      settle();
    });
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
    try {
      this.#client?.destroy();
    } catch {
      // `destroy` throws for a client that was never connected.
    }
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
      if (this.#available && this.#reported) this.#options.report({ unavailable: null });
      this.#reported = false;
      this.#stopProbing();
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
    if (this.#reported || performance.now() - this.#reportedAt < reportInterval) return;
    this.#reported = true;
    this.#reportedAt = performance.now();
    this.#options.report({ unavailable: error });
  }

  async #ping(): Promise<void> {
    if (this.#available) return this.#stopProbing();
    if (this.#client?.isReady !== true) return;
    const reply = await this.#send(['PING']).catch(() => null);
    if (reply !== null) await this.#connected();
  }

  #stopProbing(): void {
    if (this.#probeTimer !== null) clearInterval(this.#probeTimer);
    this.#probeTimer = null;
  }
}

function within<Result>(work: Promise<Result>, milliseconds: number): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      // A reply may have arrived while the event loop was busy. It is read before the immediate.
      setImmediate(() => reject(new Error(`Redis did not respond within ${milliseconds} ms`)));
    }, milliseconds).unref();
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
