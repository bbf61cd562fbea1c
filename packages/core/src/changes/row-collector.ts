import type { ResultColumn } from '../endpoints/endpoint.ts';
import { ByteBuffer } from '../response/byte-buffer.ts';
import { objectWriter, type RowWriter } from '../response/rows.ts';
import type { RowSink } from '../postgres/port.ts';

/** Groups of one endpoint have the same columns. */
const writers = new WeakMap<readonly ResultColumn[], RowWriter>();

function writerOf(columns: readonly ResultColumn[]): RowWriter {
  let writer = writers.get(columns);
  if (writer === undefined) writers.set(columns, (writer = objectWriter(columns)));
  return writer;
}

/** A row as JSON objects. */
export interface CollectedRow {
  readonly key: Uint8Array;
  readonly record: Uint8Array;
}

interface RowPosition {
  readonly number: number;
  readonly start: number;
  readonly keyEnd: number;
  readonly end: number;
}

/** Writes the rows of a lookup as JSON, with the writers of responses. */
export class RowCollector implements RowSink {
  readonly #keys: readonly ResultColumn[];
  readonly #writeKey: RowWriter;
  readonly #writeRecord: RowWriter;
  readonly #hasNumbers: boolean;
  readonly #maxBytes: number;
  readonly #out = new ByteBuffer(1024);
  readonly #rows: RowPosition[] = [];
  /** The error of a writer; null: none. */
  error: Error | null = null;
  /** Whether the rows have more bytes than the limit. */
  isTooLarge = false;

  /** @param hasNumbers whether the number and the columns of the key precede those of the row */
  constructor(
    { keys, columns }: { readonly keys: readonly ResultColumn[]; readonly columns: readonly ResultColumn[] },
    hasNumbers: boolean,
    maxBytes: number,
  ) {
    this.#keys = keys;
    this.#writeKey = writerOf(keys);
    this.#writeRecord = writerOf(columns);
    this.#hasNumbers = hasNumbers;
    this.#maxBytes = maxBytes;
  }

  row(chunk: Uint8Array, offset: number, fields: number): boolean {
    if (this.isTooLarge || this.error !== null) return true;
    try {
      this.#write(chunk, offset, fields);
      this.isTooLarge = this.#out.length > this.#maxBytes;
    } catch (error) {
      this.error = error instanceof Error ? error : new Error(String(error));
    }
    return true;
  }

  #write(chunk: Uint8Array, offset: number, fields: number): void {
    const start = this.#out.length;
    if (!this.#hasNumbers) {
      this.#writeRecord(this.#out, chunk, offset, fields);
      this.#rows.push({ number: this.#rows.length, start, keyEnd: start, end: this.#out.length });
      return;
    }
    const numberLength = readLength(chunk, offset);
    const number = parseDigits(chunk, offset + 4, numberLength);
    const keyAt = offset + 4 + numberLength;
    const keyCount = this.#keys.length;
    let recordAt = keyAt;
    for (let index = 0; index < keyCount; index++) recordAt += 4 + Math.max(readLength(chunk, recordAt), 0);
    this.#writeKey(this.#out, chunk, keyAt, keyCount);
    const keyEnd = this.#out.length;
    this.#writeRecord(this.#out, chunk, recordAt, fields - 1 - keyCount);
    this.#rows.push({ number, start, keyEnd, end: this.#out.length });
  }

  /** Returns the rows by the number of their key, from 1 on. */
  take(): ReadonlyMap<number, CollectedRow> {
    const { bytes, memory } = this.#out.take(0);
    const copy = Buffer.from(bytes);
    memory?.release();
    return new Map(
      this.#rows.map(({ number, start, keyEnd, end }) => [
        number,
        { key: copy.subarray(start, keyEnd), record: copy.subarray(keyEnd, end) },
      ]),
    );
  }
}

function readLength(chunk: Uint8Array, at: number): number {
  return (chunk[at]! << 24) | (chunk[at + 1]! << 16) | (chunk[at + 2]! << 8) | chunk[at + 3]!;
}

function parseDigits(chunk: Uint8Array, start: number, length: number): number {
  let number = 0;
  for (let index = start; index < start + length; index++) number = number * 10 + (chunk[index]! - 0x30);
  return number;
}
