import type { PresenceChange } from './presence-directory.ts';
import { type Presence, presencesToJson } from './presence-list.ts';

/** Milliseconds in which changes of a topic become one message: each is sent to all that are present. */
const windowMs = 50;

interface PendingChange {
  readonly joins: Map<string, Presence>;
  readonly leaves: Map<string, Presence>;
}

/** Collects changes of presences for the messages `presence_diff`. */
export class PresenceUpdates {
  readonly #pending = new Map<string, PendingChange>();
  readonly #send: (topic: string, payload: string) => void;
  #timer: NodeJS.Timeout | null = null;

  /** @param send gets the payload of `presence_diff` */
  constructor(send: (topic: string, payload: string) => void) {
    this.#send = send;
  }

  add({ topic, joins, leaves }: PresenceChange): void {
    const pending = this.#pending.get(topic) ?? {
      joins: new Map<string, Presence>(),
      leaves: new Map<string, Presence>(),
    };
    this.#pending.set(topic, pending);
    for (const presence of leaves) {
      // A presence that began and ended meanwhile is not sent.
      if (!pending.joins.delete(presence.ref)) pending.leaves.set(presence.ref, presence);
    }
    for (const presence of joins) {
      if (!pending.leaves.delete(presence.ref)) pending.joins.set(presence.ref, presence);
    }
    this.#timer ??= setTimeout(() => this.#flushAll(), windowMs);
  }

  /** Sends what is pending for a topic, before another client gets its state. */
  flush(topic: string): void {
    const pending = this.#pending.get(topic);
    if (pending === undefined) return;
    this.#pending.delete(topic);
    const { joins, leaves } = pending;
    if (joins.size + leaves.size === 0) return;
    this.#send(topic, `{"joins":${presencesToJson(joins.values())},"leaves":${presencesToJson(leaves.values())}}`);
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#pending.clear();
  }

  #flushAll(): void {
    this.#timer = null;
    for (const topic of this.#pending.keys()) this.flush(topic);
  }
}
