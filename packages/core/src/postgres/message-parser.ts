/** PostgreSQL's own bound on a message, so that a broken length cannot make us wait or allocate without end. */
const longestMessage = 0x4000_0000;
const smallStore = 128 * 1024;

/** The bytes on the connection are no message of the protocol. The connection is of no further use. */
export class ProtocolViolation extends Error {
  override readonly name = 'ProtocolViolation';
}

/** Takes one whole message; `start` is its first byte after the length, `end` the byte after its last. */
export type MessageHandler = (type: number, chunk: Buffer, start: number, end: number) => void;

/**
 * Cuts the incoming bytes into messages, wherever the packets were split. Whole messages are handed over in place; only
 * the beginning of a message whose rest is still to come is copied.
 */
export class MessageParser {
  #store = Buffer.allocUnsafeSlow(smallStore);
  #held = 0;
  readonly #read: MessageHandler;
  readonly #longest: number;

  /** @param longest the most bytes of a message */
  constructor(read: MessageHandler, longest: number = longestMessage) {
    this.#read = read;
    this.#longest = longest;
  }

  /** @throws ProtocolViolation when a length cannot be true */
  push(chunk: Buffer): void {
    if (this.#held === 0) {
      this.#keep(chunk, this.#cut(chunk, chunk.length), chunk.length);
      return;
    }
    const end = this.#held + chunk.length;
    this.#grow(end);
    chunk.copy(this.#store, this.#held);
    this.#held = 0;
    this.#keep(this.#store, this.#cut(this.#store, end), end);
  }

  /** A copy of the beginning of a message whose rest has not arrived yet. */
  rest(): Buffer {
    return Buffer.from(this.#store.subarray(0, this.#held));
  }

  /** Hands over every whole message; returns where the first incomplete one begins. */
  #cut(chunk: Buffer, end: number): number {
    let position = 0;
    while (end - position >= 5) {
      const length = chunk.readInt32BE(position + 1);
      if (length < 4 || length > this.#longest) {
        throw new ProtocolViolation(`a message of ${length} bytes announced`);
      }
      const next = position + 1 + length;
      if (next > end) break;
      this.#read(chunk[position]!, chunk, position + 5, next);
      position = next;
    }
    return position;
  }

  #keep(chunk: Buffer, position: number, end: number): void {
    const remainder = end - position;
    if (remainder === 0) {
      if (this.#store.length > smallStore) this.#store = Buffer.allocUnsafeSlow(smallStore);
      return;
    }
    if (chunk === this.#store) {
      if (position > 0) this.#store.copyWithin(0, position, end);
    } else {
      this.#grow(remainder);
      chunk.copy(this.#store, 0, position, end);
    }
    this.#held = remainder;
  }

  /** Room for `size` bytes, and at once for the whole of the message that is coming, when its length is known. */
  #grow(size: number): void {
    if (size <= this.#store.length) return;
    const announced = this.#held >= 5 ? this.#store.readInt32BE(1) + 1 : 0;
    const larger = Buffer.allocUnsafeSlow(Math.max(size, announced + smallStore, this.#store.length * 2));
    this.#store.copy(larger, 0, 0, this.#held);
    this.#store = larger;
  }
}

/**
 * A DataRow has to end where its message ends; `start` is behind the number of its fields.
 * @throws ProtocolViolation when a length cannot be true, so that no reader ever looks beyond its row
 */
export function validateDataRow(chunk: Buffer, start: number, end: number, fields: number): void {
  let position = start;
  for (let field = 0; field < fields; field++) {
    const length =
      (chunk[position]! << 24) | (chunk[position + 1]! << 16) | (chunk[position + 2]! << 8) | chunk[position + 3]!;
    if (length < -1) throw new ProtocolViolation(`a field of ${length} bytes`);
    position += length > 0 ? length + 4 : 4;
    if (position > end) break;
  }
  if (position !== end) throw new ProtocolViolation('a row whose fields do not fill it');
}
