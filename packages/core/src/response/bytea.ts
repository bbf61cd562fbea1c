import type { ByteBuffer } from './byte-buffer.ts';
import { readFirstField } from './rows.ts';

const backslash = 0x5c;
const letterX = 0x78;
const zero = 0x30;

/**
 * Writes the bytes of a bytea value in hex or escape format (PostgreSQL manual, section 8.4): a routine may have changed
 * `bytea_output`.
 * @throws Error for text in neither format; nothing is written then
 */
export function writeBytea(out: ByteBuffer, chunk: Uint8Array, offset: number): void {
  const field = readFirstField(chunk, offset);
  if (field === null) return;
  // Escape format has a backslash only before another one or an octal number, so `\x` means hex.
  const isHex = field[0] === backslash && field[1] === letterX;
  out.length += isHex ? writeHex(out, field) : writeEscape(out, field);
}

/** Decodes `\x` and two hexadecimal digits per byte. Returns the number of bytes written past the end of `out`. */
function writeHex(out: ByteBuffer, field: Uint8Array): number {
  const digits = Buffer.from(field.buffer, field.byteOffset + 2, field.length - 2);
  const size = digits.length / 2;
  out.reserve(size);
  // Node stops at the first pair that is not hexadecimal.
  if (out.buffer.write(digits.toString('latin1'), out.length, 'hex') !== size) throw invalidBytea();
  return size;
}

/** Decodes escape format: `\\` for a backslash, `\ooo` for bytes that are not printable. Returns what `writeHex` does. */
function writeEscape(out: ByteBuffer, field: Uint8Array): number {
  out.reserve(field.length);
  const target = out.buffer;
  let at = out.length;
  for (let position = 0; position < field.length; position++) {
    const byte = field[position]!;
    if (byte !== backslash) {
      target[at++] = byte;
    } else if (field[position + 1] === backslash) {
      target[at++] = backslash;
      position++;
    } else {
      target[at++] = octal(field, position + 1);
      position += 3;
    }
  }
  return at - out.length;
}

/** Returns the byte of three octal digits. */
function octal(field: Uint8Array, start: number): number {
  let byte = 0;
  for (let position = start; position < start + 3; position++) {
    const digit = (field[position] ?? 0) - zero;
    if (digit < 0 || digit > 7) throw invalidBytea();
    byte = byte * 8 + digit;
  }
  if (byte > 255) throw invalidBytea();
  return byte;
}

function invalidBytea(): Error {
  return new Error('PostgreSQL returned a bytea value that is neither in hex nor in escape format');
}
