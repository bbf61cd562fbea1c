import { holdLock, useDatabase } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  type Database,
  DatabaseError,
  type Notice,
  type Statement,
  type Step,
  type Transaction,
  type TransactionOptions,
  type Value,
} from '../../src/postgres/port.ts';
import { createTextRowSink } from '../../src/postgres/query.ts';
import { ask, type AskOptions, backendOf, errorOf, named, open, type Question, rowsOf, until } from './support.ts';

const db = useDatabase(`
  create table entry (n int, constraint positive check (n > 0), constraint n_unique unique (n) deferrable initially deferred);
  create table file (content bytea);
  create function warn() returns void language plpgsql as $$ begin raise warning 'from the server'; end $$;
`);

const add = named('insert into entry values ($1::int)');
const addBytes: Statement = { ...named('insert into file values ($1)'), types: [17], binary: [true] };
/** The settings of a caller, as a request sets them. */
const settings: Step = step(`select set_config('request.x', $1, true)`, 'ann');
const state = `select current_setting('request.x', true), current_user = session_user, pg_backend_pid()::text`;

function step(statement: Statement | string, ...values: readonly Value[]): Step {
  return { statement: typeof statement === 'string' ? { name: '', sql: statement } : statement, values };
}

function begin(database: Database, options: Partial<TransactionOptions> = {}): Promise<Transaction> {
  return database.begin({
    settings,
    restoreSettings: null,
    role: undefined,
    altersSession: false,
    timeout: null,
    ...options,
  });
}

/** Runs a statement within the transaction and returns its rows. */
async function rowsWithin(transaction: Transaction, sql: string): Promise<readonly (readonly (string | null)[])[]> {
  const rows = createTextRowSink();
  await transaction.run([{ ...step(sql), rows }]);
  return rows.rows;
}

const last = (transaction: Transaction, questions: readonly Question[], options: AskOptions = {}) =>
  ask(transaction.commit, questions, options);

async function entries(): Promise<readonly number[]> {
  return (await db.query('select n from entry order by n')).map(({ n }) => n as number);
}

async function isIdle(backend: string): Promise<boolean> {
  const [found] = await db.query('select state from pg_stat_activity where pid = $1', [backend]);
  return found?.['state'] === 'idle';
}

describe('a transaction of several calls', () => {
  test('commits with its last call, whose rows arrive; nothing is visible before', async () => {
    await db.query('truncate entry');
    const database = open(db);
    const backend = await backendOf(database);
    const transaction = await begin(database);
    await transaction.run([step(add, '1')]);
    await transaction.run([step(add, '2'), step(add, '3')]);
    expect(await entries()).toEqual([]);
    const answer = last(transaction, [[named('select n, $1::text from entry order by n'), 'x']]);
    expect(await rowsOf(answer)).toEqual([
      ['1', 'x'],
      ['2', 'x'],
      ['3', 'x'],
    ]);
    expect(await entries()).toEqual([1, 2, 3]);
    expect(await database.query(state)).toEqual([['', 't', backend]]);
    await until('it is idle', () => isIdle(backend));
    await expect(transaction.run([step('select 1')])).rejects.toThrow('the transaction has ended');
  });

  test('overlapping calls run in order, also while their statements are prepared', async () => {
    await db.query('truncate entry');
    const transaction = await begin(open(db));
    const fresh = named('insert into entry select coalesce(max(n), 0) * 10 + $1::int from entry');
    const other = named('insert into entry select max(n) * 10 + $1::int from entry');
    const runs = [
      transaction.run([step(fresh, '1')]),
      transaction.run([step('insert into entry select max(n) * 10 + 2 from entry')]),
      transaction.run([step(fresh, '3')]),
      transaction.run([step(other, '4')]),
      transaction.run([step(fresh, '5')]),
    ];
    expect(await rowsOf(last(transaction, ['select n from entry order by n desc limit 1']))).toEqual([['12345']]);
    await Promise.all(runs);
  });

  test('bytes in the binary format: every value, none, and 5 MiB', async () => {
    await db.query('truncate file');
    const transaction = await begin(open(db));
    const every = Uint8Array.from({ length: 256 }, (_, n) => n);
    const large = Buffer.alloc(5 * 1024 * 1024, every);
    await Promise.all([every, Buffer.alloc(0), null, large].map((bytes) => transaction.run([step(addBytes, bytes)])));
    await last(transaction, []).answer;
    const stored = await db.query('select content from file');
    expect(stored.slice(0, 3)).toEqual([
      { content: Buffer.from(every) },
      { content: Buffer.alloc(0) },
      { content: null },
    ]);
    expect(large.equals(stored[3]!['content'] as Buffer)).toBe(true);
  });

  test('an error at the commit fails the last call', async () => {
    await db.query('truncate entry');
    const database = open(db);
    const notices: Notice[] = [];
    const transaction = await begin(database, { notice: (notice) => void notices.push(notice) });
    await transaction.run([step(add, '1')]);
    expect(await errorOf(last(transaction, [[add, '1']]))).toBe('23505');
    expect(await database.query(state)).toMatchObject([['', 't', expect.anything()]]);
    expect([await entries(), notices]).toEqual([[], []]);
  });

  test('notices of its calls', async () => {
    const notices: string[] = [];
    const transaction = await begin(open(db), { notice: ({ message }) => void notices.push(message) });
    await transaction.run([step('select warn()')]);
    const answer = await last(transaction, ['select warn()']).answer;
    expect([notices, answer.notices.map(({ message }) => message)]).toEqual([['from the server'], ['from the server']]);
  });

  test('a call that is not the last one, then the last one', async () => {
    await db.query('truncate entry');
    const transaction = await begin(open(db));
    await ask(transaction.commit.withoutRelease, [[add, '1']]).answer;
    expect(await entries()).toEqual([]);
    await last(transaction, [[add, '2']]).answer;
    expect(await entries()).toEqual([1, 2]);
  });
});

describe('after its end', () => {
  const endings: Readonly<Record<string, (transaction: Transaction) => unknown>> = {
    commit: (transaction) => last(transaction, ['select 1']).answer,
    rollback: (transaction) => transaction.rollback(),
    'two rollbacks': (transaction) => [transaction.rollback(), transaction.rollback()],
    'an error in a run': (transaction) => errorOf(transaction.run([step('select 1 / 0')])),
    'an error in the last call': (transaction) => errorOf(last(transaction, ['select 1 / 0'])),
    'an error in one of several pipelined runs': (transaction) =>
      Promise.allSettled(['1', '-1', '2', '3'].map((n) => transaction.run([step(add, n)]))),
    'more values than the protocol allows': (transaction) =>
      errorOf(transaction.run([step('select 1', ...Array.from({ length: 70_000 }, () => '1'))])),
    'a cancelled last call': async (transaction) => {
      const asked = last(transaction, ['select pg_sleep(20)']);
      asked.handle.cancel();
      expect(await errorOf(asked)).toBe('CallCancelled');
    },
    'a cancelled last call that runs': async (transaction) => {
      const [row] = await rowsWithin(transaction, 'select pg_backend_pid()');
      const asked = last(transaction, ['select pg_sleep(20)']);
      await until('it runs', async () => {
        const found = await db.query(`select from pg_stat_activity where pid = $1 and wait_event = 'PgSleep'`, [
          row![0],
        ]);
        return found.length > 0;
      });
      asked.handle.cancel();
      expect(await errorOf(asked)).toBe('CallCancelled');
    },
  };
  describe.each([1, 2, 4])('with %i connections', (poolSize) => {
    test.each(Object.entries(endings))('by %s: the connection is clean and serves other calls', async (_, end) => {
      await db.query('truncate entry');
      const database = open(db, { poolSize });
      const transaction = await begin(database);
      const [row] = await rowsWithin(transaction, state);
      expect(row!.slice(0, 2)).toEqual(['ann', 't']);
      await end(transaction);
      // Does nothing after the end, but waits until the connection is free.
      await transaction.rollback();
      // Another connection may take all of the first calls, while this one is still being reset.
      await until('the connection serves a call', async () => {
        const after = await Promise.all(Array.from({ length: poolSize * 3 }, () => database.query(state)));
        expect(new Set(after.map(([found]) => found!.slice(0, 2).join()))).toEqual(new Set([',t']));
        return after.some(([found]) => found![2] === row![2]);
      });
      await until('it is idle', () => isIdle(row![2]!));
      const next = await begin(database);
      await last(next, [[add, '7']]).answer;
      expect(await entries()).toEqual([7]);
    });
  });

  test('later runs fail with the first error', async () => {
    const transaction = await begin(open(db));
    const runs = ['-1', '1', '2'].map((n) => transaction.run([step(add, n)]));
    const commit = last(transaction, []);
    const outcomes = await Promise.allSettled([...runs, commit.answer, transaction.run([step('select 1')])]);
    const reason = { diagnostics: { constraint: 'positive' } };
    expect(outcomes).toMatchObject(Array.from({ length: 5 }, () => ({ status: 'rejected', reason })));
    expect(await entries()).not.toContain(1);
  });

  test('a statement that ends the transaction fails it', async () => {
    const database = open(db);
    const transaction = await begin(database, { role: null });
    await expect(transaction.run([step('commit')])).rejects.toThrow('a statement has ended the transaction');
    await expect(transaction.run([step(add, '1')])).rejects.toThrow('a statement has ended the transaction');
    expect(await database.query(state)).toMatchObject([['', 't', expect.anything()]]);
  });

  test('a setting of the session that was left changed closes the connection', async () => {
    const database = open(db);
    const backend = await backendOf(database);
    const transaction = await begin(database);
    await transaction.run([step(`set datestyle = 'German'`)]);
    await last(transaction, ['select 1']).answer;
    expect(await database.query('show datestyle')).toEqual([['ISO, MDY']]);
    expect(await backendOf(database)).not.toBe(backend);
  });

  test.each(['commit', 'rollback'])('by %s: session state is reset when it may be altered', async (end) => {
    const database = open(db);
    const backend = await backendOf(database);
    const transaction = await begin(database, { altersSession: true });
    await transaction.run([
      step('create temp table mine (n int)'),
      step(`select set_config('my.x', 'left', false), set_config('work_mem', '5MB', false)`),
      step('select pg_advisory_lock(77)'),
      step('listen mine'),
      step('prepare mine as select 1'),
    ]);
    if (end === 'commit') await last(transaction, ['select 1']).answer;
    else void transaction.rollback();
    const left = `select to_regclass('pg_temp.mine')::text, current_setting('my.x', true), current_setting('work_mem'),
      (select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid())::text,
      (select count(*) from pg_listening_channels())::text,
      (select count(*) from pg_prepared_statements where name = 'mine')::text, pg_backend_pid()::text`;
    expect(await database.query(left)).toEqual([[null, '', '4MB', '0', '0', '0', backend]]);
  });

  test('a prepared statement that the server has dropped fails one transaction only', async () => {
    const database = open(db);
    await ask(database, [[add, '50']]).answer;
    await database.query('deallocate all');
    const failing = await begin(database);
    expect(await errorOf(failing.run([step(add, '51')]))).toBe('26000');
    const next = await begin(database);
    await next.run([step(add, '52')]);
    await last(next, ['select 1']).answer;
    expect(await entries()).toContain(52);
  });
});

describe('rollback', () => {
  test('while a statement waits for a lock: it is cancelled, its locks are gone, and the pool recovers', async () => {
    const database = open(db);
    const lock = await holdLock(db.connectionString, 5);
    const transaction = await begin(database);
    await transaction.run([step('select pg_advisory_xact_lock(6)')]);
    const waiting = transaction.run([step('select pg_advisory_xact_lock(5)')]);
    const commit = last(transaction, ['select 1']);
    await until('it waits', async () => (await lock.waiting()) === 1);
    void transaction.rollback();
    expect(await errorOf(waiting)).toBe('CallCancelled');
    expect(await errorOf(commit)).toBe('CallCancelled');
    expect(await database.query('select pg_advisory_xact_lock(6)')).toEqual([['']]);
    expect(await lock.waiting()).toBe(0);
    await lock.release();
  });

  test('before the runs were sent: none is executed', async () => {
    await db.query('truncate entry');
    const database = open(db);
    const transaction = await begin(database);
    const runs = [transaction.run([step(add, '1')]), transaction.run([step('commit')])];
    void transaction.rollback();
    expect(await Promise.all(runs.map((run) => errorOf(run)))).toEqual(['CallCancelled', 'CallCancelled']);
    await database.query('select 1');
    expect(await entries()).toEqual([]);
  });

  test('begin is abandoned by its signal, in the queue and before', async () => {
    const database = open(db);
    const first = await begin(database);
    const abandoned = new AbortController();
    const queued = begin(database, { signal: abandoned.signal });
    abandoned.abort();
    expect(await errorOf(queued)).toBe('CallCancelled');
    const later = begin(database, { signal: abandoned.signal });
    void first.rollback();
    expect(await errorOf(later)).toBe('CallCancelled');
    expect(await database.query('select 1')).toEqual([['1']]);
  });
});

describe('other calls', () => {
  test.each([2, 4])(
    'of a pool with %i connections never run on the connection of the transaction',
    async (poolSize) => {
      await db.query('truncate entry');
      const database = open(db, { poolSize });
      const transaction = await begin(database);
      const [row] = await rowsWithin(transaction, state);
      await transaction.run([step(add, '1')]);
      const seen = named(
        `select count(*)::text, coalesce(current_setting('request.x', true), ''), pg_backend_pid()::text from entry`,
      );
      for (let round = 0; round < 5; round++) {
        const asked = Array.from({ length: 50 }, () => ask(database, [[seen]], { mayShare: true }));
        const overlapping = transaction.run([step(add, String(round + 2))]);
        for (const one of asked) {
          const [found] = await rowsOf(one);
          expect(found!.slice(0, 2)).toEqual(['0', '']);
          expect(found![2]).not.toBe(row![2]);
        }
        await overlapping;
      }
      await last(transaction, ['select 1']).answer;
      expect(await entries()).toEqual([1, 2, 3, 4, 5, 6]);
    },
  );

  test('of a pool with one connection wait for it, up to the acquire timeout', async () => {
    const database = open(db, { acquireTimeout: 300 });
    await until('it is open', async () => (await errorOf(database.query('select 1'))) === 'done');
    const transaction = await begin(database);
    const asked = Array.from({ length: 50 }, () => ask(database, ['select 1'], { mayShare: true }));
    expect(new Set(await Promise.all(asked.map((one) => errorOf(one))))).toEqual(new Set(['AcquireTimeout']));
    expect(await errorOf(begin(database))).toBe('AcquireTimeout');
    const waiting = ask(database, ['select 2'], { mayShare: true });
    await last(transaction, ['select 1']).answer;
    expect(await rowsOf(waiting)).toEqual([['2']]);
  });

  test('of a pool that may block leave one connection to the others', async () => {
    const database = open(db, { poolSize: 4 });
    const transactions = await Promise.all([1, 2, 3].map(() => begin(database)));
    const waiting = begin(database);
    expect(await database.query('select 1')).toEqual([['1']]);
    void transactions[0]!.rollback();
    transactions.push(await waiting);
    for (const transaction of transactions) void transaction.rollback();
  });
});

describe('roles', () => {
  async function createRoles(): Promise<readonly [string, string]> {
    const suffix = String(Math.random()).slice(2, 10);
    const [ann, bob] = [`tx_ann_${suffix}`, `tx_bob_${suffix}`];
    await db.query(`
      create role ${ann}; create role ${bob};
      create table if not exists secret (owner name default current_user, note text);
      alter table secret enable row level security;
      drop policy if exists own on secret;
      create policy own on secret using (owner = current_user);
      grant select, insert on secret to ${ann}, ${bob};
      create or replace function only_ann() returns text language sql as $$ select 'secret of ann' $$;
      revoke all on function only_ann() from public;
      grant execute on function only_ann() to ${ann};
    `);
    onTestFinished(async () => {
      await db.query(`drop owned by ${ann}, ${bob} cascade; drop role ${ann}, ${bob}`);
    });
    return [ann, bob];
  }
  const setRole = (role: string): Step => step(`select set_config('role', $1, true)`, role);
  const count = named('select count(*)::text from secret');

  test('privileges and row security are those of the caller in every call, and of the login role afterwards', async () => {
    const [ann, bob] = await createRoles();
    const database = open(db);
    const only = named('select only_ann()');
    const first = await begin(database, { role: ann, settings: setRole(ann) });
    await first.run([step(`insert into secret (note) values ('a')`)]);
    await first.run([step(only)]);
    expect(await rowsOf(last(first, [[count]]))).toEqual([['1']]);

    const second = await begin(database, { role: bob, settings: setRole(bob) });
    expect(await rowsWithin(second, 'select current_user, count(*)::text from secret')).toEqual([[bob, '0']]);
    expect(await errorOf(second.run([step(only)]))).toBe('42501');

    const third = await begin(database, { role: bob, settings: setRole(bob) });
    expect(await rowsOf(last(third, [[count]]))).toEqual([['0']]);
    expect(await database.query('select current_user = session_user, count(*)::text from secret')).toEqual([
      ['t', '1'],
    ]);
    expect(await rowsOf(ask(database, [[count]], { role: null }))).toEqual([['1']]);
    await db.query('truncate secret');
  });

  test('a role that does not exist', async () => {
    const database = open(db);
    expect(await errorOf(begin(database, { role: 'nobody', settings: setRole('nobody') }))).toBe('22023');
    expect(await database.query('select current_user = session_user')).toEqual([['t']]);
  });
});

test('a statement may take the timeout, several statements longer', async () => {
  const database = open(db, { statementTimeout: 1_500 });
  const transaction = await begin(database);
  await transaction.run(Array.from({ length: 4 }, () => step('select pg_sleep(0.5)')));
  expect(await errorOf(transaction.run([step('select pg_sleep(20)')]))).toBe('CallTimeout');
  await expect(transaction.run([])).rejects.not.toBeInstanceOf(DatabaseError);
  expect(await database.query('select 1')).toEqual([['1']]);
});
