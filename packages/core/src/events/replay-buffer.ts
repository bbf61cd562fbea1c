import type { StreamEvent } from './stream-event.ts';

/** An event in its SSE format. Every subscriber gets a gap. */
export interface SentEvent {
  readonly id: number;
  readonly bytes: Uint8Array;
  readonly event: StreamEvent | 'gap';
}

export interface ReplayLimits {
  /** Most events in the buffer. */
  readonly events: number;
  /** Milliseconds. */
  readonly age: number;
  readonly bytes: number;
}

/** The last events of a stream, for subscribers that reconnect. */
export class ReplayBuffer {
  readonly #limits: ReplayLimits;
  readonly #now: () => number;
  readonly #entries: { readonly sent: SentEvent; readonly at: number }[] = [];
  #bytes = 0;
  /** The last evicted id. After this id, and after every later one, the buffer is complete. */
  #floor: number;

  /** @param floor an id before that of the first event */
  constructor(limits: ReplayLimits, floor: number, now: () => number = Date.now) {
    this.#limits = limits;
    this.#floor = floor;
    this.#now = now;
  }

  get floor(): number {
    this.#evict();
    return this.#floor;
  }

  /** @param at milliseconds since 1970 */
  add(sent: SentEvent, at: number = this.#now()): void {
    this.#entries.push({ sent, at });
    this.#bytes += sent.bytes.length;
    this.#evict();
  }

  /** Returns the buffered events after the id. */
  after(id: number): readonly SentEvent[] {
    this.#evict();
    return this.#entries.flatMap(({ sent }) => (sent.id > id ? [sent] : []));
  }

  #evict(): void {
    const { events, age, bytes } = this.#limits;
    const oldest = this.#now() - age;
    let first = this.#entries[0];
    while (first !== undefined && (this.#entries.length > events || this.#bytes > bytes || first.at < oldest)) {
      this.#entries.shift();
      this.#bytes -= first.sent.bytes.length;
      this.#floor = first.sent.id;
      first = this.#entries[0];
    }
  }
}
