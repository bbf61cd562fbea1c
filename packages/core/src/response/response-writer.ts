import type { CallHandle, RowReader, RowSink } from '../postgres/port.ts';
import type { ByteSink, ByteSource, ReusableMemory } from '../http/response.ts';
import { ByteBuffer } from './byte-buffer.ts';
import { getRowEncoder } from './row-encoder.ts';
import { StreamWriter, SlowClientError } from './stream-writer.ts';
import type { BodyWriter } from './document.ts';
import type { Format } from './format.ts';
import { toError } from '../to-error.ts';

/** Bytes. Responses up to this size are sent whole, with `Content-Length`. */
export const maxWholeBytes: number = 128 * 1024;
/** Milliseconds that rows of a small response may wait for more, once `bufferRows` of them are there. */
const maxDelayMs = 20;
/**
 * Bytes that wait for the client before PostgreSQL is asked to pause. A response whose rest is smaller does not hold its connection until
 * the client has read it.
 */
const maxQueuedBytes = 1024 * 1024;
/** Bytes that may pile up for a client that reads more slowly than the others on its database connection. */
const maxUnsentBytes = 32 * 1024 * 1024;
const streamChunkBytes = 64 * 1024;

export interface ResponseEvents {
  /**
   * The whole body. `rows` counts the rows with content: an empty body may be a value.
   * @param memory as in `WholeResponse`
   */
  whole(body: Buffer, rows: number, memory: ReusableMemory | null): void;
  /** The response begins as a stream. */
  stream(source: ByteSource): void;
  /** The call failed before any byte was sent. */
  failed(error: Error): void;
}

export interface ResponseWriterOptions {
  /** Rows per write: 0 writes each row at once, 1 buffers the whole response. */
  readonly bufferRows: number;
  /** The expected size of the body, in bytes. */
  readonly sizeHint: number;
  /** Milliseconds without progress after which a stream is aborted. */
  readonly slowClientTimeout: number;
  /** The title of a document. */
  readonly title?: string;
  /** A response up to this limit is held back until it is whole; null: slow rows are streamed. */
  readonly holdLimit: SizeLimit | null;
}

export interface SizeLimit {
  readonly rows: number;
  readonly bytes: number;
}

/** Turns the rows of a call into the bytes of its response, with back-pressure from the client to PostgreSQL. */
export class ResponseWriter implements RowSink, RowReader, ByteSource {
  readonly #format: Format;
  readonly #body: BodyWriter | null;
  readonly #bufferRows: number;
  readonly #holdLimit: SizeLimit | null;
  readonly #events: ResponseEvents;
  readonly #out: ByteBuffer;
  readonly #startedAt = performance.now();
  #handle: CallHandle | null = null;
  #rows = 0;
  /** Whether the bytes before the first row were written. */
  #isOpen = false;
  /** Rows that are not written to the stream yet. */
  #pending = 0;
  #state: 'collecting' | 'streaming' | 'ended' = 'collecting';
  /** Null until the response is a stream. */
  #streamWriter: StreamWriter | null = null;
  readonly #slowClientTimeout: number;
  /** The size of the response so far, in bytes. */
  bytesOut = 0;

  constructor(format: Format, options: ResponseWriterOptions, events: ResponseEvents) {
    this.#format = format;
    this.#body = format.begin?.(options.title ?? '') ?? null;
    this.#bufferRows = options.bufferRows;
    this.#holdLimit = options.holdLimit;
    this.#slowClientTimeout = options.slowClientTimeout;
    this.#events = events;
    this.#out = new ByteBuffer(options.sizeHint);
  }

  /** The rows with content so far. */
  get rows(): number {
    return this.#rows;
  }

  get progressedAt(): number {
    return this.#streamWriter === null ? 0 : this.#streamWriter.progressedAt;
  }

  /** Sets the call to resume and cancel. */
  attachCall(handle: CallHandle): void {
    this.#handle = handle;
  }

  row(chunk: Uint8Array, offset: number, fields: number): boolean {
    if (this.#state === 'ended' || this.#format.isEmptyRow?.(chunk, offset) === true) return true;
    if (this.#rows++ === 0) this.#open();
    else this.#out.append(this.#format.separator);
    this.#pending++;
    try {
      (this.#body ?? this.#format).row(this.#out, chunk, offset, fields);
    } catch (error) {
      // An error here fails this response only: other calls may share the connection.
      this.#abort(toError(error));
      return true;
    }
    return this.#bufferRows === 0 && this.#format.hasManyRows && !this.#isHeld ? this.#flush() : true;
  }

  /** Writes many rows in one call, if the format has a plan for it. A response that writes each row at once takes none. */
  rowMessages(messages: Uint8Array): number {
    if (this.#state === 'ended' || this.#bufferRows === 0) return 0;
    const plan = this.#format.plan?.bytes ?? null;
    const encoder = plan === null ? null : getRowEncoder();
    if (plan === null || encoder === null) return 0;
    this.#open();
    const read = encoder.encode(this.#out, plan, messages, this.#rows > 0);
    this.#rows += encoder.rows;
    this.#pending += encoder.rows;
    return read;
  }

  chunkEnd(): boolean {
    if (this.#state === 'ended' || !this.#format.hasManyRows || this.#bufferRows === 1 || this.#isHeld) return true;
    if (this.#state === 'collecting' && this.#out.length < maxWholeBytes) {
      if (this.#pending < this.#bufferRows || performance.now() - this.#startedAt < maxDelayMs) return true;
    }
    return this.#pending < this.#bufferRows && this.#out.length < streamChunkBytes ? true : this.#flush();
  }

  /** Whether the response so far has to be sent whole. */
  get #isHeld(): boolean {
    const limit = this.#holdLimit;
    return (
      limit !== null && this.#state === 'collecting' && this.#rows <= limit.rows && this.#out.length <= limit.bytes
    );
  }

  done(): void {
    if (this.#state === 'ended') return;
    this.#open();
    try {
      const { close, emptyBody = close } = this.#format;
      this.#out.append(this.#rows === 0 ? emptyBody : close);
      this.#body?.end(this.#out);
    } catch (error) {
      this.failed(toError(error));
      return;
    }
    this.bytesOut += this.#out.length;
    const isWhole = this.#state === 'collecting';
    this.#state = 'ended';
    const { bytes, memory } = this.#out.take(0);
    if (isWhole) this.#events.whole(bytes, this.#rows, memory);
    else this.#streamWriter!.end(bytes, memory);
  }

  failed(error: Error): void {
    const isWhole = this.#state === 'collecting';
    this.#state = 'ended';
    if (isWhole) this.#events.failed(error);
    else this.#streamWriter?.fail(error);
  }

  pipe(sink: ByteSink): void {
    this.#streamWriter!.open(sink);
    this.#resumeCall();
  }

  resume(): void {
    this.#streamWriter!.resume();
    this.#resumeCall();
  }

  cancel(): void {
    this.#streamWriter?.stop();
    this.#state = 'ended';
    this.#handle?.cancel();
  }

  /** Writes the bytes before the first row. */
  #open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#out.append(this.#format.open);
  }

  #resumeCall(): void {
    if (this.#state === 'streaming' && this.#streamWriter!.queuedBytes <= maxQueuedBytes) this.#handle?.resume();
  }

  /** Writes the buffered rows to the stream; false when too many bytes wait for the client. */
  #flush(): boolean {
    if (this.#state === 'ended') return true;
    // A document may collect rows before it has bytes. Without a stream, an error of the next rows is a response of its own.
    if (this.#out.length === 0 && this.#state === 'collecting' && this.#body !== null) return true;
    const streamWriter = this.#streamWriter ?? this.#startStream();
    const size = this.#out.length;
    this.#pending = 0;
    this.bytesOut += size;
    const { bytes, memory } = this.#out.take(streamChunkBytes);
    streamWriter.write(bytes, memory);
    const { queuedBytes } = streamWriter;
    if (queuedBytes <= maxQueuedBytes) return true;
    // The first flush does not count: the client could not have read before it.
    if (queuedBytes > maxUnsentBytes && queuedBytes > size)
      this.#abort(new SlowClientError('the client has read the response too slowly'));
    return false;
  }

  #startStream(): StreamWriter {
    this.#state = 'streaming';
    this.#streamWriter = new StreamWriter({
      slowClientTimeout: this.#slowClientTimeout,
      onAbort: (error) => this.#abort(error),
    });
    this.#events.stream(this);
    return this.#streamWriter;
  }

  #abort(error: Error): void {
    this.failed(error);
    this.#handle?.cancel();
  }
}
