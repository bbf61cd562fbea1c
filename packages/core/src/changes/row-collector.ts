import type { ResultColumn } from '../endpoints/endpoint.ts';
import { validateDataRow } from '../postgres/message-parser.ts';
import type { RowSink } from '../postgres/port.ts';
import { ByteBuffer } from '../response/byte-buffer.ts';
import { objectWriter, type RowWriter } from '../response/rows.ts';

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

/** The first byte of a DataRow message, and the bytes before its fields: the type, the length and the number of fields. */
const dataRow = 0x44;
const headerLength = 7;

/** The rows have more bytes than the limit, as PostgreSQL sends them or as JSON. */
export class RowsTooLarge extends Error {
  override readonly name = 'RowsTooLarge';
}

/** Collects the rows of a lookup as PostgreSQL sends them, and writes them as JSON with the writers of responses. */
export class RowCollector implements RowSink {
  readonly #keys: readonly ResultColumn[];
  readonly #columns: readonly ResultColumn[];
  readonly #hasNumbers: boolean;
  readonly #maxBytes: number;
  /** Messages of the protocol. */
  readonly #messages = new ByteBuffer(1024);
  #isTooLarge = false;

  /** @param hasNumbers whether the number and the columns of the key precede those of the row */
  constructor(
    { keys, columns }: { readonly keys: readonly ResultColumn[]; readonly columns: readonly ResultColumn[] },
    hasNumbers: boolean,
    maxBytes: number,
  ) {
    this.#keys = keys;
    this.#columns = columns;
    this.#hasNumbers = hasNumbers;
    this.#maxBytes = maxBytes;
  }

  row(chunk: Uint8Array, offset: number, fields: number): boolean {
    let end = offset;
    for (let field = 0; field < fields; field++) end += 4 + Math.max(readLength(chunk, end), 0);
    const header = Buffer.alloc(headerLength);
    header[0] = dataRow;
    header.writeInt32BE(end - offset + headerLength - 1, 1);
    header.writeInt16BE(fields, headerLength - 2);
    this.#append(header);
    this.#append(chunk.subarray(offset, end));
    return true;
  }

  rowMessages(messages: Uint8Array): number {
    this.#append(messages);
    return messages.length;
  }

  #append(bytes: Uint8Array): void {
    if (this.#isTooLarge) return;
    this.#messages.append(bytes);
    if (this.#messages.length <= this.#maxBytes) return;
    this.#isTooLarge = true;
    this.release();
  }

  /** The rows as PostgreSQL has sent them. They end with `take` and `release`. @throws RowsTooLarge */
  get bytes(): Buffer {
    this.#assertSize(this.#messages.length);
    return this.#messages.buffer.subarray(0, this.#messages.length);
  }

  /** Drops the rows. */
  release(): void {
    this.#messages.take(0).memory?.release();
  }

  /** Returns the rows by the number of their key, from 1 on. @throws RowsTooLarge, the error of a writer */
  take(): ReadonlyMap<number, CollectedRow> {
    const out = new ByteBuffer(this.bytes.length);
    const messages = this.#messages.take(0);
    try {
      const rows = this.#write(out, messages.bytes);
      const copy = Buffer.from(out.buffer.subarray(0, out.length));
      return new Map(
        rows.map(({ number, start, keyEnd, end }) => [
          number,
          { key: copy.subarray(start, keyEnd), record: copy.subarray(keyEnd, end) },
        ]),
      );
    } finally {
      out.take(0).memory?.release();
      messages.memory?.release();
    }
  }

  #assertSize(bytes: number): void {
    if (this.#isTooLarge || bytes > this.#maxBytes) throw new RowsTooLarge();
  }

  #write(out: ByteBuffer, messages: Buffer): readonly RowPosition[] {
    const rows: RowPosition[] = [];
    const [writeKey, writeRecord] = [writerOf(this.#keys), writerOf(this.#columns)];
    const keyCount = this.#keys.length;
    for (let at = 0, next = 0; at < messages.length; at = next) {
      next = at + 1 + readLength(messages, at + 1);
      const [fields, offset] = [messages.readInt16BE(at + headerLength - 2), at + headerLength];
      validateDataRow(messages, offset, next, fields);
      const start = out.length;
      if (!this.#hasNumbers) {
        writeRecord(out, messages, offset, fields);
        this.#assertSize(out.length);
        rows.push({ number: rows.length, start, keyEnd: start, end: out.length });
        continue;
      }
      const numberLength = readLength(messages, offset);
      const number = parseDigits(messages, offset + 4, numberLength);
      const keyAt = offset + 4 + numberLength;
      let recordAt = keyAt;
      for (let index = 0; index < keyCount; index++) recordAt += 4 + Math.max(readLength(messages, recordAt), 0);
      writeKey(out, messages, keyAt, keyCount);
      const keyEnd = out.length;
      writeRecord(out, messages, recordAt, fields - 1 - keyCount);
      this.#assertSize(out.length);
      rows.push({ number, start, keyEnd, end: out.length });
    }
    return rows;
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
