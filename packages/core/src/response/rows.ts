import type { ResultColumn } from '../endpoints/endpoint.ts';
import type { ByteBuffer } from './byte-buffer.ts';
import {
  writeBoolean,
  writeNumber,
  writeString,
  writeTimestamp,
  writeTimestamptz,
  writeVerbatim,
} from './json-text.ts';
import { type KeyShape, keyShape, KeyRenamer } from './rename-keys.ts';
import { RowPlan } from './row-encoder.ts';
import type { RowSink } from '../postgres/port.ts';

/** Writes one field of a `DataRow` message as JSON. */
type FieldWriter = (out: ByteBuffer, chunk: Uint8Array, start: number, end: number) => void;

/** Writes one row. `offset` is the length of the first field in a `DataRow` message. */
export type RowWriter = (out: ByteBuffer, chunk: Uint8Array, offset: number, fields: number) => void;

const nullBytes = Buffer.from('null');
const nothing = Buffer.alloc(0);
const closeBrace = 0x7d;

function fieldWriter({ type }: ResultColumn): FieldWriter {
  switch (type.json) {
    case 'number':
      return writeNumber;
    case 'boolean':
      return writeBoolean;
    case 'timestamp':
      return writeTimestamp;
    case 'timestamptz':
      return writeTimestamptz;
    case 'json':
      return writeVerbatim;
    case 'converted':
      return convertedWriter(keyShape(type));
    // Digits need no escapes, and are few.
    case 'numberText':
    case 'string':
      return writeString;
  }
}

function convertedWriter(shape: KeyShape | null): FieldWriter {
  if (shape === null) return writeVerbatim;
  const renamer = new KeyRenamer(shape);
  return (out, chunk, start, end) => renamer.write(out, chunk, start, end);
}

/** Returns the length of the field at an offset; -1 for NULL. */
export function fieldLength(chunk: Uint8Array, at: number): number {
  return (chunk[at]! << 24) | (chunk[at + 1]! << 16) | (chunk[at + 2]! << 8) | chunk[at + 3]!;
}

function objectPrefixes(columns: readonly ResultColumn[]): readonly Buffer[] {
  return columns.map(({ key }, index) => Buffer.from(`${index === 0 ? '{' : ','}${JSON.stringify(key)}:`));
}

/** Returns what `objectWriter` writes, as a plan for many rows; null: not possible for these columns. */
export function objectPlan(columns: readonly ResultColumn[]): RowPlan | null {
  return columns.length === 0 ? null : new RowPlan(columns, objectPrefixes(columns), Buffer.from('}'));
}

/** Returns what `valueWriter` writes, as a plan for many rows. */
export function valuePlan(column: ResultColumn): RowPlan {
  return new RowPlan([column], [nothing], nothing);
}

/** Returns a writer of rows as JSON objects: `{"key":value,…}`. */
export function objectWriter(columns: readonly ResultColumn[]): RowWriter {
  const writers = columns.map((column) => fieldWriter(column));
  const keys = objectPrefixes(columns);
  const none = Buffer.from('{}');
  return (out, chunk, offset, fields) => {
    if (fields === 0) return out.append(none);
    let position = offset;
    for (let index = 0; index < fields; index++) {
      const length = fieldLength(chunk, position);
      position += 4;
      writeVerbatim(out, keys[index]!, 0, keys[index]!.length);
      if (length === -1) {
        out.append(nullBytes);
        continue;
      }
      writers[index]!(out, chunk, position, position + length);
      position += length;
    }
    out.byte(closeBrace);
  };
}

/** Returns a writer of the first field as a JSON value. */
export function valueWriter(column: ResultColumn): RowWriter {
  const write = fieldWriter(column);
  return (out, chunk, offset) => {
    const length = fieldLength(chunk, offset);
    if (length === -1) out.append(nullBytes);
    else write(out, chunk, offset + 4, offset + 4 + length);
  };
}

/** The bytes of the first field; null for NULL. */
export function readFirstField(chunk: Uint8Array, offset: number): Uint8Array | null {
  const length = fieldLength(chunk, offset);
  return length === -1 ? null : chunk.subarray(offset + 4, offset + 4 + length);
}

/** Whether the first field of a row is NULL. */
export function isFirstFieldNull(chunk: Uint8Array, offset: number): boolean {
  return fieldLength(chunk, offset) === -1;
}

/** The bytes of each field; null for NULL. */
export function readFields(chunk: Uint8Array, offset: number, count: number): readonly (Uint8Array | null)[] {
  const fields: (Uint8Array | null)[] = [];
  let position = offset;
  for (let index = 0; index < count; index++) {
    const length = fieldLength(chunk, position);
    position += 4;
    fields.push(length === -1 ? null : chunk.subarray(position, position + length));
    if (length > 0) position += length;
  }
  return fields;
}

/** Passes rows on and counts them, those that the response leaves out too. */
export class RowCounter implements RowSink {
  readonly #next: Required<Pick<RowSink, 'row' | 'chunkEnd'>>;
  rows = 0;

  constructor(next: Required<Pick<RowSink, 'row' | 'chunkEnd'>>) {
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
