import { useGateway } from '@pgway/testing';
import { expect, test } from 'vitest';
import { ask, refusal, tables } from './support.ts';

/** Inserts of several rows: the body is an array. */
const gateway = useGateway(
  `
  create type size as (width int, "inHeight" int);
  create table item (
    id int primary key, item_name varchar(5) not null, price numeric default 7, tags text[], doc jsonb, raw bytea, box size,
    made timestamptz, made_by text default 'nobody');
  create table counted (id int generated always as identity primary key, n int check (n > 0));
`,
  { ...tables(), logCommands: true },
);

const put = (path: string, body: unknown): Promise<readonly [number, unknown]> =>
  ask(gateway, `PUT /api/${path}`, body);

test('all rows in one statement, with the values of single inserts', async () => {
  const row = (id: number): object => ({
    id,
    itemName: 'a"\\b',
    tags: ['x', null, '1,"2'],
    doc: { a: [1, 'null', null] },
    raw: '\\x00ff',
    box: { width: 1, inHeight: null },
    made: '2024-01-02T03:04:05Z',
  });
  const [, single] = (await put('item/returning', row(1))) as [number, object[]];
  const before = gateway.observations.length;
  expect(await put('item/returning', [row(2), { ...row(3), item_name: undefined }])).toEqual([
    200,
    [2, 3].map((id) => ({ ...single[0], id })),
  ]);
  expect(gateway.observations.slice(before).filter(({ kind }) => kind === 'command')).toMatchObject([
    {
      sql: `insert into "public"."item" as "r" ("id", "item_name", "tags", "doc", "raw", "box", "made") select "body"."id", "body"."item_name", "body"."tags", "body"."doc", "body"."raw", "body"."box", "body"."made" from pg_catalog.json_to_recordset($1::pg_catalog.json) as "body" ("id" "pg_catalog"."int4", "item_name" "pg_catalog"."varchar", "tags" "pg_catalog"."_text", "doc" "pg_catalog"."jsonb", "raw" "pg_catalog"."bytea", "box" "public"."size", "made" "pg_catalog"."timestamptz") returning "r"."id", "r"."item_name", "r"."price", pg_catalog.to_json("r"."tags"), "r"."doc", "r"."raw", pg_catalog.to_json("r"."box"), "r"."made", "r"."made_by"`,
    },
  ]);
});

test('defaults, NULL, identity columns, and rows without a result', async () => {
  const rows = [
    { id: 11, itemName: 'a', price: null },
    { id: 12, itemName: 'b', price: 1 },
  ];
  expect(await put('item', rows)).toEqual([204, null]);
  expect(await ask(gateway, 'GET /api/item?id=11')).toMatchObject([200, [{ price: null, madeBy: 'nobody' }]]);
  expect(await put('counted/returning', [{ n: 1 }, { n: 2 }])).toMatchObject([200, [{ n: 1 }, { n: 2 }]]);
  expect(await put('counted/returning', [{ id: 50, n: 3 }])).toEqual([200, [{ id: 50, n: 3 }]]);
});

test('conflicts', async () => {
  expect(await put('item', [{ id: 21, itemName: 'a' }])).toEqual([204, null]);
  const rows = [
    { id: 21, itemName: 'b' },
    { id: 22, itemName: 'c' },
  ];
  expect(await put('item', rows)).toEqual(refusal(409, { code: '23505' }));
  expect(await put('item/on-conflict-do-nothing/returning', rows)).toMatchObject([200, [{ id: 22, itemName: 'c' }]]);
  expect(await put('item/on-conflict-do-update/returning', rows)).toMatchObject([
    200,
    [
      { id: 21, itemName: 'b' },
      { id: 22, itemName: 'c' },
    ],
  ]);
  expect(await put('item/on-conflict-do-update', [rows[0], rows[0]])).toEqual(
    refusal(400, { detail: 'Two rows of the body have the same key; send each key once.', parameters: ['body'] }),
  );
});

test('one row that is refused refuses all', async () => {
  expect(
    await put('item', [
      { id: 31, itemName: 'a' },
      { id: 32, itemName: 'too long' },
    ]),
  ).toEqual(refusal(400, { code: '22001' }));
  expect(
    await put('item', [
      { id: 31, itemName: 'a' },
      { id: 'x', itemName: 'b' },
    ]),
  ).toEqual(refusal(400, { code: '22P02' }));
  expect(
    await put('item', [
      { id: 31, itemName: 'a' },
      { id: 32, itemName: null },
    ]),
  ).toEqual(refusal(400, { code: '23502' }));
  expect(await put('counted', [{ n: 1 }, { n: 0 }])).toEqual(refusal(400, { code: '23514' }));
  expect(await ask(gateway, 'GET /api/item?id=31')).toEqual([200, []]);
});

test.each<[unknown, Readonly<Record<string, unknown>>]>([
  [[], { detail: 'The body is an array without rows; send at least one object.' }],
  [
    [{ id: 1, itemName: 'a' }, 5],
    { detail: 'Element 1 of the body is a number; send an object for each row.', pointer: '/1' },
  ],
  [
    [
      { id: 1, itemName: 'a' },
      { id: 2, itemName: 'b', nope: 1 },
    ],
    { unknown: ['nope'], pointer: '/1' },
  ],
  [
    [
      { id: 1, itemName: 'a' },
      { id: { a: 1 }, itemName: 'b' },
    ],
    { parameters: ['id'], pointer: '/1' },
  ],
  [
    [
      { id: 1, itemName: 'a', price: 1 },
      { id: 2, itemName: 'a' },
    ],
    {
      detail:
        'Rows 0 and 1 have different columns: "price". Send the rows with other columns in a request of their own, or give the values.',
      parameters: ['price'],
      pointer: '/1',
    },
  ],
  [
    [
      { id: 1, itemName: 'a' },
      { id: 2, itemName: 'a', price: 1 },
    ],
    { parameters: ['price'], pointer: '/0' },
  ],
])('refused: %j', async (body, members) => {
  expect(await put('item', body)).toEqual(refusal(400, members));
});

test('a request has at most 10,000 rows', async () => {
  const rows = (count: number): readonly object[] =>
    Array.from({ length: count }, (_, index) => ({ id: 100_000 + index, itemName: 'a' }));
  expect(await put('item/returning', rows(10_001))).toEqual(
    refusal(400, { detail: 'The body has 10001 rows; the limit is 10000. Send several requests.' }),
  );
  expect(await put('item/returning', rows(10_000))).toEqual([200, expect.anything()]);
});

test('required columns', async () => {
  expect(await put('item', [{ id: 1 }, { id: 2 }])).toEqual(refusal(404, { missing: ['itemName'] }));
  expect(await put('item', [{}, {}])).toEqual(refusal(404, { missing: ['id', 'itemName'] }));
});

test('other operations take one object', async () => {
  expect(await ask(gateway, 'POST /api/item', [{ id: 1, itemName: 'b' }])).toEqual(
    refusal(400, { type: 'urn:pgway:problem:body-not-an-object' }),
  );
});
