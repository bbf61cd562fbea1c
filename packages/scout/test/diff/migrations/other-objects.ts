import { type Migration, migration } from './migration.ts';

const sql = (name: string, result: string, body: string, more: string = ''): string =>
  `create function ${name} returns ${result} language sql ${more} as '${body}'`;
const touch = `create function touch() returns trigger language plpgsql as 'begin return new; end'`;
const table = 'create table t (a int, b int)';
const rows = 'insert into t values (1, 2)';

const types: readonly Migration[] = [
  migration('enum: a value comes', [
    `create type m as enum ('a'); create table t (m m)`,
    `insert into t values ('a')`,
    `create type m as enum ('z', 'a', 'b'); create table t (m m default 'b')`,
  ]),
  migration('enum: a value goes', [
    `create type m as enum ('a', 'b'); create table t (m m default 'a')`,
    `insert into t values ('a')`,
    `create type m as enum ('a'); create table t (m m default 'a')`,
  ]),
  migration(
    'enum: a value goes that a row has',
    [
      `create type m as enum ('a', 'b'); create table t (m m)`,
      `insert into t values ('b')`,
      `create type m as enum ('a'); create table t (m m)`,
    ],
    { refusal: 'invalid input value for enum' },
  ),
  migration('enum: another order', [
    `create type m as enum ('a', 'b'); create table t (m m primary key, l m[])`,
    `insert into t values ('a', '{a,b}')`,
    `create type m as enum ('b', 'a'); create table t (m m primary key, l m[])`,
  ]),
  migration('enum: text becomes an enum', [
    'create table t (m text)',
    `insert into t values ('a')`,
    `create type m as enum ('a'); create table t (m m)`,
  ]),
  migration(
    'enum: text with another value becomes an enum',
    ['create table t (m text)', `insert into t values ('x')`, `create type m as enum ('a'); create table t (m m)`],
    { refusal: 'invalid input value for enum' },
  ),
  migration('enum: becomes text', [
    `create type m as enum ('a'); create table t (m m not null)`,
    `insert into t values ('a')`,
    'create table t (m text not null)',
  ]),
  migration('enum: becomes a domain of the same name', [
    `create type m as enum ('a'); create table t (m m)`,
    `insert into t values ('a')`,
    `create domain m as text check (value <> ''); create table t (m m)`,
  ]),
  migration('enum: with functions and views', [
    `create type m as enum ('a', 'b'); create table t (m m); create view v as select m from t; ${sql('f(m)', 'm', 'select $1')}`,
    `insert into t values ('a')`,
    `create type m as enum ('a', 'c'); create table t (m m); create view v as select m from t; ${sql('f(m)', 'm', 'select $1')}`,
  ]),
  migration('domain: a default and a check', [
    'create domain d as int; create table t (d d)',
    'insert into t values (1)',
    'create domain d as int default 2 check (value > 0); create table t (d d)',
  ]),
  migration(
    'domain: a check that a value violates',
    [
      'create domain d as int; create table t (d d)',
      'insert into t values (-1)',
      'create domain d as int check (value > 0); create table t (d d)',
    ],
    { refusal: 'contains values that violate the new constraint' },
  ),
  migration('domain: not null', [
    'create domain d as int; create table t (d d)',
    'insert into t values (1)',
    'create domain d as int not null; create table t (d d)',
  ]),
  migration(
    'domain: not null, with a null',
    [
      'create domain d as int; create table t (d d)',
      'insert into t values (null)',
      'create domain d as int not null; create table t (d d)',
    ],
    { refusal: 'contains null values' },
  ),
  migration('domain: not valid, and validated', [
    'create domain d as int; alter domain d add constraint k check (value > 0) not valid; create table t (d d)',
    'insert into t values (1)',
    'create domain d as int constraint k check (value > 0); create table t (d d)',
  ]),
  migration('domain: over a domain', [
    'create domain e as int; create domain d as e; create table t (d d)',
    'insert into t values (1)',
    'create domain e as int check (value > 0); create domain d as e; create table t (d d)',
  ]),
  migration('domain: becomes its base', [
    'create domain d as int check (value > 0); create table t (d d)',
    'insert into t values (1)',
    'create table t (d int)',
  ]),
  migration('composite: an attribute comes', [
    'create type c as (a int); create table t (c c)',
    'insert into t values (row(1))',
    'create type c as (a int, b text); create table t (c c)',
  ]),
  migration('composite: an attribute goes', [
    'create type c as (a int, b text); create table t (c c)',
    `insert into t values ((1, 'x'))`,
    'create type c as (a int); create table t (c c)',
  ]),
  migration('range: another difference', [
    `${sql('d(int, int)', 'float8', 'select 1.0::float8', 'immutable')}; create type r as range (subtype = int); create table t (r r)`,
    `insert into t values ('[1,2)')`,
    `${sql('d(int, int)', 'float8', 'select 1.0::float8', 'immutable')}; create type r as range (subtype = int, subtype_diff = d); create table t (r r)`,
  ]),
];

const routines: readonly Migration[] = [
  migration('function: another body', [sql('f()', 'int', 'select 1'), '', sql('f()', 'int', 'select 2', 'stable')]),
  migration('function: another result', [
    `${sql('f()', 'int', 'select 1')}; create view v as select f()`,
    '',
    `${sql('f()', 'text', 'select null::text')}; create view v as select f()`,
  ]),
  migration('function: another name of an argument', [
    sql('f(a int)', 'int', 'select 1'),
    '',
    sql('f(b int)', 'int', 'select 1'),
  ]),
  migration('function: a default goes', [
    sql('f(a int default 1)', 'int', 'select 1'),
    '',
    sql('f(a int)', 'int', 'select 1'),
  ]),
  migration('function: another argument', [
    sql('f(a int)', 'int', 'select 1'),
    '',
    sql('f(a text)', 'int', 'select 1'),
  ]),
  migration('function: becomes a procedure', [
    sql('f()', 'void', 'select 1'),
    '',
    `create procedure f() language sql as 'select 1'`,
  ]),
  migration('function: of a trigger', [
    `${table}; ${touch}; create trigger x before insert on t for each row execute function touch()`,
    rows,
    `${table}; ${touch.replace('begin', 'begin new.a := 1;')}; create trigger x before insert on t for each row execute function touch()`,
  ]),
  migration('function: a table result gets a column', [
    sql('f()', 'table (a int)', 'select 1'),
    '',
    sql('f()', 'table (a int, b int)', 'select 1, 2'),
  ]),
  migration(
    'function: body of SQL',
    ['create function f() returns int return 1', '', 'create function f() returns int return 2'],
    { since: 14 },
  ),
  migration('aggregate: another start', [
    `create aggregate s(int) (sfunc = int4pl, stype = int); ${table}; create view v as select s(a) from t`,
    rows,
    `create aggregate s(int) (sfunc = int4pl, stype = int, initcond = '5'); ${table}; create view v as select s(a) from t`,
  ]),
  migration('operator: another function', [
    `${sql('f(int, text)', 'boolean', 'select true', 'immutable')}; create operator === (function = f, leftarg = int, rightarg = text)`,
    '',
    `${sql('f(int, text)', 'boolean', 'select true', 'immutable')}; create operator === (function = f, leftarg = int, rightarg = text, restrict = eqsel)`,
  ]),
];

const views: readonly Migration[] = [
  migration('view: a column comes', [
    `${table}; create view v as select a from t`,
    rows,
    `${table}; create view v as select a, b from t`,
  ]),
  migration('view: a column goes', [
    `${table}; create view v as select a, b from t; create view w as select a from v`,
    rows,
    `${table}; create view v as select a from t; create view w as select a from v`,
  ]),
  migration('view: options', [
    `${table}; create view v as select a from t`,
    rows,
    `${table}; create view v with (security_barrier) as select a from t where a > 0 with check option`,
  ]),
  migration(
    'view: becomes materialized',
    [`${table}; create view v as select a from t`, rows, `${table}; create materialized view v as select a from t`],
    { values: ['select a from v', [{ a: 1 }]] },
  ),
  migration('materialized view: another query', [
    `${table}; create materialized view v as select a from t; create index on v (a); grant select on v to public`,
    rows,
    `${table}; create materialized view v as select b as a from t; create index on v (a); grant select on v to public`,
  ]),
  migration('trigger: another event', [
    `${table}; ${touch}; create trigger x before insert on t for each row execute function touch()`,
    rows,
    `${table}; ${touch}; create trigger x after update on t for each row execute function touch()`,
  ]),
  migration('trigger: is disabled', [
    `${table}; ${touch}; create trigger x before insert on t for each row execute function touch()`,
    rows,
    `${table}; ${touch}; create trigger x before insert on t for each row execute function touch(); alter table t disable trigger x`,
  ]),
  migration('rule: another action', [
    `${table}; create rule r as on insert to t do instead nothing`,
    '',
    `${table}; create rule r as on insert to t where new.a < 0 do instead nothing`,
  ]),
  migration('policy: another command and roles', [
    `${table}; create policy p on t using (a > 0)`,
    rows,
    `${table}; create policy p on t as restrictive for update to current_user using (a > 1) with check (b > 1)`,
  ]),
  migration('event trigger: another event', [
    `create function e() returns event_trigger language plpgsql as 'begin end'; create event trigger x on ddl_command_end execute function e()`,
    '',
    `create function e() returns event_trigger language plpgsql as 'begin end'; create event trigger x on ddl_command_start execute function e()`,
  ]),
  migration(
    'publication: tables and columns',
    [
      'create table t (a int primary key, b int); create publication p for table t',
      'insert into t values (1, 2)',
      'create table t (a int primary key, b int, c int); create publication p for table t (a, c)',
    ],
    { since: 15 },
  ),
  migration(
    'extension: comes with a column of its type',
    ['create table t (a text)', `insert into t values ('X')`, 'create extension citext; create table t (a citext)'],
    { values: [`select a = 'x' as same from t`, [{ same: true }]] },
  ),
  migration('extension: goes', [
    'create extension citext; create table t (a citext)',
    `insert into t values ('X')`,
    'create table t (a text)',
  ]),
  migration('extension: another schema', [
    'create schema s; create extension citext; create table t (a citext)',
    `insert into t values ('X')`,
    'create schema s; create extension citext schema s; create table t (a s.citext)',
  ]),
  migration('collation: another locale', [
    `create collation c (locale = 'C', provider = libc); create table t (a text collate c); create index on t (a)`,
    `insert into t values ('x')`,
    `create collation c (locale = 'POSIX', provider = libc); create table t (a text collate c); create index on t (a)`,
  ]),
  migration('text search: another dictionary', [
    `create text search configuration c (copy = simple); create table t (a text, v tsvector generated always as (to_tsvector('c', a)) stored)`,
    `insert into t values ('x')`,
    `create text search configuration c (copy = english); create table t (a text, v tsvector generated always as (to_tsvector('c', a)) stored)`,
  ]),
  migration('schema: goes with its tables', [
    'create schema s; create table s.t (a int); create view v as select a from s.t',
    'insert into s.t values (1)',
    'select 1',
  ]),
  migration('privileges: on all kinds', [
    `${table}; ${sql('f()', 'int', 'select 1')}; create schema s; create sequence q; create type e as enum ()`,
    rows,
    `${table}; ${sql('f()', 'int', 'select 1')}; create schema s; create sequence q; create type e as enum (); grant select on t to public; revoke execute on function f() from public; grant usage on schema s to public; grant usage on sequence q to public; revoke usage on type e from public; alter default privileges in schema s grant select on tables to public`,
  ]),
  migration('comments: on all kinds', [
    `${table}; ${sql('f()', 'int', 'select 1')}; create index i on t (a); comment on table t is 'old'; comment on index i is 'old'`,
    rows,
    `${table}; ${sql('f()', 'int', 'select 1')}; create index i on t (a); comment on table t is 'new'; comment on function f() is 'new'; comment on column t.a is 'new'`,
  ]),
];

export const otherObjects: readonly Migration[] = [...types, ...routines, ...views];
