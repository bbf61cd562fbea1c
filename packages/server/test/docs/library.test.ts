import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { encodeForm } from './curl.ts';
import { root } from './stage.ts';

const folder = join(root, 'examples/library');
const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
const files = ['schema.sql', 'data.sql', 'api.sql'];

/** `` | `POST /api/lend-copy` `{"copyId": 8}` | the result | `` */
const rows = [...read('README.md').matchAll(/^\| `([A-Z]+ \/[^`]*)`(?: `(\{[^`]*\}|-F [^`]*)`)? \| (.*) \|$/gm)].map(
  ([, line, body, shows]) => ({ line: line!, body, shows: shows! }),
);

const library = useGateway(files.map(read).join('\n'));

async function call(line: string, body?: string): Promise<readonly [number, string]> {
  if (body?.startsWith('-F ') === true) return upload(line, body.slice(3));
  const json = body === undefined ? {} : { body, headers: { 'content-type': 'application/json' } };
  const { status, body: answer } = await library.send(line, json);
  return [status, answer];
}

async function upload(line: string, part: string): Promise<readonly [number, string]> {
  const [method, path] = line.split(' ') as [string, string];
  const { type, body } = await encodeForm([part], folder);
  const response = await fetch(library.url + path, { method, headers: { 'content-type': type }, body });
  return [response.status, await response.text()];
}

describe('the table of the example library', () => {
  test('the table has a row for every endpoint', () => {
    const { endpoints, diagnostics } = library.gateway;
    expect(rows.length).toBe(endpoints.length);
    expect(diagnostics.filter(({ severity }) => severity !== 'info')).toEqual([]);
  });

  test.each(rows)('$line', async ({ line, body }) => {
    const [status, answer] = await call(line, body);
    const isEmpty = /^DELETE|^PUT|reindex/.test(line);
    expect([status, answer === '']).toEqual([isEmpty ? 204 : 200, isEmpty]);
  });

  test.each([
    ['an unknown book', 204, 'GET /api/books/999'],
    ['a malformed ISBN', 400, 'GET /api/get-authors?isbn=978-0060853983'],
    ['an ISBN that is known', 409, 'POST /api/add-book'],
    ['a CSV file', 400, 'POST /api/books/9/cover', '-F image=@books.csv'],
    ['an image', 400, 'POST /api/import-books', '-F csv=@cover.png'],
    ['copy 1', 400, 'POST /api/lend-copy', '{"copyId": 1, "memberId": 1}'],
    ['copy 6', 409, 'POST /api/lend-copy', '{"copyId": 6, "memberId": 1}'],
  ])('%s is %i', async (what, status, line, body = rows.find((row) => row.line === line)?.body) => {
    expect(rows.filter(({ shows }) => shows.includes(`${what} is ${status}`))).toHaveLength(1);
    expect((await call(line, body))[0]).toBe(status);
  });

  test('the cover is the file that was uploaded', async () => {
    const { headers, body } = await library.send('GET /api/books/9/cover/png');
    expect([headers.get('content-type'), body.slice(1, 4)]).toEqual(['image/png', 'PNG']);
    expect(await call('GET /api/books/9/cover/gif')).toEqual([204, '']);
    expect(JSON.parse((await call('GET /api/books/9/card'))[1])).toMatchObject({ cover: '/api/books/9/cover/png' });
  });

  test('a second cover replaces the first one, and its large object', async () => {
    const countObjects = (): Promise<unknown> =>
      library.database.query('select count(*)::int as n from pg_largeobject_metadata');
    await call('POST /api/books/9/cover', '-F image=@cover.png');
    expect(await countObjects()).toEqual([{ n: 1 }]);
    expect((await call('POST /api/books/999/cover', '-F image=@cover.png'))[0]).toBe(400);
    expect(await countObjects()).toEqual([{ n: 1 }]);
  });

  test('the result of an import names the problem of each line', async () => {
    const [, answer] = await call('POST /api/import-books', '-F csv=@books.csv');
    const lines = JSON.parse(answer) as readonly { readonly line: number; readonly problem: string | null }[];
    const known = 'There is a book with this ISBN.';
    // The requests above have added the books of the lines without mistakes.
    expect(lines.map(({ line, problem }) => [line, problem])).toEqual([
      [2, known],
      [3, known],
      [4, 'invalid input value for enum genre: "science fiction"'],
      [5, known],
      [6, 'value for domain isbn violates check constraint "isbn_check"'],
      [7, 'invalid input syntax for type integer: "MMX"'],
      [8, known],
    ]);
    expect(await library.database.query('select * from book_import')).toEqual([]);
  });

  test('the last return of member 6 is null, which is an empty text', async () => {
    expect(await call('GET /api/get-last-return?memberId=6')).toEqual([200, '']);
  });
});
