import type { ByteBuffer } from './byte-buffer.ts';
import { readFirstField } from './rows.ts';

const backslash = 0x5c;
const letterX = 0x78;
const zero = 0x30;

/**
 * Writes the bytes of a bytea value, in whichever form of `bytea_output` it arrives (PostgreSQL manual, 8.4): a routine may have
 * changed the setting for its own call.
 * @throws Error for text that is neither form; nothing is written then
 */
export function writeBytea(out: ByteBuffer, chunk: Uint8Array, offset: number): void {
  const field = readFirstField(chunk, offset);
  if (field === null) return;
  // In escape form every backslash is doubled or begins an octal number: no value begins with `\x`.
  const isHex = field[0] === backslash && field[1] === letterX;
  out.length += isHex ? writeHex(out, field) : writeEscape(out, field);
}

/** `\x` and two hexadecimal digits a byte. Returns how many bytes were written behind the end of `out`. */
function writeHex(out: ByteBuffer, field: Uint8Array): number {
  const digits = Buffer.from(field.buffer, field.byteOffset + 2, field.length - 2);
  const size = digits.length / 2;
  out.reserve(size);
  // Node stops at the first pair that is no number.
  if (out.buffer.write(digits.toString('latin1'), out.length, 'hex') !== size) throw unreadable();
  return size;
}

/** Printable bytes as they are, a backslash doubled, other bytes as `\ooo`. Returns what `writeHex` does. */
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

/** The byte that three octal digits stand for. */
function octal(field: Uint8Array, start: number): number {
  let byte = 0;
  for (let position = start; position < start + 3; position++) {
    const digit = (field[position] ?? 0) - zero;
    if (digit < 0 || digit > 7) throw unreadable();
    byte = byte * 8 + digit;
  }
  if (byte > 255) throw unreadable();
  return byte;
}

function unreadable(): Error {
  return new Error('PostgreSQL gave a bytea value that is neither in hex nor in escape form');
}
