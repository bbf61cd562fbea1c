import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { serverConnectionString, serverVersion } from '@pgway/testing';
import { expect, test } from 'vitest';
import { type Database, database, diff, runScript } from '../support/changed-database.ts';
import { folderWith } from '../support/folder.ts';
import { onlineFiles, openSession } from '../support/online.ts';
import { type Outcome, scout } from '../support/scout.ts';

/** A body with dependencies, since PostgreSQL 14. */
function body(table: string): string {
  return serverVersion() >= 14 ? `begin atomic select * from ${table}; end` : `as 'select * from ${table}'`;
}

const current = `
  create table film (id serial primary key, title text not null check (title <> ''), price int);
  create index film_title_idx on film (title);
  create table rental (id int generated always as identity primary key, film int references film);
  create view cheap as select id, title from film where price < 3;
  create function titles() returns setof film language sql ${body('film')};
  create function films(n int) returns int language sql as 'select 1';
  create type size as enum ('small', 'large');
  create materialized view dear as select title from film where price > 3;
  comment on column film.title is 'a title';
`;
const rows = `
  insert into film (title, price) values ('Alien', 2), ('Brazil', 5);
  insert into rental (film) values (1);
  refresh materialized view dear;
`;
const wanted = `
  create table movie (id serial primary key, name text not null check (name <> ''), price int default 1);
  create index movie_name_idx on movie (name);
  create table rental (id int generated always as identity primary key, movie int references movie);
  create view cheap as select id, name as title from movie where price < 3;
  create function titles() returns setof movie language sql ${body('movie')};
  create function movies(n int) returns int language sql as 'select 1';
  create type format as enum ('small', 'medium', 'large');
  create materialized view dear as select name as title from movie where price > 3;
  comment on column movie.name is 'a title';
`;
const renames = 'film=movie;film.title=name;public.rental.film=movie;films=movies;TYPE public.size=format';

function renamed(current: Database, wanted: Database, text: string, ...argv: readonly string[]): Promise<Outcome> {
  return diff(current, wanted, '--rename', text, '--scratch', serverConnectionString(), ...argv);
}

test('what is renamed keeps its rows, and what depends on it its definition', async () => {
  const [from, to] = [await database(`${current};${rows}`), await database(wanted)];
  const { code, stdout, stderr } = await renamed(from, to, renames);
  expect([code, stderr]).toEqual([0, '']);
  // Constraints, indexes and sequences that are named after the table or the column follow it.
  const script = stdout.slice(0, stdout.indexOf('\nCOMMIT;'));
  // Since PostgreSQL 18, not null constraints have names.
  expect(script.match(/^ALTER .* RENAME (?!.*_not_null).*/gm)).toEqual([
    'ALTER TABLE public.rental RENAME COLUMN film TO "movie";',
    'ALTER TABLE public.film RENAME COLUMN title TO "name";',
    'ALTER TYPE public.size RENAME TO "format";',
    'ALTER FUNCTION public.films(n integer) RENAME TO "movies";',
    'ALTER TABLE public.film RENAME TO "movie";',
    'ALTER SEQUENCE public.film_id_seq RENAME TO "movie_id_seq";',
    'ALTER TABLE public.movie RENAME CONSTRAINT film_title_check TO "movie_name_check";',
    'ALTER TABLE public.movie RENAME CONSTRAINT film_pkey TO "movie_pkey";',
    'ALTER INDEX public.film_title_idx RENAME TO "movie_name_idx";',
    'ALTER TABLE public.rental RENAME CONSTRAINT rental_film_fkey TO "rental_movie_fkey";',
  ]);
  expect(stdout).not.toMatch(/DROP (?:TABLE|COLUMN|CONSTRAINT|INDEX|SEQUENCE|FUNCTION|TYPE)/);
  await runScript(from, stdout);
  expect((await diff(from, to)).stderr).toBe('the schemas are equal\n');
  expect(await from.query('select id, name, price from movie order by id')).toEqual([
    { id: 1, name: 'Alien', price: 2 },
    { id: 2, name: 'Brazil', price: 5 },
  ]);
  expect(await from.query(`insert into movie (name) values ('Casablanca') returning id`)).toEqual([{ id: 3 }]);
  expect(await from.query('select * from dear')).toEqual([{ title: 'Brazil' }]);
});

test('files are renamed too, and --online renames first', async () => {
  const [from, to] = [await database(current), await database(wanted)];
  const folder = await folderWith();
  await writeFile(join(folder, 'old.sql'), current);
  const scratch = ['--scratch', serverConnectionString()];
  const files = ['--diff', to.connectionString, '-c', 'old.sql', '--rename', renames, '--json', ...scratch];
  const [ofFile, ofDatabase] = [await scout(files, { folder }), await renamed(from, to, renames, '--json')];
  expect(ofFile).toEqual(ofDatabase);
  const steps = await onlineFiles(from, to, folder, '--rename', renames, ...scratch);
  expect(steps[0]![0]).toBe('01-rename.sql');
  expect(steps[0]![1]).toContain('LOCK TABLE public.film IN ACCESS EXCLUSIVE MODE;');
  const session = await openSession(from);
  for (const [, text] of steps) await session.query(text);
  expect((await diff(from, to)).stderr).toBe('the schemas are equal\n');
});

test('a table goes to another schema, and a schema gets another name', async () => {
  const from = await database(
    'create schema a; create schema b; create schema old; create table a.film (id int); create table old.t (c int)',
  );
  const to = await database(
    'create schema a; create schema b; create schema new; create table b.movie (id int); create table new.u (d int)',
  );
  const { stdout, stderr } = await renamed(from, to, 'a.film=b.movie;schema old=new;old.t=u;old.t.c=d');
  expect(stderr).toBe('');
  await runScript(from, stdout);
  expect(stdout).not.toContain('DROP');
  expect((await diff(from, to)).stderr).toBe('the schemas are equal\n');
});

test('names with quotes, dots and the equals sign', async () => {
  const from = await database('create table "a=b" ("x;y" int primary key)');
  const to = await database('create table "c.""d" ("é = " int primary key)');
  const { stdout, stderr } = await renamed(from, to, '"a=b"="c.""d";"a=b"."x;y"=public."c.""d"."é = "');
  expect(stderr).toBe('');
  await runScript(from, stdout);
  expect((await diff(from, to)).stderr).toBe('the schemas are equal\n');
});

test('names that are not only in one schema are errors', async () => {
  const from = await database(
    'create table film (id int, a int); create table same (id int); create table x (film int)',
  );
  const to = await database(
    'create table movie (id int, b int); create table same (id int); create table x (movie int)',
  );
  const message = async (text: string): Promise<string> => {
    const { code, stdout, stderr } = await renamed(from, to, text);
    expect([code, stdout]).toEqual([text.includes('=') ? 1 : 2, '']);
    return stderr;
  };
  expect(await message('film')).toBe(
    'pgscout: --rename: "film" is not a pair of names, as in --rename shop.film=movie\n',
  );
  expect(await message('flim=movie')).toBe('pgscout: --rename: the database has no "flim"; did you mean film?\n');
  expect(await message('film=movies')).toBe(
    'pgscout: --rename: the other schema has no table "movies"; did you mean movie?\n',
  );
  expect(await message('same=movie')).toBe(
    'pgscout: --rename: both schemas have TABLE public.same; the old name has to be a name that only the database has\n',
  );
  expect(await message('film=same')).toBe(
    'pgscout: --rename: both schemas have TABLE public.same; the new name has to be a name that only the other schema has\n',
  );
  expect(await message('film=movie;film.id=b')).toBe(
    'pgscout: --rename: both schemas have COLUMN public.film.id; the old name has to be a name that only the database has\n',
  );
  expect(await message('film.a=b')).toBe('pgscout: --rename: the other schema has no column "b"\n');
  expect(await message('film=movie;film=movie')).toBe('pgscout: --rename: TABLE public.film is in two pairs\n');
});
