import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from 'pg';
import { expect, test } from 'vitest';
import { database, diff } from '../support/changed-database.ts';
import { folderWith } from '../support/folder.ts';
import { type DiffStatement, runStatements } from '../support/migration.ts';
import { onlineFiles, type OnlineStep, onlineSteps, openSession, processId, waits } from '../support/online.ts';

const current = `
  create table maker (id int, name text);
  create table film (id int, title text, maker int, price int, year int, constraint film_year_key unique (year));
  create index film_price on film (price);
  create index film_old on film (maker);
  create view cheap as select id from film where price < 3;
`;
const rows = `
  insert into maker select i, 'm' from generate_series(1, 50) i;
  insert into film select i, 't' || i, i, i, i from generate_series(1, 50) i;
`;
const wanted = `
  create table maker (id int primary key, name text);
  create table film (
    id int constraint film_key primary key deferrable,
    title text not null check (title <> ''),
    maker int references maker,
    price int,
    year int,
    code int unique
  );
  create index film_price on film (price desc);
  create unique index film_title on film (lower(title));
  create index film_code on film (code) where code > 0;
  comment on index film_code is 'codes';
  comment on constraint film_code_key on film is 'codes';
  create view cheap as select id, title from film where price < 3;
`;

/** Writes to both tables in a transaction that stays open. */
async function write(writer: Client, id: number): Promise<void> {
  await writer.query(`begin; set local lock_timeout = '60s'; insert into maker values (${id}, 'w');
    insert into film (id, title, maker, price, year) values (${id}, 'w${id}', ${id}, 1, ${id})`);
}

interface Sessions {
  /** Runs the steps. */
  readonly session: Client;
  readonly writer: Client;
}

test('no step reads all rows with a lock that a writer waits for', async () => {
  const [from, to] = [await database(`${current};${rows}`), await database(wanted)];
  const sessions = { session: await openSession(from), writer: await openSession(from) };
  const names: string[] = [];
  for (const step of await onlineSteps(from, to)) {
    const statements = step.changes.flatMap((change) => change.statements);
    if (step.isTransactional) await runTransaction(step, statements, sessions);
    else await runAlone(statements, { ...sessions, id: 1000 + names.length });
    names.push(step.name);
  }
  expect(names).toEqual([
    'add-checks',
    'validate-maker',
    'validate-film',
    'validate-film',
    'build-index-maker',
    'build-index-film',
    'change',
    'build-index-film',
    'build-index-film',
    'build-index-film',
    'build-index-film',
    'add-constraints',
    'validate-film',
    'validate-film',
    'drop-index-film',
    'drop-index-film',
  ]);
  expect((await diff(from, to)).stderr).toBe('the schemas are equal\n');
});

/** No statement reads a table that it locks, and none takes a stronger lock than the transaction has from its begin. */
async function runTransaction(
  { locks }: OnlineStep,
  statements: readonly DiffStatement[],
  { session, writer }: Sessions,
): Promise<void> {
  await session.query('begin');
  for (const { table, mode } of locks) await session.query(`lock table ${table} in ${mode} mode`);
  const held = await tableLocks(writer, session);
  expect(await runStatements(session, statements)).toEqual({ refusal: null, problems: [] });
  const isHeld = (lock: string): boolean =>
    held.includes(lock) || held.includes(`${lock.split(' ')[0]} AccessExclusiveLock`);
  expect((await tableLocks(writer, session)).filter((lock) => !isHeld(lock))).toEqual([]);
  await session.query('commit');
}

interface AloneStep extends Sessions {
  readonly sql: string;
  readonly id: number;
}

function runAlone(statements: readonly DiffStatement[], parts: Omit<AloneStep, 'sql'>): Promise<void> {
  const [{ sql }, ...others] = statements as [DiffStatement, ...DiffStatement[]];
  expect(others).toEqual([]);
  return sql.includes(' VALIDATE CONSTRAINT ') ? validate({ ...parts, sql }) : build({ ...parts, sql });
}

/** A validation ends while a writer has its transaction open. */
async function validate({ sql, session, writer, id }: AloneStep): Promise<void> {
  await write(writer, id);
  await session.query(sql);
  await writer.query('commit');
}

/** An index waits for the end of a transaction, and its writer goes on meanwhile. */
async function build({ sql, session, writer, id }: AloneStep): Promise<void> {
  await write(writer, id);
  const built = session.query(sql);
  await expect.poll(() => waits(writer, session)).toBe(true);
  const modes = (await tableLocks(writer, session)).map((lock) => lock.split(' ')[1]);
  expect(modes.filter((mode) => mode !== 'ShareUpdateExclusiveLock')).toEqual([]);
  await writer.query(`insert into maker values (${id + 1000}, 'w'); commit`);
  await built;
}

/** The locks of a session on the two tables. */
async function tableLocks(client: Client, session: Client): Promise<readonly string[]> {
  const { rows: found } = await client.query<{ readonly lock: string }>(
    `select relation::regclass || ' ' || mode as lock from pg_locks
      where pid = $1 and relation in ('film'::regclass, 'maker'::regclass) and mode <> all($2) order by 1`,
    [processId(session), ['AccessShareLock', 'RowShareLock', 'RowExclusiveLock']],
  );
  return found.map(({ lock }) => lock);
}

test('each file can be sent as one query', async () => {
  const [from, to] = [await database(`${current};${rows}`), await database(wanted)];
  const files = await onlineFiles(from, to, await folderWith());
  expect(files.map(([name]) => name).slice(0, 2)).toEqual(['01-add-checks.sql', '02-validate-maker.sql']);
  const session = await openSession(from);
  for (const [, text] of files) await session.query(text);
  expect((await diff(from, to, '--online')).stderr).toBe('the schemas are equal\n');
});

test('names with quotes, dots, brackets and control characters', async () => {
  const [table, column] = ['"S.x "."we""ird. ON $pgscout$ (t)"', '"a, ""b"" (c)\u0007"'];
  const before = `create schema "S.x "; create table ${table} (${column} int, id int);
    insert into ${table} values (1, 1), (2, 1)`;
  const after = `create schema "S.x "; create table ${table} (${column} int, id int not null,
      constraint "k.( ADD CONSTRAINT" primary key (${column}) include (id),
      constraint "f. REFERENCES" foreign key (id) references ${table}, constraint "c NOT VALID" check (${column} > 0));
    create index "i, ON x" on ${table} (${column}, id)`;
  const [from, to] = [await database(before), await database(after)];
  const session = await openSession(from);
  for (const [, text] of await onlineFiles(from, to, await folderWith())) await session.query(text);
  expect((await diff(from, to)).stderr).toBe('the schemas are equal\n');
});

test('an index that an earlier attempt has left behind is replaced', async () => {
  const from = await database('create table film (id int not null); create index film_pkey on film (id)');
  const to = await database('create table film (id int primary key)');
  const session = await openSession(from);
  for (const [, text] of await onlineFiles(from, to, await folderWith())) await session.query(text);
  expect((await diff(from, to)).stderr).toBe('the schemas are equal\n');
});

test('--output is one script when its name ends with .sql, and otherwise a new or empty folder', async () => {
  const [from, to] = [await database('create table film (id int)'), await database('create table film (id bigint)')];
  const folder = await folderWith({ full: 'x' });
  const run = (name: string): ReturnType<typeof diff> => diff(from, to, '--online', '--output', join(folder, name));
  expect((await run('one.sql')).code).toBe(0);
  expect((await stat(join(folder, 'one.sql'))).isFile()).toBe(true);
  expect((await run('steps')).code).toBe(0);
  expect(await readdir(join(folder, 'steps'))).toEqual(['01-change.sql']);
  await writeFile(join(folder, 'steps/mine.txt'), '');
  expect((await run('steps')).stderr).toMatch(
    /^pgscout: --output: the folder .*steps is not empty; pass a new one, or a name that ends with \.sql\n$/,
  );
  expect((await run('full')).stderr).toMatch(
    /^pgscout: --output: .*full cannot be written: it is a file; pass a name that ends with \.sql, or that of a folder\n$/,
  );
  expect((await readdir(folder)).toSorted()).toEqual(['full', 'one.sql', 'steps']);
});

test('what cannot be done without a lock keeps its comment', async () => {
  const from = await database('create table film (id int, during int4range)');
  const to = await database(
    'create table film (id bigint, during int4range, constraint once exclude using gist (during with &&))',
  );
  const { stdout } = await diff(from, to, '--online');
  expect(stdout).toContain('-- REWRITES public.film\nALTER TABLE public.film ALTER COLUMN id TYPE bigint');
  expect(stdout).toContain('-- LOCKS public.film against reads and writes while the index is built\n');
});
