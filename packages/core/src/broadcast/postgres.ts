import { arrayLiteral } from '../postgres/literal.ts';
import type { ChannelEvent, Value } from '../postgres/port.ts';
import type { Broadcast, BroadcastEvent } from '../ports/ports.ts';
import { Envelopes, probeTopic, Topics } from './chunked-message.ts';
import { notifySql } from './notify.sql.ts';

export interface PostgresBroadcastOptions {
  readonly channel: string;
  readonly query: (sql: string, values: readonly Value[]) => Promise<unknown>;
  readonly listen: (channel: string, hear: (heard: ChannelEvent) => void) => () => void;
  /** Something does not work, or everything does again (null). Told once for each change. */
  readonly report: (error: Error | null) => void;
}

/** A payload of NOTIFY is shorter than 8,000 bytes. */
const longestPayload = 7_999;
/** Payloads of one statement. */
const batch = 200;
/** Payloads that may wait: about 16 MB. */
const longestQueue = 2_000;
/** How long the start waits until nothing is missed any more, and how long until the next attempt; milliseconds. */
const patience = 5_000;
const retry = 1_000;

/**
 * By NOTIFY and LISTEN, which everybody who may connect to the database can do as well.
 * @throws RangeError for a name that no channel can have
 */
export async function postgresBroadcast(options: PostgresBroadcastOptions): Promise<Broadcast> {
  const broadcast = new PostgresBroadcast(options);
  await broadcast.begin();
  return broadcast;
}

class PostgresBroadcast implements Broadcast {
  readonly #options: PostgresBroadcastOptions;
  readonly #envelopes = new Envelopes(longestPayload);
  readonly #topics = new Topics();
  #queue: string[] = [];
  #sending: Promise<void> | null = null;
  #problem: Error | null = null;
  #timer: NodeJS.Timeout | undefined;
  #stop: () => void = () => undefined;
  #closed = false;

  constructor(options: PostgresBroadcastOptions) {
    this.#options = options;
  }

  begin(): Promise<void> {
    return new Promise((resolve) => {
      let begun = false;
      const begin = (): void => {
        begun = true;
        clearTimeout(timer);
        resolve();
      };
      // Whoever begins to hear late has missed something.
      const timer = setTimeout(begin, patience);
      this.#stop = this.#options.listen(this.#options.channel, (heard) => {
        if (heard.kind === 'notification')
          for (const opened of this.#envelopes.open(heard.payload)) this.#topics.tell(opened);
        else if (begun) this.#gap();
        else begin();
      });
    });
  }

  publish(topic: string, payload: string): void {
    const parts = this.#envelopes.pack(topic, payload);
    if (this.#closed || parts === null || this.#queue.length + parts.length > longestQueue) return;
    this.#queue.push(...parts);
    this.#sending ??= this.#send();
  }

  subscribe(topic: string, hear: (heard: BroadcastEvent) => void): () => void {
    return this.#topics.subscribe(topic, hear);
  }

  health(): string | null {
    return this.#problem?.message ?? null;
  }

  async close(): Promise<void> {
    this.#stop();
    await this.#sending;
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #gap(): void {
    this.#envelopes.forget();
    this.#topics.tellGap();
  }

  async #send(): Promise<void> {
    const { query, channel } = this.#options;
    try {
      while (this.#queue.length > 0) {
        const payloads = this.#queue.splice(0, batch);
        // One statement after the other: what was published first arrives first.
        // oxlint-disable-next-line no-await-in-loop
        await query(notifySql, [channel, arrayLiteral(payloads)]);
        this.#tell(null);
      }
    } catch (error) {
      this.#queue = [];
      this.#tell(error instanceof Error ? error : new Error(String(error)));
      this.#later();
    }
    this.#sending = null;
  }

  /** By the number of the next message others notice that some are missing: so there has to be a next one. */
  #later(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.publish(probeTopic, ''), retry);
    this.#timer.unref();
  }

  #tell(problem: Error | null): void {
    const changed = (problem === null) !== (this.#problem === null);
    this.#problem = problem;
    if (changed) this.#options.report(problem);
  }
}
