import type { GatewayRequest } from '../http/request.ts';
import type { ByteSink, ByteSource } from '../http/response.ts';
import type { Audience } from './subscriber-authorization.ts';

/** What a reader that has taken nothing of late gets to take what is left; milliseconds. */
const grace = 5_000;

/** Why a reader is told nothing more. */
export type Farewell = 'left' | 'slow' | 'signed-out' | 'unpublished' | 'closing';

export interface ReaderParts extends Audience {
  readonly request: GatewayRequest;
  /** The path of the stream. */
  readonly path: string;
  /** What `self` is told by; null: no execution id was given. */
  readonly key: string | null;
  /** Who it is: what must not change while it reads. */
  readonly binding: string;
  /** A digest of it; null: the credentials know of none. */
  readonly session: string | null;
  readonly address: string | undefined;
  /** The most bytes that may wait for it. */
  readonly limit: number;
  /** How many more before it has begun to take: what it has missed. */
  readonly backlog: number;
  /** Once, when it reads no more. */
  readonly gone: (reader: Reader, why: Farewell) => void;
}

/** Somebody who reads a stream, at the pace of the connection, with a bound on what waits. */
export class Reader implements ByteSource, Audience {
  readonly parts: ReaderParts;
  caller: Audience['caller'];
  via: Audience['via'];
  executable: Audience['executable'];
  /** The last event that it was sent or that was not for it: from there it can resume. */
  place: number;
  /** While it is found out whether it may go on reading. */
  checking = false;
  /** How often in a row that could not be found out. */
  unknown = 0;
  #sink: ByteSink | null = null;
  #queue: Uint8Array[] = [];
  #queued = 0;
  #full = false;
  /** It has taken nothing since it was last looked at. */
  #idle = false;
  #gone = false;

  constructor(parts: ReaderParts, place: number) {
    this.parts = parts;
    this.caller = parts.caller;
    this.via = parts.via;
    this.executable = parts.executable;
    this.place = place;
  }

  get key(): string | null {
    return this.parts.key;
  }

  pipe(sink: ByteSink): void {
    this.#sink = sink;
    this.#idle = false;
    if (this.#gone) sink.end(new Uint8Array(0));
    else this.flush(joined);
  }

  resume(): void {
    this.#full = false;
    this.#idle = false;
    this.flush(joined);
  }

  cancel(): void {
    this.#leave('left');
  }

  /** What is pushed goes with the next `flush`; too much of it ends the reader. */
  push(bytes: Uint8Array): void {
    if (this.#gone) return;
    this.#queue.push(bytes);
    this.#queued += bytes.length;
    const { limit, backlog } = this.parts;
    if (this.#queued <= limit) return;
    this.flush(joined);
    if (this.#queued > (this.#sink === null ? limit + backlog : limit)) this.drop();
  }

  flush(join: (parts: readonly Uint8Array[]) => Uint8Array): void {
    if (this.#gone || this.#full || this.#sink === null || this.#queue.length === 0) return;
    const parts = this.#queue;
    this.#queue = [];
    this.#queued = 0;
    this.#full = !this.#sink.write(parts.length === 1 ? parts[0]! : join(parts));
  }

  /** Whether it has taken nothing of what waits for it since the last time that this was asked. */
  get stalled(): boolean {
    const waits = this.#full || this.#sink === null;
    const before = this.#idle;
    this.#idle = waits;
    return waits && before;
  }

  /** Cut off: what waits for it is not sent any more. */
  drop(): void {
    if (this.#leave('slow')) this.#sink?.fail(new Error('the reader of a stream takes too little'));
  }

  /** In good order, so that its client may come back. */
  end(why: Exclude<Farewell, 'left' | 'slow'>): void {
    const rest = joined(this.#queue);
    const full = this.#full;
    if (!this.#leave(why)) return;
    const sink = this.#sink;
    sink?.end(rest);
    // One that takes nothing would keep its connection for ever.
    if (full) setTimeout(() => sink?.fail(new Error('the stream is over')), grace).unref();
  }

  #leave(why: Farewell): boolean {
    if (this.#gone) return false;
    this.#gone = true;
    this.#queue = [];
    this.parts.gone(this, why);
    return true;
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(parts);
}

/** Many readers are sent the same: it is joined once. */
export function joiner(): (parts: readonly Uint8Array[]) => Uint8Array {
  let known: readonly Uint8Array[] = [];
  let bytes: Uint8Array = Buffer.alloc(0);
  return (parts) => {
    if (parts.length !== known.length || parts.some((part, index) => part !== known[index])) {
      known = parts;
      bytes = Buffer.concat(parts);
    }
    return bytes;
  };
}
