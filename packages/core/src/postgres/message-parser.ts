/** Bytes; PostgreSQL sends no longer message. Rejects a corrupt length before memory is allocated for it. */
const maxMessageLength = 0x4000_0000;
const initialBufferSize = 128 * 1024;

/** Bytes that violate the frontend/backend protocol. The connection cannot be used any more. */
export class ProtocolViolation extends Error {
  override readonly name = 'ProtocolViolation';
}

/** Receives one complete message: `start` is the first byte of its body, `end` the byte after the last one. */
export type MessageHandler = (type: number, chunk: Buffer, start: number, end: number) => void;

/** Receives complete DataRow messages with their headers. Returns the bytes of those that it took; `MessageHandler` gets the next one. */
export type RowsHandler = (messages: Buffer) => number;

const dataRow = 0x44;

/** Splits the incoming bytes into messages. Complete messages are passed on in place; only an incomplete one is copied. */
export class MessageParser {
  #buffer = Buffer.allocUnsafeSlow(initialBufferSize);
  #length = 0;
  readonly #onMessage: MessageHandler;
  readonly #maxLength: number;
  readonly #onRows: RowsHandler;

  /** @param maxLength the maximum length of a message in bytes */
  constructor(onMessage: MessageHandler, onRows: RowsHandler = () => 0, maxLength: number = maxMessageLength) {
    this.#onMessage = onMessage;
    this.#maxLength = maxLength;
    this.#onRows = onRows;
  }

  /**
   * @param headroom bytes of memory before the chunk, which may be overwritten
   * @throws ProtocolViolation for an impossible length
   */
  push(chunk: Buffer, headroom = 0): void {
    if (this.#length === 0) return this.#pass(chunk);
    if (this.#length <= headroom && this.#isCompletedBy(chunk)) return this.#pass(this.#prepend(chunk));
    const end = this.#length + chunk.length;
    this.#grow(end);
    chunk.copy(this.#buffer, this.#length);
    this.#length = 0;
    this.#keep(this.#buffer, this.#dispatch(this.#buffer, end), end);
  }

  /** Passes on a chunk that begins with a message. */
  #pass(chunk: Buffer): void {
    this.#keep(chunk, this.#dispatch(chunk, chunk.length), chunk.length);
  }

  #isCompletedBy(chunk: Buffer): boolean {
    return this.#length < 5 || this.#messageEnd(this.#buffer, 0) <= this.#length + chunk.length;
  }

  /** Copies the incomplete message before the chunk, so that the chunk stays where it is. Returns both. */
  #prepend(chunk: Buffer): Buffer {
    const length = this.#length;
    const whole = Buffer.from(chunk.buffer, chunk.byteOffset - length, length + chunk.length);
    this.#buffer.copy(whole, 0, 0, length);
    this.#length = 0;
    return whole;
  }

  /** Returns a copy of the incomplete last message. */
  remainder(): Buffer {
    return Buffer.from(this.#buffer.subarray(0, this.#length));
  }

  /** Passes on every complete message; returns the position of the first incomplete one. */
  #dispatch(chunk: Buffer, end: number): number {
    let position = 0;
    /** The end of the rows that were offered to `onRows`: those that it did not take are not offered again. */
    let offered = 0;
    while (end - position >= 5) {
      const next = this.#messageEnd(chunk, position);
      if (next > end) break;
      const rowsEnd = position < offered || chunk[position] !== dataRow ? next : this.#rowsEnd(chunk, next, end);
      if (rowsEnd > next) {
        offered = rowsEnd;
        position += this.#onRows(chunk.subarray(position, rowsEnd));
        continue;
      }
      this.#onMessage(chunk[position]!, chunk, position + 5, next);
      position = next;
    }
    return position;
  }

  /** Returns the end of the message at a position. The chunk has its header. */
  #messageEnd(chunk: Buffer, position: number): number {
    const length = chunk.readInt32BE(position + 1);
    if (length < 4 || length > this.#maxLength) {
      throw new ProtocolViolation(`a message with a length of ${length} bytes`);
    }
    return position + 1 + length;
  }

  /** Returns the end of the complete DataRow messages that begin at a position. */
  #rowsEnd(chunk: Buffer, start: number, end: number): number {
    let position = start;
    while (end - position >= 5 && chunk[position] === dataRow) {
      const next = this.#messageEnd(chunk, position);
      if (next > end) break;
      position = next;
    }
    return position;
  }

  #keep(chunk: Buffer, position: number, end: number): void {
    const rest = end - position;
    if (rest === 0) {
      if (this.#buffer.length > initialBufferSize) this.#buffer = Buffer.allocUnsafeSlow(initialBufferSize);
      return;
    }
    if (chunk === this.#buffer) {
      if (position > 0) this.#buffer.copyWithin(0, position, end);
    } else {
      this.#grow(rest);
      chunk.copy(this.#buffer, 0, position, end);
    }
    this.#length = rest;
  }

  /** Grows the buffer to `size` bytes, or to the whole length of the incomplete message when that is known. */
  #grow(size: number): void {
    if (size <= this.#buffer.length) return;
    const announced = this.#length >= 5 ? this.#buffer.readInt32BE(1) + 1 : 0;
    const larger = Buffer.allocUnsafeSlow(Math.max(size, announced + initialBufferSize, this.#buffer.length * 2));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}

/**
 * Checks that the fields of a DataRow fill its message exactly; `start` is the position after the field count.
 * @throws ProtocolViolation for an impossible length, so that no sink reads beyond the row
 */
export function validateDataRow(chunk: Buffer, start: number, end: number, fields: number): void {
  let position = start;
  for (let field = 0; field < fields; field++) {
    const length =
      (chunk[position]! << 24) | (chunk[position + 1]! << 16) | (chunk[position + 2]! << 8) | chunk[position + 3]!;
    if (length < -1) throw new ProtocolViolation(`a field with a length of ${length} bytes`);
    position += length > 0 ? length + 4 : 4;
    if (position > end) break;
  }
  if (position !== end) throw new ProtocolViolation('a DataRow whose fields do not match its length');
}
