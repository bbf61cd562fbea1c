import { serverVersion, useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { json, plain, problem, problemOf } from './support.ts';

interface TypeCase {
  /** As written in SQL. */
  readonly type: string;
  /** Text as a client sends it. */
  readonly sent: string;
  /** The element of the array that comes back; by default the sent text as a JSON string. */
  readonly back?: string;
  /** The single value as text that comes back; by default the sent text. */
  readonly text?: string;
  /** Sent as a JSON number, boolean or object in a body; by default as a JSON string. */
  readonly bare?: boolean;
}

const cases: readonly TypeCase[] = [
  { type: 'smallint', sent: '-32768', back: '-32768', bare: true },
  { type: 'integer', sent: '2147483647', back: '2147483647', bare: true },
  { type: 'bigint', sent: '9223372036854775807', back: '9223372036854775807', bare: true },
  { type: 'numeric', sent: '12345678901234567890.0123456789', back: '12345678901234567890.0123456789', bare: true },
  { type: 'numeric', sent: 'NaN' },
  { type: 'real', sent: '1.5', back: '1.5', bare: true },
  { type: 'double precision', sent: '1e+300', back: '1e+300', bare: true },
  { type: 'double precision', sent: '-Infinity' },
  { type: 'text', sent: 'a "b" \\ {c}, é🎈' },
  { type: 'varchar', sent: 'a,b' },
  { type: 'varchar(3)', sent: 'abc' },
  { type: 'char(3)', sent: 'abc' },
  { type: 'json', sent: '{"a" : [1, "x"]}', back: '{"a" : [1, "x"]}', bare: true },
  { type: 'jsonb', sent: '{"a": [1, "x"]}', back: '{"a": [1, "x"]}', bare: true },
  { type: 'jsonpath', sent: '$."a"[*]?(@ > 1)' },
  { type: 'timestamp', sent: '2024-01-12 11:06:59.334476', back: '"2024-01-12T11:06:59.334476"' },
  { type: 'timestamptz', sent: '2024-01-12 11:06:59.334476+00', back: '"2024-01-12T11:06:59.334476+00:00"' },
  {
    type: 'timestamptz',
    sent: '2024-01-12T13:06:59+02:00',
    text: '2024-01-12 11:06:59+00',
    back: '"2024-01-12T11:06:59+00:00"',
  },
  { type: 'date', sent: '2024-02-29' },
  { type: 'time', sent: '23:59:59.5' },
  { type: 'timetz', sent: '23:59:59+02' },
  { type: 'interval', sent: '1 year 2 mons 3 days 04:05:06' },
  { type: 'boolean', sent: 'true', back: 'true', bare: true },
  { type: 'boolean', sent: 'false', back: 'false', bare: true },
  { type: 'uuid', sent: 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11' },
  { type: 'varbit', sent: '10110' },
  { type: 'bit(3)', sent: '101' },
  { type: 'inet', sent: '192.168.0.1/24' },
  { type: 'cidr', sent: '10.0.0.0/8' },
  { type: 'macaddr', sent: '08:00:2b:01:02:03' },
  { type: 'mood', sent: 'very "happy"' },
  { type: 'short_code', sent: 'abc' },
  { type: 'doubly', sent: '42', back: '42', bare: true },
  { type: 'int4range', sent: '[1,6)' },
  { type: 'tstzrange', sent: '["2024-01-12 11:06:59+00",)' },
  { type: 'own_range', sent: '["a","b"]', text: '[a,b]', back: '"[a,b]"' },
];

/** One routine per case and direction; they return what they were given. */
const routines = cases
  .map(
    ({ type }, index) => `
      create function query_one_${index}(_value ${type}) returns ${type} language sql immutable as $$ select _value $$;
      create function query_many_${index}(_value ${type}[]) returns ${type}[] language sql immutable as $$ select _value $$;
      create function body_one_${index}(_value ${type}) returns table (the_value ${type}) language sql volatile as $$ select _value $$;
      create function body_many_${index}(_value ${type}[]) returns setof ${type} language sql volatile as $$ select unnest(_value) $$;`,
  )
  .join('\n');

const gateway = useGateway(
  `
  create schema extra;
  create type mood as enum ('sad', 'very "happy"');
  create domain short_code as varchar(5) check (value ~ '^[a-z]*$');
  create domain half as int check (value < 100);
  create domain doubly as half check (value > 0);
  create type own_range as range (subtype = text);
  ${routines}
  create function of_bytea(_value bytea) returns bytea language sql immutable as $$ select _value $$;
  create function of_byteas(_value bytea[]) returns bytea[] language sql volatile as $$ select _value $$;
  create function of_char3s(_value char(3)[], _bits bit(3)[]) returns table (c char(3)[], b bit(3)[]) language sql volatile as $$ select _value, _bits $$;
  create function of_oids(_value oid, _name name, _char "char", _money money, _class regclass) returns table (o oid, n name, c "char", m text, r regclass)
    language sql volatile as $$ select _value, _name, _char, _money::text, _class $$;
  create function of_points(_value point, _search tsvector, _lsn pg_lsn, _xml text) returns table (p point, s tsvector, l pg_lsn)
    language sql volatile as $$ select _value, _search, _lsn $$;
  create function of_mac8(_value macaddr8) returns macaddr8 language sql volatile as $$ select _value $$;
  do $$ declare routine regprocedure; begin
    for routine in select oid::regprocedure from pg_proc
      where pronamespace = 'public'::regnamespace and prolang = (select oid from pg_language where lanname = 'sql') loop
      execute format('comment on function %s is %L', routine, 'HTTP');
    end loop;
  end $$;
`,
);

/** JSON and arrays are answered as JSON, the others as text. */
const isJson = (type: string): boolean => type === 'json' || type === 'jsonb';

const bodyHeaders = { headers: { 'content-type': 'application/json' } };

describe.each(cases.map((one, index) => ({ ...one, index })))(
  '$type $sent',
  ({ type, sent, back, text, bare, index }) => {
    const element = back ?? JSON.stringify(sent);
    const inBody = bare === true ? sent : JSON.stringify(sent);

    test('one, in the query string and as the answer', async () => {
      const answer = await gateway.send(`GET /api/query-one-${index}?value=${encodeURIComponent(sent)}`);
      const expected = isJson(type)
        ? json(sent)
        : { status: 200, type: 'text/plain; charset=utf-8', body: text ?? sent };
      expect(plain(answer)).toEqual(expected);
    });

    test('several, in the query string and as an array', async () => {
      const value = `value=${encodeURIComponent(sent)}`;
      expect(plain(await gateway.send(`GET /api/query-many-${index}?${value}&${value}`))).toEqual(
        json(`[${element},${element}]`),
      );
    });

    test('one, in the body and as a column', async () => {
      const answer = await gateway.send(`POST /api/body-one-${index}`, { body: `{"value":${inBody}}`, ...bodyHeaders });
      expect(plain(answer)).toEqual(json(`[{"theValue":${element}}]`));
    });

    test('several with NULL, in the body and as a set', async () => {
      const answer = await gateway.send(`POST /api/body-many-${index}`, {
        body: `{"value":[${inBody},null,${inBody}]}`,
        ...bodyHeaders,
      });
      expect(plain(answer)).toEqual(json(`[${element},null,${element}]`));
    });

    test('NULL in the body', async () => {
      expect(
        plain(await gateway.send(`POST /api/body-one-${index}`, { body: '{"value":null}', ...bodyHeaders })),
      ).toEqual(json('[{"theValue":null}]'));
    });
  },
);

describe('others', () => {
  test('bytea', async () => {
    expect(plain(await gateway.send('GET /api/of-bytea?value=%5Cx00ff41'))).toMatchObject({
      status: 200,
      type: 'application/octet-stream',
    });
    expect(plain(await gateway.send('POST /api/of-byteas', { body: { value: ['\\x00ff', null, 'A\\\\B'] } }))).toEqual(
      json('["\\\\x00ff",null,"\\\\x415c42"]'),
    );
  });

  test('elements of char(3)[] and bit(3)[] are not cut', async () => {
    const body = { value: ['abc', 'de'], bits: ['101', '010'] };
    expect(plain(await gateway.send('POST /api/of-char3s', { body }))).toEqual(
      // The length of a parameter's type is not kept by PostgreSQL: 'de' is not padded.
      json('[{"c":["abc","de"],"b":["101","010"]}]'),
    );
  });

  test('oid, name, "char", money, regclass', async () => {
    const body = { value: 4294967295, name: 'n', char: 'c', money: '12.5', class: 'pg_catalog.pg_class' };
    const answer = await gateway.send('POST /api/of-oids', { body });
    expect(plain(answer)).toMatchObject({
      status: 200,
      body: expect.stringMatching(/^\[\{"o":"4294967295","n":"n","c":"c","m":".*12\.50","r":"pg_class"\}\]$/),
    });
  });

  test('point, tsvector, pg_lsn', async () => {
    const body = { value: '(1,2.5)', search: "'a':1 'b':2", lsn: '16/B374D848', xml: '' };
    expect(plain(await gateway.send('POST /api/of-points', { body }))).toEqual(
      json(`[{"p":"(1,2.5)","s":"'a':1 'b':2","l":"16/B374D848"}]`),
    );
  });
});

describe('what a type refuses is 400 and names the parameter', () => {
  const indexOf = (type: string): number => cases.findIndex((one) => one.type === type);

  test.each([
    ['smallint', '32768', '22003'],
    ['integer', 'x', '22P02'],
    ['bigint', '9223372036854775808', '22003'],
    ['numeric', '1,5', '22P02'],
    ['real', '1e99', '22003'],
    ['json', '{"a"', '22P02'],
    ['jsonb', 'nope', '22P02'],
    ['timestamp', '2024-13-01', '22008'],
    ['timestamptz', 'yesterday-ish', '22007'],
    ['date', '2023-02-29', '22008'],
    ['time', '25:00', '22008'],
    ['interval', 'a while', '22007'],
    ['boolean', 'maybe', '22P02'],
    ['uuid', '123', '22P02'],
    ['varbit', '102', '22P02'],
    ['inet', '300.1.1.1', '22P02'],
    ['cidr', '10.0.0.1/8', '22P02'],
    ['macaddr', 'zz', '22P02'],
    ['mood', 'happy', '22P02'],
    ['int4range', '[5,1]', '22000'],
    ['int4range', '[1', '22P02'],
  ])('%s %s', async (type, value, code) => {
    const answer = problem(
      await gateway.send(`GET /api/query-one-${indexOf(type)}?value=${encodeURIComponent(value)}`),
    );
    expect(answer).toMatchObject(problemOf(400, { code }));
    expect(answer.problem['detail']).toContain('"value"');
  });

  test.each([
    ['jsonpath', '$.['],
    ['short_code', 'ABC'],
    ['doubly', '-1'],
    ['doubly', '100'],
  ])('%s %s', async (type, value) => {
    const answer = problem(
      await gateway.send(`GET /api/query-one-${indexOf(type)}?value=${encodeURIComponent(value)}`),
    );
    expect(answer).toMatchObject(problemOf(400));
    expect(JSON.stringify(answer.problem)).toMatch(/value/);
  });
});

describe('multiranges', () => {
  const ranges = useGateway(`
    do $do$ begin if current_setting('server_version_num')::int >= 140000 then
      execute 'create function multi(_value int4multirange) returns table (v int4multirange, vs int4multirange[]) language sql volatile as $$ select _value, array[_value] $$';
      execute 'comment on function multi is ''HTTP''';
    end if; end $do$;
    create function dummy() returns int language sql immutable as $$ select 1 $$;
  `);

  test('there and back', async () => {
    if (serverVersion() < 14) return;
    expect(plain(await ranges.send('POST /api/multi', { body: { value: '{[1,3),[5,7)}' } }))).toEqual(
      json('[{"v":"{[1,3),[5,7)}","vs":["{[1,3),[5,7)}"]}]'),
    );
  });
});
