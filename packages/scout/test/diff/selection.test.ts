import { expect, test } from 'vitest';
import { database, diff, runScript } from '../support/changed-database.ts';

const current = `
  create table film (id int primary key, gone int, constraint positive check (gone > 0));
  create index film_gone on film (gone);
  create table only_here (id int);
  create view old as select gone from film;
  create function f() returns int language sql as 'select 1';
`;
const wanted = `
  create table film (id int primary key, title text);
  create table fresh (id int);
  create view recent as select id from film;
  create function f() returns int language sql as 'select 2';
`;

test('--no-drops keeps what the other schema does not have, and makes all other changes', async () => {
  const [from, to] = [await database(current), await database(wanted)];
  const { code, stdout, stderr } = await diff(from, to, '--no-drops');
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).not.toMatch(/\bDROP\b/);
  expect(stdout).toContain('ALTER TABLE public.film ADD COLUMN title text;');
  await runScript(from, stdout);
  await from.query('select film.gone, title from film, only_here, fresh, old, recent');
  expect(await diff(from, to, '--no-drops', '--exit-code')).toEqual({
    code: 0,
    stdout: '',
    stderr: 'the schemas are equal\n',
  });
  expect((await diff(from, to)).stdout).toContain('DROP TABLE public.only_here');
});

test('--no-drops refuses a change that needs to drop what only the database has', async () => {
  const from = await database('create table film (id int); create view kept as select id from film');
  const to = await database('create table film (id bigint)');
  expect(await diff(from, to, '--no-drops')).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'pgscout: --no-drops: a change needs to drop what the other schema does not have: VIEW public.kept; leave the changed objects out with --exclude, or drop these first\n',
  });
});

test('--exclude and --kinds select objects', async () => {
  const [from, to] = [await database(current), await database(wanted)];
  const changed = async (...argv: readonly string[]): Promise<readonly string[]> => {
    const { stdout } = await diff(from, to, '--json', ...argv);
    return (JSON.parse(stdout) as readonly { readonly kind: string; readonly name: string }[]).map(
      ({ kind, name }) => `${kind} ${name}`,
    );
  };
  expect(await changed('--kinds', 'function, View')).toEqual(['VIEW old', 'VIEW recent', 'FUNCTION f']);
  expect(await changed('--exclude', 'film;o*;re*')).toEqual(['TABLE fresh', 'FUNCTION f']);
  const none = await diff(from, to, 'f', '--exclude', 'none');
  expect(none.stderr).toBe('note: --exclude: no object is named "none"\n');
  expect(await diff(from, to, '--kinds', 'tabel')).toEqual({
    code: 2,
    stdout: '',
    stderr: 'pgscout: --kinds: no kind "TABEL"; did you mean TABLE?\n',
  });
});
