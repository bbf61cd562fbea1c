import { isUtf8 } from 'node:buffer';

/** Characters of a cell (UTF-16 code units). */
const maxCellLength = 32_767;

const rowStart = Buffer.from('<row r="');
const rowMiddle = Buffer.from('">');
const rowEnd = Buffer.from('</row>');

/** By byte: 1 for those that are not themselves in text of XML, or that U+FFFE and U+FFFF begin with; 2 for the beginning of `_xHHHH_`. */
const special: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte === 0x5f) return 2;
  return (byte < 0x20 && byte !== 0x09 && byte !== 0x0a) || [0x26, 0x3c, 0x3e, 0xef].includes(byte) ? 1 : 0;
});

/** XML in UTF-8 that grows as it is written. */
export class XmlBuffer {
  #bytes: Buffer;
  readonly #size: number;
  length = 0;

  /** @param size the expected length, in bytes */
  constructor(size: number) {
    this.#size = size;
    this.#bytes = Buffer.allocUnsafe(Math.min(size, 4096));
  }

  /** Begins a row. @returns the digits of its number, which the references of its cells end with */
  beginRow(row: number): Buffer {
    const number = Buffer.from(String(row));
    this.append(rowStart);
    this.append(number);
    this.append(rowMiddle);
    return number;
  }

  endRow(): void {
    this.append(rowEnd);
  }

  append(bytes: Uint8Array): void {
    const { length } = bytes;
    this.#reserve(length);
    // A loop is faster than `set` for a few bytes.
    const target = this.#bytes;
    let at = this.length;
    if (length > 48) target.set(bytes, at);
    else for (let index = 0; index < length; index++) target[at++] = bytes[index]!;
    this.length += length;
  }

  text(text: string): void {
    this.append(Buffer.from(text));
  }

  /**
   * Writes UTF-8 as the text of a cell: characters that XML cannot contain are `_xHHHH_` (ECMA-376, part 1, 22.9.2.19).
   * @returns false for a text that is longer than a cell
   */
  cellText(value: Uint8Array): boolean {
    const { length } = value;
    // A character of UTF-8 has at most three bytes for each code unit.
    if (length > maxCellLength && (length > maxCellLength * 3 || utf16Length(value) > maxCellLength)) return false;
    let isPlain = true;
    let isAscii = true;
    for (let index = 0; index < length; index++) {
      const byte = value[index]!;
      if (byte > 0x7f) isAscii = false;
      const kind = special[byte]!;
      if (kind === 1 || (kind === 2 && value[index + 1] === 0x78)) isPlain = false;
    }
    if (isPlain && (isAscii || isUtf8(value))) this.append(value);
    else this.text(escapeText(Buffer.from(value.buffer, value.byteOffset, length).toString()));
    return true;
  }

  /** Returns the bytes, and begins again. They are valid until the next one is written. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.length);
    this.length = 0;
    // The memory of an exceptionally long piece is not held until the end.
    if (this.#bytes.length > this.#size * 2) this.#bytes = Buffer.allocUnsafe(this.#size);
    return taken;
  }

  #reserve(more: number): void {
    const needed = this.length + more;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.length);
    this.#bytes = larger;
  }
}

/** Returns the length of UTF-8 in UTF-16 code units. */
function utf16Length(value: Uint8Array): number {
  let length = 0;
  for (const byte of value) {
    // Bytes that continue a character do not count; a character of four bytes is two code units.
    if ((byte & 0xc0) !== 0x80) length += byte >= 0xf0 ? 2 : 1;
  }
  return length;
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Returns text for the content of an element or an attribute in double quotes. */
export function escapeXml(text: string): string {
  return text.replaceAll(/[&<>]/g, (char) => entities[char]!).replaceAll('"', '&quot;');
}

// The escape of a character begins with the underscore that would complete `_xHHHH` before it.
const escaped =
  // oxlint-disable-next-line no-control-regex
  /[&<>]|[\u0000-\u0008\u000b-\u001f\ufffe\uffff]|_(?=x[\dA-Fa-f]{4}[_\u0000-\u0008\u000b-\u001f\ufffe\uffff])/g;

export function escapeText(text: string): string {
  return text.replaceAll(
    escaped,
    (char) => entities[char] ?? `_x${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
  );
}
