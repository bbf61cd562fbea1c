import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { ask, postgrest } from './support.ts';

/** Values that are past a limit of PostgreSQL are errors of the request. */
const gateway = useGateway('create table item (id int primary key, name text unique, data jsonb)', postgrest());

test('an array with seven dimensions, and an index row that is too large', async () => {
  const response = await ask(gateway, 'GET /rest/item?id=eq(any).{{{{{{{1}}}}}}}');
  // PostgreSQL tells the number up to version 15.
  expect(response.replace(' (7)', '')).toMatchInlineSnapshot(`
    "400
    content-type: application/json; charset=utf-8

    {"code":"54000","message":"number of array dimensions exceeds the maximum allowed (6)","details":null,"hint":null}"
  `);
  const name = Array.from({ length: 20_000 }, (_, index) => index * index).join('');
  expect(await ask(gateway, 'POST /rest/item', { body: { id: 1, name } })).toMatch(/^400[^]*"code":"54000"/);
});

describe('a JSON path', () => {
  const path = (steps: number): string => `data${'->a'.repeat(steps)}`;
  const requests = (steps: number): readonly string[] => [
    `GET /rest/item?select=${path(steps)}`,
    `GET /rest/item?order=${path(steps)}`,
    `GET /rest/item?${path(steps)}=eq.1`,
    `GET /rest/item?or=(${path(steps)}.eq.1,id.eq.1)`,
  ];

  test('of 32 steps', async () => {
    for (const line of requests(32)) {
      // One after the other.
      expect((await gateway.send(line)).body).toBe('[]');
    }
  });

  test.each([33, 1500])('of %i steps', async (steps) => {
    for (const line of requests(steps)) {
      // One after the other.
      const { status, body } = await gateway.send(line);
      expect([status, JSON.parse(body)]).toMatchObject([
        400,
        { code: 'PGRST100', details: expect.stringContaining('a JSON path has more than 32 steps') as string },
      ]);
    }
  });
});

test('a search with thousands of operators', async () => {
  expect(await ask(gateway, `GET /rest/item?name=fts.${'!'.repeat(7000)}a`)).toMatchInlineSnapshot(`
    "400
    content-type: application/json; charset=utf-8

    {"code":"54000","message":"tsquery stack too small","details":null,"hint":null}"
  `);
});

test('a CSV whose rows are many times larger as JSON, with a name for each empty field', async () => {
  const names = Array.from({ length: 1_000 }, (_, index) => `column_${index}`.padEnd(60, '_'));
  const body = [names.join(','), ...Array.from({ length: 300 }, () => ','.repeat(999))].join('\n');
  expect(await ask(gateway, 'POST /rest/item', { body, headers: { 'content-type': 'text/csv' } })).toBe(
    `413
content-type: application/json; charset=utf-8

{"code":"PGRST102","message":"The CSV is too large","details":"As JSON it has more than 16777216 characters","hint":"Send fewer rows in each request"}`,
  );
});
