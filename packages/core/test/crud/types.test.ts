import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { ask, refusal, tables } from './support.ts';

/** A value of every type in PostgreSQL's text format. */
const values: Readonly<Record<string, readonly [type: string, text: string]>> = {
  c_smallint: ['smallint', '-32768'],
  c_integer: ['integer', '2147483647'],
  c_bigint: ['bigint', '9223372036854775807'],
  c_numeric: ['numeric', '12345678901234567890.123456789'],
  c_numeric_2: ['numeric(6,2)', '1234.50'],
  c_real: ['real', '1.5'],
  c_double: ['double precision', '1e300'],
  c_double_nan: ['double precision', 'NaN'],
  c_text: ['text', 'a "quoted"\n\\ text — ü 🎈'],
  c_varchar: ['varchar(5)', 'abc'],
  c_char: ['char(3)', 'ab'],
  c_char_plain: ['"char"', 'q'],
  c_name: ['name', 'a_name'],
  c_json: ['json', '{"b": [1, {"some_key": null}],  "a":"x"}'],
  c_jsonb: ['jsonb', '{"some_key": [1, 2, "x"]}'],
  c_jsonpath: ['jsonpath', '$."a"[*]'],
  c_timestamp: ['timestamp', '2024-01-12 11:06:59.334476'],
  c_timestamptz: ['timestamptz', '2024-01-12 11:06:59.334476+02'],
  c_infinity: ['timestamptz', 'infinity'],
  c_date: ['date', '2024-02-29'],
  c_time: ['time', '11:06:59.5'],
  c_timetz: ['timetz', '11:06:59+02'],
  c_interval: ['interval', '1 year 2 days 03:04:05'],
  c_bool: ['bool', 'true'],
  c_uuid: ['uuid', '6f3d2c1b-0a9e-4d8c-8b7a-5f4e3d2c1b0a'],
  c_varbit: ['varbit', '10110'],
  c_bit: ['bit(3)', '101'],
  c_inet: ['inet', '192.168.0.1/24'],
  c_cidr: ['cidr', '10.0.0.0/8'],
  c_macaddr: ['macaddr', '08:00:2b:01:02:03'],
  c_bytea: ['bytea', '\\x00ff41'],
  c_money: ['money', '$1,234.50'],
  c_enum: ['mood', 'so "so"'],
  c_domain: ['positive', '7'],
  c_composite: ['pair', '("a ""b""",2)'],
  c_range: ['int4range', '[1,5)'],
  c_tsrange: ['tsrange', '["2024-01-01 00:00:00","2024-01-02 00:00:00")'],
  c_point: ['point', '(1.5,2)'],
  c_box: ['box', '(2,2),(1,1)'],
  c_tsvector: ['tsvector', "'a' 'b'"],
  c_lsn: ['pg_lsn', '16/B374D848'],
  c_ints: ['int[]', '{1,NULL,3}'],
  c_texts: ['text[]', '{a,"b,c",NULL,"NULL","\\""}'],
  c_matrix: ['int[]', '{{1,2},{3,4}}'],
  c_chars: ['char(3)[]', '{abc,de}'],
  c_jsons: ['json[]', '{"{\\"a\\": 1}"}'],
  c_moods: ['mood[]', '{sad}'],
  c_pairs: ['pair[]', '{"(a,1)"}'],
  c_ranges: ['int4range[]', '{"[1,2)"}'],
  c_bools: ['bool[]', '{t,f}'],
};
const names = Object.keys(values);

const gateway = useGateway(
  `
  create type mood as enum ('sad', 'so "so"');
  create type pair as (first_name text, second int);
  create domain positive as int check (value > 0);
  create table every_type (id int primary key, ${names.map((name) => `${name} ${values[name]![0]}`).join(', ')});
  create function json_in_utc(anyelement) returns text language sql set timezone = 'UTC' as 'select to_json($1)::text';
  create table copy (like every_type including all);
`,
  tables(),
);

const camel = (name: string): string => name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());

describe('every type', () => {
  test('selected and returned rows have the JSON of to_json', async () => {
    await gateway.database.query(
      `insert into every_type values (1, ${names.map((_, index) => `$${index + 1}`).join(', ')})`,
      names.map((name) => values[name]![1]),
    );
    const { body } = await gateway.send('GET /api/every-type');
    // A body accepts values as text, except arrays and rows.
    const given = Object.fromEntries(
      names.map((name) => {
        const json = (JSON.parse(body) as readonly Readonly<Record<string, unknown>>[])[0]![camel(name)];
        return [camel(name), typeof json === 'object' ? json : values[name]![1]];
      }),
    );
    const returned = await gateway.send('PUT /api/copy/returning', { body: { id: 1, ...given } });
    expect(returned.status).toBe(200);
    // json keeps its text, which the client has reformatted.
    expect(JSON.parse(returned.body)).toEqual(JSON.parse(body));
    for (const name of names) {
      const [row] = await gateway.database.query(`select json_in_utc(${name}) as json from every_type`);
      const json = String(row!['json']).replaceAll('first_name', 'firstName');
      expect(body).toContain(`"${camel(name)}":${json}`);
    }
  });

  test.each(names)('%s is found by its value', async (name) => {
    await gateway.database.query('truncate every_type');
    await gateway.database.query(`insert into every_type (id, ${name}) values (1, $1)`, [values[name]![1]]);
    const [type, text] = values[name]!;
    const key = encodeURIComponent(camel(name));
    const json = ((await ask(gateway, 'GET /api/every-type?id=1')) as [number, Record<string, unknown>[]])[1][0]![
      camel(name)
    ];
    // Elements of an array are repeated keys. Nested arrays and rows have no such form.
    const texts = type.endsWith('[]')
      ? (json as readonly unknown[]).map((item) =>
          item === null ? '' : typeof item === 'object' ? null : `${item as string | number | boolean}`,
        )
      : [text];
    if (name === 'c_texts' || texts.includes(null)) return;
    const query = texts.map((one) => `${key}=${encodeURIComponent(one!)}`).join('&');
    expect(await ask(gateway, `GET /api/every-type?${query}`)).toMatchObject([200, [{ id: 1 }]]);
    expect(await ask(gateway, `DELETE /api/every-type/returning?${query}`)).toMatchObject([200, [{ id: 1 }]]);
  });

  test('json is compared as jsonb, other types without equality as text', async () => {
    await gateway.database.query(
      `truncate every_type; insert into every_type (id, c_json, c_point, c_composite) values (1, '{"a":1,"b":2}', '(1,2)', '(x,)')`,
    );
    const get = (key: string, value: string): Promise<unknown> =>
      ask(gateway, `GET /api/every-type?${key}=${encodeURIComponent(value)}`);
    expect(await get('cJson', '{ "b":2, "a":1.0 }')).toMatchObject([200, [{ id: 1 }]]);
    expect(await get('cJson', '{"a":1}')).toEqual([200, []]);
    expect(await get('cPoint', '( 1.0 , 2 )')).toMatchObject([200, [{ id: 1 }]]);
    expect(await get('cPoint', '(1,3)')).toEqual([200, []]);
    expect(await get('cComposite', '(x,)')).toMatchObject([200, [{ id: 1 }]]);
    expect(await get('cChar', 'x')).toEqual([200, []]);
  });

  test.each(names.filter((name) => !/text|^c_varchar|^c_char|^c_name|^c_tsvector|^c_bytea|^c_money/.test(name)))(
    'a value that %s refuses is 400 and names the column',
    async (name) => {
      const key = camel(name);
      expect(await ask(gateway, `GET /api/every-type?${key}=${encodeURIComponent('no such {value')}`)).toEqual(
        refusal(400, { parameters: [key] }),
      );
      // In a body the value is JSON.
      if (/^c_jsonb?$/.test(name)) return;
      expect(await ask(gateway, 'PUT /api/copy', { id: 9, [key]: 'no such {value' })).toEqual(
        refusal(400, { parameters: [key] }),
      );
      expect(await ask(gateway, 'POST /api/copy', { id: 1, [key]: 'no such {value' })).toEqual(
        refusal(400, { parameters: [key] }),
      );
    },
  );

  test('a text that is too long is refused, never truncated', async () => {
    expect(await ask(gateway, 'PUT /api/copy', { id: 9, cVarchar: 'abcdef' })).toEqual(refusal(400, { code: '22001' }));
    expect(await ask(gateway, 'PUT /api/copy', { id: 9, cChar: 'abcd' })).toEqual(refusal(400, { code: '22001' }));
    expect(await ask(gateway, 'PUT /api/copy', { id: 9, cBit: '10' })).toEqual(refusal(400, { code: '22026' }));
    expect(await ask(gateway, 'PUT /api/copy', { id: 9, cNumeric2: '12345' })).toEqual(refusal(400, { code: '22003' }));
    expect(await ask(gateway, 'GET /api/copy?id=9')).toEqual([200, []]);
  });
});

describe('NULL in a query string', () => {
  const rules = useGateway(
    `
    create table def (id int primary key, t text, n int, a int[]);
    insert into def values (1, '', 0, '{1}'), (2, null, null, null), (3, 'null', 3, '{NULL}');
    create table empty (like def); insert into empty select * from def;
    comment on table empty is 'query_string_null_handling empty_string';
    create table literal (like def); insert into literal select * from def;
    comment on table literal is 'query_string_null_handling null_literal';
  `,
    tables(),
  );
  const ids = async (path: string): Promise<unknown> => {
    const [status, body] = await ask(rules, `GET /api/${path}`);
    return status === 200 ? (body as readonly { id: number }[]).map(({ id }) => id) : status;
  };

  test('ignore: an empty value is NULL, except for text', async () => {
    expect(await ids('def?t=')).toEqual([1]);
    expect(await ids('def?n=')).toEqual([2]);
    expect(await ids('def?t=null')).toEqual([3]);
    expect(await ids('def?n=null')).toBe(400);
  });

  test('empty_string: an empty value is NULL for text too', async () => {
    expect(await ids('empty?t=')).toEqual([2]);
    expect(await ids('empty?n=')).toEqual([2]);
    expect(await ids('empty?t=null')).toEqual([3]);
  });

  test('null_literal: null in any case is NULL', async () => {
    expect(await ids('literal?t=NuLL')).toEqual([2]);
    expect(await ids('literal?n=null')).toEqual([2]);
    expect(await ids('literal?t=')).toEqual([1]);
  });

  test('the rules apply to a delete', async () => {
    expect(await ask(rules, 'DELETE /api/literal/returning?t=null')).toMatchObject([200, [{ id: 2 }]]);
    expect(await ask(rules, 'DELETE /api/empty/returning?t=')).toMatchObject([200, [{ id: 2 }]]);
    expect(await ask(rules, 'DELETE /api/def/returning?t=')).toMatchObject([200, [{ id: 1 }]]);
  });

  test('in a body, null is NULL and "null" a text', async () => {
    expect(await ask(rules, 'POST /api/def/returning', { id: 2, t: 'null', n: null, a: [null, 1] })).toEqual([
      200,
      [{ id: 2, t: 'null', n: null, a: [null, 1] }],
    ]);
    expect(await ask(rules, 'POST /api/def/returning', { id: null, t: 'x' })).toEqual([200, []]);
  });
});
