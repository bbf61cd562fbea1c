import type { JoinedBody, JoinedRows } from '../http/joined-rows.ts';
import type { RowSink } from '../postgres/port.ts';
import { ByteBuffer } from './byte-buffer.ts';
import { fieldLength, readFields } from './rows.ts';

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
    this.#out.append(form.open);
  }

  /** The other columns of the first row; empty without a row. */
  get others(): readonly (string | null)[] {
    return this.#others ?? [];
  }

  get isExceeded(): boolean {
    return this.#isExceeded;
  }

  row(chunk: Uint8Array, offset: number, fields: number): boolean {
    if (this.#isExceeded) return true;
    const length = fieldLength(chunk, offset);
    this.#others ??=
      fields === 1
        ? []
        : readFields(chunk, offset, fields)
            .slice(1)
            .map((field) => (field === null ? null : Buffer.from(field).toString()));
    // NULL stands for a result without rows, whose other columns count.
    if (length < 0) return true;
    const { open, separator, close, maxBytes } = this.#form;
    const before = this.#rows++ === 0 ? 0 : separator.length;
    const size = this.#out.length - open.length + before + length + close.length;
    if (size > maxBytes) {
      this.#isExceeded = true;
      this.#out.take(0).memory?.release();
      this.#onExceeded();
      return true;
    }
    if (before > 0) this.#out.append(separator);
    this.#out.append(chunk.subarray(offset + 4, offset + 4 + length));
    return true;
  }

  /** Returns the body. Called once, after the last row. */
  finish(): JoinedBody {
    this.#out.append(this.#form.close);
    return { ...this.#out.take(0), rows: this.#rows };
  }
}
