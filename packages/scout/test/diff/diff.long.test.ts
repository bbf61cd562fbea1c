import { serverVersion, useDatabase } from '@pgway/testing';
import { expect, test } from 'vitest';
import { change, database, diff, runScript } from '../support/changed-database.ts';
import { isPlain, scout } from '../support/scout.ts';

const current = useDatabase(`
  create type mood as enum ('ok', 'sad');
  create table film (id int primary key, title varchar(10) not null, gone int, mood mood);
  create view titles as select id, title from film;
  grant select on titles to public;
  insert into film values (1, 'Alien', 2, 'ok');
`);
const wanted = useDatabase(`
  create type mood as enum ('ok', E'so\\u001b[31m', 'sad');
  create table film (id bigint primary key, title varchar(5) not null, mood mood, note text default 'none' not null);
  create view titles as select id, title from film;
  grant select on titles to public;
  comment on table film is 'Films';
`);

test('the statements give a database the schema of another one', async () => {
  const nameOf = ({ connectionString }: typeof current): string => {
    const { pathname, host } = new URL(connectionString);
    return `database "${pathname.slice(1)}" on ${host}`;
  };
  // Before PostgreSQL 16, the columns in the definition of a view have the name of their table.
  const table = serverVersion() < 16 ? 'film.' : '';
  const json = await diff(current, wanted, '--json', '--no-owner');
  const { code, stdout, stderr } = await diff(current, wanted, '--no-owner');
  expect([code, stderr, isPlain(stdout)]).toEqual([0, '', true]);
  expect(stdout).toBe(`-- The statements give the ${nameOf(current)}
-- the schema of the ${nameOf(wanted)}.

SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;

-- alter TYPE public.mood

ALTER TYPE public.mood ADD VALUE E'so\\u001b[31m' AFTER 'ok';

BEGIN;
SET LOCAL check_function_bodies = off;
SET LOCAL search_path = '';

-- drop VIEW public.titles

DROP VIEW public.titles;

-- alter TABLE public.film

-- LOSES the values of the column gone
ALTER TABLE public.film DROP COLUMN gone;

ALTER TABLE public.film ADD COLUMN note text DEFAULT 'none'::text NOT NULL;

-- REWRITES public.film
ALTER TABLE public.film ALTER COLUMN id TYPE bigint USING id::bigint;

-- LOSES what does not fit in values of title: character varying(10) becomes character varying(5)
-- REWRITES public.film
ALTER TABLE public.film ALTER COLUMN title TYPE character varying(5) USING title::character varying(5);

COMMENT ON TABLE public.film IS 'Films';

-- create VIEW public.titles

CREATE VIEW public.titles AS
SELECT ${table}id,
    ${table}title
   FROM public.film;

GRANT SELECT ON TABLE public.titles TO PUBLIC;

COMMIT;
`);
  const summary = (JSON.parse(json.stdout) as readonly Record<string, unknown>[]).map(
    ({ action, qualifiedName, losesData, isTransactional }) => [action, qualifiedName, losesData, isTransactional],
  );
  expect(summary).toEqual([
    ['alter', 'public.mood', false, false],
    ['drop', 'public.titles', false, true],
    ['alter', 'public.film', true, true],
    ['create', 'public.titles', false, true],
  ]);
  await change(current, wanted);
  expect(await current.query('select * from film')).toEqual([{ id: '1', title: 'Alien', mood: 'ok', note: 'none' }]);
  expect(await diff(current, wanted, '--json')).toEqual({ code: 0, stdout: '[]\n', stderr: 'the schemas are equal\n' });
});

test('errors of the other connection name it, without the password', async () => {
  const { host } = new URL(wanted.connectionString);
  const other = `postgres://jane:s3cret@${host}/shop`;
  expect(await scout(['--diff', other, '-c', current.connectionString])).toEqual({
    code: 1,
    stdout: '',
    stderr: `pgscout: no connection to database "shop" on ${host} as user "jane": password authentication failed for user "jane"\n`,
  });
  expect(await scout(['--diff', 'tset', '-c', current.connectionString])).toEqual({
    code: 2,
    stdout: '',
    stderr: 'pgscout: no connection "tset" in the settings files; pass a connection string\n',
  });
});

test('names select the objects, and what has to be created again with them', async () => {
  const before = await database(`
    create table film (id int, note varchar(3));
    create view notes as select note from film;
    create table rental (id int);
    create view rentals as select id from rental;
    create function gone() returns int language sql as 'select 1'`);
  const after = await database(`
    create table film (id int, note text);
    create view notes as select note from film;
    create table rental (id bigint, day date);
    create view rentals as select id from rental;
    create table fresh (id int);
    create table other (id int)`);
  const statements = async (...names: readonly string[]): Promise<readonly string[]> => {
    const { stdout, code } = await diff(before, after, '--no-owner', '--json', ...names);
    expect(code).toBe(0);
    return (JSON.parse(stdout) as { action: string; qualifiedName: string }[]).map(
      ({ action, qualifiedName }) => `${action} ${qualifiedName}`,
    );
  };
  expect(await statements('film;public.fresh')).toEqual([
    'drop public.notes',
    'alter public.film',
    'create public.fresh',
    'create public.notes',
  ]);
  expect(await statements('gone')).toEqual(['drop public.gone()']);
  expect(await diff(before, after, 'flim')).toEqual({
    code: 1,
    stdout: '',
    stderr: 'pgscout: no object is named "flim"; did you mean film?\n',
  });
  const { stdout } = await diff(before, after, 'film', 'gone', '--no-owner');
  await runScript(before, stdout);
  expect(await diff(before, after, 'film', '--no-owner')).toMatchObject({ code: 0, stdout: '' });
});

test('a table that is not selected changes no column that has its row type', async () => {
  const schema = (column: string): string =>
    `create table t (a int${column}); create table u (t t); create table v (a int${column})`;
  const [before, after] = [await database(schema('')), await database(schema(', b int default 1'))];
  const { stdout } = await diff(before, after, '--no-owner', 'v');
  expect(stdout.split('\n').filter((line) => line.startsWith('ALTER'))).toEqual([
    'ALTER TABLE public.v ADD COLUMN b integer DEFAULT 1;',
  ]);
});

test('a column that generated columns use gets another type, with rows in the table', async () => {
  const current = await database(`
    create table price (
      id int primary key,
      net numeric(8, 2),
      rate int not null default 20,
      gross numeric generated always as (net * (100 + rate) / 100) stored,
      label text generated always as ('no. ' || id::text) stored
    );
    insert into price (id, net) values (1, 10), (2, 99.99);
  `);
  const wanted = await database(`
    create table price (
      id bigint primary key,
      net numeric(12, 4),
      rate numeric(5, 2) not null default 20,
      gross numeric generated always as (net * (100 + rate) / 100) stored,
      label text generated always as ('no. ' || id::text) stored,
      discount numeric not null default 0,
      reduced numeric generated always as (net - discount) stored
    );
  `);
  await change(current, wanted);
  expect(await current.query('select * from price order by id')).toEqual([
    {
      id: '1',
      net: '10.0000',
      rate: '20.00',
      discount: '0',
      gross: '12.0000000000000000',
      label: 'no. 1',
      reduced: '10.0000',
    },
    {
      id: '2',
      net: '99.9900',
      rate: '20.00',
      discount: '0',
      gross: '119.9880000000000000',
      label: 'no. 2',
      reduced: '99.9900',
    },
  ]);
});
