import type { ResultColumn, RawFormat } from '../endpoints/endpoint.ts';
import { ByteBuffer } from './byte-buffer.ts';
import { keyShape, KeyRenamer } from './rename-keys.ts';
import { readFields, type RowWriter } from './rows.ts';

const quote = 0x22;

/** Writes text between double quotes, inner ones doubled. */
function writeQuoted(out: ByteBuffer, field: Uint8Array): void {
  out.reserve(field.length * 2 + 2);
  const target = out.buffer;
  let at = out.length;
  target[at++] = quote;
  for (const byte of field) {
    if (byte === quote) target[at++] = quote;
    target[at++] = byte;
  }
  target[at++] = quote;
  out.length = at;
}

function isPlain({ type }: ResultColumn): boolean {
  return type.json === 'number' || type.json === 'boolean';
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

/** The values of a row as PostgreSQL's text, NULL as nothing. With a separator, all but numbers and booleans are quoted. */
export function rawWriter(columns: readonly ResultColumn[], raw: RawFormat): RowWriter {
  const separator = Buffer.from(raw.separator ?? '');
  const bare = columns.map((column) => raw.separator === null || isPlain(column));
  return (out, chunk, offset, count) => {
    let index = 0;
    for (const field of readFields(chunk, offset, count)) {
      if (index > 0) out.append(separator);
      // A column that the plan does not know is text.
      if (field !== null) {
        if (bare[index] ?? raw.separator === null) out.append(field);
        else writeQuoted(out, field);
      }
      index++;
    }
  };
}

/** The first line of a raw answer: the columns' own names, in quotes. */
export function rawHeaderRow(columns: readonly ResultColumn[], raw: RawFormat): Buffer {
  if (!raw.columnNames) return Buffer.alloc(0);
  return Buffer.from(columns.map(({ name }) => quoted(name)).join(raw.separator ?? ''));
}

/** The heading line of RFC 4180, with the converted names. */
export function csvHeaderRow(columns: readonly ResultColumn[]): Buffer {
  return Buffer.from(
    `${columns.map(({ key }) => (/[",\r\n]/.test(key) || key === '' ? quoted(key) : key)).join(',')}\n`,
  );
}

const booleans = { true: Buffer.from('true'), false: Buffer.from('false') };

/** A row of RFC 4180: quotes where they are needed; NULL is nothing, and an empty text is `""`. */
export function csvWriter(columns: readonly ResultColumn[]): RowWriter {
  const texts = columns.map(csvText);
  return (out, chunk, offset, count) => {
    let index = 0;
    for (const field of readFields(chunk, offset, count)) {
      if (index > 0) out.byte(0x2c);
      if (field !== null) {
        const text = texts[index]?.(field) ?? field;
        if (needsQuotes(text)) writeQuoted(out, text);
        else out.append(text);
      }
      index++;
    }
  };
}

type Text = (field: Uint8Array) => Uint8Array;

/** What a value of the column is in CSV; null: PostgreSQL's own text. The JSON of a composite has the keys that it has everywhere. */
function csvText({ type }: ResultColumn): Text | null {
  if (type.json === 'boolean') return (field) => booleans[field[0] === 0x74 ? 'true' : 'false'];
  const shape = type.json === 'converted' ? keyShape(type) : null;
  if (shape === null) return null;
  const rekeyer = new KeyRenamer(shape);
  return (field) => {
    const json = new ByteBuffer(field.length);
    rekeyer.write(json, field, 0, field.length);
    return json.take(0);
  };
}

/** Comma, quote, line ends; and what a reader would take for NULL. */
function needsQuotes(field: Uint8Array): boolean {
  if (field.length === 0) return true;
  for (const byte of field) if (byte === 0x2c || byte === quote || byte === 0x0a || byte === 0x0d) return true;
  return false;
}
