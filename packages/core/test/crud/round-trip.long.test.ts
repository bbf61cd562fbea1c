import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { ask, tables } from './support.ts';

/** Column types with values in PostgreSQL's text format. */
const types: readonly (readonly [type: string, ...values: string[]])[] = [
  ['smallint', '-32768', '32767'],
  ['integer', '0', '-2147483648'],
  ['bigint', '9223372036854775807', '-9007199254740993'],
  ['numeric', '12345678901234567890.1234567890', 'NaN', '0.000', '1e-20'],
  ['real', '1.1754944e-38', 'Infinity', '-0'],
  ['double precision', '0.1', '1e300', '-Infinity', 'NaN'],
  ['money', '$1,234.50', '-$0.01'],
  ['text', '', 'null', '"', '\\', '{a,b}', 'eq.1', 'ü 🎈\n\t'],
  ['varchar(9)', '', '  x  ', 'NULL'],
  ['char(5)', 'ab', ''],
  ['"char"', 'q', ''],
  ['name', 'a_name'],
  ['bytea', '\\x', '\\x00ff5c22'],
  [
    'json',
    '"123"',
    '123',
    '"a \\"b\\" \\\\"',
    '""',
    'true',
    '"true"',
    '{"a": ["1", 1.0, {}], "b": null}',
    '[]',
    '["x"]',
    '"\\u00e9"',
  ],
  ['jsonb', '"123"', '123', '1.50', '"{\\"a\\": 1}"', '{"a": "1"}', '""', '"null"', '"eq.1"', '[[1], "2"]'],
  ['jsonpath', '$."a"[*] ? (@ > 1)'],
  ['xml', '<a b="c">d</a>'],
  ['timestamp', '2024-01-12 11:06:59.334476', 'infinity', '0044-03-15 00:00:00 BC', '12024-01-01 00:00:00'],
  ['timestamptz', '2024-01-12 11:06:59.334476+02', '-infinity', '0044-03-15 00:00:00+00 BC'],
  ['date', '2024-02-29', 'infinity', '0044-03-15 BC'],
  ['time', '24:00:00', '11:06:59.5'],
  ['timetz', '11:06:59+02:30'],
  ['interval', '1 year -2 days 03:04:05.6', '-00:00:01'],
  ['bool', 'true', 'false'],
  ['uuid', '6f3d2c1b-0a9e-4d8c-8b7a-5f4e3d2c1b0a'],
  ['bit(3)', '101'],
  ['varbit', '', '10110'],
  ['inet', '192.168.0.1/24', '::1'],
  ['cidr', '10.0.0.0/8'],
  ['macaddr8', '08:00:2b:01:02:03:04:05'],
  ['point', '(1.5,2)'],
  ['box', '(2,2),(1,1)'],
  ['polygon', '((0,0),(1,1),(1,0))'],
  ['circle', '<(1,2),3>'],
  ['tsvector', "'a':1A 'b''c'"],
  ['tsquery', "'a' & 'b'"],
  ['pg_lsn', '16/B374D848'],
  ['oid', '4294967295'],
  ['regclass', 'pg_catalog.pg_class'],
  ['int4range', '[1,5)', 'empty', '(,)'],
  ['tstzrange', '["2024-01-01 00:00:00+00","2024-01-02 00:00:00+00")'],
  ['mood', 'so "so"', 'sad'],
  ['positive', '7'],
  ['document', '"123"', '{"a": 1}'],
  ['pair', '("a ""b""",2)', '(,)', '("",)'],
  ['nested', '("(x,1)","{""(y,2)""}","""123""","""k""=>""v""")', '(,,,)'],
  ['hstore', '"a"=>"1", "b c"=>NULL, "q\\"\\\\"=>"x\\"y\\\\z"', '', '""=>""', '"n"=>"NULL", "t"=>"true"'],
  ['int[]', '{}', '{1,NULL,3}', '{{1,2},{3,4}}'],
  ['text[]', '{a,"b,c",NULL,"NULL","\\"","\\\\",""}', '{{a,b},{c,"{}"}}'],
  ['bool[]', '{t,f,NULL}'],
  ['numeric[]', '{1.50,NaN}'],
  ['bytea[]', '{"\\\\x00ff"}'],
  ['timestamptz[]', '{"2024-01-12 11:06:59+00",infinity}'],
  ['json[]', '{"\\"123\\"","123","[1]","{\\"a\\": \\"1\\"}"}'],
  ['jsonb[]', '{"\\"123\\"","[[1]]",NULL}'],
  ['mood[]', '{sad,"so \\"so\\""}'],
  ['positive[]', '{1,2}'],
  ['pair[]', '{"(a,1)","(\\"b \\"\\"c\\",)",NULL}'],
  ['hstore[]', '{"\\"a\\"=>\\"1\\"",""}'],
  ['int4range[]', '{"[1,2)",empty}'],
  ['box[]', '{(2,2),(1,1);(4,4),(3,3)}'],
  ['point[]', '{"(1,2)","(3,4)"}'],
];

const values = types.map(([, ...texts]) => texts);

const gateway = useGateway(
  `
  create extension hstore;
  create type mood as enum ('sad', 'so "so"');
  create type pair as (first_name text, second int);
  create type nested as (one_pair pair, more pair[], doc jsonb, extra hstore);
  create domain positive as int check (value > 0);
  create domain document as jsonb;
  ${types
    .map(
      ([type], index) =>
        `create table from_${index} (id int primary key, the_value ${type}); create table to_${index} (like from_${index} including all);`,
    )
    .join('\n')}
  create table certain (id int primary key, doc jsonb not null, note text not null default 'x');
`,
  tables(),
);

const name = (index: number): string => `${types[index]![0]}`;

describe('a selected value can be sent back unchanged', () => {
  test.each(types.map((_, index) => [name(index), index] as const))('%s', async (_, index) => {
    const { database } = gateway;
    for (const [id, text] of [...values[index]!.entries(), [999, null] as const]) {
      await database.query(`insert into from_${index} values ($1, $2)`, [id, text]);
    }
    const given = await gateway.send(`GET /api/from-${index}`, { headers: { accept: 'application/x-ndjson' } });
    const rows = given.body.split('\n').filter((line) => line !== '');
    expect(rows).toHaveLength(values[index]!.length + 1);
    const sent = { 'content-type': 'application/json', accept: 'application/x-ndjson' };
    for (const body of rows) {
      const inserted = await gateway.send(`PUT /api/to-${index}/returning`, { body, headers: sent });
      expect([inserted.status, inserted.body]).toEqual([200, `${body}\n`]);
      const updated = await gateway.send(`POST /api/to-${index}/returning`, { body, headers: sent });
      expect([updated.status, updated.body]).toEqual([200, `${body}\n`]);
      const upserted = await gateway.send(`PUT /api/to-${index}/on-conflict-do-update/returning`, {
        body,
        headers: sent,
      });
      expect([upserted.status, upserted.body]).toEqual([200, `${body}\n`]);
    }
    const text = (table: string): Promise<unknown> =>
      database.query(`select id, the_value::text as value from ${table} order by id`);
    expect(await text(`to_${index}`)).toEqual(await text(`from_${index}`));
  });

  test('a JSON null in a NOT NULL column', async () => {
    const { database } = gateway;
    expect(await ask(gateway, 'PUT /api/certain/returning', { id: 1, doc: null })).toEqual([
      200,
      [{ id: 1, doc: null, note: 'x' }],
    ]);
    expect(await ask(gateway, 'POST /api/certain/returning', { id: 1, doc: '1', note: 'y' })).toEqual([
      200,
      [{ id: 1, doc: '1', note: 'y' }],
    ]);
    expect(await ask(gateway, 'POST /api/certain/returning', { id: 1, doc: null })).toEqual([
      200,
      [{ id: 1, doc: null, note: 'y' }],
    ]);
    expect(await database.query('select jsonb_typeof(doc) as type from certain')).toEqual([{ type: 'null' }]);
    expect((await ask(gateway, 'POST /api/certain', { id: 1, note: null }))[0]).toBe(400);
  });

  test('hstore accepts JSON values as texts, and its own text format', async () => {
    const index = types.findIndex(([type]) => type === 'hstore');
    const put = (id: number, theValue: unknown): Promise<unknown> =>
      ask(gateway, `PUT /api/to-${index}/returning`, { id, theValue });
    expect(await put(101, { a: 1, b: true, c: [1, 'x'], d: {} })).toEqual([
      200,
      [{ id: 101, theValue: { a: '1', b: 'true', c: '[1,"x"]', d: '{}' } }],
    ]);
    expect(await put(102, 'a=>1')).toEqual([200, [{ id: 102, theValue: { a: '1' } }]]);
    expect(((await put(103, [1])) as readonly unknown[])[0]).toBe(400);
  });
});
