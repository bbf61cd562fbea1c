import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { ask, postgrest } from './support.ts';

/** Values that are past a limit of PostgreSQL are errors of the request. */
const gateway = useGateway(
  'create table item (id int primary key, name text unique, data jsonb); create table node (id int primary key, a int, parent int references node)',
  postgrest(),
);

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

describe('the parts of a request', () => {
  const repeat = (count: number, part: (index: number) => string, separator = ','): string =>
    Array.from({ length: count }, (_, index) => part(index)).join(separator);
  const nest = (name: string, depth: number, inner: string): string =>
    `${`${name}(`.repeat(depth)}${inner}${')'.repeat(depth)}`;
  /** The most that is allowed, and a request with a number of parts. */
  const limits: readonly (readonly [name: string, most: number, path: (count: number) => string])[] = [
    ['filters', 100, (count) => repeat(count, () => 'id=eq.1', '&')],
    ['filters of a group', 100, (count) => `or=(${repeat(count, () => 'id.eq.1')})`],
    ['groups within groups', 16, (count) => `or=(${nest('and', count - 1, 'id.eq.1')})`],
    ['terms of order', 32, (count) => `order=${repeat(count, () => 'id')}`],
    ['items', 500, (count) => `select=${repeat(count, (index) => `a${index}:id`)}`],
    ['columns', 999, (count) => `select=${repeat(Math.floor(count / 3), () => '*')}${count % 3 === 0 ? '' : ',*'}`],
    ['relations', 30, (count) => `select=${repeat(count, (index) => `a${index}:node(id)`)}`],
    ['relations within relations', 5, (count) => `select=${nest('node', count, 'id')}`],
    ['bytes of a name', 63, (count) => `select=${'a'.repeat(count)}:id`],
  ];

  test.each(limits)('%s: %i', async (_, most, path) => {
    const tree = await gateway.send(`GET /rest/node?${path(most)}`);
    expect([tree.status, tree.body]).toEqual([200, expect.stringMatching(/^\[/) as string]);
    const { status, body } = await gateway.send(`GET /rest/node?${path(most + 1)}`);
    expect([status, JSON.parse(body)]).toMatchObject([400, { code: 'PGRST100' }]);
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
