import { ColumnMismatch } from '../postgres/port.ts';
import type { NamedType } from '../endpoints/named-type.ts';
import type { ByteBuffer } from './byte-buffer.ts';
import { writeVerbatim } from './json-text.ts';

/**
 * The changes to PostgreSQL's JSON of a composite type: keys to rename, numbers to write as strings. It follows the type, so that values
 * of the type `json` inside stay as they are. Arrays of any depth have the shape of their elements.
 */
export interface KeyShape {
  /** The fields of a composite; null: a number that becomes a string. */
  readonly fields: readonly FieldShape[] | null;
}

const numberShape: KeyShape = { fields: null };

interface FieldShape {
  /** PostgreSQL's key with quotes and colon. */
  readonly before: Buffer;
  /** The key that replaces it. */
  readonly after: Buffer;
  /** The shape of the value; null: it is copied. */
  readonly shape: KeyShape | null;
}

/** Returns the changes to the JSON of `to_json`; null if there are none. */
export function keyShape(type: NamedType): KeyShape | null {
  const composite = innermostElement(type);
  if (composite.json === 'numberText') return numberShape;
  if (composite.fields === undefined) return null;
  let renames = false;
  const fields = composite.fields.map((field) => {
    const shape = keyShape(field.type);
    if (field.key !== field.name || shape !== null) renames = true;
    return { before: keyBytes(field.name), after: keyBytes(field.key), shape };
  });
  return renames ? { fields } : null;
}

function keyBytes(key: string): Buffer {
  return Buffer.from(`${JSON.stringify(key)}:`);
}

function innermostElement(type: NamedType): NamedType {
  return type.element === undefined ? type : innermostElement(type.element);
}

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const comma = 0x2c;
const minus = 0x2d;
const digits = { first: 0x30, last: 0x39 };

/**
 * Copies PostgreSQL's JSON of a composite or an array, with other keys, and numbers as strings. The input is trusted to be
 * well-formed.
 */
export class KeyRenamer {
  readonly #shape: KeyShape;

  constructor(shape: KeyShape) {
    this.#shape = shape;
  }

  write(out: ByteBuffer, chunk: Uint8Array, start: number, end: number): void {
    // The view keeps the reader inside the value.
    const value = chunk.subarray(start, end);
    writeValue(out, value, 0, this.#shape);
  }
}

/** Writes one value and returns its end. */
function writeValue(out: ByteBuffer, chunk: Uint8Array, start: number, shape: KeyShape | null): number {
  const first = chunk[start];
  if (shape !== null && first === openBracket) return writeArray(out, chunk, start, shape);
  if (shape !== null && shape.fields !== null && first === openBrace)
    return writeObject(out, chunk, start, shape.fields);
  const stop = findValueEnd(chunk, start);
  // `null` is not a number, and `NaN` and `Infinity` are strings already.
  if (shape?.fields === null && isNumberStart(first)) writeNumberText(out, chunk, start, stop);
  else writeVerbatim(out, chunk, start, stop);
  return stop;
}

function isNumberStart(byte: number | undefined): boolean {
  return byte === minus || (byte !== undefined && byte >= digits.first && byte <= digits.last);
}

function writeNumberText(out: ByteBuffer, chunk: Uint8Array, start: number, end: number): void {
  out.byte(quote);
  writeVerbatim(out, chunk, start, end);
  out.byte(quote);
}

function writeArray(out: ByteBuffer, chunk: Uint8Array, start: number, shape: KeyShape): number {
  out.byte(openBracket);
  let position = start + 1;
  let isFirst = true;
  while (chunk[position] !== closeBracket) {
    if (!isFirst) position = writeComma(out, chunk, position);
    position = writeValue(out, chunk, position, shape);
    isFirst = false;
  }
  out.byte(closeBracket);
  return position + 1;
}

/** Writes an object: its fields are those of the type, in order. */
function writeObject(out: ByteBuffer, chunk: Uint8Array, start: number, fields: readonly FieldShape[]): number {
  out.byte(openBrace);
  let position = start + 1;
  for (const [index, field] of fields.entries()) {
    if (index > 0) position = writeComma(out, chunk, position);
    position = expectKey(chunk, position, field.before);
    out.append(field.after);
    position = writeValue(out, chunk, position, field.shape);
  }
  if (chunk[position] !== closeBrace) throw columnMismatch('its end', chunk, position);
  out.byte(closeBrace);
  return position + 1;
}

function writeComma(out: ByteBuffer, chunk: Uint8Array, position: number): number {
  if (chunk[position] !== comma) throw columnMismatch('one more field', chunk, position);
  out.byte(comma);
  return position + 1;
}

/** Returns the end of the key. A different key would send the value under a wrong name. */
function expectKey(chunk: Uint8Array, start: number, key: Uint8Array): number {
  for (let index = 0; index < key.length; index++)
    if (chunk[start + index] !== key[index]) throw columnMismatch(Buffer.from(key).toString(), chunk, start);
  return start + key.length;
}

const keyAhead = /^,?"(?:[^"\\]|\\.)*":/;

/** Values of an altered composite type have the new fields at once, before the catalog is read again. */
function columnMismatch(expected: string, chunk: Uint8Array, position: number): ColumnMismatch {
  // The message quotes a key, never a value.
  const ahead = Buffer.from(chunk.subarray(position, position + 1_000)).toString();
  const found = keyAhead.exec(ahead)?.[0] ?? (ahead.startsWith('}') ? 'its end' : 'something else');
  return new ColumnMismatch(
    `a composite type has changed since the catalog was read: expected ${expected}, found ${found}`,
  );
}

function findValueEnd(chunk: Uint8Array, start: number): number {
  let depth = 0;
  let position = start;
  while (position < chunk.length) {
    const byte = chunk[position]!;
    if (byte === quote) {
      position = findStringEnd(chunk, position);
      continue;
    }
    if (byte === openBrace || byte === openBracket) depth++;
    else if (byte === closeBrace || byte === closeBracket) depth--;
    if (depth < 0 || (depth === 0 && byte === comma)) return position;
    position++;
  }
  return position;
}

function findStringEnd(chunk: Uint8Array, start: number): number {
  let position = start + 1;
  while (position < chunk.length && chunk[position] !== quote) position += chunk[position] === backslash ? 2 : 1;
  return Math.min(position + 1, chunk.length);
}
