import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serverVersion } from '@pgway/testing';
import { build } from 'rolldown';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { readerProgram } from '../../../../build/reader-program.js';
import { parseConnectionString } from '../../src/postgres/connection-string.ts';
import { type ChangeBatch, ReplicationStream } from '../../src/postgres/replication/replication-stream.ts';
import { insertPosition, openSession, openTestReader, useLogicalServer } from './support.ts';

const server = useLogicalServer();
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pgway-reader-'));
  await build({
    input: join(import.meta.dirname, 'reader-process.ts'),
    platform: 'node',
    external: ['pg-native', 'pg-cloudflare'],
    plugins: [readerProgram()],
    output: { file: join(folder, 'reader.mjs') },
    logLevel: 'silent',
  });
  await server.query('create table film (id integer primary key); create publication pgway_changes for table film');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface ReaderProcess {
  readonly child: ChildProcessWithoutNullStreams;
  readonly lines: () => readonly string[];
}

/** Starts a process with a reader, whose walsender waits a second for its replies. */
async function startReader(): Promise<ReaderProcess> {
  const url = `${server.connectionString}?options=${encodeURIComponent('-c wal_sender_timeout=1s')}`;
  const child = spawn(process.execPath, [join(folder, 'reader.mjs'), url]);
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const lines = (): readonly string[] => output.split('\n');
  await expect.poll(lines).toContain('open');
  return { child, lines };
}

function slots(): Promise<readonly unknown[]> {
  return server.query('select slot_name from pg_replication_slots');
}

describe('nothing stays behind', () => {
  test('of a process that was killed', async () => {
    const { child } = await startReader();
    expect(await slots()).toHaveLength(1);
    child.kill('SIGKILL');
    await expect.poll(slots).toEqual([]);
  });

  test('of a process that was killed while its slot waited for a transaction', async () => {
    const session = await openSession(server);
    await session.query('begin; insert into film values (0)');
    const child = spawn(process.execPath, [join(folder, 'reader.mjs'), server.connectionString]);
    await expect.poll(slots).toHaveLength(1);
    child.kill('SIGKILL');
    // PostgreSQL 13 notices it at the end of the transaction.
    if (serverVersion() < 14) await session.query('rollback');
    await expect.poll(slots).toEqual([]);
  });

  test('of a process that hangs', async () => {
    const { child, lines } = await startReader();
    child.kill('SIGSTOP');
    await expect.poll(slots).toEqual([]);
    child.kill('SIGCONT');
    await expect.poll(() => lines().some((line) => line.startsWith('failure: '))).toBe(true);
  });

  test('of a process that does not handle what was delivered', async () => {
    const { child, lines } = await startReader();
    child.stdin.write('\n');
    await expect.poll(lines).toContain('blocked');
    await server.query('insert into film values (-1)');
    await expect.poll(slots, { timeout: 180_000 }).toEqual([]);
  });
});

test('the server is answered while the process is busy', async () => {
  const { child, lines } = await startReader();
  child.stdin.write('\n');
  await expect.poll(lines).toContain('blocked');
  // Four times as long as the server waits.
  await server.query('create table started as select now() as at');
  await expect
    .poll(() => server.query(`select from pg_stat_replication, started where reply_time > at + interval '4 seconds'`))
    .toHaveLength(1);
  expect(lines().filter((line) => line.startsWith('failure'))).toEqual([]);
});

test('what is not handled is not read: memory is bounded, and nothing is lost', async () => {
  const batches: ChangeBatch[] = [];
  const stream = new ReplicationStream({
    connection: parseConnectionString(server.connectionString),
    publication: 'pgway_changes',
    maxKeys: 20_000,
    keys: [],
    onChanges: (batch) => void batches.push(batch),
    onEnd: () => undefined,
  });
  onTestFinished(() => stream.close());
  await stream.open();
  await server.query('create table other (id integer)');
  for (let first = 1; first <= 20; first++) {
    await server.query(`insert into film select ${first} * 100000 + n from generate_series(1, 20000) n`);
  }
  const position = await insertPosition(server);
  const delivered = (): number => batches.reduce((sum, { transactions }) => sum + transactions.length, 0);
  await expect.poll(delivered).toBeGreaterThanOrEqual(5);
  // The limit is 100,000 keys.
  expect(delivered()).toBeLessThan(8);
  for (let handled = 0; batches.at(-1)!.position < position;) {
    await expect.poll(() => batches.length).toBeGreaterThan(handled);
    for (; handled < batches.length; handled++) stream.handled(batches[handled]!.weight);
    stream.reach(position);
  }
  expect(delivered()).toBe(20);
});

test('the end of PostgreSQL is a failure', async () => {
  const { reader, failures } = await openTestReader(server);
  await server.kill();
  await expect.poll(() => failures).toHaveLength(1);
  await reader.close();
});
