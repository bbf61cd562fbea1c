import { Problem } from '@pgway/core';
import {
  type CsvRecord,
  JsonError,
  type JsonSlice,
  MalformedCsv,
  parseQueryString,
  readCsv,
  readElements,
  readJson,
  readMembers,
  truncateKey,
} from '@pgway/core/internal';
import { invalidBody, postgrestProblem } from './postgrest-problem.ts';

/** The rows of a body, as one JSON text for one parameter. Numbers keep all digits. */
export interface RowsBody {
  /** A JSON array of objects. */
  readonly json: string;
  /** The number of objects. */
  readonly count: number;
  /** The keys of all objects, in order of their first occurrence. */
  readonly keys: ReadonlySet<string>;
  /** The keys that some objects lack. */
  readonly missing: ReadonlySet<string>;
  /** Whether some objects have related rows, whose keys are not among the others. */
  readonly hasRelated: boolean;
}

interface RowsOptions {
  /** Whether the objects may have different keys. */
  readonly keysMayDiffer: boolean;
  /** Whether the value of a key is related rows. */
  readonly isRelated: (key: string) => boolean;
}

/** The media types of a body with rows. */
type RowsFormat = 'json' | 'csv' | 'form';

const formats: Readonly<Record<string, RowsFormat>> = {
  'application/json': 'json',
  'application/vnd.pgrst.object+json': 'json',
  'application/vnd.pgrst.array+json': 'json',
  'text/csv': 'csv',
  'application/x-www-form-urlencoded': 'form',
};

/**
 * Returns the format of a body by its `Content-Type`; JSON without one.
 * @throws Problem PGRST102 for another type
 */
export function selectRowsFormat(contentType: string | undefined): RowsFormat {
  const essence = (contentType ?? '').split(';', 1)[0]!.trim().toLowerCase();
  const format = essence === '' ? 'json' : Object.hasOwn(formats, essence) ? formats[essence]! : null;
  if (format === null) throw invalidBody(`Content-Type not acceptable: ${truncateKey(essence)}`);
  return format;
}

/**
 * Reads the rows of a body.
 * @throws Problem PGRST102
 */
export async function readRows(text: string, format: RowsFormat, options: RowsOptions): Promise<RowsBody> {
  if (format === 'csv') return readCsvRows(text);
  return format === 'form' ? readFormRow(text) : readJsonRows(text.replace(/^\ufeff/, ''), options);
}

const emptyBody = 'Empty or invalid json';

function readJsonRows(text: string, options: RowsOptions): RowsBody {
  const document = parseJson(text);
  const isArray = document.kind === 'array';
  const elements = isArray ? readElements(document) : [document];
  const json = text.slice(document.start, document.end);
  return { json: isArray ? json : `[${json}]`, count: elements.length, ...collectKeys(elements, options) };
}

/**
 * Reads one JSON document.
 * @throws Problem PGRST102 that has the position of the error
 */
export function parseJson(text: string): JsonSlice {
  if (text.trim() === '') throw invalidBody(emptyBody);
  try {
    return readJson(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw invalidBody(emptyBody, `${error.message} at position ${error.position}`);
  }
}

function collectKeys(
  elements: readonly JsonSlice[],
  { keysMayDiffer, isRelated }: RowsOptions,
): Pick<RowsBody, 'keys' | 'missing' | 'hasRelated'> {
  const counts = new Map<string, number>();
  const related = new Set<string>();
  let firstSize = 0;
  for (const [index, element] of elements.entries()) {
    if (element.kind !== 'object') throw invalidBody('All object keys must match', `Element ${index} is not an object`);
    let size = 0;
    for (const key of readMembers(element).keys()) {
      const count = counts.get(key);
      if (count === undefined && (related.has(key) || isRelated(key))) {
        related.add(key);
        continue;
      }
      counts.set(key, (count ?? 0) + 1);
      size++;
    }
    if (index === 0) firstSize = size;
    if (!keysMayDiffer && (size !== firstSize || counts.size !== firstSize)) {
      throw invalidBody('All object keys must match', `Element ${index} has other keys than element 0`);
    }
  }
  const missing = [...counts].flatMap(([key, count]) => (count < elements.length ? [key] : []));
  return { keys: new Set(counts.keys()), missing: new Set(missing), hasRelated: related.size > 0 };
}

/** @throws Problem PGRST102 for bytes that are not UTF-8: `URLSearchParams` would replace them */
function parseForm(text: string): ReadonlyMap<string, readonly string[]> {
  try {
    return parseQueryString(text);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw invalidBody('The form has too many fields, or is not percent-encoded UTF-8');
  }
}

/** A form is one row of texts. */
function readFormRow(text: string): RowsBody {
  const row = new Map<string, string>();
  for (const [key, values] of parseForm(text)) {
    if (values.length > 1) throw invalidBody(`The form has the field "${truncateKey(key)}" twice`);
    row.set(key, values[0]!);
  }
  if (row.size === 0) throw invalidBody(emptyBody);
  return {
    json: `[${JSON.stringify(Object.fromEntries(row))}]`,
    count: 1,
    keys: new Set(row.keys()),
    missing: noKeys,
    hasRelated: false,
  };
}

const noKeys: ReadonlySet<string> = new Set();

/** The text that stands for NULL in CSV, quoted or not. */
const csvNull = 'NULL';

async function readCsvRows(text: string): Promise<RowsBody> {
  const rows = new CsvRows(Math.max(minJsonLimit, jsonPerCharacter * text.length));
  try {
    for await (const group of readCsv(chunksOf(text), { delimiters: ',', hasQuotes: true })) {
      for (const record of group) rows.add(record);
    }
  } catch (error) {
    if (!(error instanceof MalformedCsv)) throw error;
    throw invalidBody('Invalid CSV', `The record in line ${error.line} ${error.message}`);
  }
  return rows.finish();
}

/** Makes the rows of a CSV one by one: as JSON, with the names in each row, they can be many times larger. */
class CsvRows {
  readonly #maxLength: number;
  readonly #rows: string[] = [];
  #names: readonly string[] | null = null;
  #length = 0;

  /** @param maxLength characters of the JSON */
  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  /** @throws Problem PGRST102 */
  add({ line, fields }: CsvRecord): void {
    if (this.#names === null) {
      this.#names = checkHeader(fields);
      return;
    }
    const row = toJsonObject(this.#names, fields, line);
    this.#length += row.length;
    if (this.#length > this.#maxLength) throw tooLarge(this.#maxLength);
    this.#rows.push(row);
  }

  /** @throws Problem PGRST102 without a header */
  finish(): RowsBody {
    if (this.#names === null) throw invalidBody('Empty CSV', 'The first line has the names of the columns');
    const json = `[${this.#rows.join(',')}]`;
    return { json, count: this.#rows.length, keys: new Set(this.#names), missing: noKeys, hasRelated: false };
  }
}

async function* chunksOf(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}

/** Characters of the rows of a CSV as JSON, which many requests may have at a time. */
const minJsonLimit = 16 * 1024 * 1024;
/** The same for each character of a larger CSV. */
const jsonPerCharacter = 8;

function tooLarge(maxLength: number): Problem {
  return postgrestProblem(413, 'PGRST102', 'The CSV is too large', {
    details: `As JSON it has more than ${maxLength} characters`,
    hint: 'Send fewer rows in each request',
  });
}

/** As for the members of a JSON object. */
const maxNames = 1000;
/** PostgreSQL truncates longer names. */
const maxNameBytes = 63;

/** Each row repeats the names in JSON: their number and size are limited. */
function checkHeader(names: readonly string[]): readonly string[] {
  if (names.length > maxNames) throw invalidBody(`The CSV has more than ${maxNames} columns`);
  const known = new Set<string>();
  for (const name of names) {
    if (known.has(name)) throw invalidBody(`The CSV has the column "${truncateKey(name)}" twice`);
    if (Buffer.byteLength(name) > maxNameBytes) {
      throw invalidBody(`The name "${truncateKey(name)}" in the CSV has more than ${maxNameBytes} bytes`);
    }
    known.add(name);
  }
  return names;
}

function toJsonObject(names: readonly string[], fields: readonly string[], line: number): string {
  if (fields.length !== names.length) {
    throw invalidBody(
      'All lines must have same number of fields',
      `Line ${line} has ${fields.length}, the first line ${names.length}`,
    );
  }
  const members = names.map((name, index) => {
    const field = fields[index]!;
    return `${JSON.stringify(name)}:${field === csvNull ? 'null' : JSON.stringify(field)}`;
  });
  return `{${members.join(',')}}`;
}
