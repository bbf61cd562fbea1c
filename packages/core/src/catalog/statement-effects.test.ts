import { describe, expect, test } from 'vitest';
import { analyzeForeignSource, analyzeSql } from './statement-effects.ts';

describe('a statement or body that may alter its session', () => {
  test.each([
    ['set role x', 'SET of the session'],
    ['SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY', 'session characteristics'],
    ['begin set search_path = a; end', 'SET in a block'],
    ['begin if x then set statement_timeout = 0; end if; end', 'SET in a branch'],
    ['begin <<l>> set row_security = off; end', 'SET behind a label'],
    ['/* note */ -- more\n reset all', 'RESET behind comments'],
    [`select set_config('role', _role, false)`, 'set_config for the session'],
    [`select pg_catalog . set_config('a.b', f(x, true), is_local => false)`, 'set_config with names'],
    [`select set_config('a.b', 'x', _local)`, 'set_config whose scope is a value'],
    [`select "set_config"('a.b', 'x', false)`, 'a quoted name'],
    [`update pg_settings set setting = 'x' where name = 'y'`, 'pg_settings'],
    ['perform pg_advisory_lock(1)', 'a lock of the session'],
    ['select pg_try_advisory_lock_shared(1)', 'a shared one'],
    ['listen news', 'LISTEN'],
    ['prepare p as select 1', 'PREPARE'],
    ['load $$x$$', 'LOAD'],
    ['begin create temp table t (a int); end', 'a temporary table'],
    ['create or replace temporary view v as select 1', 'a temporary view'],
    ['select 1 as a into temp t', 'SELECT INTO TEMP'],
    ['create table pg_temp.t ()', 'the schema of temporary tables'],
    [`execute 'declare c cursor with hold for select 1'`, 'a cursor that is held'],
    ['begin execute _sql; end', 'a statement that is not known'],
    ['begin return query execute _sql using x; end', 'rows of a statement that is not known'],
    [`begin execute 'set role ' || quote_ident(x); end`, 'a SET made at run time'],
    [`begin execute format('%s', x); end`, 'a format of anything'],
    [`begin execute 'select set_config(''a'', ''b'', false)'; end`, 'a call in a statement made at run time'],
    ['do $$ begin set role x; end $$', 'a block of its own'],
    [`select dblink_connect('x')`, 'a connection of its own'],
    ['select setseed(0.5)', 'the seed of random()'],
    ['begin set local.tenant = 1; end', 'a setting that is called local.tenant'],
    [`select set_config('a.b', 'x', false > true)`, 'an expression that ends in true'],
    [`begin execute format('select %I(1)', _fn); end`, 'a routine whose name comes at run time'],
    [`begin execute 'select ' || quote_ident(_fn) || '(1)'; end`, 'a name that is put together'],
    [`begin q := 'select 1'; q := _more; execute q; end`, 'a variable that gets anything'],
    [`begin select body into q from texts; q := 'select 1'; execute q; end`, 'a variable that is read'],
    ['begin -- note\r set app.tenant = 1; end', 'SET behind a comment that a CR ends'],
    [`select query_to_xml('select 1', true, true, '')`, 'a function that runs text'],
    [`select '${'x'.repeat(1_000_001)}'`, 'a text that is too long'],
  ])('%s (%s)', (text) => expect(analyzeSql(text).alters).toBe(true));

  test.each([
    [`select set_config('role', _role, true)`, 'for the transaction'],
    [`select set_config('a.b', f(x, 'y'), is_local => true), set_config('c', 'd', true)`, 'twice for the transaction'],
    ['set local role x', 'SET LOCAL'],
    ['set constraints all deferred', 'SET CONSTRAINTS'],
    ['update t set a = 1 where b', 'SET of UPDATE'],
    ['insert into t values (1) on conflict (a) do update set b = 2', 'SET of an upsert'],
    ['select pg_advisory_xact_lock(1)', 'a lock of the transaction'],
    ['begin create temp table t (a int) on commit drop; end', 'a table that is dropped on commit'],
    [`select 'set role x', $$reset all$$, $t$ listen $$ x $t$`, 'words in strings'],
    [`select E'it\\'s', 'set_config(a, b, false)'`, 'an escaped quote'],
    ['-- set role x\nselect 1 /* set_config(a, b, false) /* nested */ */', 'words in comments'],
    [`begin execute format('select * from %I', t); end`, 'a SELECT made at run time'],
    [`begin return query execute 'select a from t where b = $1' using x; end`, 'rows of one'],
    ['select settings, reset_at, temp from t', 'names that hold the words'],
    ['declare c cursor for select 1; begin end', 'DECLARE of a block'],
    ['select avg(cpu) as load, a > reset from t', 'aliases and columns'],
    [`select set_config('a', 'b', is_local := true), set_config('a', 'b', 't')`, 'other spellings of true'],
    [`begin q := 'select a from t'; if x then q := q || ' where b'; end if; return query execute q; end`, 'a search'],
    [`begin execute format('insert into %I (a) values (%L)', t, a); end`, 'an INSERT made at run time'],
    ['begin execute $$refresh materialized view v$$; end', 'a REFRESH made at run time'],
    ['/* a /* nested */ set role x; */ select 1', 'words in nested comments'],
  ])('not: %s (%s)', (text) => expect(analyzeSql(text).alters).toBe(false));

  test('in another language, every word counts', () => {
    expect(analyzeForeignSource('plpy.execute("set role x")')).toMatchObject({ alters: true, mayBlock: true });
    expect(analyzeForeignSource('return 1')).toMatchObject({ alters: false, mayBlock: true });
  });
});

describe('a statement that may leave a role or a setting to its transaction', () => {
  test.each([
    'begin set local role x; end',
    `select set_config('role', 'x', true)`,
    `select set_config('role', 'x', false)`,
    'begin set role x; end',
    `begin execute 'set local role ' || quote_ident(x); end`,
    `begin execute $$select set_config('role', 'x', true)$$; end`,
  ])('%s', (text) => expect(analyzeSql(text).altersTransaction).toBe(true));
  test.each(['select 1', 'set constraints all deferred', 'update t set local = 1', `select 'set local role x'`])(
    'not: %s',
    (text) => expect(analyzeSql(text).altersTransaction).toBe(false),
  );
});

describe('a statement that may block', () => {
  test.each(['insert into t values (1)', 'select 1 from t for update', 'call p()', 'select pg_sleep(1)', 'lock t'])(
    '%s',
    (text) => expect(analyzeSql(text).mayBlock).toBe(true),
  );
  test.each(['select 1', `select 'insert' from t where updated_at > now()`])('not: %s', (text) =>
    expect(analyzeSql(text).mayBlock).toBe(false),
  );
});
