import type { ResultColumn, RawFormat } from '../endpoints/endpoint.ts';
import { ByteBuffer } from './byte-buffer.ts';
import { keyShape, KeyRenamer } from './rename-keys.ts';
import { readFields, type RowWriter } from './rows.ts';

const quote = 0x22;

/** Writes text between double quotes, and doubles the inner ones. */
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

function isUnquoted({ type }: ResultColumn): boolean {
  return type.json === 'number' || type.json === 'numberText' || type.json === 'boolean';
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

/** Returns a writer of PostgreSQL's text, with nothing for NULL. With a separator, all but numbers and booleans are quoted. */
export function rawWriter(columns: readonly ResultColumn[], raw: RawFormat): RowWriter {
  const separator = Buffer.from(raw.separator ?? '');
  const unquoted = columns.map((column) => raw.separator === null || isUnquoted(column));
  return (out, chunk, offset, count) => {
    let index = 0;
    for (const field of readFields(chunk, offset, count)) {
      if (index > 0) out.append(separator);
      // Columns beyond the declared ones are text.
      if (field !== null) {
        if (unquoted[index] ?? raw.separator === null) out.append(field);
        else writeQuoted(out, field);
      }
      index++;
    }
  };
}

/** The header row of a raw response: PostgreSQL's column names, quoted. */
export function rawHeaderRow(columns: readonly ResultColumn[], raw: RawFormat): Buffer {
  if (!raw.columnNames) return Buffer.alloc(0);
  return Buffer.from(columns.map(({ name }) => quoted(name)).join(raw.separator ?? ''));
}

/** The header row of RFC 4180, with the converted names. */
export function csvHeaderRow(columns: readonly ResultColumn[]): Buffer {
  return Buffer.from(
    `${columns.map(({ key }) => (/[",\r\n]/.test(key) || key === '' ? quoted(key) : key)).join(',')}\n`,
  );
}

const booleans = { true: Buffer.from('true'), false: Buffer.from('false') };

/** Returns a writer of RFC 4180 rows, with quotes only where needed. NULL is nothing, an empty text `""`. */
export function csvWriter(columns: readonly ResultColumn[]): RowWriter {
  const converters = columns.map(textConverter);
  return (out, chunk, offset, count) => {
    let index = 0;
    for (const field of readFields(chunk, offset, count)) {
      if (index > 0) out.byte(0x2c);
      if (field !== null) {
        const text = converters[index]?.(field) ?? field;
        if (needsQuotes(text)) writeQuoted(out, text);
        else out.append(text);
      }
      index++;
    }
  };
}

type Converter = (field: Uint8Array) => Uint8Array;

/** Converts values of the column to text for people and tables; null: PostgreSQL's text is used. The JSON of a composite has converted keys. */
export function textConverter({ type }: ResultColumn): Converter | null {
  if (type.json === 'boolean') return (field) => booleans[field[0] === 0x74 ? 'true' : 'false'];
  const shape = type.json === 'converted' ? keyShape(type) : null;
  if (shape === null) return null;
  const renamer = new KeyRenamer(shape);
  return (field) => {
    const json = new ByteBuffer(field.length);
    renamer.write(json, field, 0, field.length);
    return json.take(0).bytes;
  };
}

/** Whether the text has a comma, quote or line end, or is empty, which would read as NULL. */
function needsQuotes(field: Uint8Array): boolean {
  if (field.length === 0) return true;
  for (const byte of field) if (byte === 0x2c || byte === quote || byte === 0x0a || byte === 0x0d) return true;
  return false;
}
