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
    [`begin execute 'select 1 order by ' || _order; end`, 'a parameter behind a literal'],
    [`begin execute format('select 1 order by %s', _order); end`, 'a parameter in the place of %s'],
    [`begin execute format('select %I', a) || _more; end`, 'a parameter behind a format'],
    [`begin execute format(_pattern, a); end`, 'a format that is a parameter'],
    [`begin execute format('%1$I %2$s', a, b); end`, 'a format with positions'],
    [`begin execute concat('select 1 ', _more); end`, 'a parameter in concat()'],
    [`begin execute coalesce(_sql, 'select 1'); end`, 'a parameter in coalesce()'],
    [`begin execute 'select 1' || case when a then _more else '' end; end`, 'a parameter in a branch'],
    [`begin execute 'select ''' || quote_ident(a) || ''''; end`, 'an identifier in a string'],
    [`begin execute 'select "' || quote_literal(a) || '"'; end`, 'a literal in an identifier'],
    [`begin execute 'select 1 -- ' || quote_ident(a); end`, 'an identifier in a comment'],
    [`begin execute 'select 1; se' || quote_ident(a) || ' x to 1'; end`, 'an identifier that continues a keyword'],
    [`begin execute 'select 1; ' || quote_ident(a) || ' role x'; end`, 'an identifier that can be a keyword'],
    [`begin execute 'select 1 as a into ' || quote_ident(a) || ' b'; end`, 'an identifier that can be TEMP'],
    [`begin execute 'select ' || quote_ident(a) || '.' || quote_ident(b) || ' (1)'; end`, 'a qualified name'],
    [`declare q text; begin q = _sql; execute q; end`, 'an assignment by ='],
    [`declare q text = _sql; begin execute q; end`, 'a value in the declaration'],
    [`declare q text default _sql; begin execute q; end`, 'a default in the declaration'],
    [`declare q text; begin q := 'select 1'; select 1, body into r, q from texts; execute q; end`, 'a list of targets'],
    [`declare q text; begin for q in select body from texts loop execute q; end loop; end`, 'a loop variable'],
    [`declare q text; begin foreach q in array _all loop execute q; end loop; end`, 'an element of an array'],
    [`declare q text; begin q := 'select 1'; call fill(q); execute q; end`, 'an output of a procedure'],
    [`declare q text[]; begin q[1] := 'select 1'; execute q[1]; end`, 'an array'],
    [`begin if x then q := 'select 1'; end if; execute q; end`, 'a parameter that is assigned, too'],
    [
      `begin declare q text; begin q := 'select 1'; end; execute q; end`,
      'a parameter outside of the block of a variable',
    ],
    [`declare q text; begin q := 'select 1; se'; q := q || 't role x'; execute q; end`, 'a keyword in two assignments'],
    [
      `declare q text; begin q := 'select '''; q := q || _a; execute q; end`,
      'a string that another assignment continues',
    ],
    [`declare p text; q text; begin p := _a; q := 'select 1 ' || p; execute q; end`, 'a variable in a variable'],
    [
      `declare p text; q text; begin q := p || _a; p := q; perform format('%L', q); execute format('%L', q); execute p; end`,
      'variables that contain each other',
    ],
    [`begin execute E'select 1; \\x73et role x'; end`, 'an escaped letter'],
    [`begin execute U&'select 1; \\0073et role x'; end`, 'a Unicode escape'],
    [`select U&"\\0073et_config"('a.b', 'x', false)`, 'a name with a Unicode escape'],
    [`select U&"!0073et_config" uescape '!' ('a.b', 'x', false)`, 'a name with another escape character'],
    [`declare function text; begin execute function; end`, 'a variable that is called function'],
    [`begin open c for execute "on"; end`, 'a variable that is called on'],
    [`select ts_rewrite(a, 'select b, c from aliases')`, 'ts_rewrite'],
    [`select * from crosstab('select 1, 2, 3') as x (a int, b int)`, 'crosstab'],
    [`select * from crosstab4($1)`, 'crosstab4'],
    [`select * from connectby('t', 'a', 'b', '1', 0) as x (a text, b text, c int)`, 'connectby'],
    [`select * from xpath_table('a', 'b', 'c', 'd', 'e') as x (a int)`, 'xpath_table'],
    [`select table_to_xml('v', true, true, '')`, 'a relation whose name is a value'],
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
    [
      `declare q text; begin q := 'select a from t'; if x then q := q || ' where b'; end if; return query execute q; end`,
      'a search',
    ],
    [`begin execute format('insert into %I (a) values (%L)', t, a); end`, 'an INSERT made at run time'],
    ['begin execute $$refresh materialized view v$$; end', 'a REFRESH made at run time'],
    ['/* a /* nested */ set role x; */ select 1', 'words in nested comments'],
    [`begin execute 'select a from t order by ' || quote_ident(_order) || ' desc'; end`, 'a quoted identifier'],
    [
      `begin execute 'select a from t where b = ' || quote_literal(_b) || ' or c=' || quote_nullable(c); end`,
      'literals',
    ],
    [`begin execute format('select a from t where %I = %L and b >= $1', a, b) using c; end`, 'a format with values'],
    [`begin execute format('select 1 %s', case when a then 'order by b' else '' end); end`, 'alternatives in a format'],
    [
      `begin return query execute 'select a from t order by ' || case _sort when 'b' then 'b' else 'c' end || ' limit $1' using n; end`,
      'alternatives',
    ],
    [`begin for r in execute format('select * from %I.%I', a, b) loop end loop; end`, 'a loop'],
    [
      `declare q text := 'select a from t'; w text; begin w = ' where b = ' || quote_literal(b); q := q || w; execute q into a; end`,
      'a variable in a variable',
    ],
    [
      `declare q constant text default format('select a from %I', _t); begin open c for execute q using 1; end`,
      'a declared statement',
    ],
    [
      `begin execute 'select 1' 
      ' from t' into strict a; end`,
      'a literal in two lines',
    ],
    [`create trigger t after insert on a for each row execute function f()`, 'a trigger'],
    [`grant execute on function f() to public`, 'GRANT EXECUTE'],
    [`begin execute $q$select * from t where a = 'it''s'$q$; end`, 'a dollar-quoted statement'],
  ])('not: %s (%s)', (text) => expect(analyzeSql(text).alters).toBe(false));

  test('in another language, every word counts', () => {
    expect(analyzeForeignSource('plpy.execute("set role x")')).toMatchObject({ alters: true, mayBlock: true });
    expect(analyzeForeignSource('return 1')).toMatchObject({ alters: false, mayBlock: true });
    // The text of its statements is not known.
    expect(analyzeForeignSource('return plpy.execute(sql)')).toMatchObject({ alters: true });
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

test.each([
  'select lastval()',
  `select currval('s')`,
  `begin execute 'select lastval()'; end`,
  'begin execute _sql; end',
])('a statement that may read the number that another caller has drawn: %s', (text) =>
  expect(analyzeSql(text).readsSequences).toBe(true),
);

test.each([`select nextval('s')`, 'insert into t default values returning id', 'begin perform f(); end'])(
  'and one that does not: %s',
  (text) => expect(analyzeSql(text).readsSequences).toBe(false),
);

describe('a statement that may block', () => {
  test.each(['insert into t values (1)', 'select 1 from t for update', 'call p()', 'select pg_sleep(1)', 'lock t'])(
    '%s',
    (text) => expect(analyzeSql(text).mayBlock).toBe(true),
  );
  test.each(['select 1', `select 'insert' from t where updated_at > now()`])('not: %s', (text) =>
    expect(analyzeSql(text).mayBlock).toBe(false),
  );
});
