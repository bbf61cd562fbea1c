import { describe, expect, test } from 'vitest';
import { type CsvFormat, maxRecordBytes, readCsv } from './csv-reader.ts';

interface CsvFile {
  readonly name: string;
  readonly text: string;
  /** The line and the fields of each record. */
  readonly rows: readonly string[];
  readonly format?: Partial<CsvFormat>;
}

/** Reads bytes in chunks of this size. */
async function read(text: string | Uint8Array, size: number, format: Partial<CsvFormat> = {}): Promise<string[]> {
  const bytes = Buffer.from(text);
  const rows: string[] = [];
  for await (const records of readCsv(chunks(bytes, size), { delimiters: ',', hasQuotes: true, ...format })) {
    rows.push(...records.map(({ line, fields }) => `${line} ${fields.join('|')}`));
  }
  return rows;
}

async function* chunks(bytes: Buffer, size: number): AsyncGenerator<Buffer, void, undefined> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

const sizes = [1, 2, 3, 5, 1000];

describe('records of a CSV file', () => {
  const files: readonly CsvFile[] = [
    { name: 'no text', text: '', rows: [] },
    { name: 'no line end', text: 'a,b', rows: ['1 a|b'] },
    { name: 'LF', text: 'a,b\nc,d\n', rows: ['1 a|b', '2 c|d'] },
    { name: 'CRLF', text: 'a,b\r\nc,d\r\n', rows: ['1 a|b', '2 c|d'] },
    { name: 'CR', text: 'a,b\rc,d\r', rows: ['1 a|b', '2 c|d'] },
    { name: 'different line ends', text: 'a\r\nb\nc\rd', rows: ['1 a', '2 b', '3 c', '4 d'] },
    { name: 'a byte order mark', text: '\ufeffa,b\nc', rows: ['1 a|b', '2 c'] },
    { name: 'a byte order mark before quotes', text: '\ufeff"a"\n"b"', rows: ['1 a', '2 b'] },
    { name: 'empty lines', text: '\n\r\na\n\n\r\n\nb\n\n', rows: ['3 a', '7 b'] },
    { name: 'lines of white space', text: ' \na\n\t \nb\n  ', rows: ['2 a', '4 b'] },
    { name: 'empty fields', text: ',\n""\n,,\n', rows: ['1 |', '2 ', '3 ||'] },
    { name: 'quotes', text: '"a,b","c""d",""\n', rows: ['1 a,b|c"d|'] },
    {
      name: 'line ends in quotes',
      text: '"a\n\nb",c\n"d\r\ne\r\n"\nf\n"\r"\ng',
      rows: ['1 a\n\nb|c', '4 d\r\ne\r\n', '7 f', '8 \r', '10 g'],
    },
    { name: 'quotes inside a field', text: 'a"b"c,"d"\n5" disk,"e"f,g\n', rows: ['1 a"b"c|d', '2 5" disk|"e"f|g'] },
    { name: 'spaces around fields', text: ' a , "b"\n', rows: ['1  a | "b"'] },
    { name: 'records of different length', text: 'a\nb,c\nd,e,f\ng\n', rows: ['1 a', '2 b|c', '3 d|e|f', '4 g'] },
    { name: 'no ASCII', text: 'ä,€\n😀,日本語テキスト\n', rows: ['1 ä|€', '2 😀|日本語テキスト'] },
    { name: 'several delimiters', text: 'a;b\tc,d\n', rows: ['1 a|b|c,d'], format: { delimiters: ';\t' } },
    { name: 'a delimiter of several bytes', text: 'a→b\n', rows: ['1 a|b'], format: { delimiters: '→' } },
    { name: 'tabs', text: 'a\t\tb\n\t\t\n', rows: ['1 a||b', '2 ||'], format: { delimiters: '\t' } },
    { name: 'no delimiters', text: 'a,b\n', rows: ['1 a,b'], format: { delimiters: '' } },
    { name: 'quotes as text', text: '"a,b"\n"\nc', rows: ['1 "a|b"', '2 "', '3 c'], format: { hasQuotes: false } },
  ];

  test.each(files)('with $name', async ({ text, rows, format }) => {
    for (const size of sizes) expect(await read(text, size, format), `chunks of ${size}`).toEqual(rows);
  });
});

describe('a malformed file', () => {
  const invalid = Buffer.from([0xc3, 0x28]);
  const files: readonly (readonly [name: string, content: string | Buffer, line: number, message: string])[] = [
    ['an unclosed quote', 'a\n\n"b\nc\n', 3, 'has a quote that is not closed'],
    ['an unclosed quote in the first line', '"', 1, 'has a quote that is not closed'],
    ['Latin-1', Buffer.from('a\n\nM\u00fcnchen\nb', 'latin1'), 3, 'has bytes that are not UTF-8'],
    ['UTF-16', Buffer.from('\ufeffa\nb', 'utf16le'), 1, 'has bytes that are not UTF-8'],
    ['an incomplete character at the end', Buffer.from('a\n€').subarray(0, 4), 2, 'has bytes that are not UTF-8'],
    [
      'invalid bytes within quotes',
      Buffer.concat([Buffer.from('a\n"b\n\nc'), invalid]),
      2,
      'has bytes that are not UTF-8',
    ],
    ['a surrogate', Buffer.from([0x61, 0x0a, 0xed, 0xa0, 0x80]), 2, 'has bytes that are not UTF-8'],
  ];

  test.each(files)('has %s', async (_, content, line, message) => {
    for (const size of sizes) {
      await expect(read(content, size), `chunks of ${size}`).rejects.toMatchObject({
        name: 'MalformedCsv',
        line,
        message,
      });
    }
  });

  test.each([
    ['one field', `a\n${'x'.repeat(maxRecordBytes + 2)}`],
    ['an unclosed quote', `a\n"${'x\n'.repeat(maxRecordBytes)}`],
    ['many empty fields', `a\n${','.repeat(maxRecordBytes * 2)}`],
  ])('has a record that is too large: %s', async (_, text) => {
    await expect(read(text, 65_536)).rejects.toMatchObject({
      line: 2,
      message: 'is larger than 1048576 bytes; a quote may be not closed',
    });
  });

  test('does not have a record of the maximum size', async () => {
    const field = 'x'.repeat(maxRecordBytes - 1);
    expect(await read(`a\n${field}\nb\n`, 65_536)).toEqual(['1 a', `2 ${field}`, '3 b']);
  });

  test('does not have many empty lines', async () => {
    expect(await read(`${'\n'.repeat(maxRecordBytes * 3)}a`, 65_536)).toEqual([`${maxRecordBytes * 3 + 1} a`]);
  });
});
