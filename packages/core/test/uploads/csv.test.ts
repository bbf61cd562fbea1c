import { Readable } from 'node:stream';
import type { CsvUploadOptions } from '../../src/uploads/options.ts';
import { describe, expect, test } from 'vitest';
import type { StoredUpload, UploadContext } from '../../src/ports/upload-handler.ts';
import { csvHandler } from '../../src/uploads/csv.ts';
import { useUploadDatabase } from './support.ts';

const db = useUploadDatabase(`
  create table book (line int, fields text[], previous text, metadata json, inserted serial);
  create function process_csv_row(line int, fields text[], previous text, metadata json) returns jsonb
    language sql as 'insert into book values ($1, $2, $3, $4) returning to_jsonb(fields)';
`);

/** Stores a file with these options, and returns the metadata beside the rows that are in the table then. */
async function store(content: string | Uint8Array, options: Partial<CsvUploadOptions> = {}) {
  const handler = csvHandler(options);
  const values = Object.entries(handler.options!).map(([name, definition]) => [name, definition.default]);
  const stored = await db.inTransaction((transaction) => {
    const context = {
      handlerName: 'csv',
      options: Object.fromEntries(values),
      transaction: () => Promise.resolve(transaction),
    } as unknown as UploadContext;
    const file = {
      fileName: 'books.csv',
      contentType: 'text/csv',
      fieldName: 'file',
      content: Readable.from([Buffer.from(content)]),
    };
    return handler.store(file, context) as Promise<StoredUpload>;
  });
  return { stored, rows: await takeRows() };
}

async function takeRows(): Promise<unknown> {
  const rows = await db.database.query('select line, fields from book order by inserted');
  await db.database.query('truncate book');
  return rows.map(({ line, fields }) => [line, ...(fields as string[])]);
}

describe('the command of a row', () => {
  test('receives line, fields, previous result and metadata', async () => {
    const handler = csvHandler();
    expect(handler.options!['row_command']!.default).toBe('select process_csv_row($1,$2,$3,$4)');
    await db.database.query('create table seen as table book');
    const sql = 'with a as (insert into seen values ($1, $2, $3, $4)) select $2[1]';
    await store('title,price\n"Emma, a novel",9\n', { rowCommand: sql });
    expect(await db.database.query('select line, fields, previous, metadata from seen order by line')).toEqual([
      {
        line: 1,
        fields: ['title', 'price'],
        previous: null,
        metadata: { type: 'csv', fileName: 'books.csv', contentType: 'text/csv' },
      },
      {
        line: 2,
        fields: ['Emma, a novel', '9'],
        previous: 'title',
        metadata: { type: 'csv', fileName: 'books.csv', contentType: 'text/csv' },
      },
    ]);
  });

  test('is checked at start', () => {
    expect(() => csvHandler({ rowCommand: 'select f($5)' })).toThrow(
      'rowCommand takes an SQL command with no parameters but $1 (number), $2 (fields), $3 (previous result) and $4 (metadata)',
    );
  });

  test('is run for no row of an empty file', async () => {
    expect(await store('')).toEqual({ stored: { status: 'Ok', lastMembers: { lastResult: 'null' } }, rows: [] });
  });
});

describe('fields', () => {
  test.each<[string, Partial<CsvUploadOptions>, string, unknown[]]>([
    ['blank ones are NULL', {}, 'a,, ,"\t",""\n', [1, 'a', null, null, null, null]],
    ['setWhiteSpaceToNull = false keeps blank ones', { setWhiteSpaceToNull: false }, 'a,, \n', [1, 'a', '', ' ']],
    ['NULL is a text', {}, 'NULL,null\n', [1, 'NULL', 'null']],
    ['array syntax is text', {}, '{a},"""{b\\",""""\n', [1, '{a}', '"{b\\', '"']],
    ['delimiters are a set', { delimiters: ';\t' }, 'a;b\tc,d\n', [1, 'a', 'b', 'c,d']],
    ['quotes may be text', { hasFieldsEnclosedInQuotes: false }, '"a,b"\n', [1, '"a', 'b"']],
  ])('%s', async (_, options, content, row) => {
    const { stored, rows } = await store(content, options);
    expect(rows).toEqual([row]);
    expect(JSON.parse(stored.lastMembers!['lastResult']!)).toEqual(row.slice(1));
  });

  test('are text unless checkFormat is false', () => {
    const { checksText } = csvHandler();
    expect([checksText!({ check_format: true }), checksText!({ check_format: false })]).toEqual(['lines', null]);
  });
});

describe('a malformed file', () => {
  test.each([
    ['an unclosed quote', 'a\n"b\nc', 'has a quote that is not closed'],
    ['Latin-1', Buffer.from('a\nM\u00fcnchen\nb\n', 'latin1'), 'has bytes that are not UTF-8'],
  ])('with %s stores no row', async (_, content, reason) => {
    await expect(store(content)).rejects.toMatchObject({
      name: 'Problem',
      status: 400,
      code: 'malformed-file',
      detail: `The record that begins in line 2 of the file "books.csv" ${reason}.`,
      members: { file: 'books.csv', line: 2 },
    });
    expect(await takeRows()).toEqual([]);
  });
});
