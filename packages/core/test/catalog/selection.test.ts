import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Filters } from '../../src/catalog/options.ts';
import { useCatalog } from './support.ts';

const { create, query, read, value } = useCatalog(`
  create schema app;
  create schema app_admin;
  create schema "Other";

  create function app.get_user() returns integer language sql as 'select 1';
  create function app.get_users() returns integer language sql as 'select 1';
  create function app.set_user() returns integer language sql as 'select 1';
  create function app_admin.get_user() returns integer language sql as 'select 1';
  create function app_admin."a,b""c\\{}" () returns integer language sql as 'select 1';
  create function "Other".get_user() returns integer language sql as 'select 1';
`);

const everything = [
  'Other.get_user',
  'app.get_user',
  'app.get_users',
  'app.set_user',
  'app_admin.a,b"c\\{}',
  'app_admin.get_user',
];

async function names(filters: Filters): Promise<readonly string[]> {
  return (await read(filters)).map(({ schema, name }) => `${schema}.${name}`);
}

describe('filters', () => {
  test.each<[string, Filters, readonly string[]]>([
    ['none', {}, everything],
    ['empty ones', { includeSchemas: [], excludeNames: [], nameSimilarTo: '' }, everything],
    ['null ones', { includeSchemas: null, excludeSchemas: null, schemaSimilarTo: null }, everything],
    ['includeSchemas', { includeSchemas: ['Other', 'app_admin', 'none'] }, [everything[0]!, ...everything.slice(4)]],
    ['excludeSchemas', { excludeSchemas: ['app', 'Other'] }, everything.slice(4)],
    ['includeNames', { includeNames: ['set_user', 'a,b"c\\{}'] }, everything.slice(3, 5)],
    ['excludeNames', { excludeNames: ['get_user', 'a,b"c\\{}'] }, everything.slice(2, 4)],
    ['schemaSimilarTo', { schemaSimilarTo: 'app%' }, everything.slice(1)],
    ['schemaNotSimilarTo', { schemaNotSimilarTo: '(app|O)%' }, []],
    ['nameSimilarTo', { nameSimilarTo: '(g|s)et_user' }, [0, 1, 3, 5].map((index) => everything[index]!)],
    ['nameNotSimilarTo', { nameNotSimilarTo: '%user_?' }, everything.slice(4, 5)],
    ['several', { includeSchemas: ['app'], nameSimilarTo: 'get%', excludeNames: ['get_users'] }, ['app.get_user']],
    ['names are not patterns', { includeNames: ['get%', 'GET_USER', '*'] }, []],
    ['values are never SQL', { includeNames: ["x'); drop schema app cascade; --"], nameSimilarTo: "'" }, []],
  ])('%s', async (_, filters, expected) => {
    expect(await names(filters)).toStrictEqual(expected);
  });

  test('an invalid pattern is the error of PostgreSQL', async () => {
    await expect(read({ nameSimilarTo: '(' })).rejects.toThrow('invalid regular expression');
  });
});

describe('excluded', () => {
  test.each<[string, string]>([
    ['aggregates', 'create aggregate app.it(integer) (sfunc = int4pl, stype = integer)'],
    ['trigger functions', `create function app.it() returns trigger language plpgsql as 'begin end'`],
    ['event trigger functions', `create function app.it() returns event_trigger language plpgsql as 'begin end'`],
    ['window functions', `create function app.it() returns bigint language internal window as 'window_row_number'`],
    ['language internal', `create function app.it(text) returns integer language internal as 'textlen'`],
    ['language c', `create function app.it() returns integer language c as '$libdir/plpgsql', 'plpgsql_call_handler'`],
    ['polymorphic', `create function app.it(anyelement) returns integer language sql as 'select 1'`],
    [
      'polymorphic among others',
      `create function app.it(integer, variadic anyarray) returns integer language sql as 'select 1'`,
    ],
    ['polymorphic results', `create function app.it(anyarray) returns anyelement language sql as 'select $1[1]'`],
    ['record parameters', `create function app.it(record) returns integer language plpgsql as 'begin return 1; end'`],
    ['temporary routines', `create function pg_temp.it() returns integer language sql as 'select 1'`],
  ])('%s', async (_, sql) => {
    await query(sql);
    expect(await read({ includeNames: ['it'] })).toStrictEqual([]);
    expect(await value(`select count(*) from pg_proc where proname = 'it'`)).toBe('1');
    await query(`do $$ declare it text; begin
      select format('drop routine %s', oid::regprocedure) into strict it from pg_proc where proname = 'it'; execute it; end $$`);
  });

  test('members of extensions', async () => {
    await create(`create function app.member() returns integer language sql as 'select 1'`);
    expect(await names({ includeNames: ['member'] })).toStrictEqual(['app.member']);
    await create(`alter extension plpgsql add function app.member()`);
    expect(await names({ includeNames: ['member'] })).toStrictEqual([]);
    await create(`alter extension plpgsql drop function app.member(); drop function app.member()`);
  });

  test('information_schema and pg_catalog, also when included by name', async () => {
    await create(`create function information_schema.mine() returns integer language sql as 'select 1'`);
    expect(await names({ includeSchemas: ['information_schema', 'pg_catalog'] })).toStrictEqual([]);
  });
});

describe('kept', () => {
  test('a routine that the connection may not execute: the request may run as another role', async () => {
    const role = `catalog_reader_${randomBytes(4).toString('hex')}`;
    await create(`create role ${role};
      create function app.secret() returns integer language sql as 'select 1';
      revoke execute on function app.secret() from public`);
    await query(`set role ${role}`);
    const found = await names({ includeNames: ['secret'] });
    await query('reset role');
    await create(`drop function app.secret(); drop role ${role}`);
    expect(found).toStrictEqual(['app.secret']);
  });

  test('the query uses only pg_catalog, whatever the search path', async () => {
    await create(`create schema trap;
      create function trap.format_type(oid, integer) returns text language sql as $$select 'trapped'$$;
      create function trap.quote_ident(name) returns text language sql as $$select 'trapped'$$;
      create table trap.pg_proc (oid oid);
      create table trap.pg_type (oid oid)`);
    await query('set search_path = trap, pg_catalog');
    const found = await read({ includeSchemas: ['app'] });
    await query('reset search_path');
    await create('drop schema trap cascade');
    expect(found.map(({ signature, result }) => [signature, result.display])).toStrictEqual([
      ['app.get_user()', 'integer'],
      ['app.get_users()', 'integer'],
      ['app.set_user()', 'integer'],
    ]);
  });
});
