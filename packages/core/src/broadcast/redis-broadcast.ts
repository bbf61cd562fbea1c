import type { Broadcast, BroadcastEvent } from '../ports/ports.ts';
import { type CreateRedisClient, type RedisClient, redisClientFactory } from '../cache/redis-client.ts';
import { MessageChunker, probeTopic } from './message-chunker.ts';
import { TopicListeners } from './topic-listeners.ts';

export interface RedisBroadcastOptions {
  /** `redis://user:password@host:6379`, `rediss://…` for TLS, `redis-sentinel://host:26379,host:26379/name` for Sentinel. */
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
  const createClient = await redisClientFactory(options.url);
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
  #closed = false;

  constructor(options: RedisBroadcastOptions, createClient: CreateRedisClient) {
    this.#options = options;
    const lost = (error: Error): void => this.#setHealth(error);
    this.#publisher = createClient({ ready: () => this.#checkReady(), lost });
    this.#subscriber = createClient(
      { ready: () => this.#subscribed(), lost },
      {
        channel: options.channel,
        listener: (text) => {
          for (const received of this.#chunker.receive(text)) this.#listeners.notify(received);
        },
      },
    );
  }

  /** Resolves when the subscription has taken effect, or after the first attempt, or after the timeout. */
  async open(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, subscribeTimeout)));
    const connected = Promise.all([this.#publisher.connect(), this.#subscriber.connect()]);
    await Promise.race([connected, timeout]);
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
    for (const client of [this.#publisher, this.#subscriber]) client.destroy();
    return Promise.resolve();
  }

  #subscribed(): void {
    if (this.#opened) {
      this.#chunker.reset();
      this.#listeners.notifyGap();
    }
    this.#checkReady();
  }

  #checkReady(): void {
    if (!this.#publisher.isReady || !this.#subscriber.isReady) return;
    const recovered = this.#error !== null;
    this.#setHealth(null);
    // By the number of this message, receivers notice that messages were lost.
    if (recovered) this.publish(probeTopic, '');
  }

  async #send(chunk: string): Promise<void> {
    this.#inFlight++;
    try {
      await this.#publisher.sendCommand(['PUBLISH', this.#options.channel, chunk]);
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
