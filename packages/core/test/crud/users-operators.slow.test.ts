import { randomBytes } from 'node:crypto';
import { crudSource, functionsSource, type GatewayOptions } from '@pgway/core';
import { type Answer, startGateway, type TestGateway } from '@pgway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** @param ext the schema of the extensions */
const objectsOf = (ext: string): string => `
  create schema if not exists ${ext};
  create extension citext schema ${ext};
  create extension hstore schema ${ext};
  create type mood as enum ('sad', 'glad');
  create type place as (city text, zip int);
  create domain code as varchar(8);
  create domain label as ${ext}.citext;
  create table item (id int primary key, big int8, small int2, price numeric, ratio float8, done bool, name text, short varchar(9),
    fixed char(3), tag ${ext}.citext, label label, code code, mood mood, home place, doc json, data jsonb, extra ${ext}.hstore,
    at timestamptz, day date, key uuid, during int4range, numbers int[], tags text[], tagged ${ext}.citext[], moods mood[],
    spot point, net inet, bits bytea);
  create table pair (tag ${ext}.citext, id int, note text, primary key (tag, id));
  create view some_items as select id, name, tag from item;
  comment on table item is E'HTTP\\nlisting\\nfor select';
  comment on table pair is E'HTTP\\nlisting';
  comment on view some_items is 'HTTP';
  create function one_int(_n int) returns int language plpgsql stable as $$ begin return _n; end $$;
  create function some_rows() returns table (id int, home place, tags text[]) language plpgsql stable as
    $$ begin return query values (1, row('Rome', 2)::place, array['a', null]); end $$;
  create function one_place() returns place language plpgsql stable as $$ begin return row('Rome', 2)::place; end $$;
  create function moods() returns setof mood language plpgsql stable as $$ begin return query values ('sad'::mood); end $$;
  create function a_record() returns record language plpgsql stable as $$ begin return row(1, 'a "b", \\c', null, true); end $$;
  create function raw_records() returns setof record language sql stable as $$ select 1, 'x "y"' $$;
  create procedure given_out(inout _a int, inout _b text[], inout _c place) language plpgsql as
    $$ begin _a := 1; _b := array['x']; end $$;
  comment on function one_int is 'HTTP GET'; comment on function some_rows is 'HTTP GET';
  comment on function one_place is E'HTTP GET\\ncached'; comment on function moods is 'HTTP GET';
  comment on function a_record is 'HTTP GET'; comment on function raw_records is E'HTTP GET\\nraw\\nseparator ;\\nnew_line |';
  comment on procedure given_out is 'HTTP';
`;

/** Copies every operator, function and aggregate of PostgreSQL to `public`, as a trap, and types. */
const trapsOf = (mallory: string, ext: string): string => `
  do $$ begin execute pg_catalog.format('grant create, usage on schema public to ${mallory}'); end $$;
  create sequence public.sprung;
  grant all on sequence public.sprung to public;
  grant usage on schema ${ext} to public;
  set role ${mallory};
  do $traps$
  declare
    one record;
    body constant text := 'language plpgsql as $f$ begin perform pg_catalog.nextval(''public.sprung''); raise exception ''a trap''; end $f$';
  begin
    for one in
      select o.oid, o.oprname, o.oprleft::regtype as l, o.oprright::regtype as r, p.prorettype::regtype as result
      from pg_operator o join pg_proc p on p.oid = o.oprcode
      where o.oprnamespace = 'pg_catalog'::regnamespace and o.oprkind = 'b'
      union all
      select 0, name, t, t, 'bool'::regtype
      from unnest(array['=', '<>', '<', '<=', '>', '>=', '~~', '~~*']) name,
        unnest(array['mood', 'place', 'code', 'label', '${ext}.citext', '${ext}.hstore', 'varchar', 'json', '${ext}.citext[]', 'mood[]',
          'int4[]', 'text[]', 'int4range', 'point']::regtype[]) t
      union all
      select 0, name, t, 'text'::regtype, 'bool'::regtype
      from unnest(array['~~', '~~*']) name, unnest(array['${ext}.citext', 'label', 'code', 'varchar', 'mood']::regtype[]) t
    loop
      begin
        execute format('create function public.%I(%s, %s) returns %s %s', 'op' || md5(one::text), one.l, one.r, one.result, body);
        execute format('create operator public.%s (leftarg = %s, rightarg = %s, function = public.%I)',
          one.oprname, one.l, one.r, 'op' || md5(one::text));
      exception when others then null;
      end;
    end loop;
    for one in
      select p.proname, pg_get_function_identity_arguments(p.oid) as args, p.prorettype::regtype as result
      from pg_proc p where p.pronamespace = 'pg_catalog'::regnamespace and p.prokind = 'f'
    loop
      begin
        execute format('create function public.%I(%s) returns %s %s', one.proname, one.args, one.result, body);
      exception when others then null;
      end;
    end loop;
    execute format('create function public.step(bool, anyelement) returns bool %s', body);
    execute format('create function public.step(bool) returns bool %s', body);
    execute 'create aggregate public.count(*) (sfunc = public.step, stype = bool)';
    for one in
      select name, t
      from unnest(array['count', 'min', 'max', 'sum', 'bool_or', 'bit_or', 'json_agg', 'jsonb_agg', 'array_agg', 'string_agg']) name,
        unnest(array['int4', 'int8', 'bool', 'json', 'text', 'name', 'oid']::regtype[]) t
    loop
      execute format('create aggregate public.%I(%s) (sfunc = public.step, stype = bool)', one.name, one.t);
    end loop;
    execute format('create function public.trap(bool) returns bool %s', body);
    for one in
      select name
      from unnest(array['text', 'int4', 'int8', 'json', 'jsonb', 'name', 'oid', 'bool', 'regclass', 'regtype', 'int2']) name
    loop
      execute format('create domain public.%I as pg_catalog.%I constraint trap check (public.trap(value is null))', one.name, one.name);
    end loop;
  end $traps$;
  reset role;
  -- The worst that an administrator can have chosen: of two that fit equally well, that of a user is taken.
  do $$ begin execute pg_catalog.concat('alter database ', pg_catalog.current_database(), ' set search_path = public, pg_catalog'); end $$;
`;

const filters: Partial<GatewayOptions> = {
  includeSchemas: ['public'],
  excludeSchemas: ['ext'],
  excludeNames: ['nothing'],
  schemaSimilarTo: 'p%',
  schemaNotSimilarTo: 'x%',
  nameSimilarTo: '%',
  nameNotSimilarTo: 'x%',
};

const row = {
  id: 1,
  big: 2,
  small: 3,
  price: 4.5,
  ratio: 0.5,
  done: true,
  name: 'Ann',
  short: 'sh',
  fixed: 'abc',
  tag: 'Tag',
  label: 'Label',
  code: 'c',
  mood: 'sad',
  home: { city: 'Rome', zip: 1 },
  doc: { a: 1 },
  data: { b: [2] },
  extra: '"k"=>"v"',
  at: '2024-01-01T00:00:00+00:00',
  day: '2024-01-01',
  key: '6f3d2c1b-0a9e-4d8c-8b7a-5f4e3d2c1b0a',
  during: '[1,5)',
  numbers: [1, 2],
  tags: ['a', 'b'],
  tagged: ['A'],
  moods: ['glad'],
  spot: '(1,2)',
  net: '10.0.0.1',
  bits: '\\x00ff',
};

const compared =
  `big=2&small=3&price=4.5&ratio=0.5&done=true&name=Ann&short=sh&fixed=abc&tag=tAG&label=lABEL&code=c&mood=sad&home=(Rome,1)
  &doc={"a":1}&data={"b":[2]}&extra=k=>v&at=2024-01-01T00:00:00Z&day=2024-01-01&key=6f3d2c1b-0a9e-4d8c-8b7a-5f4e3d2c1b0a&during=[1,5)
  &numbers=1&numbers=2&tags=a&tags=b&tagged=a&moods=glad&spot=(1,2)&net=10.0.0.1&bits=\\x00ff`.replaceAll(/\s/g, '');
const ordered = [
  'big',
  'price',
  'ratio',
  'name',
  'short',
  'fixed',
  'tag',
  'label',
  'code',
  'mood',
  'at',
  'day',
  'key',
] as const;
const operators = ordered.flatMap((column) => {
  const value = encodeURIComponent(String(row[column]));
  return ['eq', 'neq', 'gt', 'gte', 'lt', 'lte', 'not.eq', 'in'].map(
    (operator) => `GET /api/item?${column}=${operator}.${operator === 'in' ? `(${value})` : value}`,
  );
});
const patterns = ['name', 'short', 'fixed', 'tag', 'label', 'code', 'mood', 'price'].flatMap((column) =>
  ['like', 'ilike', 'not.like'].map((operator) => `GET /api/item?${column}=${operator}.*A*`),
);

interface Request {
  readonly line: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Runs every kind of statement. The rows are unchanged afterwards. */
const requests: readonly Request[] = [
  { line: 'PUT /api/item', body: row },
  { line: 'PUT /api/item/on-conflict-do-nothing/returning', body: row },
  { line: 'PUT /api/item/on-conflict-do-update/returning', body: row },
  { line: 'GET /api/item?id=1', headers: { prefer: 'count=exact' } },
  { line: `GET /api/item?${encodeURI(compared)}`, headers: { prefer: 'count=exact' } },
  ...[...operators, ...patterns].map((line) => ({ line })),
  { line: 'GET /api/item?done=is.true&doc=is.null&order=tag.desc,id&limit=3&offset=0' },
  { line: 'GET /api/item?order=tag,id&after=A&after=0' },
  { line: 'GET /api/item?order=name.desc,id&after=Z&after=0' },
  { line: 'GET /api/item?order=mood&after=is.null&after=0' },
  { line: 'PUT /api/pair/returning', body: { tag: 'A', id: 1, note: 'n' } },
  { line: 'GET /api/pair?after=a&after=0' },
  { line: 'GET /api/pair?order=tag.desc,id.desc&after=b&after=0' },
  { line: 'GET /api/pair?tag=a&id=1' },
  { line: 'POST /api/pair/returning', body: { tag: 'a', id: 1, note: 'm' }, headers: { 'if-match': '*' } },
  { line: 'POST /api/pair', body: { tag: 'a', id: 1, note: 'm' }, headers: { 'if-match': '"1"' } },
  { line: 'DELETE /api/pair/returning?tag=A&id=1' },
  { line: 'GET /api/some-items?name=Ann&tag=tag' },
  { line: 'POST /api/item/returning', body: { id: 1, name: 'Bob' } },
  { line: `DELETE /api/item/returning?id=1&tag=TAG&label=LABEL&code=c` },
  { line: 'GET /api/one-int?n=1' },
  { line: 'GET /api/some-rows' },
  { line: 'GET /api/some-rows', headers: { accept: 'text/csv' } },
  { line: 'GET /api/one-place' },
  { line: 'GET /api/one-place', headers: { authorization: `Basic ${btoa('ann:secret')}` } },
  { line: 'GET /api/moods' },
  { line: 'GET /api/a-record' },
  { line: 'GET /api/raw-records' },
  { line: 'POST /api/given-out', body: { a: null, b: null, c: { city: 'Bern', zip: 3 } } },
  { line: 'GET /api/one-int?n=x' },
];

async function answersOf(gateway: TestGateway): Promise<readonly unknown[]> {
  const answers: unknown[] = [];
  for (const { line, body, headers = {} } of requests) {
    const answer: Answer = await gateway.send(line, { headers, ...(body === undefined ? {} : { body }) });
    answers.push([line, answer.status, answer.headers.get('x-total-count'), answer.body]);
  }
  return answers;
}

const options = (): Partial<GatewayOptions> => ({
  ...filters,
  routineSources: [functionsSource({ definitions: true }), crudSource()],
  refreshOnNotify: 'changed',
  authentication: { basic: { command: `select $1::pg_catalog.text as user_name, array['a'] as roles` } },
});

describe.each(['ext', 'public'])('objects of a user in public, with extensions in %s', (ext) => {
  const mallory = `pgway_mallory_${randomBytes(6).toString('hex')}`;
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway(`create role ${mallory}; ${objectsOf(ext)}`, options());
  });
  afterAll(async () => {
    const { database } = gateway;
    await database.query(`drop owned by ${mallory} cascade; drop role ${mallory}`);
    await gateway.close();
  });

  test('operators, functions and types are never used, and every response is unchanged', async () => {
    const before = await answersOf(gateway);
    expect(before.filter((answer) => Number((answer as readonly unknown[])[1]) >= 500)).toEqual([]);
    expect(before).toContainEqual([`GET /api/item?tag=eq.Tag`, 200, null, expect.stringContaining('"tag":"Tag"')]);
    await gateway.database.query(trapsOf(mallory, ext));

    const { createGateway } = await import('@pgway/core');
    const trapped = await createGateway({ connectionString: gateway.database.connectionString, ...options() });
    const send: TestGateway['send'] = async (line, sending = {}) => {
      const [method, path] = line.split(' ') as [string, string];
      const { body, headers = {} } = sending;
      const response = await trapped.fetch(
        new Request(`https://localhost${path}`, {
          method,
          headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        }),
      );
      const { status, headers: sent } = response!;
      return { status, headers: sent, type: sent.get('content-type'), body: await response!.text() };
    };
    const after = await answersOf({ ...gateway, send });
    await trapped.refresh();
    await trapped.close();
    expect(await gateway.database.query('select is_called from public.sprung')).toEqual([{ is_called: false }]);
    expect(after).toEqual(before);

    // The traps work: SQL without schema names runs into them.
    for (const sql of [
      'select 1 = 1',
      `select 'a'::text || 'b'::text`,
      'select count(*) from pg_catalog.pg_class',
      `select 'a'::text`,
    ]) {
      await expect(onSessionOf(gateway, sql)).rejects.toThrow('a trap');
    }
    expect(await gateway.database.query('select is_called from public.sprung')).toEqual([{ is_called: true }]);
  });
});

/** Runs the function with the session settings of the database. */
async function onSessionOf({ database }: TestGateway, sql: string): Promise<void> {
  const { Client } = await import('pg');
  const client = new Client({ connectionString: database.connectionString });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
