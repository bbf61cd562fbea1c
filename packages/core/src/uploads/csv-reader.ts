import { isUtf8 } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type * as CsvParse from 'csv-parse';

/** Bytes. A record without an end, such as one with an unclosed quote, is not collected beyond them. */
export const maxRecordBytes: number = 1024 * 1024;

/** Bytes that are parsed in one turn of the event loop. More of them would delay other requests. */
const sliceBytes = 16 * 1024;

export interface CsvFormat {
  /** Each character of the text separates fields. */
  readonly delimiters: string;
  /** Whether fields may be enclosed in double quotes, and then have delimiters and line ends. */
  readonly hasQuotes: boolean;
}

export interface CsvRecord {
  /** The line in which the record begins, from 1. */
  readonly line: number;
  readonly fields: readonly string[];
}

/** The text is no CSV in UTF-8. The message is a clause. */
export class MalformedCsv extends Error {
  override readonly name = 'MalformedCsv';
  /** The line in which the record begins, from 1. */
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

/**
 * Reads CSV (RFC 4180), and yields the records in groups. Lines end with LF, CRLF or CR. Lines of white space
 * only are skipped. A byte order mark is removed.
 * @throws MalformedCsv
 */
export async function* readCsv(
  content: AsyncIterable<Uint8Array>,
  format: CsvFormat,
): AsyncGenerator<readonly CsvRecord[], void, undefined> {
  // Imported by the first upload.
  const parser = new RecordParser(format, await import('csv-parse'));
  let incomplete: Uint8Array = Buffer.alloc(0);
  for await (const chunk of content) {
    for (let start = 0; start < chunk.length; start += sliceBytes) {
      const slice = chunk.subarray(start, start + sliceBytes);
      const bytes = incomplete.length === 0 ? slice : Buffer.concat([incomplete, slice]);
      const length = completeLength(bytes);
      incomplete = bytes.subarray(length);
      yield await parser.parse(bytes.subarray(0, length));
      await nextTurn();
    }
  }
  // An incomplete character at the end is invalid.
  if (incomplete.length > 0) await parser.parse(incomplete);
  yield await parser.end();
}

/** Returns the length without an incomplete UTF-8 sequence at the end. */
function completeLength(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    const isFollowing = byte >= 0x80 && byte < 0xc0;
    if (isFollowing) continue;
    const needed = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** Counts the lines of `csv-parse`, which counts a CRLF within quotes twice. */
class RecordParser {
  readonly #parser: CsvParse.Parser;
  readonly #CsvError: typeof CsvParse.CsvError;
  #records: CsvRecord[] = [];
  /** The line behind the last record. */
  #nextLine = 1;
  /** The number of empty lines before that line. */
  #emptyLines = 0;
  /** The value of `Info.lines` at the end of the last record. */
  #lastLines = 0;
  /** The bytes of the slices in which no record has ended. */
  #unfinished = 0;

  constructor({ delimiters, hasQuotes }: CsvFormat, { CsvError, Parser }: typeof CsvParse) {
    this.#CsvError = CsvError;
    this.#parser = new Parser({
      bom: true,
      delimiter: Array.from(delimiters),
      record_delimiter: ['\r\n', '\n', '\r'],
      quote: hasQuotes ? '"' : null,
      escape: hasQuotes ? '"' : null,
      relax_quotes: true,
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: maxRecordBytes,
      // Records do not go through the stream, which would buffer each as an object.
      on_record: (fields: string[]) => this.#receive(fields),
    });
    // The callbacks receive it, too.
    this.#parser.on('error', () => undefined);
  }

  /**
   * Returns the records that end in the bytes.
   * @throws MalformedCsv
   */
  async parse(bytes: Uint8Array): Promise<readonly CsvRecord[]> {
    if (!isUtf8(bytes)) throw await this.#notUtf8(bytes);
    const position = this.#position;
    await this.#settle((callback) => this.#parser.write(bytes, callback));
    this.#unfinished = this.#position === position ? this.#unfinished + bytes.length : 0;
    // `max_record_size` does not count delimiters.
    if (this.#unfinished > maxRecordBytes) throw this.#tooLarge();
    return this.#take();
  }

  /** @throws MalformedCsv */
  async end(): Promise<readonly CsvRecord[]> {
    await this.#settle((callback) => this.#parser.end(callback));
    return this.#take();
  }

  /** The line in which the next record begins. */
  get #position(): number {
    return this.#nextLine + this.#parser.info.empty_lines - this.#emptyLines;
  }

  #take(): readonly CsvRecord[] {
    const records = this.#records;
    this.#records = [];
    return records;
  }

  #receive(fields: string[]): null {
    const line = this.#position;
    const { lines, empty_lines: emptyLines } = this.#parser.info;
    const isMultiLine = lines - this.#lastLines !== 1 + emptyLines - this.#emptyLines;
    this.#nextLine = line + 1 + (isMultiLine ? countLineEnds(fields) : 0);
    this.#emptyLines = emptyLines;
    this.#lastLines = lines;
    // `csv-parse` creates an error, which is not used, for each record whose length differs from that of record 0.
    (this.#parser.info as { records: number }).records = 0;
    // White space of several lines was in quotes, and so was an empty text.
    const isBlankLine = fields.length === 1 && !isMultiLine && /^\s+$/.test(fields[0]!);
    if (!isBlankLine) this.#records.push({ line, fields });
    return null;
  }

  #settle(start: (callback: (error?: Error | null) => void) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      start((error) => (error instanceof Error ? reject(this.#toMalformed(error)) : resolve()));
    });
  }

  #toMalformed(error: Error): Error {
    if (!(error instanceof this.#CsvError)) return error;
    if (error.code === 'CSV_MAX_RECORD_SIZE') return this.#tooLarge();
    const reason = error.code === 'CSV_QUOTE_NOT_CLOSED' ? 'has a quote that is not closed' : 'cannot be read';
    return new MalformedCsv(reason, this.#position);
  }

  #tooLarge(): MalformedCsv {
    return new MalformedCsv(`is larger than ${maxRecordBytes} bytes; a quote may be not closed`, this.#position);
  }

  /** Parses the lines before the first invalid one, to learn where its record begins. */
  async #notUtf8(bytes: Uint8Array): Promise<MalformedCsv> {
    const valid = validLines(bytes);
    // The parser looks ahead by some bytes: other ones follow the valid lines.
    await this.#settle((callback) => this.#parser.write(Buffer.concat([valid, Buffer.from('invalid')]), callback));
    return new MalformedCsv('has bytes that are not UTF-8', this.#position);
  }
}

function countLineEnds(fields: readonly string[]): number {
  let count = 0;
  for (const field of fields) count += field.match(/\r\n|\n|\r/g)?.length ?? 0;
  return count;
}

/** Returns the lines before the first one with invalid UTF-8. */
function validLines(bytes: Uint8Array): Uint8Array {
  let start = 0;
  for (const [index, byte] of bytes.entries()) {
    if (byte !== 0x0a && byte !== 0x0d) continue;
    if (!isUtf8(bytes.subarray(start, index))) break;
    start = index + 1;
  }
  return bytes.subarray(0, start);
}
