import { holdLock, useDatabase } from '@pgway/testing';
import { Client } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createClientRunner } from '../../src/postgres/client-runner.ts';
import { beginOnClient } from '../../src/postgres/client-transaction.ts';
import type { Statement, Step, Transaction, TransactionOptions, Value } from '../../src/postgres/port.ts';
import { createTextRowSink } from '../../src/postgres/query.ts';
import { ask, errorOf, named, rowsOf, until } from './support.ts';

const db = useDatabase(`
  create table entry (n int, constraint positive check (n > 0), constraint n_unique unique (n) deferrable initially deferred);
  create table file (content bytea);
`);

const add = named('insert into entry values ($1::int)');
const addBytes: Statement = { ...named('insert into file values ($1)'), types: [17], binary: [true] };
const state = `select coalesce(current_setting('request.x', true), ''), current_setting('work_mem')`;

function step(statement: Statement | string, ...values: readonly Value[]): Step {
  return { statement: typeof statement === 'string' ? { name: '', sql: statement } : statement, values };
}

/** A connected client of the host; the releases of its transactions, by the name of their error. */
interface Host {
  readonly client: Client;
  readonly released: (string | null)[];
  /** Begins a transaction of the gateway with settings. */
  begin(options?: Partial<TransactionOptions> & { readonly acquireTimeout?: number }): Promise<Transaction>;
}

async function connect(): Promise<Host> {
  await db.query('truncate entry');
  const client = new Client({ connectionString: db.connectionString });
  client.on('error', () => undefined);
  await client.connect();
  onTestFinished(() => client.end().catch(() => undefined));
  const released: (string | null)[] = [];
  const release = (error?: Error): void => void released.push(error?.name ?? null);
  return {
    client,
    released,
    begin: ({ acquireTimeout = 10_000, ...options } = {}) =>
      beginOnClient(
        { client, runner: createClientRunner(client, acquireTimeout), release },
        {
          settings: step(`select set_config('request.x', 'ann', true), set_config('work_mem', '5MB', true)`),
          restoreSettings: step(`select set_config('request.x', '', true), set_config('work_mem', '4MB', true)`),
          role: undefined,
          altersSession: false,
          timeout: 10_000,
          ...options,
        },
      ),
  };
}

async function rowsWithin(transaction: Transaction, sql: string): Promise<readonly (readonly (string | null)[])[]> {
  const rows = createTextRowSink();
  await transaction.run([{ ...step(sql), rows }]);
  return rows.rows;
}

async function entries(): Promise<readonly number[]> {
  return (await db.query('select n from entry order by n')).map(({ n }) => n as number);
}

async function stateOf({ client }: Host): Promise<unknown> {
  return Object.values((await client.query(state)).rows[0] as object);
}

const endings: Readonly<Record<string, (transaction: Transaction) => unknown>> = {
  rollback: (transaction) => transaction.rollback(),
  'two rollbacks': (transaction) => [transaction.rollback(), transaction.rollback()],
  'an error in a run': (transaction) => errorOf(transaction.run([step(add, '-1')])),
  'an error in one of several overlapping runs': (transaction) =>
    Promise.allSettled(['3', '-1', '4'].map((n) => transaction.run([step(add, n)]))),
  'an error in the last call': (transaction) => errorOf(ask(transaction.commit, ['select 1 / 0'])),
  'a cancelled last call': async (transaction) => {
    const asked = ask(transaction.commit, ['select pg_sleep(20)']);
    asked.handle.cancel();
    expect(await errorOf(asked)).toBe('CallCancelled');
  },
  'a rollback while statements wait for a lock': async (transaction) => {
    const lock = await holdLock(db.connectionString, 1);
    const runs = [1, 2].map(() => transaction.run([step('select pg_advisory_xact_lock(1)')]));
    await until('it waits', async () => (await lock.waiting()) === 1);
    void transaction.rollback();
    expect(await Promise.all(runs.map((run) => errorOf(run)))).toEqual(['CallCancelled', 'CallCancelled']);
    await lock.release();
  },
};

describe('a client of the host outside a transaction', () => {
  test('the last call commits, and the client is released once, without settings', async () => {
    const host = await connect();
    const transaction = await host.begin();
    const every = Uint8Array.from({ length: 256 }, (_, n) => n);
    await transaction.run([step(add, '1'), step(addBytes, every)]);
    expect(await rowsWithin(transaction, state)).toEqual([['ann', '5MB']]);
    expect([await entries(), host.released]).toEqual([[], []]);
    expect(await rowsOf(ask(transaction.commit, ['select n from entry']))).toEqual([['1']]);
    expect([await entries(), host.released]).toEqual([[1], [null]]);
    expect(await stateOf(host)).toEqual(['', '4MB']);
    expect(await db.query('select content from file')).toEqual([{ content: Buffer.from(every) }]);
    void transaction.rollback();
    expect(host.released).toEqual([null]);
  });

  test.each(Object.entries(endings))('by %s: nothing remains, and the client is released once', async (_, end) => {
    const host = await connect();
    const transaction = await host.begin();
    await transaction.run([step(add, '1')]);
    await end(transaction);
    await until('it is released', () => host.released.length > 0);
    await host.client.query('insert into entry values (9)');
    expect([await entries(), host.released, await stateOf(host)]).toEqual([[9], [null], ['', '4MB']]);
  });

  test('an error at the commit fails the last call', async () => {
    const host = await connect();
    const transaction = await host.begin();
    await transaction.run([step(add, '1')]);
    expect(await errorOf(ask(transaction.commit, [[add, '1']]))).toBe('23505');
    await until('it is released', () => host.released.length > 0);
    await host.client.query('insert into entry values (9)');
    expect([await entries(), host.released]).toEqual([[9], [null]]);
  });

  test('a transaction that cannot begin', async () => {
    const host = await connect();
    const begun = host.begin({ settings: step(`select set_config('role', 'nobody_here', true)`) });
    expect(await errorOf(begun)).toBe('22023');
    await until('it is released', () => host.released.length > 0);
    await host.client.query('insert into entry values (9)');
    expect([await entries(), host.released]).toEqual([[9], [null]]);
  });

  test('a statement that ends the transaction fails it', async () => {
    const host = await connect();
    const transaction = await host.begin();
    await expect(transaction.run([step('commit')])).rejects.toThrow('a statement has ended the transaction');
    expect(await errorOf(transaction.run([step(add, '1')]))).toBe('Error');
    await until('it is released', () => host.released.length > 0);
    expect(await entries()).toEqual([]);
  });

  test('a client that does not become free', async () => {
    const host = await connect();
    const lock = await holdLock(db.connectionString, 2);
    const theirs = host.client.query('select pg_advisory_lock(2)');
    expect(await errorOf(host.begin({ acquireTimeout: 50 }))).toBe('AcquireTimeout');
    expect(host.released).toEqual(['AcquireTimeout']);
    await lock.release();
    await theirs;
    expect(await stateOf(host)).toEqual(['', '4MB']);
  });

  test('a client that becomes busy within the transaction is released with an error: it is not rolled back', async () => {
    const host = await connect();
    const lock = await holdLock(db.connectionString, 3);
    const transaction = await host.begin({ acquireTimeout: 200 });
    const theirs = host.client.query('select pg_advisory_lock(3)').catch(() => undefined);
    await until('it waits', async () => (await lock.waiting()) === 1);
    expect(await errorOf(transaction.run([step(add, '1')]))).toBe('AcquireTimeout');
    await until('it is released', () => host.released.length > 0);
    expect(host.released).toEqual(['ConnectionLost']);
    await lock.release();
    await theirs;
  });

  test('a client whose connection is lost', async () => {
    const host = await connect();
    const transaction = await host.begin();
    const [row] = await rowsWithin(transaction, 'select pg_backend_pid()');
    const run = transaction.run([step('select pg_sleep(20)')]);
    const error = errorOf(run);
    await until('it sleeps', async () => {
      const found = await db.query(`select from pg_stat_activity where pid = $1 and wait_event = 'PgSleep'`, [row![0]]);
      return found.length > 0;
    });
    await db.query('select pg_terminate_backend($1)', [row![0]]);
    expect(await error).toBe('ConnectionLost');
    expect(await errorOf(transaction.run([step(add, '1')]))).toBe('ConnectionLost');
    expect(host.released).toEqual(['ConnectionLost']);
  });
});

describe('a client of the host in a transaction', () => {
  test('the writes and settings of the host remain, and it decides over the commit', async () => {
    const host = await connect();
    const { client } = host;
    await client.query('begin');
    await client.query('insert into entry values (1)');
    const transaction = await host.begin();
    await transaction.run([step(add, '2')]);
    // A query of the host between two calls.
    await client.query('insert into entry values (3)');
    await ask(transaction.commit, [[add, '4']]).answer;
    expect([await entries(), host.released, await stateOf(host)]).toEqual([[], [null], ['', '4MB']]);
    await client.query('commit');
    expect(await entries()).toEqual([1, 2, 3, 4]);
  });

  test.each(Object.entries(endings))('by %s: only the writes of the gateway are gone', async (_, end) => {
    const host = await connect();
    const { client } = host;
    await client.query('begin');
    await client.query('insert into entry values (1)');
    const transaction = await host.begin();
    await transaction.run([step(add, '2')]);
    await end(transaction);
    await until('it is released', () => host.released.length > 0);
    await client.query('insert into entry values (5)');
    expect([host.released, await stateOf(host)]).toEqual([[null], ['', '4MB']]);
    await client.query('commit');
    expect(await entries()).toEqual([1, 5]);
  });

  test('one that the host has queued but not awaited', async () => {
    const host = await connect();
    const { client } = host;
    const queued = [client.query('begin'), client.query('insert into entry values (1)')];
    const transaction = await host.begin();
    await ask(transaction.commit, [[add, '2']]).answer;
    await Promise.all(queued);
    expect(await entries()).toEqual([]);
    await client.query('rollback');
    expect(await entries()).toEqual([]);
  });

  test('one that has failed: it cannot begin', async () => {
    const host = await connect();
    await host.client.query('begin');
    await host.client.query('select 1 / 0').catch(() => undefined);
    expect(await errorOf(host.begin())).toBe('25P02');
    await until('it is released', () => host.released.length > 0);
    await host.client.query('rollback');
    expect(await stateOf(host)).toEqual(['', '4MB']);
  });
});
