import type { JoinedBody, JoinedRows } from '../http/joined-rows.ts';
import type { RowSink } from '../postgres/port.ts';
import { ByteBuffer } from './byte-buffer.ts';
import { fieldLength, readFields } from './rows.ts';

/** Type and length of a DataRow message, the number of its fields, and the length of the first one. */
const headerBytes = 11;
const none: readonly (string | null)[] = [];

/** Joins the first column of each row to one body, which has a limit, and keeps the other columns of the first row. */
export class JoinedBodySink implements RowSink {
  readonly #form: JoinedRows;
  readonly #onExceeded: () => void;
  readonly #out = new ByteBuffer(0);
  #rows = 0;
  #others: readonly (string | null)[] | null = null;
  #isExceeded = false;

  /** @param onExceeded called once when the body is larger than its limit: further rows are discarded */
  constructor(form: JoinedRows, onExceeded: () => void) {
    this.#form = form;
    this.#onExceeded = onExceeded;
  }

  /** The other columns of the first row; empty without a row. */
  get others(): readonly (string | null)[] {
    return this.#others ?? none;
  }

  get isExceeded(): boolean {
    return this.#isExceeded;
  }

  get heldBytes(): number {
    return this.#out.length;
  }

  row(chunk: Uint8Array, offset: number, fields: number): boolean {
    if (this.#isExceeded) return true;
    const length = fieldLength(chunk, offset);
    this.#others ??=
      fields === 1
        ? none
        : readFields(chunk, offset, fields)
            .slice(1)
            .map((field) => (field === null ? null : Buffer.from(field).toString()));
    this.#add(chunk, offset + 4, length);
    return true;
  }

  /** Takes rows of one column: their texts are most of the messages, whose length is room for the body. */
  rowMessages(messages: Uint8Array): number {
    if (this.#rows === 0) this.#out.reserve(messages.length);
    let position = 0;
    while (position < messages.length && !this.#isExceeded) {
      const text = position + headerBytes;
      const length = fieldLength(messages, text - 4);
      const next = position + 1 + fieldLength(messages, position + 1);
      const hasOneField = messages[position + 5] === 0 && messages[position + 6] === 1;
      // `row` receives other rows, and refuses those whose field does not fill them.
      if (!hasOneField || length < -1 || text + Math.max(length, 0) !== next) return position;
      this.#others ??= none;
      this.#add(messages, text, length);
      position = next;
    }
    return messages.length;
  }

  /** Adds the text of a row. A NULL adds nothing: a result without rows has one row, for its other columns. */
  #add(chunk: Uint8Array, start: number, length: number): void {
    if (length < 0) return;
    const { open, separator, close, maxBytes } = this.#form;
    const isFirst = this.#rows++ === 0;
    if (isFirst) this.#out.append(open);
    const before = isFirst ? 0 : separator.length;
    const size = this.#out.length - open.length + before + length + close.length;
    if (size > maxBytes) {
      this.#isExceeded = true;
      this.#out.take(0).memory?.release();
      this.#onExceeded();
      return;
    }
    if (before > 0) this.#out.append(separator);
    this.#out.append(chunk.subarray(start, start + length));
  }

  /** Returns the body. Called once, after the last row. */
  finish(): JoinedBody {
    const { open, close } = this.#form;
    if (this.#rows === 0) this.#out.append(open);
    this.#out.append(close);
    const { bytes, memory } = this.#out.take(0);
    return { bytes, memory, rows: this.#rows };
  }
}
