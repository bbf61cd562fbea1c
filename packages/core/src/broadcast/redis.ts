import type { Broadcast, BroadcastEvent } from '../ports/ports.ts';
import { type RedisClient, redisClientFactory } from '../cache/redis-client.ts';
import { Envelopes, probeTopic, Topics } from './chunked-message.ts';

export interface RedisBroadcastOptions {
  /** `redis://user:password@host:6379`, `rediss://…` with TLS. */
  readonly url: string;
  readonly channel: string;
  /** Something does not work, or everything does again (null). Told once for each change. */
  readonly report: (error: Error | null) => void;
}

/** A message travels in one piece; longer ones are cut all the same. */
const longestPayload = 1024 * 1024;
/** Messages on their way, past which the connection is too slow for them. */
const mostOnTheWay = 10_000;
/** How long the start waits until nothing is missed any more; milliseconds. */
const patience = 2_000;

/**
 * By PUBLISH and SUBSCRIBE of Redis or Valkey. Starts without them too, and goes on by itself when they come.
 * @throws Error when `@redis/client` is not installed
 * @throws TypeError for an address that is none
 */
export async function redisBroadcast(options: RedisBroadcastOptions): Promise<Broadcast> {
  // What cannot be carried now is lost: a queue would only delay what is meant to be live.
  const create = await redisClientFactory(options.url, { pingInterval: 5_000 });
  const broadcast = new RedisBroadcast(options, create);
  await broadcast.begin();
  return broadcast;
}

class RedisBroadcast implements Broadcast {
  readonly #options: RedisBroadcastOptions;
  readonly #envelopes = new Envelopes(longestPayload);
  readonly #topics = new Topics();
  readonly #publisher: RedisClient;
  readonly #subscriber: RedisClient;
  #problem: Error | null = null;
  #onTheWay = 0;
  /** From now on a new connection of the subscriber means that something was missed. */
  #begun = false;
  #listens = false;
  #closed = false;

  constructor(options: RedisBroadcastOptions, create: () => RedisClient) {
    this.#options = options;
    this.#publisher = create();
    this.#subscriber = create();
    for (const client of [this.#publisher, this.#subscriber]) {
      client.on('error', (error: Error) => this.#tell(error));
      client.on('ready', () => this.#ready());
    }
    this.#subscriber.on('ready', () => this.#heardAgain());
    this.#subscriber.on('end', () => (this.#listens = false));
    this.#subscriber.on('reconnecting', () => (this.#listens = false));
  }

  /** As soon as nothing is missed any more; after a while without that. */
  async begin(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, patience)));
    await Promise.race([this.#connect(), late]);
    clearTimeout(timer);
    this.#begun = true;
  }

  publish(topic: string, payload: string): void {
    const parts = this.#envelopes.pack(topic, payload);
    if (this.#closed || parts === null || this.#onTheWay + parts.length > mostOnTheWay) return;
    for (const part of parts) void this.#send(part);
  }

  subscribe(topic: string, hear: (heard: BroadcastEvent) => void): () => void {
    return this.#topics.subscribe(topic, hear);
  }

  health(): string | null {
    return this.#problem?.message ?? null;
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
        for (const opened of this.#envelopes.open(text)) this.#topics.tell(opened);
      });
      this.#listens = true;
      if (this.#begun) this.#gap();
      this.#ready();
    } catch (error) {
      if (!this.#closed) this.#tell(error as Error);
    }
  }

  /** It has subscribed again by itself. */
  #heardAgain(): void {
    if (this.#subscriber.isPubSubActive !== true || !this.#begun) return;
    this.#listens = true;
    this.#gap();
    this.#ready();
  }

  #gap(): void {
    this.#envelopes.forget();
    this.#topics.tellGap();
  }

  #ready(): void {
    if (!this.#publisher.isReady || !this.#subscriber.isReady || !this.#listens) return;
    const back = this.#problem !== null;
    this.#tell(null);
    // By the number of the next message others notice that some are missing: so there has to be a next one.
    if (back) this.publish(probeTopic, '');
  }

  async #send(text: string): Promise<void> {
    this.#onTheWay++;
    try {
      await this.#publisher.publish(this.#options.channel, text);
    } catch (error) {
      this.#tell(error instanceof Error ? error : new Error(String(error)));
    }
    this.#onTheWay--;
  }

  #tell(problem: Error | null): void {
    if (this.#closed) return;
    const changed = (problem === null) !== (this.#problem === null);
    this.#problem = problem;
    if (changed) this.#options.report(problem);
  }
}
