import type { ClaimTypes } from '../auth/claims.ts';
import { type EventEndpoint, reaches } from './subscriber-authorization.ts';
import type { StreamEvent } from './event.ts';
import type { Reader } from './reader.ts';
import { Replay, type ReplayBounds, type Sent } from './replay.ts';
import { commentBytes, eventBytes, placeBytes } from './sse-format.ts';

/** What a stream is of: the endpoints of one reading of the catalog that share its path. */
export interface StreamPlan {
  readonly path: string;
  readonly operations: readonly EventEndpoint[];
}

/** Why a reader may have missed something. */
export type Gap = 'connection-lost' | 'too-large' | 'too-long-away';

export interface StreamParts {
  readonly replay: ReplayBounds;
  readonly claimTypes: ClaimTypes;
  /** The next id of an event; later ones are greater. */
  readonly nextId: () => number;
  /** Whether an event of that id can have come from here. */
  readonly isOurs: (id: number) => boolean;
  /** This reader has something to be flushed. */
  readonly touched: (reader: Reader) => void;
}

/** One stream with its readers and its last events. */
export class Stream {
  plan: StreamPlan;
  readonly readers: Set<Reader> = new Set();
  readonly #parts: StreamParts;
  readonly #byKey = new Map<string, Set<Reader>>();
  readonly #replay: Replay;
  /** Of the last event; at first, of none. */
  #place: number;

  constructor(plan: StreamPlan, parts: StreamParts) {
    this.plan = plan;
    this.#parts = parts;
    this.#place = parts.nextId();
    this.#replay = new Replay(parts.replay, this.#place);
  }

  get place(): number {
    return this.#place;
  }

  /** @param lastId where the reader was when it left; null: it has not been here before */
  join(reader: Reader, lastId: string | null): void {
    this.readers.add(reader);
    const { key } = reader;
    if (key !== null) this.#byKey.set(key, (this.#byKey.get(key) ?? new Set()).add(reader));
    if (lastId === null) reader.push(placeBytes(this.#place));
    else this.#resume(reader, lastId);
    reader.place = this.#place;
  }

  leave(reader: Reader): void {
    this.readers.delete(reader);
    const { key } = reader;
    const alike = key === null ? undefined : this.#byKey.get(key);
    if (alike?.delete(reader) === true && alike.size === 0) this.#byKey.delete(key!);
  }

  deliver(event: StreamEvent): void {
    const operation = this.#operation(event);
    if (operation === undefined) return;
    const id = this.#parts.nextId();
    const bytes = eventBytes(id, event.message);
    if (bytes.length > this.#parts.replay.bytes) return this.tellGap('too-large');
    this.#keep({ id, bytes, event });
    const { claimTypes, touched } = this.#parts;
    for (const reader of this.#candidates(event)) {
      if (!reaches(event, reader, operation, claimTypes)) continue;
      reader.push(bytes);
      reader.place = id;
      touched(reader);
    }
  }

  /** Every reader is told that something may be missing. */
  tellGap(why: Gap): void {
    const id = this.#parts.nextId();
    const bytes = eventBytes(id, why, 'gap');
    this.#keep({ id, bytes, event: 'gap' });
    for (const reader of this.readers) {
      reader.push(bytes);
      reader.place = id;
      this.#parts.touched(reader);
    }
  }

  /** A sign of life, and the place where the reader is when events have gone by that were not for it. */
  beat(reader: Reader): void {
    reader.push(reader.place === this.#place ? commentBytes : placeBytes(this.#place));
    reader.place = this.#place;
    this.#parts.touched(reader);
  }

  #operation({ endpoint: id }: StreamEvent): EventEndpoint | undefined {
    return this.plan.operations.find(({ endpoint }) => endpoint.id === id);
  }

  #candidates({ scope, key }: StreamEvent): Iterable<Reader> {
    if (scope.kind !== 'self') return this.readers;
    return key === null ? [] : (this.#byKey.get(key) ?? []);
  }

  #keep(sent: Sent): void {
    this.#place = sent.id;
    this.#replay.add(sent);
  }

  /** What came since, as far as it is known; authorization counts as of now. */
  #resume(reader: Reader, lastId: string): void {
    const id = /^\d{1,16}$/.test(lastId) ? Number(lastId) : Number.NaN;
    const ours = this.#parts.isOurs(id);
    const { floor } = this.#replay;
    reader.push(commentBytes);
    if (!ours || id < floor) reader.push(eventBytes(ours ? floor : this.#place, 'too-long-away', 'gap'));
    for (const sent of ours ? this.#replay.after(id) : []) {
      if (this.#isFor(reader, sent)) reader.push(sent.bytes);
    }
  }

  #isFor(reader: Reader, { event }: Sent): boolean {
    if (event === 'gap') return true;
    const operation = this.#operation(event);
    return operation !== undefined && reaches(event, reader, operation, this.#parts.claimTypes);
  }
}
