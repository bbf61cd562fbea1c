import type { ResultShape, ResultColumn, Endpoint, RawFormat } from '../endpoints/endpoint.ts';
import type { RowFormatName } from '../endpoints/row-formats.ts';
import { writeBytea } from './bytea.ts';
import type { ByteBuffer } from './byte-buffer.ts';
import type { HeaderList } from '../http/response.ts';
import { csvHeaderRow, csvWriter, rawHeaderRow, rawWriter } from './delimited.ts';
import { htmlClosing, htmlHeaders, htmlOpening, htmlWriter } from './html.ts';
import { withLargeNumberTexts } from '../endpoints/large-numbers.ts';
import type { RowFormat } from '../ports/row-format.ts';
import { type BodyWriter, documentWriter } from './document.ts';
import { numberTextParameter } from './negotiate.ts';
import type { RowPlan } from './row-encoder.ts';
import {
  readFirstField,
  isFirstFieldNull,
  objectPlan,
  objectWriter,
  type RowWriter,
  valuePlan,
  valueWriter,
} from './rows.ts';

/** Writes a response body from rows. Made once per endpoint, without state. */
export interface Format {
  readonly contentType: string;
  /** Headers that belong to the format; those of the comment replace them. Absent: none. */
  readonly headers?: HeaderList;
  /** Bytes before the first row, between rows, and after the last one. */
  readonly open: Uint8Array;
  readonly separator: Uint8Array;
  readonly close: Uint8Array;
  readonly row: RowWriter;
  /** Begins the body of a response whose rows depend on each other; `row` is then not called. Absent: they do not. */
  readonly begin?: (title: string) => BodyWriter;
  /** The extension of the file that browsers save. Absent: browsers show the body. */
  readonly fileExtension?: string;
  /** The columns for the encoder of many rows, which writes the same bytes as `row` and `separator`; null: rows are written one by one. */
  readonly plan: RowPlan | null;
  /** Whether the result may have many rows, so that it is streamed. */
  readonly hasManyRows: boolean;
  /** Whether a row has no content, as a NULL of `textNull: noContent`; null: every row has. */
  readonly isEmptyRow: ((chunk: Uint8Array, offset: number) => boolean) | null;
  /** The response without rows: 200 with the bytes of `open` and `close`, or 204. */
  readonly whenEmpty: 'body' | 'noContent';
  /** The body without rows, where it is the one of NULL. */
  readonly emptyBody?: Uint8Array;
}

const json = 'application/json';
const nothing: Uint8Array = new Uint8Array(0);

// Frozen: see deep-freeze.ts.
const single = Object.freeze({
  open: nothing,
  separator: nothing,
  close: nothing,
  hasManyRows: false,
  isEmptyRow: null,
  plan: null,
} as const);
const list = Object.freeze({
  open: Buffer.from('['),
  separator: Buffer.from(','),
  close: Buffer.from(']'),
  hasManyRows: true,
  isEmptyRow: null,
  plan: null,
} as const);

/** The writers of JSON objects. Routines that return one named type share its columns. */
const objectWriters = new WeakMap<readonly ResultColumn[], RowWriter>();

function sharedObjectWriter(columns: readonly ResultColumn[]): RowWriter {
  const writer = objectWriters.get(columns) ?? objectWriter(columns);
  objectWriters.set(columns, writer);
  return writer;
}

/** Returns the default format of an endpoint: raw if its comment says so, else by its result shape. */
export function selectFormat(endpoint: Endpoint): Format {
  const { result, raw } = endpoint;
  if (raw !== null && result.kind !== 'nothing') return rawFormat(result, raw);
  switch (result.kind) {
    case 'nothing':
      return { ...single, contentType: json, row: () => undefined, isEmptyRow: () => true, whenEmpty: 'noContent' };
    case 'value':
      return valueFormat(result.column, result.media, endpoint);
    case 'object':
      return { ...single, contentType: json, row: sharedObjectWriter(result.columns), whenEmpty: 'noContent' };
    case 'objects':
      return {
        ...list,
        contentType: json,
        row: sharedObjectWriter(result.columns),
        plan: objectPlan(result.columns),
        whenEmpty: 'body',
      };
    case 'values':
      return {
        ...list,
        contentType: json,
        row: valueWriter(result.column),
        plan: valuePlan(result.column),
        whenEmpty: 'body',
      };
    case 'record':
      return { ...single, contentType: json, row: verbatimRow, isEmptyRow: isFirstFieldNull, whenEmpty: 'noContent' };
    case 'records':
      return { ...list, contentType: json, row: verbatimRow, whenEmpty: 'body' };
  }
}

type RowResult = Exclude<ResultShape, { readonly kind: 'nothing' }>;

function resultColumns(result: RowResult): readonly ResultColumn[] {
  if ('columns' in result) return result.columns;
  return 'column' in result ? [result.column] : [];
}

function isMany({ kind }: ResultShape): boolean {
  return kind === 'objects' || kind === 'values' || kind === 'records';
}

function rawFormat(result: RowResult, raw: RawFormat): Format {
  const columns = resultColumns(result);
  const isRecord = result.kind === 'record' || result.kind === 'records';
  const newLine = Buffer.from(raw.newLine ?? '');
  // The columns of a record are not known: the statement has made the whole line.
  const write = isRecord ? verbatimRow : rawWriter(columns, raw);
  const headerRow = rawHeaderRow(columns, raw);
  return {
    contentType: json,
    open: headerRow,
    // After a header row, each row starts with the new line, so that none stands after the last row.
    separator: headerRow.length === 0 ? newLine : nothing,
    close: nothing,
    row: headerRow.length === 0 ? write : prefixed(newLine, write),
    plan: null,
    hasManyRows: isMany(result),
    isEmptyRow: null,
    whenEmpty: 'body',
  };
}

function prefixed(prefix: Uint8Array, write: RowWriter): RowWriter {
  return (out, chunk, offset, fields) => {
    out.append(prefix);
    write(out, chunk, offset, fields);
  };
}

/** Whether clients can select a format of rows. Not for raw results, for a fixed content type, and for single values. */
export function isNegotiable({ result, raw, contentType }: Endpoint): boolean {
  return raw === null && contentType === null && isMany(result);
}

/** Returns the formats with large numbers as strings. Their media types have the parameter of the `Accept` header. */
export function numberTextFormats(endpoint: Endpoint): Readonly<Partial<Record<RowFormatName, Format>>> {
  const texts = { ...endpoint, result: withLargeNumberTexts(endpoint.result) };
  const { ndjson } = negotiableFormats(texts, []);
  const withParameter = (format: Format): Format => ({
    ...format,
    contentType: `${format.contentType};${numberTextParameter}`,
  });
  return {
    json: withParameter(selectFormat(texts)),
    ...(ndjson === undefined ? {} : { ndjson: withParameter(ndjson) }),
  };
}

/**
 * Returns the formats that a client can select.
 * @param documents the formats that packages add
 */
export function negotiableFormats(
  endpoint: Endpoint,
  documents: readonly RowFormat[],
): Readonly<Partial<Record<RowFormatName, Format>>> {
  const { result } = endpoint;
  if (!isNegotiable(endpoint) || result.kind === 'nothing') return {};
  const jsonFormat = selectFormat(endpoint);
  const ndjson = {
    ...jsonFormat,
    plan: null,
    contentType: 'application/x-ndjson',
    open: nothing,
    separator: nothing,
    close: nothing,
  };
  const lines = { ...ndjson, row: lineWriter(onOneLine(jsonFormat.row)) };
  // A table needs headings, and the columns of a record are not known.
  if (result.kind === 'records') return { ndjson: lines };
  const columns = resultColumns(result);
  const csv: Format = {
    ...jsonFormat,
    plan: null,
    contentType: 'text/csv; charset=utf-8; header=present',
    open: csvHeaderRow(columns),
    separator: nothing,
    close: nothing,
    row: lineWriter(csvWriter(columns)),
  };
  const html: Format = {
    ...csv,
    contentType: 'text/html; charset=utf-8',
    headers: htmlHeaders,
    open: htmlOpening(endpoint.name, columns),
    close: htmlClosing,
    row: htmlWriter(columns),
  };
  return { ndjson: lines, csv, html, ...documentFormats(csv, columns, documents) };
}

function documentFormats(
  rows: Format,
  columns: readonly ResultColumn[],
  documents: readonly RowFormat[],
): Readonly<Partial<Record<RowFormatName, Format>>> {
  return Object.fromEntries(
    documents.map((document) => {
      const { mediaType: contentType, extension: fileExtension } = document;
      const begin = documentWriter(document, columns);
      return [document.name, { ...rows, contentType, fileExtension, open: nothing, begin }];
    }),
  );
}

/** Adds a line feed to each row. */
function lineWriter(write: RowWriter): RowWriter {
  return (out, chunk, offset, fields) => {
    write(out, chunk, offset, fields);
    out.byte(0x0a);
  };
}

/** Replaces line breaks with spaces: values of the type `json` keep those of their input, always between tokens. */
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

/** Writes the first field: the statement has made JSON of the row. */
function verbatimRow(out: ByteBuffer, chunk: Uint8Array, offset: number): void {
  const field = readFirstField(chunk, offset);
  if (field !== null) out.append(field);
}

function valueFormat(column: ResultColumn, media: 'text' | 'json' | 'bytes', endpoint: Endpoint): Format {
  switch (media) {
    case 'json':
      return { ...single, contentType: json, row: valueWriter(column), whenEmpty: 'body', emptyBody: jsonNull };
    case 'bytes':
      return { ...single, contentType: 'application/octet-stream', row: writeBytea, ...nullFormat(endpoint) };
    case 'text':
      return {
        ...single,
        contentType: 'text/plain; charset=utf-8',
        row: textRow(column, endpoint),
        ...nullFormat(endpoint),
      };
  }
}

const jsonNull = Buffer.from('null');
const nullLiteral = Buffer.from('NULL');

/** The response without a row is the one of NULL. Only NULL can be 204; an empty text is an empty body. */
function nullFormat({ textResponseNullHandling }: Endpoint): Pick<Format, 'isEmptyRow' | 'whenEmpty' | 'emptyBody'> {
  if (textResponseNullHandling === 'noContent') return { isEmptyRow: isFirstFieldNull, whenEmpty: 'noContent' };
  const emptyBody = textResponseNullHandling === 'nullLiteral' ? nullLiteral : nothing;
  return { isEmptyRow: null, whenEmpty: 'body', emptyBody };
}
const booleans = { true: Buffer.from('true'), false: Buffer.from('false') };

/** Writes PostgreSQL's text of the value, but `true` and `false` for booleans. */
function textRow(column: ResultColumn, endpoint: Endpoint): RowWriter {
  const isBoolean = column.type.json === 'boolean';
  return (out, chunk, offset) => {
    const field = readFirstField(chunk, offset);
    if (field === null) {
      if (endpoint.textResponseNullHandling === 'nullLiteral') out.append(nullLiteral);
    } else {
      out.append(isBoolean ? booleans[field[0] === 0x74 ? 'true' : 'false'] : field);
    }
  };
}
