import type { ResultShape, ResultColumn, Endpoint, RawFormat } from '../endpoints/endpoint.ts';
import { writeBytea } from './bytea.ts';
import type { ByteBuffer } from './byte-buffer.ts';
import { csvHeaderRow, csvWriter, rawHeaderRow, rawWriter } from './delimited.ts';
import type { RowFormat } from './negotiate.ts';
import { readFirstField, isFirstFieldNull, objectWriter, type RowWriter, valueWriter } from './rows.ts';

/** What makes the body of an answer out of rows; one is made per endpoint at start and serves all its requests. */
export interface Format {
  readonly contentType: string;
  /** Before the first row, between rows, after the last. */
  readonly open: Uint8Array;
  readonly separator: Uint8Array;
  readonly close: Uint8Array;
  readonly row: RowWriter;
  /** True when there may be many rows, so that they are streamed. */
  readonly hasManyRows: boolean;
  /** Whether a row says nothing, as a NULL where that means no content; null when every row says something. */
  readonly isEmptyRow: ((chunk: Uint8Array, offset: number) => boolean) | null;
  /** What an answer is that no row had anything to say to: an empty body, or no content at all. */
  readonly whenEmpty: 'body' | 'noContent';
}

const json = 'application/json';
const nothing: Uint8Array = new Uint8Array(0);

const single = { open: nothing, separator: nothing, close: nothing, hasManyRows: false, isEmptyRow: null } as const;
const list = {
  open: Buffer.from('['),
  separator: Buffer.from(','),
  close: Buffer.from(']'),
  hasManyRows: true,
  isEmptyRow: null,
} as const;

/** The form that an endpoint answers in by itself: raw where its author wants that, else by the shape of its answer. */
export function selectFormat(endpoint: Endpoint): Format {
  const { result: answer, raw } = endpoint;
  if (raw !== null && answer.kind !== 'nothing') return rawFormat(answer, raw);
  switch (answer.kind) {
    case 'nothing':
      return { ...single, contentType: json, row: () => undefined, isEmptyRow: () => true, whenEmpty: 'noContent' };
    case 'value':
      return valueFormat(answer.column, answer.media, endpoint);
    case 'object':
      return { ...single, contentType: json, row: objectWriter(answer.columns), whenEmpty: 'noContent' };
    case 'objects':
      return { ...list, contentType: json, row: objectWriter(answer.columns), whenEmpty: 'body' };
    case 'values':
      return { ...list, contentType: json, row: valueWriter(answer.column), whenEmpty: 'body' };
    case 'record':
      return { ...single, contentType: json, row: verbatimRow, isEmptyRow: isFirstFieldNull, whenEmpty: 'noContent' };
    case 'records':
      return { ...list, contentType: json, row: verbatimRow, whenEmpty: 'body' };
  }
}

type Rows = Exclude<ResultShape, { readonly kind: 'nothing' }>;

function columnsOf(answer: Rows): readonly ResultColumn[] {
  if ('columns' in answer) return answer.columns;
  return 'column' in answer ? [answer.column] : [];
}

function isMany({ kind }: ResultShape): boolean {
  return kind === 'objects' || kind === 'values' || kind === 'records';
}

function rawFormat(answer: Rows, raw: RawFormat): Format {
  const columns = columnsOf(answer);
  const isRecord = answer.kind === 'record' || answer.kind === 'records';
  const newLine = Buffer.from(raw.newLine ?? '');
  // Of a record whose columns only the call knows, the statement has made the whole line.
  const write = isRecord ? verbatimRow : rawWriter(columns, raw);
  const heading = rawHeaderRow(columns, raw);
  return {
    contentType: json,
    open: heading,
    // After a heading even the first row begins with a new line, so that there is none behind the last.
    separator: heading.length === 0 ? newLine : nothing,
    close: nothing,
    row: heading.length === 0 ? write : after(newLine, write),
    hasManyRows: isMany(answer),
    isEmptyRow: null,
    whenEmpty: 'body',
  };
}

function after(before: Uint8Array, write: RowWriter): RowWriter {
  return (out, chunk, offset, fields) => {
    out.append(before);
    write(out, chunk, offset, fields);
  };
}

/** The forms that a client may ask for instead; none where the author has decided, or where there are no rows. */
export function negotiableFormats(endpoint: Endpoint): Readonly<Partial<Record<RowFormat, Format>>> {
  const { result: answer, raw, contentType } = endpoint;
  if (raw !== null || contentType !== null || answer.kind === 'nothing' || !isMany(answer)) return {};
  const plain = selectFormat(endpoint);
  const ndjson = { ...plain, contentType: 'application/x-ndjson', open: nothing, separator: nothing, close: nothing };
  const lines = { ...ndjson, row: lineWriter(onOneLine(plain.row)) };
  // Of an unknown record nobody knows the heading.
  if (answer.kind === 'records') return { ndjson: lines };
  const columns = columnsOf(answer);
  const csv: Format = {
    ...plain,
    contentType: 'text/csv; charset=utf-8; header=present',
    open: csvHeaderRow(columns),
    separator: nothing,
    close: nothing,
    row: lineWriter(csvWriter(columns)),
  };
  return { ndjson: lines, csv };
}

/** A row and a line feed. */
function lineWriter(write: RowWriter): RowWriter {
  return (out, chunk, offset, fields) => {
    write(out, chunk, offset, fields);
    out.byte(0x0a);
  };
}

/** Text of the type json keeps the line breaks of its author. JSON has them between values only, where a space is as good. */
function onOneLine(write: RowWriter): RowWriter {
  return (out, chunk, offset, fields) => {
    const start = out.length;
    write(out, chunk, offset, fields);
    const { buffer, length } = out;
    for (let position = start; position < length; position++) {
      if (buffer[position] === 0x0a || buffer[position] === 0x0d) buffer[position] = 0x20;
    }
  };
}

/** The statement has made a JSON array of the row. */
function verbatimRow(out: ByteBuffer, chunk: Uint8Array, offset: number): void {
  const field = readFirstField(chunk, offset);
  if (field !== null) out.append(field);
}

function valueFormat(column: ResultColumn, media: 'text' | 'json' | 'bytes', endpoint: Endpoint): Format {
  switch (media) {
    case 'json':
      return { ...single, contentType: json, row: valueWriter(column), whenEmpty: 'noContent' };
    case 'bytes':
      return { ...single, contentType: 'application/octet-stream', row: writeBytea, ...nullIs(endpoint) };
    case 'text':
      return {
        ...single,
        contentType: 'text/plain; charset=utf-8',
        row: textRow(column, endpoint),
        ...nullIs(endpoint),
      };
  }
}

/** An empty text is not NULL: only the latter can be no content. */
function nullIs(endpoint: Endpoint): Pick<Format, 'isEmptyRow' | 'whenEmpty'> {
  return endpoint.textResponseNullHandling === 'noContent'
    ? { isEmptyRow: isFirstFieldNull, whenEmpty: 'noContent' }
    : { isEmptyRow: null, whenEmpty: 'body' };
}

const nullLiteral = Buffer.from('NULL');
const booleans = { true: Buffer.from('true'), false: Buffer.from('false') };

/** PostgreSQL's own text of the value; only booleans are spelled out. */
function textRow(column: ResultColumn, endpoint: Endpoint): RowWriter {
  const boolean = column.type.json === 'boolean';
  return (out, chunk, offset) => {
    const field = readFirstField(chunk, offset);
    if (field === null) {
      if (endpoint.textResponseNullHandling === 'nullLiteral') out.append(nullLiteral);
    } else {
      out.append(boolean ? booleans[field[0] === 0x74 ? 'true' : 'false'] : field);
    }
  };
}
