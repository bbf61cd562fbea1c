import {
  connectTimeout,
  destroyClient,
  type LibraryClient,
  prepareConnect,
  type RedisClientLimits,
  within,
} from './connect.ts';
import { toError } from '@pgway/core/internal';

/** Milliseconds before the first attempt to reconnect; doubled with each failure, up to the maximum. */
const firstReconnectDelay = 50;
const maxReconnectDelay = 1_000;
/** Milliseconds between two heartbeats, and the maximum time of their replies. */
const heartbeatInterval = 1_000;
const heartbeatTimeout = 3_000;

/** The callbacks of a client to its owner. */
export interface RedisClientEvents {
  /** After each connect, when the subscription has taken effect. Until it returns, the owner has sent no command. */
  ready(): void;
  /** After each loss and each failed attempt to connect. */
  lost(error: Error): void;
}

/** A subscription that each connection begins again. */
export interface RedisSubscription {
  readonly channel: string;
  readonly listener: (text: string) => void;
}

/**
 * A client of Redis or Valkey that reconnects automatically. Without a connection a command fails at once instead of being queued, and no
 * command is repeated. With Sentinel, each attempt to connect asks for the current primary.
 */
export class RedisClient {
  readonly #open: () => Promise<LibraryClient>;
  readonly #events: RedisClientEvents;
  readonly #subscription: RedisSubscription | null;
  #client: LibraryClient | null = null;
  #failures = 0;
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(
    open: () => Promise<LibraryClient>,
    events: RedisClientEvents,
    subscription: RedisSubscription | null = null,
  ) {
    this.#open = open;
    this.#events = events;
    this.#subscription = subscription;
  }

  get isReady(): boolean {
    return this.#client !== null;
  }

  /** Connects, and tries again after each failure. Resolves after the first attempt. */
  async connect(): Promise<void> {
    let client: LibraryClient | null = null;
    try {
      client = await this.#open();
      await this.#subscribe(client);
      if (this.#closed || !client.isReady) throw new Error('Redis has closed the connection');
      this.#connected(client);
    } catch (error) {
      destroyClient(client);
      this.#reconnect(toError(error));
    }
  }

  /** @throws Error also without a connection, or when it is lost before the reply */
  async sendCommand(command: readonly (string | Buffer)[], options?: object): Promise<unknown> {
    const client = this.#client;
    if (client === null) throw new Error('Redis is not connected');
    try {
      return await client.sendCommand(command, options);
    } catch (error) {
      // The server has become a replica.
      if (toError(error).message.startsWith('READONLY')) this.#lose(client, toError(error));
      throw error;
    }
  }

  destroy(): void {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    destroyClient(this.#client);
    this.#client = null;
  }

  #connected(client: LibraryClient): void {
    this.#client = client;
    this.#failures = 0;
    client.on('error', (error: Error) => this.#lose(client, error));
    this.#schedule(heartbeatInterval, () => this.#sendHeartbeat(client));
    this.#events.ready();
  }

  async #subscribe(client: LibraryClient): Promise<void> {
    if (this.#subscription === null) return;
    const { channel, listener } = this.#subscription;
    await within(client.subscribe(channel, listener), connectTimeout);
  }

  /** A connection without replies may never report an error: its server may be paused, or behind a broken network. */
  async #sendHeartbeat(client: LibraryClient): Promise<void> {
    try {
      await within(client.sendCommand(['PING']), heartbeatTimeout);
      if (client === this.#client) this.#schedule(heartbeatInterval, () => this.#sendHeartbeat(client));
    } catch (error) {
      this.#lose(client, toError(error));
    }
  }

  #lose(client: LibraryClient, error: Error): void {
    if (client !== this.#client) return;
    this.#client = null;
    destroyClient(client);
    this.#reconnect(error);
  }

  #reconnect(error: Error): void {
    if (this.#closed) return;
    const delay = Math.min(maxReconnectDelay, firstReconnectDelay * 2 ** Math.min(this.#failures++, 10));
    this.#schedule(delay, () => this.connect());
    this.#events.lost(error);
  }

  #schedule(delay: number, callback: () => Promise<void>): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (!this.#closed) this.#timer = setTimeout(() => void callback(), delay).unref();
  }
}

export type CreateRedisClient = (events: RedisClientEvents, subscription?: RedisSubscription) => RedisClient;

/**
 * Returns a factory of clients of Redis or Valkey.
 * @param url `redis://user:password@host:6379/0`, `rediss://…` for TLS, `redis-sentinel://…` for Sentinel
 * @throws TypeError for an invalid URL
 */
export async function redisClientFactory(url: string, limits: RedisClientLimits = {}): Promise<CreateRedisClient> {
  const open = await prepareConnect(url, limits);
  return (events, subscription) => new RedisClient(open, events, subscription);
}
