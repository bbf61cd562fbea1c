/** Pairs of schemas, one for each kind of change. The test runs each in both directions. */

export interface Pair {
  readonly name: string;
  readonly before: string;
  readonly after: string;
  /** Rows of the first schema. */
  readonly rows?: string;
  /** The first version of PostgreSQL with the syntax. */
  readonly since?: number;
}

const touch = `create function touch() returns trigger language plpgsql as 'begin return new; end';`;

export const pairs: readonly Pair[] = [
  {
    name: 'columns: added, dropped, defaults, not null',
    before: `create table film (id int primary key, title text, length int default 60 not null, year int default 2000, gone date)`,
    after: `create table film (id int primary key, title text default 'none' not null, length int, year int default 1999, rating numeric(3, 1) default 1.5 not null, note varchar(10) collate "C", twice int generated always as (id * 2) stored)`,
    rows: `insert into film (id, title) values (1, 'Alien'), (2, 'It''s')`,
  },
  {
    name: 'types of columns',
    before: `create table t (a int primary key, b varchar(10), c text, d timestamp(3), e int[], f numeric(5, 2) default 1.5 check (f > 0), g text collate "C");
      create index t_b on t (b); create index t_c on t (lower(c)); create view v as select a, b, f from t; create view w as select b from v where a > 1`,
    after: `create table t (a bigint primary key, b varchar(20), c varchar(50), d timestamptz, e text[], f numeric(7, 3) default 2.5 check (f > 0), g text);
      create index t_b on t (b); create index t_c on t (lower(c)); create view v as select a, b, f from t; create view w as select b from v where a > 1`,
    rows: `insert into t values (1, 'x', 'long', '2020-01-01', '{1,2}', 3.25, 'g')`,
  },
  {
    name: 'a type without a cast',
    before: `create table t (a text, b int, c jsonb)`,
    after: `create table t (a inet, b text, c text)`,
    rows: `insert into t values ('1.2.3.4', 7, '{"a": 1}')`,
  },
  {
    name: 'the type of a referenced key',
    before: `create table a (id int primary key); create table b (a int references a on delete cascade);`,
    after: `create table a (id uuid primary key); create table b (a uuid references a on delete cascade);`,
  },
  {
    name: 'constraints',
    before: `create table o (id int primary key, code text unique);
      create table t (id int, a int check (a > 0), b int references o, c int constraint named check (c > 1), d int, primary key (id), unique (a), exclude using btree (d with =));
      alter table t add constraint late check (d > 0) not valid`,
    after: `create table o (id int primary key, code text);
      create table t (id int, a int check (a > 1), b int references o on delete cascade deferrable, c int constraint named check (c > 1) no inherit, d int, primary key (id, a), unique (a) deferrable initially deferred);
      alter table t add constraint late check (d > 0)`,
    rows: `insert into o values (1, 'x'); insert into t values (1, 2, 1, 3, 4)`,
  },
  {
    name: 'indexes, statistics, cluster and replica identity',
    before: `create table t (a int not null, b int, c text); create index i on t (a); create index j on t (b desc); create unique index u on t (a); create index x on t (lower(c)) where b > 1;
      alter table t cluster on i; alter table t replica identity using index u; create statistics s on a, b from t; alter index x alter column 1 set statistics 100; comment on index j is 'old'`,
    after: `create table t (a int not null, b int, c text); create index i on t (a, b) with (fillfactor = 60); create index j on t (b desc); create unique index u on t (a); create index x on t (lower(c)) where b > 2; create index k on t using hash (c);
      alter table t cluster on j; alter table t replica identity full; create statistics s (ndistinct) on a, b, c from t; comment on index j is 'new'`,
    rows: `insert into t values (1, 2, 'x')`,
  },
  {
    name: 'settings of tables and columns',
    before: `create table t (a int, b text, c text) with (fillfactor = 70, toast.autovacuum_enabled = false); alter table t alter b set storage external; alter table t alter a set statistics 50; alter table t alter c set (n_distinct = 5); alter table t enable row level security; create unlogged table x (a int primary key); create unlogged table y (a int references x)`,
    after: `create table t (a int, b text, c text) with (fillfactor = 80, autovacuum_enabled = false); alter table t alter c set storage main; alter table t alter b set statistics 70; alter table t alter c set (n_distinct = 6); alter table t force row level security; create table x (a int primary key); create table y (a int references x)`,
    rows: `insert into t values (1, 'b', 'c')`,
  },
  {
    name: 'identity and sequences',
    before: `create table t (id int generated always as identity, n int not null); create table u (id serial); create sequence s; create sequence gone; create sequence limits minvalue 1 maxvalue 10; create table own (a int); create sequence moved owned by own.a`,
    after: `create table t (id int generated by default as identity (increment 5), n int generated always as identity); create table u (id int generated always as identity); create sequence s as int increment 2 start 10 minvalue 5 maxvalue 100 cache 3 cycle; create sequence limits minvalue 100 maxvalue 200; create table own (a int, b int); create sequence moved owned by own.b`,
    rows: `insert into t (n) values (1); insert into u default values; select nextval('limits')`,
  },
  {
    name: 'generated columns',
    before: `create function f(int) returns int language sql immutable as 'select 1'; create table t (a int, b int generated always as (a + 1) stored, c int generated always as (a) stored, d int, e int generated always as (f(a)) stored)`,
    after: `create function f(int) returns bigint language sql immutable as 'select 2::bigint'; create table t (a int, b int generated always as (a + 2) stored, c int, d int generated always as (a * 2) stored, e int generated always as (f(a)) stored)`,
    rows: `insert into t (a, d) values (1, 5)`,
  },
  {
    name: 'enums with more values',
    before: `create type mood as enum ('ok', 'sad'); create table t (m mood)`,
    after: `create type mood as enum ('great', 'fine', 'ok', 'so-so', 'it''s', 'sad', 'lost'); create table t (m mood default 'fine' check (m <> 'lost'))`,
    rows: `insert into t values ('ok')`,
  },
  {
    name: 'enums with other values',
    before: `create type mood as enum ('ok', 'sad', 'gone'); create table t (m mood default 'ok' not null, all_moods mood[] default '{ok}', check (m <> 'sad')); create index t_m on t (m); create index t_p on t (m) where m = 'ok';
      create function f(mood) returns mood language sql as 'select $1'; create view v as select f(m) as m from t; create domain d as mood; create table u (d d)`,
    after: `create type mood as enum ('sad', 'new', 'ok'); create table t (m mood default 'ok' not null, all_moods mood[] default '{ok}', check (m <> 'sad')); create index t_m on t (m); create index t_p on t (m) where m = 'ok';
      create function f(mood) returns mood language sql as 'select $1'; create view v as select f(m) as m from t; create domain d as mood; create table u (d d)`,
    rows: `insert into t values ('ok', '{sad,ok}'); insert into u values ('sad')`,
  },
  {
    name: 'domains',
    before: `create domain d as int default 1 check (value > 0); create domain e as text; create domain g as int; create table t (d d, e e, g g)`,
    after: `create domain d as int default 2 not null constraint other check (value > 1); create domain e as varchar(10) collate "C"; create table t (d d, e e, g int)`,
    rows: `insert into t values (5, 'x', 7)`,
  },
  {
    name: 'composite types',
    before: `create type address as (street text, city text, zip int); create table t (a address, b address[]); create type other as (a int); create view v as select (a).street from t`,
    after: `create type address as (street text, city text, country text); create table t (a address, b address[]); create type other as (a bigint, b int); create view v as select (a).street from t`,
    rows: `insert into t values (('s', 'c', 1), null)`,
  },
  {
    name: 'ranges, collations and base objects',
    before: `create type r as range (subtype = int); create table t (r r); create collation c (locale = 'C', provider = libc); create table u (a text collate c); create index u_a on u (a)`,
    after:
      `create type r as range (subtype = int, subtype_diff = int4mi_float); create table t (r r); create collation c (locale = 'POSIX', provider = libc); create table u (a text collate c); create index u_a on u (a)`.replace(
        'create type r as range',
        `create function int4mi_float(int, int) returns float8 language sql immutable as 'select 1.0::float8'; create type r as range`,
      ),
    rows: `insert into t values ('[1,5)'); insert into u values ('x')`,
  },
  {
    name: 'functions',
    before: `create function a(x int) returns int language sql as 'select 1'; create function b(x int, y int default 1) returns int language sql as 'select 1'; create function c() returns int language sql as 'select 1'; create procedure p() language sql as 'select 1'; create function gone() returns int language sql as 'select 1';
      create function used() returns int language sql as 'select 1'; create table t (a int default used(), check (a > used())); create view v as select used() as n; comment on function a(int) is 'old'; create aggregate total(int) (sfunc = int4pl, stype = int); create view w as select total(a) from t`,
    after: `create function a(x int) returns int language sql stable as 'select 2'; create function b(x int, y int) returns int language sql as 'select 1'; create function c() returns text language sql as 'select ''x'''; create function p() returns int language sql as 'select 1';
      create function used() returns bigint language sql as 'select 1::bigint'; create table t (a int default used(), check (a > used())); create view v as select used() as n; comment on function a(int) is 'new'; create aggregate total(int) (sfunc = int4pl, stype = int, initcond = '0'); create view w as select total(a) from t`,
    rows: `insert into t values (5)`,
  },
  {
    name: 'views',
    before: `create table t (a int, b int); create view v as select a from t; create view w as select a, b from t; create view x as select * from w; create materialized view m as select a from t; create unique index m_a on m (a); grant select on x to public; comment on view x is 'kept'; ${touch} create trigger tr instead of insert on x for each row execute function touch(); create rule r as on update to x do instead nothing; alter view x alter a set default 5`,
    after: `create table t (a int, b int); create view v with (security_barrier) as select a, b from t where a > 1; create view w as select b, a from t; create view x as select * from w; create materialized view m as select b as a from t; create unique index m_a on m (a); grant select on x to public; comment on view x is 'kept'; ${touch} create trigger tr instead of insert on x for each row execute function touch(); create rule r as on update to x do instead nothing; alter view x alter a set default 5`,
  },
  {
    name: 'tables, views and materialized views with the same name',
    before: `create table a (x int); create view b as select 1 as x; create type c as enum ('x'); create materialized view d as select 1 as x; create table t (c c)`,
    after: `create view a as select 1 as x; create table b (x int); create domain c as text; create table d (x int); create table t (c c)`,
    rows: `insert into t values ('x')`,
  },
  {
    name: 'triggers, rules and policies',
    before: `create table t (a int, b int); ${touch} create trigger x before insert on t for each row execute function touch(); create trigger y before update of a on t for each row when (new.a > 1) execute function touch(); create rule r as on delete to t do instead nothing; create policy p on t using (a > 1); create policy q on t for select to current_user using (true); alter table t disable trigger y`,
    after: `create table t (a bigint, b int); ${touch} create trigger x after insert on t for each row execute function touch('a'); create trigger y before update of a on t for each row when (new.a > 1) execute function touch(); create rule r as on delete to t where old.a > 1 do instead nothing; create policy p on t as restrictive using (a > 1) with check (b > 1); comment on policy p on t is 'new'; alter table t enable row level security`,
    rows: `insert into t values (1, 2)`,
  },
  {
    name: 'comments and privileges',
    before: `create schema s; create table s.t (a int, b int); comment on table s.t is 'old'; comment on column s.t.a is 'gone'; grant select, insert on s.t to public; grant update (a, b) on s.t to public; grant usage on schema s to public; create function s.f() returns int language sql as 'select 1'; revoke execute on function s.f() from public; comment on schema s is 'x'; alter default privileges in schema s grant select on tables to public; create sequence s.q`,
    after:
      `create schema s; create table s.t (a int, b int, c int); comment on table s.t is E'new\\nline'; comment on column s.t.b is 'new'; grant select, delete on s.t to public; grant update (a), select (b) on s.t to public; create function s.f() returns int language sql as 'select 1'; grant usage on sequence s.q to public; create table s.other (a int); alter default privileges in schema s grant insert on tables to public; create type s.e as enum ()`.replace(
        'grant usage on sequence',
        'create sequence s.q; grant usage on sequence',
      ),
  },
  {
    name: 'schemas and names that need quotes',
    before: `create schema "it's"; create table "it's"."ta""ble" ("a b" int, "c\\d" text default '\\'); create type "it's"."ENUM" as enum ('a''b', 'c\\d'); create view "it's"."v;" as select "a b" from "it's"."ta""ble"; create table "it's".u (e "it's"."ENUM")`,
    after: `create schema "se;lect"; create schema "it's"; create table "it's"."ta""ble" ("a b" bigint, "c\\d" varchar(5) default '''', "--" int); create type "it's"."ENUM" as enum ('c\\d', 'a''b', E'\\u001b'); create view "it's"."v;" as select "a b" from "it's"."ta""ble"; create table "it's".u (e "it's"."ENUM"); create table "se;lect".t (a int)`,
    rows: `insert into "it's"."ta""ble" values (1, 'x'); insert into "it's".u values ('a''b')`,
  },
  {
    name: 'partitions',
    before: `create table p (id int not null, at date not null, note text, primary key (id, at)) partition by range (at); create table p1 partition of p for values from ('2020-01-01') to ('2021-01-01'); create table p2 partition of p for values from ('2021-01-01') to ('2022-01-01'); create index p_note on p (note); ${touch} create trigger x before insert on p for each row execute function touch(); create table gone partition of p default`,
    after:
      `create table p (id bigint not null, at date not null, note varchar(50), more int default 3, primary key (id, at)) partition by range (at); create table p1 partition of p for values from ('2020-01-01') to ('2021-01-01'); create table p2 partition of p for values from ('2021-01-01') to ('2023-01-01'); create index p_note on p (note, id); ${touch} create trigger x after insert on p for each row execute function touch(); create table p3 partition of p for values in default`.replace(
        'for values in default',
        'default',
      ),
    rows: `insert into p values (1, '2020-05-05', 'a'), (2, '2021-05-05', 'b')`,
  },
  {
    name: 'a partitioned table becomes a plain one',
    before: `create table p (id int primary key) partition by range (id); create table p1 partition of p for values from (1) to (10)`,
    after: `create table p (id int primary key); create table p1 (id int primary key)`,
    rows: `insert into p1 values (1)`,
  },
  {
    name: 'inheritance',
    before: `create table a (id int, name text default 'x', check (id > 0)); create table b (more int) inherits (a); create table c (id int, name text); create table d () inherits (b)`,
    after:
      `create table a (id bigint not null, name text default 'y', extra int default 4, check (id > 1)); create table b (more int) inherits (a); create table c (id bigint not null, name text, extra int, constraint a_id_check check (id > 1)) inherits (a); create table d (own int)`.replace(
        'create table d (own int)',
        'create table d (own int) inherits (b)',
      ),
    rows: `insert into b values (5, 'n', 1)`,
  },
  {
    name: 'a new parent with columns that are not null',
    before: `create table a (id int primary key, filled text not null); create table b (id int primary key)`,
    after: `create table a (id int primary key, filled varchar(20) not null check (filled <> ''), more int); create table b (own int primary key) inherits (a)`,
  },
  {
    name: 'a table comes to inherit',
    before: `create table a (id int, name text default 'x', check (id > 0)); create table b (id int, more int); create table c (id int) inherits (a)`,
    after: `create table a (id int not null, name text default 'x', check (id > 0)); create table b (more int) inherits (a); create table c (id int, name text)`,
    rows: `insert into b values (5, 1); insert into c values (6, 'n')`,
  },
  {
    name: 'foreign objects',
    before: `create foreign data wrapper w options (debug 'true'); create server s foreign data wrapper w options (host 'a', port '1'); create foreign table f (a int options (x '1'), b text) server s options (path '/a'); create user mapping for public server s options (user 'u', password 'secret')`,
    after: `create foreign data wrapper w; create server s foreign data wrapper w options (host 'b', dbname 'c'); create foreign table f (a bigint options (x '2', y '3'), c text not null) server s options (file '/b'); create user mapping for public server s options (user 'v', password 'secret')`,
  },
  {
    name: 'publications, event triggers and text search',
    before: `create table t (a int primary key, b text); create table u (a int primary key); create publication p for table t; create publication q for all tables; create function e() returns event_trigger language plpgsql as 'begin end'; create event trigger x on ddl_command_end execute function e(); alter event trigger x disable; create text search dictionary d (template = simple); create text search configuration c (parser = pg_catalog."default"); alter text search configuration c add mapping for word with d; create table i (a text, v tsvector generated always as (to_tsvector('c', a)) stored)`,
    after: `create table t (a bigint primary key, b text); create table u (a int primary key); create publication p for table t, u with (publish = 'insert'); create function e() returns event_trigger language plpgsql as 'begin end'; create event trigger x on ddl_command_start when tag in ('DROP TABLE') execute function e(); create text search dictionary d (template = simple, accept = false); create text search configuration c (parser = pg_catalog."default"); alter text search configuration c add mapping for word with d, simple; create table i (a text, v tsvector generated always as (to_tsvector('c', a)) stored)`,
    rows: `insert into i values ('x')`,
  },
  {
    name: 'operators, casts and cyclic functions',
    before: `create function eq(text, int) returns boolean language sql immutable as 'select true'; create operator === (function = eq, leftarg = text, rightarg = int); create type x as enum ('a'); create cast (x as int) with inout; create table t (a text, check (a === 1))`,
    after: `create function eq(text, int) returns boolean language sql immutable as 'select true'; create operator === (function = eq, leftarg = text, rightarg = int, restrict = eqsel); create type x as enum ('a'); create cast (x as int) with inout as assignment; create table t (a text, check (a === 1)); create domain positive as int; create function is_positive(positive) returns boolean language sql immutable as 'select true'; alter domain positive add check (is_positive(value))`,
    rows: `insert into t values ('a')`,
  },
  {
    name: 'extensions and their types',
    before: `create schema x; create extension citext; create table t (a citext, b text); create index t_a on t (a); create function f() returns int language sql as 'select 1'; alter function f() depends on extension citext`,
    after: `create schema x; create extension pg_trgm schema x; create table t (a text, b text); create index t_a on t (a); create index t_g on t using gin (b x.gin_trgm_ops); create function f() returns int language sql as 'select 1'`,
    rows: `insert into t values ('a', 'b')`,
  },
  {
    name: 'typed tables',
    before: `create type a as (x int, y text); create table t of a (x not null); create table u of a`,
    after: `create type a as (x int, y text, z int); create table t of a (x default 1); create table u (x int, y text)`,
    rows: `insert into t values (1, 'y')`,
  },
  {
    name: 'functions with SQL bodies',
    since: 14,
    before: `create table t (a int, b int); create function f() returns setof t begin atomic select * from t; end; create view v as select * from f(); create function g() returns bigint begin atomic select count(*) from v; end`,
    after: `create table t (a int, b bigint, c int); create function f() returns setof t begin atomic select * from t; end; create view v as select a, c from f(); create function g() returns bigint begin atomic select count(*) from v; end`,
    rows: `insert into t values (1, 2)`,
  },
  {
    name: 'features of PostgreSQL 15',
    since: 15,
    before: `create table t (a int unique, b text compression pglz, c int); create view v as select a from t; create publication p for table t (a) where (a > 1); create publication q for tables in schema public; create unlogged sequence s`,
    after: `create table t (a int unique nulls not distinct, b text, c bigint); create view v with (security_invoker = true) as select a from t; create publication p for table t (a, c) where (c > 1); create sequence s; create statistics st on (a + 1), c from t`,
  },
  {
    name: 'features of PostgreSQL 18',
    since: 18,
    before: `create table t (a int constraint present not null, b int not null no inherit, v int generated always as (a + 1) virtual, s int generated always as (a + 1) stored, e int check (e > 0)); create table c () inherits (t); alter table t add constraint late not null e not valid; create domain d as int constraint filled not null`,
    after: `create table t (a int constraint other not null, b int, v int generated always as (a + 2) virtual, s int generated always as (a + 2) stored, e int, constraint t_e_check check (e > 0) not enforced); create table c () inherits (t); create domain d as int constraint full_one not null`,
    rows: `insert into t (a, b, e) values (1, 2, 3)`,
  },
];
