import { holdLock, useDatabase } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { parseConnectionString } from '../../src/postgres/connection-string.ts';
import { createSessionOpener } from '../../src/postgres/session-opener.ts';
import { Pool, type PoolOptions } from '../../src/postgres/pool.ts';
import { ask, backendOf, countSessions, errorOf, named, open, rowsOf, skipTime, startProxy, until } from './support.ts';

const db = useDatabase();

function poolOf(name: string, options: Partial<PoolOptions> = {}): Pool {
  const connection = parseConnectionString(`${db.connectionString}?application_name=${name}`);
  const pool = new Pool({
    open: createSessionOpener(connection, { DateStyle: 'ISO' }),
    size: 2,
    minSize: 0,
    acquireTimeout: 5_000,
    maxQueueLength: 100,
    shareConnections: true,
    idleTimeoutMs: 60_000,
    lifetimeMs: Number.POSITIVE_INFINITY,
    closeGraceMs: 4_000,
    onNotice: () => undefined,
    onConnectionError: () => undefined,
    ...options,
  });
  onTestFinished(() => pool.close());
  return pool;
}

test('no connection before the first call, and no more than the size', async () => {
  const pool = poolOf('size', { shareConnections: false });
  expect(await countSessions(db, 'size')).toBe(0);
  const lock = await holdLock(db.connectionString, 1);
  const asked = Array.from({ length: 8 }, () => pool.query('select pg_advisory_xact_lock(1)'));
  await until('two run', async () => (await lock.waiting()) === 2);
  await lock.release();
  await Promise.all(asked);
  expect(await countSessions(db, 'size')).toBe(2);
});

test('a full queue fails calls at once, but after run has returned', async () => {
  const pool = poolOf('full', { size: 1, maxQueueLength: 2 });
  await backendOf(pool);
  const running = ask(pool, ['select pg_sleep(0.2)']);
  const queued = [ask(pool, ['select 1']), ask(pool, ['select 2'])];
  const refused = ask(pool, ['select 3']);
  expect(await errorOf(refused)).toBe('AcquireTimeout');
  await expect(refused.answer).rejects.toThrow('too many requests wait');
  expect(await Promise.all([running, ...queued].map((one) => errorOf(one)))).toEqual(['done', 'done', 'done']);
});

test('the acquire timeout', async () => {
  const pool = poolOf('waiting', { size: 1, acquireTimeout: 100 });
  // The acquire timeout includes opening the connection, which may take longer on a busy machine.
  await until('it is open', async () => (await errorOf(pool.query('select 1'))) === 'done');
  const lock = await holdLock(db.connectionString, 3);
  const running = ask(pool, ['select pg_advisory_xact_lock(3)']);
  const waiting = ask(pool, ['select 1']);
  expect(await errorOf(waiting)).toBe('AcquireTimeout');
  await expect(waiting.answer).rejects.toThrow('within 100 ms');
  await lock.release();
  expect(await errorOf(running)).toBe('done');
  expect(await pool.query('select 1')).toEqual([['1']]);
});

test('unused connections are closed without affecting calls', async () => {
  const pool = poolOf('idle', { size: 1, idleTimeoutMs: 1 });
  const echo = named('select $1::text');
  await pool.query('select 1');
  await until('it is closed', async () => (await countSessions(db, 'idle')) === 0);
  // Timeouts are checked every 100 ms: calls arrive before, during and after a check.
  const end = performance.now() + 700;
  for (let n = 0; performance.now() < end; n++) {
    const asked = ask(pool, [[echo, String(n)]], { mayShare: n % 2 === 0 });
    expect(await rowsOf(asked)).toEqual([[String(n)]]);
    if (n % 7 === 0) await new Promise((resolve) => setTimeout(resolve, n % 40));
  }
});

test('a connection that is being closed takes no calls', async () => {
  const proxy = await startProxy(db.connectionString);
  const pool = poolOf('ending', {
    size: 1,
    idleTimeoutMs: 1,
    open: createSessionOpener(parseConnectionString(proxy.connectionString), { DateStyle: 'ISO' }),
  });
  const echo = named('select $1::text');
  await ask(pool, [[echo, '']]).answer;
  // The Terminate message reaches the server, but the end of its connection does not reach the pool.
  proxy.holdEnds(true);
  await until('we said farewell', () => proxy.ended > 0);
  const asked = ask(pool, [[echo, 'x']], { mayShare: true });
  proxy.holdEnds(false);
  expect(await rowsOf(asked)).toEqual([['x']]);
});

test('close waits for running and queued calls, leaves no connection, and fails later calls', async () => {
  const pool = poolOf('closing', { size: 2 });
  await backendOf(pool);
  const asked = Array.from({ length: 6 }, (_, n) => ask(pool, [`select ${n} from pg_sleep(0.05)`]));
  const closed = pool.close();
  const late = ask(pool, ['select 1']);
  expect(await errorOf(late)).toBe('ConnectionLost');
  await closed;
  expect(await Promise.all(asked.map((one) => rowsOf(one)))).toEqual(asked.map((_, n) => [[String(n)]]));
  await until('they are gone', async () => (await countSessions(db, 'closing')) === 0);
  await pool.close();
});

test('close while the last connection is lost: queued calls fail, and close completes', async () => {
  const pool = poolOf('breaking', { size: 1 });
  const backend = await backendOf(pool);
  const asked = [ask(pool, ['select pg_sleep(20)']), ask(pool, ['select 1']), ask(pool, ['select 2'])];
  const closed = pool.close();
  await until('it runs', async () => {
    const found = await db.query(`select from pg_stat_activity where pid = $1 and state = 'active'`, [backend]);
    return found.length > 0;
  });
  await db.query('select pg_terminate_backend($1)', [backend]);
  expect(await Promise.all(asked.map((one) => errorOf(one)))).toEqual(['ConnectionLost', 'done', 'done']);
  await closed;
});

test('close without any call, and while a connection is being opened', async () => {
  await poolOf('never').close();
  const pool = poolOf('opening');
  const asked = ask(pool, ['select 1']);
  await pool.close();
  expect(await rowsOf(asked)).toEqual([['1']]);
});

test('queued short calls are sent in batches', async () => {
  await db.query('create sequence counted');
  const proxy = await startProxy(db.connectionString);
  const database = open(proxy.connectionString);
  const count = named(`select nextval('counted')`);
  await ask(database, [[count]]).answer;
  const lock = await holdLock(db.connectionString, 2);
  const busy = ask(database, ['select pg_advisory_xact_lock(2)']);
  // A call that may not share runs first, so that all of them are queued.
  const first = ask(database, ['select 1']);
  const asked = Array.from({ length: 20 }, () => ask(database, [[count]], { mayShare: true }));
  await until('it runs', async () => (await lock.waiting()) === 1);
  const released = lock.release();
  await first.answer;
  // No response passes, so that all calls that the server receives were sent together.
  proxy.swallow();
  let told = 0;
  for (const { answer } of asked) void answer.then(() => told++);
  await until('several have run', async () => {
    const [row] = await db.query('select last_value::int from counted');
    return (row!['last_value'] as number) > 10;
  });
  expect(told).toBe(0);
  proxy.release();
  await Promise.all([released, busy.answer, ...asked.map(({ answer }) => answer)]);
});

test('a short call joins the pipeline of another connection although calls of a client that reads nothing wait', async () => {
  const pool = poolOf('unread');
  const [quick, large] = [named('select 1'), `select repeat('x', 1000) from generate_series(1, 100000)`];
  // Both connections have prepared the statement.
  await Promise.all([ask(pool, [[quick], 'select pg_sleep(0.2)']), ask(pool, [[quick]])].map(({ answer }) => answer));
  const client = {};
  const unread = ask(pool, [large], { client, sink: { row: () => false } });
  await until('it waits for its client', async () => {
    const waiting = await db.query(
      `select from pg_stat_activity where application_name = 'unread' and wait_event = 'ClientWrite'`,
    );
    return waiting.length === 1;
  });
  // All are sent in one turn of the event loop, so that none has ended. The expected time of the first one lets no call join its batch.
  const running = ask(pool, [[quick]], { mayShare: true, expectedMs: 100 });
  const queued = ask(pool, ['select 2'], { client });
  expect(pool.statistics().waiting).toBe(1);
  const own = ask(pool, [[quick]], { mayShare: true, client });
  expect(pool.statistics().waiting).toBe(2);
  const other = ask(pool, [[quick]], { mayShare: true, client: {} });
  expect(pool.statistics().waiting).toBe(2);
  expect(await Promise.all([running, queued, own, other].map((one) => errorOf(one)))).toEqual(Array(4).fill('done'));
  unread.handle.cancel();
  expect(await errorOf(unread)).toBe('CallCancelled');
});

test('an internal query times out on a dead connection, which is dropped', async () => {
  const proxy = await startProxy(db.connectionString);
  const database = open(proxy.connectionString);
  await backendOf(database);
  proxy.swallow();
  expect(await errorOf(database.query('select 1', [], { timeout: 100 }))).toBe('CallTimeout');
  proxy.release();
  await until('service', async () => (await errorOf(database.query('select 1'))) === 'done');
});

test('a reset without a response drops the connection, and the next call gets another one', async () => {
  const proxy = await startProxy(db.connectionString);
  const database = open(proxy.connectionString, { acquireTimeout: 600_000 });
  const leave = named(`select set_config('app.x', 'left', false)`);
  await ask(database, [[leave]], { altersSession: true }).answer.then(() => proxy.holdRequests(true));
  const next = ask(database, [`select current_setting('app.x', true)`]);
  await until('the reset is sent', () => proxy.heldRequests > 0);
  skipTime(11_000);
  expect(await rowsOf(next)).toEqual([[null]]);
  proxy.holdRequests(false);
});

test('connections are replaced at the end of their lifetime under load: every call runs once, and gets its own rows', async () => {
  await db.query('create table replaced (number int)');
  const pool = poolOf('replaced', { size: 3, minSize: 2, lifetimeMs: 5, acquireTimeout: 60_000 });
  const insert = named(
    `insert into replaced values ($1) returning number, pg_backend_pid(), (select count(*) from pg_stat_activity where datname = current_database() and application_name = 'replaced')`,
  );
  const backends = new Set<string | null>();
  let highest = 0;
  const client = async (first: number): Promise<void> => {
    for (let number = first; number < 60; number += 15) {
      const [row] = await rowsOf(ask(pool, [[insert, String(number)]], { mayShare: number % 3 !== 0 }));
      expect(row![0]).toBe(String(number));
      backends.add(row![1]!);
      highest = Math.max(highest, Number(row![2]));
    }
  };
  await Promise.all(Array.from({ length: 15 }, (_, first) => client(first)));
  expect(await db.query('select count(*)::int, count(distinct number)::int as each from replaced')).toEqual([
    { count: 60, each: 60 },
  ]);
  expect(backends.size).toBeGreaterThan(3);
  expect(highest).toBeLessThanOrEqual(3);
});

test('a transaction keeps its connection beyond its lifetime', async () => {
  const pool = poolOf('outlived', { size: 1, lifetimeMs: 1 });
  const transaction = await pool.begin({
    settings: null,
    restoreSettings: null,
    role: undefined,
    altersSession: false,
    timeout: null,
  });
  const insert = named('insert into outlived select pg_backend_pid()');
  await transaction.run([{ statement: named('create table outlived (backend int)'), values: [] }]);
  const insertAndSleep = [insert, named('select pg_sleep(0.01)')].map((statement) => ({ statement, values: [] }));
  for (let n = 0; n < 5; n++) {
    await transaction.run(insertAndSleep);
  }
  const waiting = ask(pool, ['select count(distinct backend), bool_or(backend = pg_backend_pid()) from outlived']);
  await new Promise<void>((done, failed) => {
    transaction.commit.run({ steps: insertAndSleep, mayShare: false, timeout: 0, done: () => done(), failed });
  });
  expect(await rowsOf(waiting)).toEqual([['1', 'f']]);
});

test('the minimum of connections stays open, is opened again after a loss, and is not exceeded by unused connections', async () => {
  const pool = poolOf('warm', { size: 4, minSize: 2, idleTimeoutMs: 1, shareConnections: false });
  expect(await countSessions(db, 'warm')).toBe(0);
  await Promise.all(Array.from({ length: 4 }, () => pool.query('select pg_sleep(0.05)')));
  await until('the others are closed', async () => (await countSessions(db, 'warm')) === 2);
  await db.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'warm'`,
  );
  await until('both are lost', () => pool.statistics().open === 0 || pool.statistics().open === 2);
  await until(
    'two are open again',
    async () => pool.statistics().idle === 2 && (await countSessions(db, 'warm')) === 2,
  );
});
