import type { ByteBuffer } from './byte-buffer.ts';

/** By byte: 0 if JSON needs no escape, 1 for `\u00XX`, else the letter after the backslash (RFC 8259, section 7). */
const escapes: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => (byte < 0x20 ? 1 : 0));
for (const [byte, letter] of [
  [0x08, 'b'],
  [0x09, 't'],
  [0x0a, 'n'],
  [0x0c, 'f'],
  [0x0d, 'r'],
  [0x22, '"'],
  [0x5c, '\\'],
] as const) {
  escapes[byte] = letter.charCodeAt(0);
}

const hexadecimal = Buffer.from('0123456789abcdef');
/** Up to this many bytes, reserving for the worst case is faster than counting escapes. */
const shortText = 1024;

/** Writes UTF-8 text as a JSON string with the escapes of PostgreSQL's `to_json`. */
export function writeString(out: ByteBuffer, chunk: Uint8Array, start: number, end: number): void {
  const size = end - start;
  out.reserve(2 + (size <= shortText ? size * 6 : escapedSize(chunk, start, end)));
  const target = out.buffer;
  let at = out.length;
  target[at++] = 0x22;
  for (let position = start; position < end; position++) {
    const byte = chunk[position]!;
    const escape = escapes[byte]!;
    if (escape === 0) {
      target[at++] = byte;
    } else {
      at = writeEscape(target, at, byte, escape);
    }
  }
  target[at++] = 0x22;
  out.length = at;
}

function writeEscape(target: Uint8Array, start: number, byte: number, escape: number): number {
  let at = start;
  target[at++] = 0x5c;
  if (escape !== 1) {
    target[at++] = escape;
    return at;
  }
  target[at++] = 0x75;
  target[at++] = 0x30;
  target[at++] = 0x30;
  target[at++] = hexadecimal[byte >> 4]!;
  target[at++] = hexadecimal[byte & 15]!;
  return at;
}

function escapedSize(chunk: Uint8Array, start: number, end: number): number {
  let size = end - start;
  for (let position = start; position < end; position++) {
    const escape = escapes[chunk[position]!]!;
    if (escape !== 0) size += escape === 1 ? 5 : 1;
  }
  return size;
}

/** Copies bytes that are JSON already. */
export function writeVerbatim(out: ByteBuffer, chunk: Uint8Array, start: number, end: number): void {
  const size = end - start;
  out.reserve(size);
  if (size > 64) {
    const bytes = chunk.subarray(start, end);
    out.buffer.set(bytes, out.length);
    // The view's length: it ends with the chunk even if `end` lies behind it.
    out.length += bytes.length;
    return;
  }
  const target = out.buffer;
  let at = out.length;
  for (let position = start; position < end; position++) target[at++] = chunk[position]!;
  out.length = at;
}

/** Writes a number. JSON has no `NaN` and `Infinity`: they become strings. */
export function writeNumber(out: ByteBuffer, chunk: Uint8Array, start: number, end: number): void {
  const last = chunk[end - 1]!;
  // `NaN` and `Infinity` end in a letter.
  if (last > 0x39) writeString(out, chunk, start, end);
  else writeVerbatim(out, chunk, start, end);
}

const trueBytes = Buffer.from('true');
const falseBytes = Buffer.from('false');

export function writeBoolean(out: ByteBuffer, chunk: Uint8Array, start: number, end: number): void {
  out.append(start < end && chunk[start] === 0x74 ? trueBytes : falseBytes);
}

const space = 0x20;
const colon = 0x3a;
const zero = 0x30;

/** Writes PostgreSQL's ISO text of a timestamp as `to_json` does, with a `T` for the first space. */
export function writeTimestamp(out: ByteBuffer, chunk: Uint8Array, start: number, end: number): void {
  out.reserve(end - start + 2);
  const target = out.buffer;
  let at = out.length;
  let isDate = true;
  target[at++] = 0x22;
  for (let position = start; position < end; position++) {
    const byte = chunk[position]!;
    target[at++] = isDate && byte === space ? 0x54 : byte;
    if (byte === space) isDate = false;
  }
  target[at++] = 0x22;
  out.length = at;
}

/** Writes a timestamp with time zone, and adds the minutes to an offset of hours: `…59+00` → `…59+00:00`. */
export function writeTimestamptz(out: ByteBuffer, chunk: Uint8Array, start: number, end: number): void {
  const hoursEnd = findHoursEnd(chunk, start, end);
  if (hoursEnd === -1) return writeTimestamp(out, chunk, start, end);
  writeTimestamp(out, chunk, start, hoursEnd);
  out.reserve(end - hoursEnd + 4);
  const target = out.buffer;
  // Overwrites the closing quote, which follows after the minutes.
  let at = out.length - 1;
  target[at++] = colon;
  target[at++] = zero;
  target[at++] = zero;
  for (let position = hoursEnd; position < end; position++) target[at++] = chunk[position]!;
  target[at++] = 0x22;
  out.length = at;
}

/** Returns the end of an offset that has hours only, else -1. Its sign is the last one in the text. */
function findHoursEnd(chunk: Uint8Array, start: number, end: number): number {
  for (let position = end - 1; position > start; position--) {
    const byte = chunk[position]!;
    // An offset has two digits after the sign.
    if (byte === 0x2b || byte === 0x2d)
      return position + 3 > end || (position + 3 < end && chunk[position + 3] === colon) ? -1 : position + 3;
    // `infinity` has no offset.
    if (byte > 0x60) return -1;
  }
  return -1;
}
