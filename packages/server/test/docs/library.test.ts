import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { root } from './stage.ts';

const folder = join(root, 'examples/library');
const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
const files = ['schema.sql', 'data.sql', 'api.sql'];

/** `` | `POST /api/lend-copy` `{"copyId": 8}` | the result | `` */
const rows = [...read('README.md').matchAll(/^\| `([A-Z]+ \/[^`]*)`(?: `(\{[^`]*\})`)? \| (.*) \|$/gm)].map(
  ([, line, body, shows]) => ({ line: line!, body, shows: shows! }),
);

const library = useGateway(files.map(read).join('\n'));

async function call(line: string, body?: string): Promise<readonly [number, string]> {
  const json = body === undefined ? {} : { body, headers: { 'content-type': 'application/json' } };
  const { status, body: answer } = await library.send(line, json);
  return [status, answer];
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
    ['copy 1', 400, 'POST /api/lend-copy', '{"copyId": 1, "memberId": 1}'],
    ['copy 6', 409, 'POST /api/lend-copy', '{"copyId": 6, "memberId": 1}'],
  ])('%s is %i', async (what, status, line, body = rows.find((row) => row.line === line)?.body) => {
    expect(rows.filter(({ shows }) => shows.includes(`${what} is ${status}`))).toHaveLength(1);
    expect((await call(line, body))[0]).toBe(status);
  });

  test('the last return of member 6 is null, which is an empty text', async () => {
    expect(await call('GET /api/get-last-return?memberId=6')).toEqual([200, '']);
  });
});
