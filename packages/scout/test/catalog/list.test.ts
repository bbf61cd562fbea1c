import { useDatabase } from '@pgway/testing';
import { expect, test } from 'vitest';
import { isPlain, scout } from '../support/scout.ts';

const database = useDatabase(
  `
  create schema shop;
  create extension citext schema shop;
  create type shop.money_range as range (subtype = numeric);
  create type shop.size as enum ('s', 'm');
  create type shop.address as (street text, city text);
  create domain shop.rating as int check (value > 0);
  create table shop.film (id int generated always as identity primary key, code serial, title shop.citext);
  create table shop.rental (id int, at date) partition by range (at);
  create view shop.titles as select title from shop.film;
  create materialized view shop.counts as select count(*) from shop.film;
  create function shop.add(a int, b int default 1) returns int language sql as 'select a + b';
  create procedure shop.clean(a text[]) language sql as '';
  create aggregate shop.product(int) (sfunc = int4mul, stype = int);
  create function shop.changed() returns trigger language plpgsql as 'begin return new; end';
  create trigger "Film changed" before update on shop.film for each row execute function shop.changed();
  create policy own on shop.film using (true);
  create rule keep as on delete to shop.film do instead nothing;
  create operator shop.<+> (function = int4pl, leftarg = int, rightarg = int);
  create cast (shop.size as int) with inout;
  create statistics shop.film_stats on id, code from shop.film;
  create event trigger watch on ddl_command_end execute function shop.watch();
  create text search configuration shop.simple (copy = pg_catalog.simple);
  create table "Evil\u001b[31m" ();
`.replace(
    'create event trigger',
    `create function shop.watch() returns event_trigger language plpgsql as 'begin end'; create event trigger`,
  ),
);

function list(...argv: readonly string[]): ReturnType<typeof scout> {
  return scout(['--list', ...argv, '-c', database.connectionString]);
}

test('each object of the database is a line of kind and qualified name', async () => {
  expect(await list()).toEqual({
    code: 0,
    stderr: '',
    stdout: `SCHEMA public
SCHEMA shop
EXTENSION citext
TYPE shop.address
TYPE shop.money_range
TYPE shop.size
DOMAIN shop.rating
SEQ shop.film_code_seq
TABLE public."Evil\\u001b[31m"
TABLE shop.film
TABLE shop.rental
VIEW shop.titles
MATERIALIZED VIEW shop.counts
FUNCTION shop.add(integer, integer)
FUNCTION shop.changed()
FUNCTION shop.watch()
PROCEDURE shop.clean(text[])
AGGREGATE shop.product(integer)
OPERATOR shop.<+>(integer, integer)
CAST (shop.size AS integer)
TEXT SEARCH CONFIGURATION shop.simple
STATISTICS shop.film_stats
RULE shop.film.keep
TRIGGER shop.film."Film changed"
POLICY shop.film.own
EVENT TRIGGER watch
`,
  });
});

test('the filter is a text without case, and is highlighted on a terminal', async () => {
  expect((await list('RAT')).stdout).toBe(
    'DOMAIN shop.rating\nOPERATOR shop.<+>(integer, integer)\nTEXT SEARCH CONFIGURATION shop.simple\n',
  );
  const colored = await scout(['-l', 'film_', '-c', database.connectionString], { hasColors: true });
  expect(colored.stdout).toBe(
    'SEQ shop.\u001b[1;33mfilm_\u001b[0mcode_seq\nSTATISTICS shop.\u001b[1;33mfilm_\u001b[0mstats\n',
  );
  expect(await list('no.such')).toEqual({ code: 1, stdout: '', stderr: 'pgscout: no object contains "no.such"\n' });
});

test('escape sequences of names are shown', async () => {
  expect((await list('Evil')).stdout).toBe('TABLE public."Evil\\u001b[31m"\n');
  const { stdout } = await list('Evil', '--json');
  expect(isPlain(stdout)).toBe(true);
  expect(JSON.parse(stdout)).toEqual([
    {
      kind: 'TABLE',
      schema: 'public',
      table: null,
      name: 'Evil\u001b[31m',
      signature: '',
      qualifiedName: 'public."Evil\u001b[31m"',
    },
  ]);
});

test('several words all match, kinds too; wildcards match whole names', async () => {
  expect((await list('view', 'COUNT')).stdout).toBe('MATERIALIZED VIEW shop.counts\n');
  expect((await list('film*')).stdout).toBe(
    'SEQ shop.film_code_seq\nTABLE shop.film\nSTATISTICS shop.film_stats\nRULE shop.film.keep\nTRIGGER shop.film."Film changed"\nPOLICY shop.film.own\n',
  );
  expect((await list('table f?lm')).stdout).toBe('TABLE shop.film\n');
  expect(await list('filmx*')).toEqual({ code: 1, stdout: '', stderr: 'pgscout: no object matches "filmx*"\n' });
});
