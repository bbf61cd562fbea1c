import { pgbouncerVersion, type PgBouncer, startPgBouncer, useDatabase } from '@pgway/testing';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DatabaseOptions } from '../../src/postgres/connect-database.ts';
import type { Database, Statement, Step, Transaction, Value } from '../../src/postgres/port.ts';
import { createTextRowSink } from '../../src/postgres/query.ts';
import { ask, errorOf, named, open, rowsOf, until } from './support.ts';

const version = await pgbouncerVersion();
/** PgBouncer supports prepared statements since 1.21. */
const knowsStatements = version !== null && Number(version.split('.')[1]) >= 21;
if (version === null) console.warn('SKIPPED: there is no PgBouncer on this machine (apt-get install pgbouncer)');

const role = `pooled_${process.pid}`;
const db = useDatabase(`
  create table entry (n int, constraint positive check (n > 0));
  create role ${role};
  grant select, insert on entry to ${role};
`);
afterAll(async () => {
  await db.query(`drop owned by ${role}; drop role ${role}`);
});

const add = named('insert into entry values ($1::int)');
const state = `select current_user, coalesce(current_setting('request.x', true), ''), current_setting('TimeZone'), current_setting('statement_timeout')`;

function step(statement: Statement | string, ...values: readonly Value[]): Step {
  return { statement: typeof statement === 'string' ? { name: '', sql: statement } : statement, values };
}

function begin(database: Database): Promise<Transaction> {
  const settings = step(`select set_config('role', $1, true), set_config('request.x', 'ann', true)`, role);
  return database.begin({ settings, restoreSettings: null, role, altersSession: true, timeout: null });
}

async function rowsWithin(transaction: Transaction, sql: string): Promise<readonly (readonly (string | null)[])[]> {
  const rows = createTextRowSink();
  await transaction.run([{ ...step(sql), rows }]);
  return rows.rows;
}

async function entries(): Promise<readonly number[]> {
  return (await db.query('select n from entry order by n')).map(({ n }) => n as number);
}

function describeTransactions(
  connect: () => string,
  options: Pick<DatabaseOptions, 'pooler' | 'preparedStatements'>,
): void {
  const openDatabase = (): Database => open(connect(), { ...options, poolSize: 3, statementTimeout: 17_000 });

  test('has the role and the settings in every call, and commits with the last one', async () => {
    await db.query('truncate entry');
    const database = openDatabase();
    const transactions = await Promise.all([1, 2].map(() => begin(database)));
    for (const [index, transaction] of transactions.entries()) {
      await transaction.run([step(add, String(index + 1))]);
      const others = Array.from({ length: 10 }, () => ask(database, [[add, '100'], 'select 1 / 0'], { atomic: true }));
      expect(new Set(await Promise.all(others.map((each) => errorOf(each))))).toEqual(new Set(['22012']));
      expect(await rowsWithin(transaction, state)).toEqual([[role, 'ann', 'UTC', '17s']]);
    }
    expect(await entries()).toEqual([]);
    for (const transaction of transactions)
      expect(await rowsOf(ask(transaction.commit, [state]))).toEqual([[role, 'ann', 'UTC', '17s']]);
    expect(await entries()).toEqual([1, 2]);
  });

  test.each<[string, (transaction: Transaction) => unknown]>([
    ['commit', (transaction) => ask(transaction.commit, ['select 1']).answer],
    ['rollback', (transaction) => transaction.rollback()],
    ['an error', (transaction) => errorOf(transaction.run([step(add, '-1')]))],
  ])('by %s: the next client of the connection finds nothing', async (_, end) => {
    await db.query('truncate entry');
    const database = openDatabase();
    const transaction = await begin(database);
    const [row] = await rowsWithin(transaction, 'select pg_backend_pid()');
    await transaction.run([
      step(`select pg_advisory_lock(99), set_config('my.x', 'left', false), set_config('work_mem', '5MB', false)`),
      step('listen mine'),
      step('prepare mine as select 1'),
    ]);
    await end(transaction);
    await until('it is idle', async () => {
      const [found] = await db.query(`select from pg_stat_activity where pid = $1 and state = 'idle'`, [row![0]]);
      return found !== undefined;
    });
    const locks = await db.query(
      `select from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`,
    );
    expect(locks).toEqual([]);
    const next = new Client({ connectionString: connect() });
    await next.connect();
    const { rows } = await next.query(`select current_user = session_user as mine, current_setting('work_mem') as mem,
      coalesce(current_setting('my.x', true), '') as x, (select count(*)::int from pg_listening_channels()) as channels,
      (select count(*)::int from pg_prepared_statements where from_sql) as statements`);
    await next.end();
    expect(rows).toEqual([{ mine: true, mem: '4MB', x: '', channels: 0, statements: 0 }]);
  });

  test('a rollback while a statement runs', async () => {
    await db.query('truncate entry');
    const database = openDatabase();
    const transaction = await begin(database);
    await transaction.run([step(add, '1')]);
    const [row] = await rowsWithin(transaction, 'select pg_backend_pid()');
    const run = transaction.run([step('select pg_sleep(20)')]);
    const activity = async (): Promise<unknown> =>
      (await db.query('select wait_event, state from pg_stat_activity where pid = $1', [row![0]]))[0];
    await until('it sleeps', async () => ((await activity()) as { wait_event: string }).wait_event === 'PgSleep');
    void transaction.rollback();
    expect(await errorOf(run)).toBe('CallCancelled');
    await until('it is gone or idle', async () => {
      const found = (await activity()) as { state: string } | undefined;
      return found === undefined || found.state === 'idle';
    });
    expect(await rowsOf(ask(database, ['select 1']))).toEqual([['1']]);
    expect(await entries()).toEqual([]);
  });
}

describe.skipIf(version === null)(`a transaction behind PgBouncer ${version} in transaction mode`, () => {
  let pooler: PgBouncer;
  beforeAll(async () => {
    pooler = await startPgBouncer(db.connectionString, { mode: 'transaction', size: 3 });
  });
  afterAll(() => pooler.stop());
  const connect = (): string => pooler.connectionString;

  describe('unnamed statements', () => {
    describeTransactions(connect, { pooler: 'transaction', preparedStatements: false });
  });
  describe.skipIf(!knowsStatements)('prepared statements', () => {
    describeTransactions(connect, { pooler: 'transaction', preparedStatements: true });
  });
});

describe('a transaction in the mode for a pooler, without one', () => {
  describe.each([true, false])('prepared statements: %s', (preparedStatements) => {
    describeTransactions(() => db.connectionString, { pooler: 'transaction', preparedStatements });
  });
});
