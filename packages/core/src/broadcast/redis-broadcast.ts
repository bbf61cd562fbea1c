import type { Broadcast, BroadcastEvent } from '../ports/ports.ts';
import { type RedisClient, redisClientFactory } from '../cache/redis-client.ts';
import { MessageChunker, probeTopic } from './message-chunker.ts';
import { TopicListeners } from './topic-listeners.ts';

export interface RedisBroadcastOptions {
  /** `redis://user:password@host:6379`, `rediss://…` with TLS. */
  readonly url: string;
  readonly channel: string;
  /** Called once per change, with null when both connections work again. */
  readonly onHealthChange: (error: Error | null) => void;
}

/** Redis has no such limit; larger messages are split. */
const maxPayloadBytes = 1024 * 1024;
/** Unacknowledged PUBLISH commands. Further messages are dropped. */
const maxInFlight = 10_000;
/** Milliseconds that `open` waits for the subscription. */
const subscribeTimeout = 2_000;

/**
 * Carries messages by PUBLISH and SUBSCRIBE of Redis or Valkey. Starts without the server, and connects when it is available.
 * @throws Error when `@redis/client` is not installed
 * @throws TypeError for an invalid URL
 */
export async function redisBroadcast(options: RedisBroadcastOptions): Promise<Broadcast> {
  const createClient = await redisClientFactory(options.url, { pingInterval: 5_000 });
  const broadcast = new RedisBroadcast(options, createClient);
  await broadcast.open();
  return broadcast;
}

class RedisBroadcast implements Broadcast {
  readonly #options: RedisBroadcastOptions;
  readonly #chunker = new MessageChunker(maxPayloadBytes);
  readonly #listeners = new TopicListeners();
  readonly #publisher: RedisClient;
  readonly #subscriber: RedisClient;
  #error: Error | null = null;
  #inFlight = 0;
  /** From then on, each new subscription follows a gap. */
  #opened = false;
  #subscribed = false;
  #closed = false;

  constructor(options: RedisBroadcastOptions, createClient: () => RedisClient) {
    this.#options = options;
    this.#publisher = createClient();
    this.#subscriber = createClient();
    for (const client of [this.#publisher, this.#subscriber]) {
      client.on('error', (error: Error) => this.#setHealth(error));
      client.on('ready', () => this.#checkReady());
    }
    this.#subscriber.on('ready', () => this.#resubscribed());
    this.#subscriber.on('end', () => (this.#subscribed = false));
    this.#subscriber.on('reconnecting', () => (this.#subscribed = false));
  }

  /** Resolves when the subscription has taken effect, or after the timeout. */
  async open(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, subscribeTimeout)));
    await Promise.race([this.#connect(), timeout]);
    clearTimeout(timer);
    this.#opened = true;
  }

  publish(topic: string, payload: string): void {
    const chunks = this.#chunker.split(topic, payload);
    if (this.#closed || chunks === null || this.#inFlight + chunks.length > maxInFlight) return;
    for (const chunk of chunks) void this.#send(chunk);
  }

  subscribe(topic: string, listener: (event: BroadcastEvent) => void): () => void {
    return this.#listeners.subscribe(topic, listener);
  }

  health(): string | null {
    return this.#error?.message ?? null;
  }

  close(): Promise<void> {
    this.#closed = true;
    for (const client of [this.#publisher, this.#subscriber]) if (client.isOpen) client.destroy();
    return Promise.resolve();
  }

  async #connect(): Promise<void> {
    const { channel } = this.#options;
    try {
      await Promise.all([this.#publisher.connect(), this.#subscriber.connect()]);
      await this.#subscriber.subscribe(channel, (text) => {
        for (const received of this.#chunker.receive(text)) this.#listeners.notify(received);
      });
      this.#subscribed = true;
      if (this.#opened) this.#notifyGap();
      this.#checkReady();
    } catch (error) {
      if (!this.#closed) this.#setHealth(error as Error);
    }
  }

  /** The Redis client subscribes again after a reconnect. */
  #resubscribed(): void {
    if (this.#subscriber.isPubSubActive !== true || !this.#opened) return;
    this.#subscribed = true;
    this.#notifyGap();
    this.#checkReady();
  }

  #notifyGap(): void {
    this.#chunker.reset();
    this.#listeners.notifyGap();
  }

  #checkReady(): void {
    if (!this.#publisher.isReady || !this.#subscriber.isReady || !this.#subscribed) return;
    const recovered = this.#error !== null;
    this.#setHealth(null);
    // By the number of this message, receivers notice that messages were lost.
    if (recovered) this.publish(probeTopic, '');
  }

  async #send(chunk: string): Promise<void> {
    this.#inFlight++;
    try {
      await this.#publisher.publish(this.#options.channel, chunk);
    } catch (error) {
      this.#setHealth(error instanceof Error ? error : new Error(String(error)));
    }
    this.#inFlight--;
  }

  #setHealth(error: Error | null): void {
    if (this.#closed) return;
    const changed = (error === null) !== (this.#error === null);
    this.#error = error;
    if (changed) this.#options.onHealthChange(error);
  }
}
