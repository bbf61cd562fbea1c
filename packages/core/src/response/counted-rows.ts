import type { RowSink } from '../postgres/port.ts';

/** Passes rows on and counts them: an answer may have no use for a row that something depends on. */
export class CountedRows implements RowSink {
  readonly #next: Required<RowSink>;
  rows = 0;

  constructor(next: Required<RowSink>) {
    this.#next = next;
  }

  row(chunk: Uint8Array, offset: number, fields: number): boolean {
    this.rows++;
    return this.#next.row(chunk, offset, fields);
  }

  chunkEnd(): boolean {
    return this.#next.chunkEnd();
  }
}
