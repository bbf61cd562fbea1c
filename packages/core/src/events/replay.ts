import type { StreamEvent } from './event.ts';

/** An event as it was sent. A gap is for everybody. */
export interface Sent {
  readonly id: number;
  readonly bytes: Uint8Array;
  readonly event: StreamEvent | 'gap';
}

export interface ReplayBounds {
  /** The most events that are kept. */
  readonly events: number;
  /** Milliseconds. */
  readonly age: number;
  readonly bytes: number;
}

/** The last events of a stream, for readers that come back. */
export class Replay {
  readonly #bounds: ReplayBounds;
  readonly #now: () => number;
  readonly #sent: { readonly sent: Sent; readonly at: number }[] = [];
  #bytes = 0;
  /** Whoever has seen this one has missed nothing that is not kept. */
  #floor: number;

  /** @param floor an id before that of the first event */
  constructor(bounds: ReplayBounds, floor: number, now: () => number = Date.now) {
    this.#bounds = bounds;
    this.#floor = floor;
    this.#now = now;
  }

  get floor(): number {
    this.#forget();
    return this.#floor;
  }

  add(sent: Sent): void {
    this.#sent.push({ sent, at: this.#now() });
    this.#bytes += sent.bytes.length;
    this.#forget();
  }

  /** What came after this one, as far as it is kept. */
  after(id: number): readonly Sent[] {
    this.#forget();
    return this.#sent.flatMap(({ sent }) => (sent.id > id ? [sent] : []));
  }

  #forget(): void {
    const { events, age, bytes } = this.#bounds;
    const oldest = this.#now() - age;
    let first = this.#sent[0];
    while (first !== undefined && (this.#sent.length > events || this.#bytes > bytes || first.at < oldest)) {
      this.#sent.shift();
      this.#bytes -= first.sent.bytes.length;
      this.#floor = first.sent.id;
      first = this.#sent[0];
    }
  }
}
