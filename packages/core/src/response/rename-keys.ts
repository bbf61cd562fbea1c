import { ColumnMismatch } from '../postgres/port.ts';
import type { NamedType } from '../endpoints/named-type.ts';
import type { ByteBuffer } from './byte-buffer.ts';
import { writeVerbatim } from './json-text.ts';

/**
 * Which keys of PostgreSQL's own JSON of a composite are renamed, and where: by the type, so that json inside of a
 * composite is left alone. Arrays of any depth have the shape of their elements.
 */
export interface KeyShape {
  readonly fields: readonly FieldShape[];
}

interface FieldShape {
  /** With its quotes and colon, as PostgreSQL writes it. */
  readonly before: Buffer;
  /** What stands there instead. */
  readonly after: Buffer;
  /** The shape of the value; null where nothing changes. */
  readonly shape: KeyShape | null;
}

/** Null when `to_json` gives the right keys by itself. */
export function keyShape(type: NamedType): KeyShape | null {
  const composite = elementOf(type);
  if (composite.fields === undefined) return null;
  let changed = false;
  const fields = composite.fields.map((field) => {
    const shape = keyShape(field.type);
    if (field.key !== field.name || shape !== null) changed = true;
    return { before: keyBytes(field.name), after: keyBytes(field.key), shape };
  });
  return changed ? { fields } : null;
}

function keyBytes(key: string): Buffer {
  return Buffer.from(`${JSON.stringify(key)}:`);
}

function elementOf(type: NamedType): NamedType {
  return type.element === undefined ? type : elementOf(type.element);
}

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const comma = 0x2c;

/**
 * Writes JSON that PostgreSQL made of a composite or an array of them, with other keys. The input is PostgreSQL's own
 * and well-formed; whatever is not a key that changes is copied as it is.
 */
export class KeyRenamer {
  readonly #shape: KeyShape;

  constructor(shape: KeyShape) {
    this.#shape = shape;
  }

  write(out: ByteBuffer, chunk: Uint8Array, start: number, end: number): void {
    // The writer looks no further than the value: a view keeps it inside.
    const value = chunk.subarray(start, end);
    writeValue(out, value, 0, this.#shape);
  }
}

/** Writes one value and returns where it ends. */
function writeValue(out: ByteBuffer, chunk: Uint8Array, start: number, shape: KeyShape | null): number {
  const first = chunk[start];
  if (shape !== null && first === openBrace) return writeObject(out, chunk, start, shape);
  if (shape !== null && first === openBracket) return writeArray(out, chunk, start, shape);
  const stop = endOfValue(chunk, start);
  writeVerbatim(out, chunk, start, stop);
  return stop;
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

/** The fields of a composite come in the order of its type, each of them once. */
function writeObject(out: ByteBuffer, chunk: Uint8Array, start: number, shape: KeyShape): number {
  out.byte(openBrace);
  let position = start + 1;
  for (const [index, field] of shape.fields.entries()) {
    if (index > 0) position = writeComma(out, chunk, position);
    position = pastKey(chunk, position, field.before);
    out.append(field.after);
    position = writeValue(out, chunk, position, field.shape);
  }
  if (chunk[position] !== closeBrace) throw typeChanged('its end', chunk, position);
  out.byte(closeBrace);
  return position + 1;
}

function writeComma(out: ByteBuffer, chunk: Uint8Array, position: number): number {
  if (chunk[position] !== comma) throw typeChanged('one more field', chunk, position);
  out.byte(comma);
  return position + 1;
}

/** The key is compared: a value must not go out under a name that is not its own. */
function pastKey(chunk: Uint8Array, start: number, key: Uint8Array): number {
  for (let index = 0; index < key.length; index++)
    if (chunk[start + index] !== key[index]) throw typeChanged(Buffer.from(key).toString(), chunk, start);
  return start + key.length;
}

const keyAhead = /^,?"(?:[^"\\]|\\.)*":/;

/** A composite type that is altered gives other fields at once, while the plan still has the old ones. */
function typeChanged(wanted: string, chunk: Uint8Array, position: number): ColumnMismatch {
  // A key may be told, a value may not.
  const ahead = Buffer.from(chunk.subarray(position, position + 1_000)).toString();
  const came = keyAhead.exec(ahead)?.[0] ?? (ahead.startsWith('}') ? 'its end' : 'something else');
  return new ColumnMismatch(
    `a composite type is not what it was when the catalog was read: ${wanted} was wanted, ${came} came`,
  );
}

function endOfValue(chunk: Uint8Array, start: number): number {
  let depth = 0;
  let position = start;
  while (position < chunk.length) {
    const byte = chunk[position]!;
    if (byte === quote) {
      position = endOfString(chunk, position);
      continue;
    }
    if (byte === openBrace || byte === openBracket) depth++;
    else if (byte === closeBrace || byte === closeBracket) depth--;
    if (depth < 0 || (depth === 0 && byte === comma)) return position;
    position++;
  }
  return position;
}

function endOfString(chunk: Uint8Array, start: number): number {
  let position = start + 1;
  while (position < chunk.length && chunk[position] !== quote) position += chunk[position] === backslash ? 2 : 1;
  return Math.min(position + 1, chunk.length);
}
