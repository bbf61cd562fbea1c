import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { freshDatabase, holdLock, oncePerRun, serverVersion, useDatabase } from './index.ts';

const database = useDatabase(`
  CREATE TABLE fruit (name text);
  INSERT INTO fruit VALUES ('apple'), ('pear');
`);

test('useDatabase creates a database and runs its SQL', async () => {
  const rows = await database.query('SELECT name FROM fruit WHERE name <> $1', ['apple']);
  expect(rows).toEqual([{ name: 'pear' }]);
});

test('two fresh databases share nothing', async () => {
  const one = await freshDatabase('CREATE TABLE only_here (id int)');
  const other = await freshDatabase();
  try {
    const rows = await other.query(`SELECT to_regclass('only_here') AS found`);
    expect(rows).toEqual([{ found: null }]);
    expect(other.connectionString).not.toBe(one.connectionString);
  } finally {
    await one.drop();
    await other.drop();
  }
});

test('drop removes a database with open connections', async () => {
  const doomed = await freshDatabase();
  const client = new Client({ connectionString: doomed.connectionString });
  client.on('error', () => undefined);
  await client.connect();
  await doomed.drop();
  const name = new URL(doomed.connectionString).pathname.slice(1);
  expect(await database.query('SELECT FROM pg_database WHERE datname = $1', [name])).toEqual([]);
});

test('a failed script leaves no database behind', async () => {
  const failure = await freshDatabase(`DO $$ BEGIN RAISE EXCEPTION '%', current_database(); END $$`).catch(
    (error: Error) => error.message,
  );
  expect(failure).toMatch(/^pgway_test_/);
  expect(await database.query('SELECT FROM pg_database WHERE datname = $1', [failure])).toEqual([]);
});

test('serverVersion is the major version of the server', async () => {
  const rows = await database.query(`SELECT current_setting('server_version_num')::int / 10000 AS major`);
  expect(rows).toEqual([{ major: serverVersion() }]);
});

test('holdLock: statements wait for the lock until it is released', async () => {
  const lock = await holdLock(database.connectionString, 7);
  const waiting = database.query(`select 'acquired' as answer from pg_advisory_xact_lock(7)`);
  await expect.poll(() => lock.waiting()).toBe(1);
  await lock.release();
  expect(await waiting).toEqual([{ answer: 'acquired' }]);
});

test('oncePerRun: one of several callers runs the action, the others wait; a failed action runs again', async () => {
  const [key, begun] = [`once-${randomUUID()}`, [] as string[]];
  const fails = oncePerRun(key, () => Promise.reject(new Error('not yet')));
  await expect(fails).rejects.toThrow('not yet');
  let finish!: () => void;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const run = (name: string): Promise<string> =>
    oncePerRun(key, async () => {
      begun.push(name);
      await finished;
    }).then(() => name);
  const first = run('first');
  await expect.poll(() => begun).toEqual(['first']);
  const others = Promise.race([run('second'), run('third')]);
  expect(await Promise.race([others, new Promise((resolve) => setImmediate(resolve, 'none'))])).toBe('none');
  finish();
  await Promise.all([first, others]);
  await run('fourth');
  expect(begun).toEqual(['first']);
});
