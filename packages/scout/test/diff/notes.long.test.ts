/** What the statements of `--diff` say about rows and other sessions. */
import { serverVersion } from '@pgway/testing';
import { expect, test } from 'vitest';
import { change, database } from '../support/changed-database.ts';
import { diffStatements, migrate } from '../support/migration.ts';

/** Returns the statements that have notes, each after its notes. */
async function notes(before: string, after: string): Promise<readonly string[]> {
  const [current, wanted] = [await database(before), await database(after)];
  const lines = (await diffStatements(current, wanted))
    .flatMap(({ statements }) => statements)
    .filter((statement) => statement.notes.length > 0)
    .flatMap((statement) => [
      ...statement.notes.map(({ effect, text }) => `-- ${effect} ${text}`),
      statement.sql.replaceAll(/\s+/g, ' '),
    ]);
  const { problems, refusal } = await migrate(current, wanted);
  expect({ problems, refusal }).toEqual({ problems: [], refusal: null });
  return lines;
}

test('columns: what fails on rows, writes the table again, or loses values', async () => {
  expect(
    await notes(
      `create domain small as int check (value < 10);
       create domain loose as int;
       create table t (a varchar(10), b varchar(10) unique, c int, d text, e numeric(5, 2), f numeric(5, 2), g int, h int, i loose, j text collate "C", gone int);
       create index t_j on t (j);`,
      `create domain small as int check (value < 10);
       create domain loose as int;
       create table t (a varchar(20), b varchar(5) unique, c bigint, d int, e numeric(7, 2), f numeric(4, 1), g smallint, h int not null, i int, j text,
         k int default 3, l uuid default gen_random_uuid(), m int not null, n small, o int generated always as (h + 1) stored);
       create index t_j on t (j);`,
    ),
  ).toEqual([
    '-- LOSES the values of the column gone',
    'ALTER TABLE public.t DROP COLUMN gone',
    '-- REWRITES public.t',
    'ALTER TABLE public.t ADD COLUMN l uuid DEFAULT gen_random_uuid()',
    '-- FAILS IF public.t has rows: the column has no default',
    'ALTER TABLE public.t ADD COLUMN m integer NOT NULL',
    '-- REWRITES public.t',
    'ALTER TABLE public.t ADD COLUMN n public.small',
    '-- FAILS IF values of b become equal',
    '-- LOSES what does not fit in values of b: character varying(10) becomes character varying(5)',
    '-- REWRITES public.t',
    'ALTER TABLE public.t ALTER COLUMN b TYPE character varying(5) USING b::character varying(5)',
    '-- REWRITES public.t',
    'ALTER TABLE public.t ALTER COLUMN c TYPE bigint USING c::bigint',
    '-- FAILS IF a value of d cannot become integer',
    '-- REWRITES public.t',
    'ALTER TABLE public.t ALTER COLUMN d TYPE integer USING d::integer',
    '-- FAILS IF a value of f cannot become numeric(4,1)',
    '-- LOSES what does not fit in values of f: numeric(5,2) becomes numeric(4,1)',
    '-- REWRITES public.t',
    'ALTER TABLE public.t ALTER COLUMN f TYPE numeric(4,1) USING f::numeric(4,1)',
    '-- FAILS IF a value of g cannot become smallint',
    '-- REWRITES public.t',
    'ALTER TABLE public.t ALTER COLUMN g TYPE smallint USING g::smallint',
    '-- LOCKS public.t against reads and writes while the indexes on j are built',
    'ALTER TABLE public.t ALTER COLUMN j TYPE text USING j::text',
    '-- FAILS IF the expression fails for a row',
    '-- REWRITES public.t',
    'ALTER TABLE public.t ADD COLUMN o integer GENERATED ALWAYS AS ((h + 1)) STORED',
    '-- FAILS IF a row has no value of h',
    '-- LOCKS public.t against reads and writes while all rows are checked',
    `ALTER TABLE public.t ALTER COLUMN h SET NOT NULL`,
  ]);
});

test('constraints and indexes: what reads all rows', async () => {
  expect(
    await notes(
      `create table o (id int primary key);
       create table t (a int, b int, c int, d int constraint late not null, r int references o);
       alter table t add constraint t_c check (c > 0) not valid;
       create domain used as int;
       create domain unused as int;
       create table u (d used);
       create materialized view m as select a from t;`,
      `create table o (id bigint primary key);
       create table t (a int check (a > 0), b int unique, c int constraint t_c check (c > 0), d int constraint late not null, r bigint references o);
       create index t_d on t (d);
       create unique index t_a on t (a);
       create index t_gone on t (b) where b > 1;
       create domain used as int check (value > 0);
       create domain unused as int check (value > 0);
       create table u (d used);
       create table fresh (id int primary key references o, a int check (a > 0));
       create index fresh_a on fresh (a);
       create materialized view m as select b as a from t;`,
    ),
  ).toEqual([
    '-- FAILS IF a value of public.used violates the constraint',
    '-- LOCKS the tables with columns of public.used against writes while all rows are checked',
    'ALTER DOMAIN public.used ADD CONSTRAINT used_check CHECK ((VALUE > 0))',
    '-- REWRITES public.o',
    'ALTER TABLE public.o ALTER COLUMN id TYPE bigint USING id::bigint',
    '-- REWRITES public.t',
    'ALTER TABLE public.t ALTER COLUMN r TYPE bigint USING r::bigint',
    '-- FAILS IF a row violates the check',
    '-- LOCKS public.t against reads and writes while all rows are checked',
    'ALTER TABLE public.t ADD CONSTRAINT t_a_check CHECK ((a > 0))',
    '-- FAILS IF a row violates the check',
    'ALTER TABLE public.t VALIDATE CONSTRAINT t_c',
    '-- FAILS IF two rows have the same key',
    '-- LOCKS public.t against reads and writes while the index is built',
    'ALTER TABLE public.t ADD CONSTRAINT t_b_key UNIQUE (b)',
    '-- LOCKS public.t and the table it refers to against writes while all rows are checked',
    'ALTER TABLE ONLY public.t ADD CONSTRAINT t_r_fkey FOREIGN KEY (r) REFERENCES public.o(id)',
    '-- FAILS IF two rows have the same key',
    '-- LOCKS public.t against writes while the index is built',
    'CREATE UNIQUE INDEX t_a ON public.t USING btree (a)',
    '-- LOCKS public.t against writes while the index is built',
    'CREATE INDEX t_d ON public.t USING btree (d)',
    '-- FAILS IF the expression fails for a row',
    '-- LOCKS public.t against writes while the index is built',
    'CREATE INDEX t_gone ON public.t USING btree (b) WHERE (b > 1)',
    '-- LOCKS public.m against reads and writes while its query runs',
    'REFRESH MATERIALIZED VIEW public.m',
  ]);
});

test('tables, partitions and sequences', async () => {
  expect(
    await notes(
      `create table p (id int) partition by range (id);
       create table p1 (id int);
       create table rest partition of p default;
       create table gone (id int);
       create extension citext;
       create table member (id int);
       alter extension citext add table member;
       create extension pg_trgm;
       create unlogged table fast (id int);
       create sequence numbers maxvalue 100;
       create sequence counted;
       create sequence unused;
       select setval('numbers', 50), setval('counted', 7);`,
      `create table p (id int) partition by range (id);
       create table p1 partition of p for values from (1) to (10);
       create table p2 partition of p for values from (10) to (20);
       create table rest partition of p default;
       create table fast (id int);
       create sequence numbers maxvalue 40;`,
    ),
  ).toEqual([
    '-- LOSES the rows of public.gone',
    'DROP TABLE public.gone',
    '-- LOSES the last value of public.counted',
    'DROP SEQUENCE public.counted',
    '-- LOSES the rows of the tables of the extension citext',
    'DROP EXTENSION citext',
    '-- LOSES the last value of public.numbers, which is outside of the new limits',
    'ALTER SEQUENCE public.numbers MAXVALUE 40 RESTART',
    '-- REWRITES public.fast',
    'ALTER TABLE public.fast SET LOGGED',
    '-- FAILS IF public.p1 has rows that do not belong to the partition',
    '-- LOCKS public.p1 against reads and writes while all rows are checked',
    '-- FAILS IF public.rest has rows that belong to the partition',
    '-- LOCKS public.rest against reads and writes while all rows are checked',
    'ALTER TABLE ONLY public.p ATTACH PARTITION public.p1 FOR VALUES FROM (1) TO (10)',
    '-- FAILS IF public.rest has rows that belong to the partition',
    '-- LOCKS public.rest against reads and writes while all rows are checked',
    'ALTER TABLE ONLY public.p ATTACH PARTITION public.p2 FOR VALUES FROM (10) TO (20)',
  ]);
});

test('serial and identity: the counter goes on after the rows and after the former counter', async () => {
  const serial = 'create table t (id serial primary key, note text); create table u (id serial primary key)';
  const identity = `create table t (id int generated always as identity primary key, note text);
    create table u (id int generated by default as identity (start with 100) primary key)`;
  const current = await database(
    `${serial}; insert into t (note) values ('a'), ('b'), ('c'); delete from t where id = 3`,
  );
  await change(current, await database(identity));
  await current.query(`insert into t (note) values ('d'); insert into u default values`);
  expect(await current.query('select id from t union all select id from u')).toEqual([
    { id: 1 },
    { id: 2 },
    { id: 4 },
    { id: 100 },
  ]);
  await change(current, await database(serial));
  await current.query(`insert into t (note) values ('e'); insert into u default values`);
  expect(await current.query('select max(id) from t union all select max(id) from u')).toEqual([
    { max: 5 },
    { max: 101 },
  ]);
  const plain = await database('create table t (id int primary key, note text); create table u (id int primary key)');
  await change(current, plain);
  await current.query(`insert into t values (40, 'f')`);
  await change(current, await database(identity));
  await current.query(`insert into t (note) values ('g')`);
  expect(await current.query('select max(id) from t')).toEqual([{ max: 41 }]);
});

test('what neither reads nor changes rows has no notes', async () => {
  expect(
    await notes(
      'create table t (a int not null, b int default 1); create view v as select a from t; create function f() returns int language sql as $$select 1$$',
      `create table t (a int, b int default 2, c text default 'x' not null${serverVersion() < 18 ? '' : ', d int generated always as (a) virtual'});
       create view v as select a, c from t; create function f() returns int language sql as $$select 2$$;
       comment on table t is 'x'; alter table t enable row level security; create policy p on t using (true); grant select on t to public`,
    ),
  ).toEqual([]);
});
