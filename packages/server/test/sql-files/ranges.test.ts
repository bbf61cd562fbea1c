import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { functionsSource, sqlFilesSource } from '@pgway/core';
import { openApiDocument, typescriptClientFiles } from '@pgway/generators';
import { serverVersion, startGateway, type TestGateway } from '@pgway/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serveMcp } from '../mcp/support.ts';

/** Ranges of the user, their multiranges and domains over them, as parameters and results of files and functions. */

const hasMultiranges = serverVersion() >= 14;

/** A type, a value in the text of PostgreSQL, and another text of the same value. */
const types: readonly (readonly [type: string, value: string, other: string])[] = [
  ['span', '[1.5,3)', '[1.5, 3)'],
  ['shift', '[08:00:00,17:30:00)', '[08:00,17:30)'],
  ['office', '[08:00:00,12:00:00)', '[08:00,12:00)'],
  ['int4range', '[2,5)', '[2,4]'],
  ['tstzrange', '["2026-01-01 00:00:00+00",)', '[2026-01-01T00:00:00Z,)'],
  ['span', 'empty', '(1,1)'],
  ...(hasMultiranges
    ? ([
        ['spans', '{[1,2),[3,4)}', '{[3,4),[1,2)}'],
        ['office_hours', '{[08:00:00,12:00:00)}', '{[08:00,12:00)}'],
        ['datemultirange', '{[2026-01-01,2026-02-01)}', '{[2026-01-01,2026-01-31]}'],
      ] as const)
    : []),
];

const sql = `
  create type span as range (subtype = numeric${hasMultiranges ? ', multirange_type_name = spans' : ''});
  create type shift as range (subtype = time);
  create domain office as shift check (lower(value) >= '06:00');
  ${hasMultiranges ? `create domain office_hours as shift_multirange check (not isempty(value));` : ''}
  create type day as (name text, hours shift);
  ${types
    .map(
      ([type], index) =>
        `create function f${index}(value ${type}, many ${type}[] default null) returns table (value ${type}, many ${type}[]) language sql stable as 'select value, many';
         comment on function f${index} is 'HTTP GET
mcp';`,
    )
    .join('\n')}
  create function one(value span) returns span language sql stable as 'select value';
  comment on function one is 'HTTP GET';`;

let gateway: TestGateway;
let folder: string;

beforeAll(async () => {
  const files = types.map(
    ([type], index) =>
      [
        `g${index}.sql`,
        `-- HTTP GET\n-- mcp\n-- param many default null\nselect :value::${type} as value, :many::${type}[] as many`,
      ] as const,
  );
  folder = await mkdtemp(join(tmpdir(), 'pgway-ranges-'));
  const all = {
    ...Object.fromEntries(files),
    'posted.sql': '-- HTTP POST\n-- single\nselect :value::span as value, :many::span[] as many, :day::day as day',
    'typed.sql': `-- HTTP GET\nselect n from (values (1, '[08:00,12:00)'::shift)) t (n, hours) where hours @> :at::time and hours && :other`,
    'bounds.sql':
      '-- HTTP GET\n-- single\nselect lower(:value::span) as low, upper(:value::span) as high, isempty(:value) as nothing',
  };
  await Promise.all(Object.entries(all).map(([name, text]) => writeFile(join(folder, name), text)));
  gateway = await startGateway(sql, {
    routineSources: [sqlFilesSource({ files: '*.sql', folder }), functionsSource()],
  });
});
afterAll(async () => {
  await gateway.close();
  await rm(folder, { recursive: true });
});

test('no file or function has a fault', () => {
  expect(gateway.gateway.diagnostics.filter(({ severity }) => severity !== 'info')).toEqual([]);
});

test.each(types.map(([type, value, other], index) => [type, value, other, index] as const))(
  '%s %s',
  async (_, value, other, index) => {
    for (const path of [`f${index}`, `g${index}`]) {
      const query = new URLSearchParams([
        ['value', other],
        ['many', value],
        ['many', other],
      ]);
      const { status, body } = await gateway.send(`GET /api/${path}?${query.toString()}`);
      expect([path, status, JSON.parse(body)]).toEqual([path, 200, [{ value, many: [value, value] }]]);
      const wrong = await gateway.send(`GET /api/${path}?value=${encodeURIComponent('[z')}`);
      expect([path, wrong.status, JSON.parse(wrong.body).code]).toEqual([path, 400, '22P02']);
    }
  },
);

test('a domain refuses values, and a value that no range has is an error of the request', async () => {
  const index = types.findIndex(([type]) => type === 'office');
  for (const path of [`f${index}`, `g${index}`]) {
    const { status, body } = await gateway.send(`GET /api/${path}?value=${encodeURIComponent('[01:00,02:00)')}`);
    expect([path, status, JSON.parse(body).code]).toEqual([path, 400, '23514']);
  }
  const reversed = await gateway.send('GET /api/one?value=[3,1)');
  expect([reversed.status, JSON.parse(reversed.body).code]).toEqual([400, '22000']);
});

test('in JSON, in composite values, alone, and by Describe', async () => {
  const posted = await gateway.send('POST /api/posted', {
    body: { value: '[1,2)', many: ['[1,2]', null, 'empty'], day: { name: 'x', hours: '[08:00,09:00)' } },
  });
  expect([posted.status, JSON.parse(posted.body)]).toEqual([
    200,
    { value: '[1,2)', many: ['[1,2]', null, 'empty'], day: { name: 'x', hours: '[08:00:00,09:00:00)' } },
  ]);
  expect((await gateway.send('GET /api/one?value=(,5]')).body).toBe('(,5]');
  expect((await gateway.send('GET /api/typed?at=09:00&other=[11:00,13:00)')).body).toBe('[1]');
  expect((await gateway.send('GET /api/bounds?value=[1.5,)')).body).toBe('{"low":1.5,"high":null,"nothing":false}');
  const typed = gateway.gateway.endpoints.find(({ id }) => id === 'typed.sql')!;
  expect(typed.parameters.map(({ key, type }) => [key, type.display])).toMatchInlineSnapshot(`
    [
      [
        "at",
        "time without time zone",
      ],
      [
        "other",
        "public.shift",
      ],
    ]
  `);
});

test('OpenAPI, the client and tools of MCP have them as strings', async () => {
  const { endpoints } = gateway.gateway;
  const paths = openApiDocument(endpoints)['paths'] as Readonly<Record<string, { readonly get: unknown }>>;
  const client = typescriptClientFiles(
    endpoints,
    { filePath: 'c.ts', headerLines: [], createSeparateTypeFile: false },
    new Date(0),
  )[0]!.content;
  for (const [index] of types.entries()) {
    for (const name of [`f${index}`, `g${index}`]) {
      expect(paths[`/api/${name}`]!.get).toMatchObject({
        parameters: [
          { name: 'value', schema: { type: 'string' } },
          { name: 'many', schema: { type: 'array', items: { type: 'string' } } },
        ],
        responses: {
          200: {
            content: {
              'application/json': {
                schema: {
                  items: {
                    properties: {
                      value: { type: ['string', 'null'] },
                      many: { type: ['array', 'null'], items: { type: ['string', 'null'] } },
                    },
                  },
                },
              },
            },
          },
        },
      });
      expect(client).toContain(
        `export interface I${name.toUpperCase()}Response {\n  value: string | null;\n  many: (string | null)[] | null;\n}`,
      );
      expect(client).toContain(
        `export interface I${name.toUpperCase()}Request {\n  value: string | null;\n  many?: (string | null)[];\n}`,
      );
    }
  }
  const mcp = await (await serveMcp(gateway)).connect();
  const [, value, other] = types[0]!;
  for (const name of ['f0', 'g0']) {
    const { structuredContent } = await mcp.callTool({ name, arguments: { value: other, many: [other] } });
    expect(structuredContent).toEqual({ rows: [{ value, many: [value] }] });
  }
});
