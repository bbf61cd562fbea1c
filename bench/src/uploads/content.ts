import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** The content of a file that is uploaded. It is generated while it is sent, so that no disk slows down the sender. */
export type Content =
  /** A block of random bytes, repeatedly. */
  | { readonly kind: 'random'; readonly bytes: number }
  /** Short rows of five fields, without a heading. */
  | { readonly kind: 'csv'; readonly rows: number }
  /** Rows of 4 KiB in two fields. */
  | { readonly kind: 'wide-csv'; readonly bytes: number }
  | { readonly kind: 'file'; readonly path: string };

interface SizedContent {
  readonly bytes: number;
  readonly chunks: Iterable<Buffer>;
}

const blockBytes = 1024 * 1024;
const wideRowBytes = 4096;

export function openContent(content: Content): SizedContent {
  switch (content.kind) {
    case 'random':
      return repeat(randomBytes(blockBytes), content.bytes);
    case 'csv': {
      const chunks = csvChunks(content.rows);
      return { bytes: chunks.reduce((sum, chunk) => sum + chunk.length, 0), chunks };
    }
    case 'wide-csv':
      return repeat(wideBlock(), content.bytes);
    case 'file': {
      const bytes = readFileSync(content.path);
      return { bytes: bytes.length, chunks: [bytes] };
    }
  }
}

/** Returns the fields of a row of the content `csv`. */
export function csvFields(row: number): readonly string[] {
  return [
    String(9_780_000_000_000 + row),
    `Title of book ${row}`,
    `Author ${row % 1000}`,
    String(1900 + (row % 120)),
    ((row % 5000) / 100).toFixed(2),
  ];
}

function csvChunks(rows: number): readonly Buffer[] {
  const chunks: Buffer[] = [];
  const rowsPerChunk = 2000;
  for (let first = 1; first <= rows; first += rowsPerChunk) {
    const count = Math.min(rowsPerChunk, rows - first + 1);
    const lines = Array.from({ length: count }, (_, index) => `${csvFields(first + index).join(',')}\n`);
    chunks.push(Buffer.from(lines.join('')));
  }
  return chunks;
}

function wideBlock(): Buffer {
  const first = 'a key of a row,';
  const text = 'Some text of a wide field. '.repeat(wideRowBytes);
  const row = `${first}${text.slice(0, wideRowBytes - first.length - 1)}\n`;
  return Buffer.from(row.repeat(blockBytes / wideRowBytes));
}

function repeat(block: Buffer, bytes: number): SizedContent {
  return { bytes, chunks: blocks(block, bytes) };
}

function* blocks(block: Buffer, bytes: number): Iterable<Buffer> {
  for (let rest = bytes; rest > 0; rest -= block.length) yield rest < block.length ? block.subarray(0, rest) : block;
}
