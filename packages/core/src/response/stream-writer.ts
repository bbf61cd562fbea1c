import type { ByteSink, ReusableMemory } from '../http/response.ts';
import { responseBacklog } from './response-backlog.ts';

/** Bytes. Larger chunks are written in pieces, so that the progress of a slow client is seen. */
const maxPieceBytes = 256 * 1024;
/** Bytes that are written together with the end of the response, without waiting for the client. */
const maxEndBytes = 16 * 1024;

/** Bytes of the queue, with the memory behind them as in `ByteSink`. */
interface Piece {
  readonly bytes: Uint8Array;
  readonly memory: ReusableMemory | null;
}

const nothing: Piece = { bytes: Buffer.alloc(0), memory: null };

/** The client has read too slowly, or not at all. */
export class SlowClientError extends Error {
  override readonly name = 'SlowClientError';
}

export interface StreamWriterOptions {
  /** Milliseconds without progress after which the response is aborted. */
  readonly slowClientTimeout: number;
  /** Whether a cache holds the bytes too, so that an abort frees no memory. */
  readonly isShared?: boolean;
  /** Called after the sink has failed. */
  readonly onAbort?: (error: SlowClientError) => void;
}

/** Writes the bytes of a response to its sink with back-pressure, and aborts the response of a client that does not read. */
export class StreamWriter {
  readonly #options: StreamWriterOptions;
  #sink: ByteSink | null = null;
  readonly #queue: Piece[] = [];
  /** Bytes in the queue. */
  #size = 0;
  /** Whether the sink has asked for a pause, or is not open yet. */
  #isFull = true;
  #isFlowing = false;
  #isEnding = false;
  #isOver = false;
  /** When the sink has last drained, by `performance.now()`; 0 before. */
  progressedAt = 0;
  #error: Error | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: StreamWriterOptions) {
    this.#options = options;
    this.#wait();
  }

  /** Whether the sink takes no more bytes for now. */
  get isFull(): boolean {
    return this.#isFull && !this.#isOver;
  }

  /** Bytes that the sink has not taken yet. */
  get queuedBytes(): number {
    return this.#size;
  }

  open(sink: ByteSink): void {
    this.#sink = sink;
    if (this.#error !== null) sink.fail(this.#error);
    else this.resume();
  }

  /** Queues bytes. False asks the source to pause until `resume`. */
  write(bytes: Uint8Array, memory: ReusableMemory | null = null): boolean {
    if (this.#isOver || bytes.length === 0) return !this.isFull;
    this.#queue.push({ bytes, memory });
    this.#size += bytes.length;
    this.#flow();
    return !this.isFull;
  }

  /** Queues the last bytes. */
  end(bytes: Uint8Array, memory: ReusableMemory | null = null): void {
    this.#isEnding = true;
    this.write(bytes, memory);
    this.#flow();
  }

  /** Aborts the response. */
  fail(error: Error): void {
    if (this.#isOver) return;
    this.stop();
    this.#error = error;
    this.#sink?.fail(error);
  }

  /** The sink has drained. */
  resume(): void {
    if (this.#isOver) return;
    this.progressedAt = performance.now();
    this.#isFull = false;
    this.#endWait();
    this.#flow();
  }

  /** Drops the queue, without a call of the sink. */
  stop(): void {
    this.#isOver = true;
    this.#queue.length = 0;
    this.#size = 0;
    this.#endWait();
  }

  #flow(): void {
    // A sink may call `resume` during a write.
    if (this.#isOver || this.#isFlowing) return;
    const sink = this.#sink;
    this.#isFlowing = true;
    while (sink !== null && !this.isFull && this.#queue.length > 0) this.#writePiece(sink);
    this.#isFlowing = false;
    if (this.isFull) this.#wait();
    else if (this.#isEnding && sink !== null) this.#finish(sink, nothing);
  }

  #writePiece(sink: ByteSink): void {
    const piece = this.#nextPiece();
    if (this.#isEnding && this.#size === 0 && piece.bytes.length <= maxEndBytes) return this.#finish(sink, piece);
    this.#isFull = true;
    if (sink.write(piece.bytes, piece.memory)) this.#isFull = false;
  }

  #nextPiece(): Piece {
    const first = this.#queue[0]!;
    const { bytes, memory } = first;
    if (bytes.length <= maxPieceBytes) {
      this.#queue.shift();
      this.#size -= bytes.length;
      return first;
    }
    // The memory goes with the last piece, when the sink has the ones before.
    this.#queue[0] = { bytes: bytes.subarray(maxPieceBytes), memory };
    this.#size -= maxPieceBytes;
    return { bytes: bytes.subarray(0, maxPieceBytes), memory: null };
  }

  #finish(sink: ByteSink, last: Piece): void {
    if (this.#isOver) return;
    this.stop();
    sink.end(last.bytes, last.memory);
  }

  /** Starts the timeout. A client that does not read holds memory, and perhaps a database connection. */
  #wait(): void {
    this.#timer ??= setTimeout(
      () => this.#abort('the client has not read the response in time'),
      this.#options.slowClientTimeout,
    );
    if (this.#size > 0 && this.#options.isShared !== true) {
      responseBacklog.track(this, this.#size, () =>
        this.#abort('other responses need the memory that this one holds for a client that does not read'),
      );
    }
  }

  #endWait(): void {
    if (this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#timer = null;
    responseBacklog.release(this);
  }

  #abort(reason: string): void {
    const error = new SlowClientError(reason);
    this.fail(error);
    this.#options.onAbort?.(error);
  }
}
