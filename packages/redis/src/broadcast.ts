import type { Broadcast, BroadcastEvent } from '@pgway/core';
import {
  describeFaults,
  MessageChunker,
  probeTopic,
  type Resolved,
  TopicListeners,
  withDefaults,
  toError,
} from '@pgway/core/internal';
import { type RedisClient, redisClientFactory } from './client.ts';
import { type RedisBroadcastOptions, redisBroadcastOptions } from './options.ts';

/** Redis has no such limit; larger messages are split. */
const maxPayloadBytes = 1024 * 1024;
/** Unacknowledged PUBLISH commands. Further messages are dropped. */
const maxInFlight = 10_000;
/** Milliseconds that `open` waits for the subscription. */
const subscribeTimeout = 2_000;

/**
 * Creates a broadcast that carries the messages of several gateways by PUBLISH and SUBSCRIBE of Redis or Valkey. It starts without the server, and connects when it
 * is available.
 * @throws RangeError with one line for each invalid option
 */
export function redisBroadcast(options: RedisBroadcastOptions): Broadcast {
  const faults = redisBroadcastOptions.validate(options, []);
  if (faults.length > 0) throw new RangeError(`redisBroadcast: ${describeFaults(faults)}`);
  return new RedisBroadcast(withDefaults(redisBroadcastOptions, options));
}

/** What `open` has made. */
interface Connections {
  readonly publisher: RedisClient;
  readonly subscriber: RedisClient;
  readonly report: (error: Error | null) => void;
}

class RedisBroadcast implements Broadcast {
  readonly #url: string;
  readonly #channel: string;
  readonly #chunker = new MessageChunker(maxPayloadBytes);
  readonly #listeners = new TopicListeners();
  #connections: Connections | null = null;
  #error: Error | null = null;
  #inFlight = 0;
  /** From then on, each new subscription follows a gap. */
  #opened = false;
  #closed = false;

  constructor({ url, channel }: Resolved<RedisBroadcastOptions>) {
    this.#url = url;
    this.#channel = channel;
  }

  /** Resolves when the subscription has taken effect, or after the first attempt, or after the timeout. */
  async open(report: (error: Error | null) => void): Promise<void> {
    const createClient = await redisClientFactory(this.#url);
    const lost = (error: Error): void => this.#setHealth(error);
    const publisher = createClient({ ready: () => this.#checkReady(), lost });
    const subscriber = createClient(
      { ready: () => this.#subscribed(), lost },
      {
        channel: this.#channel,
        listener: (text) => {
          for (const received of this.#chunker.receive(text)) this.#listeners.notify(received);
        },
      },
    );
    this.#connections = { publisher, subscriber, report };
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, subscribeTimeout)));
    await Promise.race([Promise.all([publisher.connect(), subscriber.connect()]), timeout]);
    clearTimeout(timer);
    this.#opened = true;
  }

  publish(topic: string, payload: string): void {
    const chunks = this.#chunker.split(topic, payload);
    if (this.#closed || this.#connections === null || chunks === null || this.#inFlight + chunks.length > maxInFlight)
      return;
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
    this.#connections?.publisher.destroy();
    this.#connections?.subscriber.destroy();
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
    if (this.#connections?.publisher.isReady !== true || !this.#connections.subscriber.isReady) return;
    const recovered = this.#error !== null;
    this.#setHealth(null);
    // By the number of this message, receivers notice that messages were lost.
    if (recovered) this.publish(probeTopic, '');
  }

  async #send(chunk: string): Promise<void> {
    this.#inFlight++;
    try {
      await this.#connections!.publisher.sendCommand(['PUBLISH', this.#channel, chunk]);
    } catch (error) {
      this.#setHealth(toError(error));
    }
    this.#inFlight--;
  }

  #setHealth(error: Error | null): void {
    if (this.#closed) return;
    const changed = (error === null) !== (this.#error === null);
    this.#error = error;
    if (changed) this.#connections!.report(error);
  }
}
