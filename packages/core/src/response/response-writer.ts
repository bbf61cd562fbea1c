import type { CallHandle, RowSink } from '../postgres/port.ts';
import type { ByteSink, ByteSource } from '../http/response.ts';
import { ByteBuffer } from './byte-buffer.ts';
import { StreamWriter, SlowClientError } from './stream-writer.ts';
import type { Format } from './format.ts';

/** An answer up to this size leaves in one piece, with its length. */
export const maxWholeBytes: number = 128 * 1024;
/** Rows that came slowly are not held back longer than this, in milliseconds, once there are enough for a write. */
const patience = 20;
/** What may pile up for a reader that is slower than those who share its connection, before it is cut off. */
const backlogLimit = 32 * 1024 * 1024;
const streamChunk = 64 * 1024;

export interface ResponseEvents {
  /** The whole body, when it was small and quick. An empty one may be a value: `rows` tells how many had something to say. */
  whole(body: Buffer, rows: number): void;
  /** The answer begins and goes on as a stream. */
  stream(source: ByteSource): void;
  /** Nothing was sent yet. */
  failed(error: Error): void;
}

export interface ResponseWriterOptions {
  /** Rows per write: 0 writes every row on its own, 1 holds the whole answer. */
  readonly bufferRows: number;
  /** What will probably be written, in bytes. */
  readonly sizeHint: number;
  /** Milliseconds that the reader of a stream may take nothing before it is cut off. */
  readonly slowClientTimeout: number;
  /** An answer up to this is held back until it is whole, however slowly it comes; null: none is for that alone. */
  readonly holdLimit: SizeLimit | null;
}

export interface SizeLimit {
  readonly rows: number;
  readonly bytes: number;
}

/** One answer on its way: takes rows from the wire, gives bytes to the client, at the pace of the slower of the two. */
export class ResponseWriter implements RowSink, ByteSource {
  readonly #format: Format;
  readonly #bufferRows: number;
  readonly #hold: SizeLimit | null;
  readonly #events: ResponseEvents;
  readonly #out: ByteBuffer;
  readonly #startedAt = performance.now();
  #handle: CallHandle | null = null;
  #rows = 0;
  /** Rows that were not handed to the client yet. */
  #pending = 0;
  #state: 'collecting' | 'streaming' | 'ended' = 'collecting';
  /** Where the bytes of a stream go. */
  #delivery: StreamWriter | null = null;
  /** Bytes that came for the reader after it had asked for a pause. */
  #owed = 0;
  readonly #slowClientTimeout: number;
  /** The size of the answer so far, in bytes. */
  bytesOut = 0;

  constructor(format: Format, manner: ResponseWriterOptions, events: ResponseEvents) {
    this.#format = format;
    this.#bufferRows = manner.bufferRows;
    this.#hold = manner.holdLimit;
    this.#slowClientTimeout = manner.slowClientTimeout;
    this.#events = events;
    this.#out = new ByteBuffer(manner.sizeHint);
    this.#out.append(format.open);
  }

  /** The call that brings the rows. */
  attachCall(handle: CallHandle): void {
    this.#handle = handle;
  }

  // — rows in —

  row(chunk: Uint8Array, offset: number, fields: number): boolean {
    if (this.#state === 'ended' || this.#format.isEmptyRow?.(chunk, offset) === true) return true;
    if (this.#rows++ > 0) this.#out.append(this.#format.separator);
    this.#pending++;
    try {
      this.#format.row(this.#out, chunk, offset, fields);
    } catch (error) {
      // What a row cannot be written for is this answer's own trouble, never that of others on the connection.
      this.#giveUp(error instanceof Error ? error : new Error(String(error)));
      return true;
    }
    return this.#bufferRows === 0 && this.#format.hasManyRows && !this.#held ? this.#writeOn() : true;
  }

  chunkEnd(): boolean {
    if (this.#state === 'ended' || !this.#format.hasManyRows || this.#bufferRows === 1 || this.#held) return true;
    if (this.#state === 'collecting' && this.#out.length < maxWholeBytes) {
      if (this.#pending < this.#bufferRows || performance.now() - this.#startedAt < patience) return true;
    }
    return this.#pending < this.#bufferRows && this.#out.length < streamChunk ? true : this.#writeOn();
  }

  /** Whether the answer so far is one that leaves whole or not at all. */
  get #held(): boolean {
    const hold = this.#hold;
    return hold !== null && this.#state === 'collecting' && this.#rows <= hold.rows && this.#out.length <= hold.bytes;
  }

  done(): void {
    if (this.#state === 'ended') return;
    this.#out.append(this.#format.close);
    this.bytesOut += this.#out.length;
    const isWhole = this.#state === 'collecting';
    this.#state = 'ended';
    if (isWhole) this.#events.whole(this.#out.take(0), this.#rows);
    else this.#delivery!.end(this.#out.take(0));
  }

  failed(error: Error): void {
    const isWhole = this.#state === 'collecting';
    this.#state = 'ended';
    if (isWhole) this.#events.failed(error);
    else this.#delivery?.fail(error);
  }

  // — bytes out —

  pipe(sink: ByteSink): void {
    this.#delivery!.open(sink);
    this.#goOn();
  }

  resume(): void {
    this.#delivery!.resume();
    this.#goOn();
  }

  cancel(): void {
    this.#delivery?.stop();
    this.#state = 'ended';
    this.#handle?.cancel();
  }

  #goOn(): void {
    if (this.#state !== 'streaming' || this.#delivery!.isFull) return;
    this.#owed = 0;
    this.#handle?.resume();
  }

  /** Gives the client what there is; false when it cannot take more for now. */
  #writeOn(): boolean {
    if (this.#state === 'ended') return true;
    const delivery = this.#delivery ?? this.#begin();
    const size = this.#out.length;
    this.#pending = 0;
    this.bytesOut += size;
    if (delivery.write(this.#out.take(streamChunk))) return true;
    this.#owed += size;
    // The first bytes came before the reader could say anything.
    if (this.#owed > backlogLimit && this.#owed > size)
      this.#giveUp(new SlowClientError('the answer was fetched too slowly'));
    return false;
  }

  #begin(): StreamWriter {
    this.#state = 'streaming';
    this.#delivery = new StreamWriter({
      slowClientTimeout: this.#slowClientTimeout,
      onAbort: (error) => this.#giveUp(error),
    });
    this.#events.stream(this);
    return this.#delivery;
  }

  #giveUp(error: Error): void {
    this.failed(error);
    this.#handle?.cancel();
  }
}
