import type { CacheState } from '../ports/ports.ts';
import { redisClientFactory } from './redis-client.ts';

export interface RedisConnectionOptions {
  /** `redis://user:password@host:6379/0`, `rediss://…` for TLS. */
  readonly url: string;
  /** Milliseconds that a command may take. */
  readonly timeout: number;
  /** Told whenever commands can be sent again, before anybody else may send one. */
  readonly returned: (send: SendCommand) => Promise<void>;
  readonly report: (state: CacheState) => void;
}

/** @throws Error, also when the server is away or too slow */
export type SendCommand = (command: readonly (string | Buffer)[]) => Promise<unknown>;

/** The part of `@redis/client` that is used. */
interface Client {
  readonly isReady: boolean;
  connect(): Promise<unknown>;
  destroy(): void;
  on(event: 'ready' | 'error' | 'end', listener: (error: Error) => void): unknown;
  sendCommand(command: readonly (string | Buffer)[], options?: object): Promise<unknown>;
}

const probeInterval = 1_000;
/** Milliseconds between two reports that the server is away, where it comes and goes. */
const quiet = 10_000;
/** `$` of the protocol: strings come as bytes. */
const asBytes = { typeMapping: { 36: Buffer } };

/**
 * A connection that is there or not, and never waited for: it is opened again by itself, and a server that hangs counts as one that
 * is away until it answers again.
 */
export class RedisConnection {
  readonly #options: RedisConnectionOptions;
  #client: Client | null = null;
  #up = false;
  #closed = false;
  #returning = false;
  #probe: NodeJS.Timeout | null = null;
  #reportedAt = Number.NEGATIVE_INFINITY;
  #reported = false;

  constructor(options: RedisConnectionOptions) {
    this.#options = options;
  }

  /** Whether it is of any use to send something. */
  get up(): boolean {
    return this.#up;
  }

  /**
   * Waits for the server for as long as a command may take, and goes on trying.
   * @throws Error when the package is missing or the address is none
   */
  async open(): Promise<void> {
    const create = await redisClientFactory(this.#options.url, { commandsQueueMaxLength: 100_000 });
    const client = create() as unknown as Client;
    this.#client = client;
    let answered!: () => void;
    const first = new Promise<void>((resolve) => (answered = resolve));
    client.on('ready', () => void this.#return().then(answered));
    client.on('error', (error) => {
      this.#lost(error);
      answered();
    });
    client.connect().catch((error: unknown) => {
      this.#lost(asError(error));
      answered();
    });
    await within(first, this.#options.timeout).catch((error: unknown) => this.#lost(asError(error)));
  }

  /** Null: the server is away. */
  async send(command: readonly (string | Buffer)[]): Promise<{ readonly reply: unknown } | null> {
    if (!this.#up) return null;
    try {
      return { reply: await this.#send(command) };
    } catch (error) {
      this.#lost(asError(error));
      return null;
    }
  }

  close(): void {
    this.#closed = true;
    this.#up = false;
    if (this.#probe !== null) clearInterval(this.#probe);
    try {
      this.#client?.destroy();
    } catch {
      // It was never open.
    }
  }

  #send(command: readonly (string | Buffer)[]): Promise<unknown> {
    return within(this.#client!.sendCommand(command, asBytes), this.#options.timeout);
  }

  async #return(): Promise<void> {
    if (this.#up || this.#closed || this.#returning) return;
    this.#returning = true;
    try {
      await this.#options.returned((command) => this.#send(command));
      this.#up = !this.#closed;
      if (this.#up && this.#reported) this.#options.report({ unavailable: null });
      this.#reported = false;
      this.#stopProbing();
    } catch (error) {
      this.#lost(asError(error));
    } finally {
      this.#returning = false;
    }
  }

  #lost(error: Error): void {
    if (this.#closed) return;
    this.#up = false;
    // A connection that is lost comes back by itself; one that hangs has to be asked.
    this.#probe ??= setInterval(() => void this.#ask(), probeInterval).unref();
    if (this.#reported || performance.now() - this.#reportedAt < quiet) return;
    this.#reported = true;
    this.#reportedAt = performance.now();
    this.#options.report({ unavailable: error });
  }

  async #ask(): Promise<void> {
    if (this.#up) return this.#stopProbing();
    if (this.#client?.isReady !== true) return;
    const answer = await this.#send(['PING']).catch(() => null);
    if (answer !== null) await this.#return();
  }

  #stopProbing(): void {
    if (this.#probe !== null) clearInterval(this.#probe);
    this.#probe = null;
  }
}

function within<Product>(work: Promise<Product>, milliseconds: number): Promise<Product> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`Redis did not answer within ${milliseconds} ms`)),
      milliseconds,
    ).unref();
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
