import { serverVersion, useDatabase } from '@pgway/testing';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { functionsSource } from '../../src/catalog/functions-source.ts';
import type { Routine } from '../../src/catalog/routine.ts';
import { connectDatabase } from '../../src/postgres/connect-database.ts';
import { parseConnectionString } from '../../src/postgres/connection-string.ts';
import { buildEndpoints } from '../support/build-endpoints.ts';
import { endpointDefaults, type EndpointOptions } from '../../src/endpoints/options.ts';
import type { Endpoint } from '../../src/endpoints/endpoint.ts';
import { buildCallStatement, findMissingArgument, callColumnTypes } from '../../src/endpoints/statement.ts';
import fc from 'fast-check';

const database = useDatabase(String.raw`
  create schema "od""d";
  create type "od""d".pair as ("Left" integer, items text[]);
  create domain "od""d".small as integer check (value < 10);
  create domain whole as "od""d".pair;
  create type nothing as ();
  create table book (id integer primary key, title text, dropped text, at timestamp);
  alter table book drop column dropped;
  insert into book values (1, 'Dune', '2024-01-12 11:06:59'), (2, null, null);

  create function void_function() returns void language sql as 'select';
  create function plain(a integer, b integer default 2) returns integer language sql as 'select a * 10 + b';
  create function flag() returns boolean language sql as 'select true';
  create function list() returns text[] language sql as $$ select array['a', 'b"c', null] $$;
  create function several() returns setof integer language sql as 'values (3), (1), (2)';
  create function lists() returns setof integer[] language sql as 'values (array[1]), (array[2, null])';
  create function documents() returns setof json language sql as $$ values ('{"a" : 1}'::json), (null) $$;
  create function only_column() returns table("select" text) language sql as $$ values ('x') $$;
  create function books(max_id integer) returns setof book stable language sql as 'select * from book where id <= max_id order by id';
  create function one_book(wanted integer) returns book stable language sql as 'select * from book where id = wanted';
  create function empty_book() returns book language sql as 'select null::integer, null::text, null::timestamp';
  create function no_book() returns book language plpgsql as 'begin return null; end';
  create function strict_book(wanted integer) returns book strict language sql as 'select * from book where id = wanted';
  create sequence calls;
  -- Stable, though it counts: PostgreSQL may repeat the call of a stable function wherever its result is needed.
  create function counted() returns book stable language plpgsql as $$
    begin
      perform nextval('calls');
      return (select b from book b where id = 1);
    end $$;
  create function "od""d"."f""x"(p "od""d".pair) returns "od""d".pair language sql as 'select p';
  create function in_domain() returns whole language sql as $$ select row(1, '{a}')::"od""d".pair::whole $$;
  create function outputs(a integer, out b integer, out c text[]) language sql as $$ select a + 1, array['x'] $$;
  create function single_output(out b "od""d".pair) language sql as $$ select row(7, '{y}')::"od""d".pair $$;
  create function no_fields() returns setof nothing language sql as 'select from generate_series(1, 2)';
  create function checked(a "od""d".small) returns integer language sql as 'select a + 1';
  create function fixed(a char(3)[], b bit(3), c varchar(5)) returns text language sql as $$ select a::text || b::text || c $$;
  create function unnamed(integer, text default 'd', text default 'e', last text default 'f') returns text
    language sql as $$ select concat_ws('-', $1, $2, $3, $4) $$;
  create function half_named(first text, text) returns text language sql as $$ select first || $2 $$;
  create function joined(sep text, variadic parts text[]) returns text language sql as 'select array_to_string(parts, sep)';
  create function same(a integer) returns text language sql as $$ select 'integer' $$;
  create function same(a text) returns text language sql as $$ select 'text' $$;
  create function mixed() returns record language sql as $$
    select 1, 'a "b", \c', null::text, '', timestamp '2024-01-12 11:06:59', true, array[1, null], row(1, 'x y'), E'n\nl', '(', ',', '\', '"', 'é',
      1.50, bytea '\x00ff', json '{"a": 1}' $$;
  create function mixes() returns setof record language sql as $$ values (1, null::text), (2, '\"') $$;
  create function echo(a text, b text, c text) returns record language sql as 'select a, b, c';
  create type tagged as (tag text, pair "od""d".pair);
  create type note as (remark text, by text);
  create domain note_domain as note;
  create function sold(n integer) returns table(id integer, what tagged, more note_domain, flag boolean) stable language sql as $$
    select i, row('t' || i, row(i, array['x']))::tagged, case i when 1 then row('m', null)::note::note_domain end, i = 1
    from generate_series(1, n) i $$;
  create type sale as (id integer, what tagged);
  create function one_sale() returns sale language sql as $$ select 1, row('t', null)::tagged $$;
  create function no_sale() returns sale language sql as 'select null::sale';
  create function echoes(a text, b text) returns setof record language sql as 'values (a, b, 1), (null, null, null)';
  create function nullary() returns record language sql as 'select row()';
  create function null_record() returns record language plpgsql as 'begin return null; end';
  create procedure quiet(a integer) language sql as 'select 1';
  create procedure changes(inout a integer, b text default 'x', inout c text[] default '{}') language plpgsql as $$
    begin
      a := a + 1;
      c := c || b;
    end $$;
  create procedure variadic_procedure(a integer, variadic b integer[]) language sql as 'select 1';
`);

let client: Client;
let endpoints: readonly Endpoint[];

let routines: readonly Routine[];

async function readRoutines(): Promise<readonly Routine[]> {
  const reader = connectDatabase(parseConnectionString(database.connectionString), {
    poolSize: 1,
    acquireTimeout: 10_000,
    statementTimeout: 10_000,
    shareConnections: false,
    planCacheMode: 'auto',
    pooler: 'session',
    preparedStatements: true,
    onNotice: () => undefined,
    onConnectionError: () => undefined,
  });
  try {
    return await functionsSource().read(reader, {});
  } finally {
    await reader.close();
  }
}

const asText = { getTypeParser: () => (value: string) => value };

beforeAll(async () => {
  client = new Client({ connectionString: database.connectionString });
  await client.connect();
  if (serverVersion() >= 14) {
    await client.query(`
      create procedure placed(integer, out integer, b text, out c text) language plpgsql as $$
        begin
          $2 := $1;
          c := b;
        end $$;
      create procedure all_out(out integer, out "od""d".pair) language plpgsql as $$
        begin
          $1 := 1;
          $2 := row(1, '{z}');
        end $$`);
  }
  routines = await readRoutines();
  endpoints = buildEndpoints(routines, { ...endpointDefaults, commentsMode: 'parseAll' }).endpoints;
});
afterAll(async () => client.end());

function endpoint(name: string): Endpoint {
  const found = endpoints.filter((one) => one.name === name);
  expect(found).toHaveLength(1);
  return found[0]!;
}

/** The endpoint of one routine, as another comment or other options plan it. */
function replanned(name: string, comment: string, options: Partial<EndpointOptions> = {}): Endpoint {
  const [one] = routines.filter((routine) => routine.name === name);
  const plan = buildEndpoints([{ ...one!, comment: `HTTP\n${comment}` }], {
    ...endpointDefaults,
    logAnnotationSetInfo: false,
    ...options,
  });
  expect(plan.diagnostics).toEqual([]);
  return plan.endpoints[0]!;
}

type Given = Readonly<Record<string, string | null>>;

/** Calls an endpoint with values by original name, and gives the rows as PostgreSQL's text. */
async function call(one: Endpoint, given: Given = {}): Promise<readonly unknown[]> {
  const parameters = Object.keys(given).map((name) => one.parameters.find((parameter) => parameter.name === name)!);
  const sql = buildCallStatement(one, parameters);
  const result = await client.query({ text: sql, values: Object.values(given), rowMode: 'array', types: asText });
  const expected = callColumnTypes(one);
  const found = result.fields.map((field) => field.dataTypeID);
  expect(found.map((oid, index) => expected[index]?.includes(oid) ?? expected[index] === null)).toEqual(
    expected.map(() => true),
  );
  return result.rows;
}

const rowsOf = async (name: string, given: Given = {}): Promise<readonly unknown[]> => call(endpoint(name), given);

describe('single values', () => {
  test('come as text', async () => {
    expect(await rowsOf('plain', { a: '4' })).toEqual([['42']]);
    expect(await rowsOf('plain', { b: '3', a: '4' })).toEqual([['43']]);
    expect(await rowsOf('plain', { a: null })).toEqual([[null]]);
    expect(await rowsOf('flag')).toEqual([['t']]);
    expect(await rowsOf('void_function')).toHaveLength(1);
  });

  test('come as JSON where PostgreSQL has to convert', async () => {
    expect(await rowsOf('list')).toEqual([['["a","b\\"c",null]']]);
  });

  test('a domain refuses its values, and types without a length cut nothing off', async () => {
    expect(await rowsOf('checked', { a: '9' })).toEqual([['10']]);
    await expect(rowsOf('checked', { a: '10' })).rejects.toMatchObject({ code: '23514' });
    expect(await rowsOf('fixed', { a: '{abc,de}', b: '101', c: 'xyz' })).toEqual([['{abc,de}101xyz']]);
  });
});

describe('sets', () => {
  test('of values', async () => {
    expect(await rowsOf('several')).toEqual([['3'], ['1'], ['2']]);
    expect(await rowsOf('lists')).toEqual([['[1]'], ['[2,null]']]);
    expect(await rowsOf('documents')).toEqual([['{"a" : 1}'], [null]]);
    expect(await rowsOf('only_column')).toEqual([['x']]);
  });

  test('of rows, which PostgreSQL can inline', async () => {
    expect(await rowsOf('books', { max_id: '2' })).toEqual([
      ['1', 'Dune', '2024-01-12 11:06:59'],
      ['2', null, null],
    ]);
    const books = endpoint('books');
    const sql = buildCallStatement(books, books.parameters).replace('$1', '2');
    const plan = (await client.query(`explain ${sql}`)).rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain('on book');
    expect(plan).not.toContain('Function Scan');
  });

  test('of rows without columns', async () => {
    expect(await rowsOf('no_fields')).toEqual([[], []]);
  });
});

describe('single rows', () => {
  test('of a named type: no row when it is NULL, a row when its fields are', async () => {
    expect(await rowsOf('one_book', { wanted: '1' })).toEqual([['1', 'Dune', '2024-01-12 11:06:59']]);
    expect(await rowsOf('one_book', { wanted: '9' })).toEqual([]);
    expect(await rowsOf('no_book')).toEqual([]);
    expect(await rowsOf('strict_book', { wanted: null })).toEqual([]);
    expect(await rowsOf('empty_book')).toEqual([[null, null, null]]);
  });

  test('the routine runs once, however many columns it has', async () => {
    await client.query(`select setval('calls', 1)`);
    expect(await rowsOf('counted')).toEqual([['1', 'Dune', '2024-01-12 11:06:59']]);
    expect((await client.query('select last_value from calls')).rows).toEqual([{ last_value: '2' }]);
  });

  test('of names that need quotes, and of domains', async () => {
    expect(await rowsOf('f"x', { p: '(5,"{a,b}")' })).toEqual([['5', '["a","b"]']]);
    expect(await rowsOf('in_domain')).toEqual([['1', '["a"]']]);
  });

  test('of output parameters', async () => {
    expect(await rowsOf('outputs', { a: '1' })).toEqual([['2', '["x"]']]);
    expect(await rowsOf('single_output')).toEqual([['7', '["y"]']]);
  });
});

describe('records whose columns only the call knows', () => {
  test('give the text of every value', async () => {
    const [[json]] = (await rowsOf('mixed')) as [[string]];
    const nested = (await client.query(`select row(1, 'x y')::text as text`)).rows[0].text;
    expect(JSON.parse(json)).toEqual([
      '1',
      'a "b", \\c',
      null,
      '',
      '2024-01-12 11:06:59',
      't',
      '{1,NULL}',
      nested,
      'n\nl',
      '(',
      ',',
      '\\',
      '"',
      'é',
      '1.50',
      '\\x00ff',
      '{"a": 1}',
    ]);
    // Compact, like every other answer.
    expect(json).toBe(JSON.stringify(JSON.parse(json)));
  });

  test('give back any text, whatever stands in it', async () => {
    const value = fc.option(
      fc.oneof(
        fc.string({ maxLength: 8 }),
        fc.stringMatching(/^[",\\\\() \n]{0,6}$/),
        fc.string({ unit: 'grapheme', maxLength: 4 }),
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.tuple(value, value, value), async (values) => {
        const sent = values.map((one) => one?.replaceAll('\0', '') ?? null);
        const [[json]] = (await rowsOf('echo', { a: sent[0]!, b: sent[1]!, c: sent[2]! })) as [[string]];
        expect(JSON.parse(json)).toEqual(sent);
      }),
      { numRuns: 200 },
    );
  });

  test('one a row, in order; NULL stays NULL', async () => {
    expect(await rowsOf('mixes')).toEqual([['["1",null]'], ['["2","\\\\\\""]']]);
    expect(await rowsOf('null_record')).toEqual([[null]]);
  });
});

describe('raw mode', () => {
  const raw = async (name: string, given: Given = {}): Promise<readonly unknown[]> =>
    call(replanned(name, 'raw'), given);

  test("leaves every value as PostgreSQL's text", async () => {
    expect(await raw('list')).toEqual([['{a,"b\\"c",NULL}']]);
    expect(await raw('flag')).toEqual([['t']]);
    expect(await raw('lists')).toEqual([['{1}'], ['{2,NULL}']]);
    expect(await raw('documents')).toEqual([['{"a" : 1}'], [null]]);
    expect(await raw('books', { max_id: '1' })).toEqual([['1', 'Dune', '2024-01-12 11:06:59']]);
    expect(await raw('f"x', { p: '(5,"{a,b}")' })).toEqual([['5', '{a,b}']]);
    expect(await raw('no_book')).toEqual([]);
    expect(await raw('outputs', { a: '1' })).toEqual([['2', '{x}']]);
    expect(await raw('changes', { a: '1', c: '{a}' })).toEqual([['2', '{a,x}']]);
    expect(await raw('sold', { n: '1' })).toEqual([['1', '(t1,"(1,{x})")', '(m,)', 't']]);
  });

  test('makes whole rows of records, whose values only PostgreSQL can tell apart', async () => {
    expect(await raw('echoes', { a: 'a,"b', b: '' })).toEqual([['a,"b1'], ['']]);
    const separated = (separator: string): Promise<readonly unknown[]> =>
      call(replanned('echoes', `raw\nseparator = ${separator}`), { a: 'a,"b\\', b: 'x\ny' });
    expect(await separated(',')).toEqual([['"a,""b\\","x\ny","1"'], [',,']]);
    expect(await separated("'\\\\")).toEqual([[`"a,""b\\"'\\"x\ny"'\\"1"`], [`'\\'\\`]]);
    expect(await raw('nullary')).toEqual([['']]);
    expect(await raw('null_record')).toEqual([[null]]);
  });

  test('with a separator asks for the types that stand without quotes', () => {
    const sold = (comment: string): readonly unknown[] => callColumnTypes(replanned('sold', comment));
    expect(sold('raw')).toEqual([null, null, null, null]);
    expect(sold('raw\nseparator ;')).toEqual([[20, 21, 23, 700, 701, 1700], null, null, [16]]);
  });
});

describe('composite columns written flat', () => {
  const flat = (name: string, comment = ''): Endpoint => replanned(name, comment, { compositeColumns: 'flat' });

  test('have their fields in their place, all NULL where the column is', async () => {
    expect(await call(flat('sold'), { n: '2' })).toEqual([
      ['1', 't1', '{"Left":1,"items":["x"]}', 'm', null, 't'],
      ['2', 't2', '{"Left":2,"items":["x"]}', null, null, 'f'],
    ]);
  });

  test('also in a single row, and in raw mode', async () => {
    expect(await call(flat('one_sale'))).toEqual([['1', 't', null]]);
    expect(await call(flat('no_sale'))).toEqual([]);
    expect(await call(flat('one_sale', 'raw'))).toEqual([['1', 't', null]]);
  });

  test('PostgreSQL can still inline the function', async () => {
    const sold = flat('sold');
    const sql = buildCallStatement(sold, sold.parameters).replace('$1', '2');
    const plan = (await client.query(`explain ${sql}`)).rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain('on generate_series');
  });
});

describe('arguments', () => {
  test('without names go by position, the others by name', async () => {
    const unnamed = endpoint('unnamed');
    expect(await call(unnamed, { $1: '1' })).toEqual([['1-d-e-f']]);
    expect(await call(unnamed, { last: 'z', $1: '1' })).toEqual([['1-d-e-z']]);
    expect(await call(unnamed, { $1: '1', $2: 'x', last: 'z' })).toEqual([['1-x-e-z']]);
    expect(await call(unnamed, { last: 'z', $3: 'y', $2: 'x', $1: '1' })).toEqual([['1-x-y-z']]);
    expect(await rowsOf('half_named', { $2: 'b', first: 'a' })).toEqual([['ab']]);
  });

  test('a gap before an unnamed one cannot be called', () => {
    const unnamed = endpoint('unnamed');
    const [first, second, third] = unnamed.parameters;
    expect(findMissingArgument(unnamed, [first!, third!])).toBe(second);
    expect(findMissingArgument(unnamed, [first!])).toBeNull();
    expect(() => buildCallStatement(unnamed, [first!, third!])).toThrow(RangeError);
  });

  test('of a variadic parameter are one array', async () => {
    expect(await rowsOf('joined', { sep: '-', parts: '{a,b}' })).toEqual([['a-b']]);
    expect(await rowsOf('joined', { sep: '-', parts: '{}' })).toEqual([['']]);
    expect(await rowsOf('variadic_procedure', { a: '1', b: '{1,2}' })).toEqual([]);
  });

  test('choose the overload by their types', async () => {
    const answers = [];
    for (const one of endpoints.filter((candidate) => candidate.name === 'same')) {
      answers.push(await call(one, { a: '1' }));
    }
    expect(answers).toEqual([[['integer']], [['text']]]);
  });
});

describe('procedures', () => {
  test('give nothing, or one row of their outputs, arrays as text that another statement reads', async () => {
    expect(await rowsOf('quiet', { a: '1' })).toEqual([]);
    expect(await rowsOf('changes', { a: '1', c: '{a}' })).toEqual([['2', '{a,x}']]);
    expect(await rowsOf('changes', { b: 'y', a: '1' })).toEqual([['2', '{y}']]);
  });

  test('have placeholders for what only comes out', async ({ skip }) => {
    if (serverVersion() < 14) skip('procedures have output parameters since 14');
    expect(await rowsOf('placed', { b: 'x', $1: '1' })).toEqual([['1', 'x']]);
    expect(await rowsOf('all_out')).toEqual([['1', '(1,{z})']]);
  });
});
