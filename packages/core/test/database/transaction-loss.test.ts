import { useDatabase } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseConnectionString } from '../../src/postgres/connection-string.ts';
import { Pool } from '../../src/postgres/pool.ts';
import type { Database, Statement, Step, Transaction, Value } from '../../src/postgres/port.ts';
import { createSessionOpener } from '../../src/postgres/session-opener.ts';
import { ask, backendOf, countSessions, errorOf, named, open, skipTime, startProxy, until } from './support.ts';

const db = useDatabase('create table entry (n int)');

const add = named('insert into entry values ($1::int)');
const nap = 'select pg_sleep(20)';

function step(statement: Statement | string, ...values: readonly Value[]): Step {
  return { statement: typeof statement === 'string' ? { name: '', sql: statement } : statement, values };
}

function begin(database: Database): Promise<Transaction> {
  return database.begin({ settings: null, restoreSettings: null, role: null, altersSession: false, timeout: null });
}

async function terminate(backend: string): Promise<void> {
  await db.query('select pg_terminate_backend($1)', [backend]);
  await until('it is gone', async () => {
    return (await db.query('select from pg_stat_activity where pid = $1', [backend])).length === 0;
  });
}

async function sleeps(backend: string): Promise<void> {
  await until('it sleeps', async () => {
    const found = await db.query(`select from pg_stat_activity where pid = $1 and wait_event = 'PgSleep'`, [backend]);
    return found.length > 0;
  });
}

async function entries(): Promise<readonly number[]> {
  return (await db.query('select n from entry order by n')).map(({ n }) => n as number);
}

/** A pool whose only connection has a transaction with one row. */
async function started(connectionString: string = db.connectionString): Promise<{
  readonly database: Database;
  readonly backend: string;
  readonly transaction: Transaction;
}> {
  await db.query('truncate entry');
  const database = open(connectionString);
  const backend = await backendOf(database);
  const transaction = await begin(database);
  await transaction.run([step(add, '1')]);
  return { database, backend, transaction };
}

/** Returns the rows when the pool works again: none, because nothing of the transaction was executed on another connection. */
async function entriesAfterRecovery(database: Database): Promise<readonly number[]> {
  await until('service again', async () => (await errorOf(database.query('select 1'))) === 'done');
  return entries();
}

describe('a connection that is lost', () => {
  test('between two calls', async () => {
    const { database, backend, transaction } = await started();
    await terminate(backend);
    const run = transaction.run([step(add, '2')]);
    expect(await errorOf(run)).toBe('ConnectionLost');
    expect(await errorOf(transaction.run([step(add, '3')]))).toBe('ConnectionLost');
    expect(await errorOf(ask(transaction.commit, [[add, '4']]))).toBe('ConnectionLost');
    void transaction.rollback();
    expect(await entriesAfterRecovery(database)).toEqual([]);
  });

  test('before the last call', async () => {
    const { database, backend, transaction } = await started();
    await terminate(backend);
    await until('the loss was noticed', async () => (await errorOf(database.query('select 1'))) === 'done');
    expect(await errorOf(ask(transaction.commit, [[add, '2']]))).toBe('ConnectionLost');
    expect(await entriesAfterRecovery(database)).toEqual([]);
  });

  test('before a rollback', async () => {
    const { database, backend, transaction } = await started();
    await terminate(backend);
    void transaction.rollback();
    expect(await entriesAfterRecovery(database)).toEqual([]);
  });

  test('during a call, with others behind it', async () => {
    const { database, backend, transaction } = await started();
    const errors = [step(nap), step(add, '2'), step(add, '3')].map((each) => errorOf(transaction.run([each])));
    await sleeps(backend);
    await terminate(backend);
    expect(await Promise.all(errors)).toEqual(['ConnectionLost', 'ConnectionLost', 'ConnectionLost']);
    expect(await entriesAfterRecovery(database)).toEqual([]);
  });

  test('during the last call, by a FATAL error before the commit', async () => {
    const { database, backend, transaction } = await started();
    const asked = ask(transaction.commit, [[add, '2'], nap]);
    await sleeps(backend);
    await terminate(backend);
    expect(await errorOf(asked)).toBe('ConnectionLost');
    expect(await entriesAfterRecovery(database)).toEqual([]);
  });

  test('without a word during a call, and after the commit was sent', async () => {
    const proxy = await startProxy(db.connectionString);
    const during = await started(proxy.connectionString);
    proxy.swallow();
    const error = errorOf(during.transaction.run([step(add, '2')]));
    await proxy.off();
    expect(await error).toBe('ConnectionLost');
    await proxy.on();
    expect(await entriesAfterRecovery(during.database)).toEqual([]);

    const committing = await started(proxy.connectionString);
    proxy.swallow();
    const asked = ask(committing.transaction.commit, [[add, '2']]);
    await until('it is committed', async () => (await entries()).length > 0);
    await proxy.off();
    expect(await errorOf(asked)).toBe('OutcomeUnknown');
    expect(await entries()).toEqual([1, 2]);
  });

  test('after the commit of a call that was abandoned: the outcome is unknown', async () => {
    const proxy = await startProxy(db.connectionString);
    const { transaction } = await started(proxy.connectionString);
    proxy.swallow();
    let cancel = (): void => undefined;
    const error = new Promise<Error>((resolve) => {
      const last = transaction.commit.run({
        steps: [step(add, '2')],
        mayShare: false,
        timeout: 0,
        done: () => resolve(new Error('done')),
        failed: resolve,
      });
      cancel = () => last.cancel();
    });
    await until('it is committed', async () => (await entries()).length > 0);
    cancel();
    await proxy.off();
    expect(await error).toMatchObject({ name: 'CallCancelled', outcome: 'unknown' });
  });

  test('after any number of bytes: no row of a transaction that failed, and every row of others', async () => {
    await db.query('truncate entry');
    const proxy = await startProxy(db.connectionString);
    const database = open(proxy.connectionString, { acquireTimeout: 3_000 });
    const outcomes: Record<string, number[]> = {};
    let n = 0;
    for (let bytes = 0; bytes < 700; bytes += 13) {
      n++;
      await until('service', async () => (await errorOf(database.query('select 1'))) === 'done');
      proxy.cutAfter(bytes);
      const outcome = await errorOf(
        begin(database).then(async (transaction) => {
          await Promise.all([transaction.run([step(add, String(n))]), transaction.run([step('select 1')])]);
          await ask(transaction.commit, ['select 2']).answer;
        }),
      );
      (outcomes[outcome] ??= []).push(n);
      proxy.release();
    }
    await database.close();
    const kept = await entries();
    expect(Object.keys(outcomes).toSorted()).toEqual(['ConnectionLost', 'OutcomeUnknown', 'done']);
    expect(kept.filter((each) => outcomes['ConnectionLost']!.includes(each))).toEqual([]);
    expect(outcomes['done']!.filter((each) => !kept.includes(each))).toEqual([]);
  });

  test('by idle_in_transaction_session_timeout', async () => {
    const { database, backend, transaction } = await started();
    await transaction.run([step(`set local idle_in_transaction_session_timeout = '20ms'`)]);
    await until('it is gone', async () => {
      return (await db.query('select from pg_stat_activity where pid = $1', [backend])).length === 0;
    });
    await until('the loss was noticed', async () => (await errorOf(database.query('select 1'))) === 'done');
    const run = transaction.run([step(add, '2')]);
    await expect(run).rejects.toThrow('terminating connection due to idle-in-transaction timeout');
    expect(await errorOf(run)).toBe('ConnectionLost');
    expect(await entriesAfterRecovery(database)).toEqual([]);
  });

  test('when the server does not act on a rollback', async () => {
    const proxy = await startProxy(db.connectionString);
    const { database, transaction } = await started(proxy.connectionString);
    proxy.swallow();
    void transaction.rollback();
    skipTime(60_000);
    proxy.swallowAfter(Number.POSITIVE_INFINITY);
    expect(await entriesAfterRecovery(database)).toEqual([]);
  });
});

describe('closing the pool', () => {
  function poolOf(name: string): Pool {
    const connection = parseConnectionString(`${db.connectionString}?application_name=${name}`);
    const pool = new Pool({
      open: createSessionOpener(connection, { DateStyle: 'ISO' }),
      size: 1,
      acquireTimeout: 5_000,
      maxQueueLength: 100,
      shareConnections: true,
      idleTimeoutMs: 60_000,
      lifetimeMs: Number.POSITIVE_INFINITY,
      minSize: 0,
      closeGraceMs: 200,
      onNotice: () => undefined,
      onConnectionError: () => undefined,
    });
    onTestFinished(() => pool.close());
    return pool;
  }

  test('waits for a transaction that ends in time', async () => {
    await db.query('truncate entry');
    const pool = poolOf('in_time');
    const transaction = await begin(pool);
    const closed = pool.close();
    await ask(transaction.commit, [[add, '1']]).answer;
    await closed;
    expect(await entries()).toEqual([1]);
  });

  test('ends a transaction that is idle or waits for a connection after the grace period', async () => {
    await db.query('truncate entry');
    const pool = poolOf('too_late');
    const transaction = await begin(pool);
    await transaction.run([step(add, '1')]);
    const waiting = errorOf(begin(pool));
    await pool.close();
    expect(await waiting).toBe('ConnectionLost');
    expect(await errorOf(transaction.run([step(add, '2')]))).toBe('ConnectionLost');
    expect(await errorOf(begin(pool))).toBe('ConnectionLost');
    void transaction.rollback();
    await until('the connection is gone', async () => (await countSessions(db, 'too_late')) === 0);
    expect(await entries()).toEqual([]);
  });

  test('ends a statement that runs', async () => {
    const pool = poolOf('running');
    const transaction = await begin(pool);
    const error = errorOf(transaction.run([step(nap)]));
    await pool.close();
    expect(await error).toBe('ConnectionLost');
    await until('the connection is gone', async () => (await countSessions(db, 'running')) === 0);
  });
});
