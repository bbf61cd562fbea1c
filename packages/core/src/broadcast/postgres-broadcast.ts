import { arrayLiteral } from '../postgres/literal.ts';
import type { ChannelEvent, Value } from '../postgres/port.ts';
import type { Broadcast, BroadcastEvent } from '../ports/ports.ts';
import { MessageChunker, probeTopic } from './message-chunker.ts';
import { notifySql } from './notify.sql.ts';
import { TopicListeners } from './topic-listeners.ts';
import { toError } from '../to-error.ts';

export interface PostgresBroadcastOptions {
  readonly channel: string;
  readonly query: (sql: string, values: readonly Value[]) => Promise<unknown>;
  readonly listen: (channel: string, listener: (event: ChannelEvent) => void) => () => void;
  /** Called once per change, with null when sending works again. */
  readonly onHealthChange: (error: Error | null) => void;
}

/** Bytes. A payload of NOTIFY must be shorter than 8,000: https://www.postgresql.org/docs/current/sql-notify.html */
const maxPayloadBytes = 7_999;
/** Payloads per statement. */
const maxBatch = 200;
/** Payloads: about 16 MB. */
const maxQueueLength = 2_000;
/** Milliseconds that `open` waits for the first LISTEN. */
const listenTimeout = 5_000;
/** Milliseconds after which a failed statement is followed by a probe. */
const retryDelay = 1_000;

/**
 * Carries messages by NOTIFY and LISTEN. Every role that may connect to the database can send and read them.
 * @throws RangeError for an invalid channel name
 */
export async function postgresBroadcast(options: PostgresBroadcastOptions): Promise<Broadcast> {
  const broadcast = new PostgresBroadcast(options);
  await broadcast.open();
  return broadcast;
}

class PostgresBroadcast implements Broadcast {
  readonly #options: PostgresBroadcastOptions;
  readonly #chunker = new MessageChunker(maxPayloadBytes);
  readonly #listeners = new TopicListeners();
  #queue: string[] = [];
  #sending: Promise<void> | null = null;
  #error: Error | null = null;
  #retryTimer: NodeJS.Timeout | undefined;
  #stopListening: () => void = () => undefined;
  #closed = false;

  constructor(options: PostgresBroadcastOptions) {
    this.#options = options;
  }

  /** Resolves when LISTEN has taken effect, or after the timeout. */
  open(): Promise<void> {
    return new Promise((resolve) => {
      let opened = false;
      const open = (): void => {
        opened = true;
        clearTimeout(timer);
        resolve();
      };
      // After the timeout, the first LISTEN counts as a gap.
      const timer = setTimeout(open, listenTimeout);
      this.#stopListening = this.#options.listen(this.#options.channel, (event) => {
        if (event.kind === 'notification')
          for (const received of this.#chunker.receive(event.payload)) this.#listeners.notify(received);
        else if (opened) this.#notifyGap();
        else open();
      });
    });
  }

  publish(topic: string, payload: string): void {
    const chunks = this.#chunker.split(topic, payload);
    if (this.#closed || chunks === null || this.#queue.length + chunks.length > maxQueueLength) return;
    this.#queue.push(...chunks);
    this.#sending ??= this.#send();
  }

  subscribe(topic: string, listener: (event: BroadcastEvent) => void): () => void {
    return this.#listeners.subscribe(topic, listener);
  }

  health(): string | null {
    return this.#error?.message ?? null;
  }

  async close(): Promise<void> {
    this.#stopListening();
    await this.#sending;
    this.#closed = true;
    clearTimeout(this.#retryTimer);
  }

  #notifyGap(): void {
    this.#chunker.reset();
    this.#listeners.notifyGap();
  }

  async #send(): Promise<void> {
    const { query, channel } = this.#options;
    try {
      while (this.#queue.length > 0) {
        const payloads = this.#queue.splice(0, maxBatch);
        // Statements run one by one: messages keep the order of `publish`.
        await query(notifySql, [channel, arrayLiteral(payloads)]);
        this.#setHealth(null);
      }
    } catch (error) {
      this.#queue = [];
      this.#setHealth(toError(error));
      this.#scheduleProbe();
    }
    this.#sending = null;
  }

  /** Sends a message later: by its number, receivers notice that messages were lost. */
  #scheduleProbe(): void {
    clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(() => this.publish(probeTopic, ''), retryDelay);
    this.#retryTimer.unref();
  }

  #setHealth(error: Error | null): void {
    const changed = (error === null) !== (this.#error === null);
    this.#error = error;
    if (changed) this.#options.onHealthChange(error);
  }
}
