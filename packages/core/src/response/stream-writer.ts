import type { ByteSink } from '../http/response.ts';
import { responseBacklog } from './response-backlog.ts';

/** A larger chunk is given to the sink in pieces, so that every piece that its reader takes is seen. */
const largestPiece = 256 * 1024;
/** Bytes that may go along with the end of an answer, although their reader may never take them. */
const smallEnd = 16 * 1024;

const nothing = Buffer.alloc(0);

/** An answer that its reader could not take in time. */
export class SlowClientError extends Error {
  override readonly name = 'ReaderTooSlow';
}

export interface StreamWriterOptions {
  /** Milliseconds that the reader may take nothing before the delivery is cut off. */
  readonly slowClientTimeout: number;
  /** The bytes are kept for other requests too: to cut this answer off frees none of them. */
  readonly isShared?: boolean;
  /** The reader is cut off: the sink was told. */
  readonly onAbort?: (error: SlowClientError) => void;
}

/** Gives the bytes of one answer to its sink at the pace of the reader, and cuts off a reader that takes nothing. */
export class StreamWriter {
  readonly #options: StreamWriterOptions;
  #sink: ByteSink | null = null;
  readonly #queue: Uint8Array[] = [];
  /** Bytes of the queue. */
  #size = 0;
  /** The sink asked for a pause. */
  #isFull = true;
  #isFlowing = false;
  #isEnding = false;
  #isOver = false;
  #error: Error | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: StreamWriterOptions) {
    this.#options = options;
    this.#wait();
  }

  /** Whether bytes are waiting for the reader. */
  get isFull(): boolean {
    return this.#isFull && !this.#isOver;
  }

  /** Starts the flow. */
  open(sink: ByteSink): void {
    this.#sink = sink;
    if (this.#error !== null) sink.fail(this.#error);
    else this.resume();
  }

  /** False when the reader has to take something first. */
  write(bytes: Uint8Array): boolean {
    if (this.#isOver || bytes.length === 0) return !this.isFull;
    this.#queue.push(bytes);
    this.#size += bytes.length;
    this.#flow();
    return !this.isFull;
  }

  /** The last bytes. */
  end(bytes: Uint8Array): void {
    this.#isEnding = true;
    this.write(bytes);
    this.#flow();
  }

  /** The answer has to be cut off. */
  fail(error: Error): void {
    if (this.#isOver) return;
    this.stop();
    this.#error = error;
    this.#sink?.fail(error);
  }

  /** The reader has taken something. */
  resume(): void {
    if (this.#isOver) return;
    this.#isFull = false;
    this.#endWait();
    this.#flow();
  }

  /** No byte is wanted any more. */
  stop(): void {
    this.#isOver = true;
    this.#queue.length = 0;
    this.#endWait();
  }

  #flow(): void {
    // A sink may call `resume` while it takes a piece.
    if (this.#isOver || this.#isFlowing) return;
    const sink = this.#sink;
    this.#isFlowing = true;
    while (sink !== null && !this.isFull && this.#queue.length > 0) this.#give(sink);
    this.#isFlowing = false;
    if (this.isFull) this.#wait();
    else if (this.#isEnding && sink !== null) this.#finish(sink, nothing);
  }

  #give(sink: ByteSink): void {
    const piece = this.#nextPiece();
    if (this.#isEnding && this.#size === 0 && piece.length <= smallEnd) return this.#finish(sink, piece);
    this.#isFull = true;
    if (sink.write(piece)) this.#isFull = false;
  }

  #nextPiece(): Uint8Array {
    const first = this.#queue[0]!;
    const piece = first.length <= largestPiece ? first : first.subarray(0, largestPiece);
    if (piece === first) this.#queue.shift();
    else this.#queue[0] = first.subarray(largestPiece);
    this.#size -= piece.length;
    return piece;
  }

  #finish(sink: ByteSink, last: Uint8Array): void {
    if (this.#isOver) return;
    this.stop();
    sink.end(last);
  }

  /** A reader that takes nothing keeps memory, and perhaps a connection of the database: not forever. */
  #wait(): void {
    this.#timer ??= setTimeout(() => this.#cutOff('the answer was not fetched'), this.#options.slowClientTimeout);
    if (this.#size > 0 && this.#options.isShared !== true) {
      responseBacklog.track(this, this.#size, () =>
        this.#cutOff('other answers need the memory of one that is not fetched'),
      );
    }
  }

  #endWait(): void {
    if (this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#timer = null;
    responseBacklog.release(this);
  }

  #cutOff(reason: string): void {
    const error = new SlowClientError(reason);
    this.fail(error);
    this.#options.onAbort?.(error);
  }
}
