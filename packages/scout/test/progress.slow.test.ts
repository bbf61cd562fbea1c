/** The progress of long commands, on a terminal. Locks and `pg_sleep` make the commands long. */
import { spawnSync } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, useDatabase } from '@pgway/testing';
import pg from 'pg';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { folderWith } from './support/folder.ts';
import { runOnTerminal, runProgram } from './support/program.ts';

const hasPython = spawnSync('python3', ['-c', 'import pty']).status === 0;
const hasTools = spawnSync('pg_dump', ['--version']).status === 0;
if (!hasPython) console.log('skipped: python3 with the module pty is not installed');
if (!hasTools) console.log('skipped: psql and pg_dump are not installed');

const database = useDatabase(`
  create domain rating as int;
  create table film (id int);
  insert into film select generate_series(1, 1200);
`);

beforeAll(build);

/** Locks a table of the catalog until the returned function is called. */
async function lock(table: string): Promise<() => void> {
  const client = new pg.Client(database.connectionString);
  await client.connect();
  onTestFinished(() => client.end());
  await client.query(`begin; lock table ${table} in access exclusive mode`);
  return () => void client.query('rollback');
}

/** Escapes are shown as `␛`. */
const line = /\r(?<text>[^\r\n]+)␛\[K/g;
const removal = /\r␛\[K/g;

async function onTerminal(...args: Parameters<typeof runOnTerminal>): ReturnType<typeof runOnTerminal> {
  const { code, screen } = await runOnTerminal(...args);
  return { code, screen: screen.replaceAll('\u001b', '␛') };
}

/** Returns the texts of the progress, each once, and the screen without them. */
function split(screen: string): { readonly texts: readonly string[]; readonly rest: string } {
  const texts = [...screen.matchAll(line)].map(({ groups }) => groups!['text']!.replace(/ \(\d+ s\)$/, ''));
  return { texts: [...new Set(texts)], rest: screen.replaceAll(line, '').replaceAll(removal, '') };
}

test.runIf(hasPython)('a line that is removed before the output', async () => {
  const release = await lock('pg_catalog.pg_policy');
  const argv = ['--ddl', 'rating', '--no-owner', '-c', database.connectionString];
  const { code, screen } = await onTerminal(argv, [['reading', release]]);

  expect(code).toBe(0);
  expect(screen).toMatch(/^\rreading [a-z ]+ \(\d+ s\)␛\[K/);
  expect(split(screen).rest).toBe('-- DOMAIN public.rating\n\nCREATE DOMAIN public.rating AS integer;\n');
  // The removal is the last thing before the output.
  expect(screen).toMatch(/␛\[K\r␛\[K-- DOMAIN public\.rating\n[^␛]*$/);
});

test.runIf(hasPython)('a redirected output has no progress, which a terminal still shows', async () => {
  const release = await lock('pg_catalog.pg_policy');
  const output = join(await folderWith(), 'schema.sql');
  const argv = ['--schema-dump', '--no-owner', '-c', database.connectionString];
  const { code, screen } = await onTerminal(argv, [['reading', release]], { output });

  expect({ code, rest: split(screen).rest }).toEqual({ code: 0, rest: '' });
  expect(screen).toMatch(/␛\[K$/);
  const text = await readFile(output, 'utf8');
  expect(text).toBe((await runProgram(argv)).stdout);
  expect(text).toContain('CREATE DOMAIN public.rating AS integer;\n');
});

test.runIf(hasPython)('rows are counted', async () => {
  const query = 'select id from film, pg_sleep(case id % 400 when 0 then 0.6 else 0 end)';
  const output = join(await folderWith(), 'rows.sql');
  const argv = ['--inserts', query, '-c', database.connectionString];
  const { code, screen } = await onTerminal(argv, [], { output });

  expect({ code, ...split(screen) }).toEqual({
    code: 0,
    texts: expect.arrayContaining(['public.film: 0 rows', 'public.film: 500 rows', 'public.film: 1,000 rows']),
    rest: '',
  });
});

test.runIf(hasPython)('escape sequences of names are shown', async () => {
  await database.query(`create table "\u001b[31m" (id int)`);
  const release = await lock('"\u001b[31m"');
  const argv = ['--inserts', '"\u001b[31m"', '-c', database.connectionString];
  const { screen } = await onTerminal(argv, [['\\u001b[31m', release]]);

  expect(split(screen).texts).toEqual(['public."\\u001b[31m": 0 rows']);
});

test.runIf(hasPython && hasTools)('the files of a folder are counted, and the output of psql is apart', async () => {
  const folder = await folderWith({
    'a.sql': `\\echo first\nselect pg_sleep(0.8) \\g /dev/null`,
    'b.sql': `\\echo second\ndo $$ begin perform pg_sleep(0.8); raise warning 'late'; end $$;`,
  });
  const argv = ['--execute', '.', '-c', database.connectionString];
  const { code, screen } = await onTerminal(argv, [], { folder });

  expect(code).toBe(0);
  const { texts, rest } = split(screen);
  expect(texts).toEqual(['1 of 2: a.sql', '2 of 2: b.sql']);
  expect(rest.replace(/^warning: .*\n/, '')).toMatch(/^first\nsecond\npsql:.*b\.sql:2: WARNING: {2}late\nDO\n$/);
});

test.runIf(hasPython && hasTools)('a restore tells its file', async () => {
  const folder = await folderWith({ 'shop.sql': 'select pg_sleep(1.2);' });
  const { code, screen } = await onTerminal(['--restore', 'shop.sql', '-c', database.connectionString], [], {
    folder,
  });

  expect({ code, texts: split(screen).texts }).toEqual({ code: 0, texts: ['restoring shop.sql'] });
});

test.runIf(hasPython)('Ctrl-C removes the line, and cancels the statement', async () => {
  await lock('film');
  const { code, screen } = await onTerminal(
    ['--inserts', 'film', '-c', database.connectionString],
    [['public.film: 0 rows', '\u0003']],
  );

  expect({ code, rest: split(screen).rest }).toEqual({ code: 130, rest: '^C\n' });
  const waiting = `select from pg_stat_activity where application_name = 'pgscout' and datname = current_database()`;
  await expect.poll(() => database.query(waiting)).toEqual([]);
});

test.runIf(hasPython)('Ctrl-C writes no file', async () => {
  await lock('pg_catalog.pg_policy');
  const folder = await folderWith();
  const argv = ['--tree', 'schema', '-c', database.connectionString];
  const { code } = await onTerminal(argv, [['reading', '\u0003']], { folder });

  expect({ code, files: await readdir(folder) }).toEqual({ code: 130, files: [] });
});

test.runIf(hasPython && hasTools)('Ctrl-C ends a restore', async () => {
  const folder = await folderWith({ 'shop.sql': 'create table half (id int); select pg_sleep(60);' });
  const argv = ['--restore', 'shop.sql', '-c', database.connectionString];
  const { code } = await onTerminal(argv, [['restoring shop.sql', '\u0003']], { folder });

  const [row] = await database.query(`select to_regclass('half') is null as "isGone"`);
  expect({ code, row }).toEqual({ code: 130, row: { isGone: true } });
});

test.runIf(hasPython)('a terminal without escape sequences shows no progress', async () => {
  const argv = ['--inserts', 'select 1 as one from pg_sleep(0.8)', '-c', database.connectionString];
  const { screen } = await onTerminal(argv, [], { environment: { TERM: 'dumb' } });

  expect(screen).toBe(`-- result\n\nINSERT INTO result (one)\nVALUES\n    ('1');\n\n`);
});
