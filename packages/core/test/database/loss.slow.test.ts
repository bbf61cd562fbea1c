import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { holdLock, useDatabase } from '@pgway/testing';
import { startPostgres } from '@pgway/embedded';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ConnectionLost } from '../../src/postgres/port.ts';
import { ask, backendOf, errorOf, named, open, rowsOf, skipTime, startProxy, until } from './support.ts';

/** Rows while a call of the test sleeps. */
const db = useDatabase(`create table written (n int)`);

const nap = named('select pg_sleep($1::float8)');
const echo = named('select $1::text');

async function isSleeping(backend: string): Promise<boolean> {
  const found = await db.query(`select from pg_stat_activity where pid = $1 and wait_event = 'PgSleep'`, [backend]);
  return found.length > 0;
}

async function terminate(backend: string): Promise<void> {
  await db.query('select pg_terminate_backend($1)', [backend]);
}

describe('a connection that the server closes', () => {
  test('while idle: the next call gets another one', async () => {
    const database = open(db);
    const backend = await backendOf(database);
    await terminate(backend);
    await until('it is gone', async () => {
      const found = await db.query('select from pg_stat_activity where pid = $1', [backend]);
      return found.length === 0;
    });
    // The loss may be detected only after the call was sent: then the call is lost, and the next one succeeds.
    const next = await backendOf(database).catch((error: unknown) => {
      if (error instanceof ConnectionLost) return backendOf(database);
      throw error;
    });
    expect(next).not.toBe(backend);
  });

  test('with several calls in the pipeline: the first fails with the error, the others run on another connection', async () => {
    const database = open(db);
    await ask(database, [
      [nap, '0'],
      [echo, ''],
    ]).answer;
    const backend = await backendOf(database);
    const running = ask(database, [[nap, '20']], { mayShare: true });
    const behind = [1, 2, 3].map((n) => ask(database, [[echo, String(n)]], { mayShare: true }));
    await until('it runs', async () => {
      const found = await db.query(`select from pg_stat_activity where pid = $1 and state = 'active'`, [backend]);
      return found.length > 0;
    });
    await terminate(backend);
    expect(await errorOf(running)).toBe('ConnectionLost');
    await expect(running.answer).rejects.toThrow('terminating connection due to administrator command');
    expect(await Promise.all(behind.map((one) => rowsOf(one)))).toEqual([1, 2, 3].map((n) => [[String(n)]]));
    expect(await rowsOf(ask(database, [[echo, 'on']]))).toEqual([['on']]);
  });

  test('while rows stream', async () => {
    const database = open(db);
    const backend = await backendOf(database);
    let rows = 0;
    const asked = ask(database, [`select repeat('x', 1000) from generate_series(1, 5000000)`], {
      sink: { row: () => ++rows > 0 },
    });
    await until('rows have come', () => rows > 100);
    await terminate(backend);
    // The last message of the server may be lost with unread rows.
    expect(['ConnectionLost', 'OutcomeUnknown']).toContain(await errorOf(asked));
    expect(await database.query('select 1')).toEqual([['1']]);
  });

  test('while a sink has paused', async () => {
    const proxy = await startProxy(db.connectionString);
    const database = open(proxy.connectionString);
    let rows = 0;
    const asked = ask(database, [`select repeat('x', 1000) from generate_series(1, 100000)`], {
      sink: { row: () => ++rows < 0 },
    });
    await until('rows have come', () => rows > 0);
    await proxy.off();
    const resuming = setInterval(() => asked.handle.resume(), 5);
    onTestFinished(() => clearInterval(resuming));
    expect(await errorOf(asked)).toBe('OutcomeUnknown');
    await proxy.on();
    await until('service again', async () => (await errorOf(database.query('select 1'))) === 'done');
  });
});

describe('a connection that is lost', () => {
  test('after any number of bytes: no wrong or partial result, and every call completes once', async () => {
    const proxy = await startProxy(db.connectionString);
    const whole = Array.from({ length: 50 }, (_, n) => [`row ${n}`, 'x'.repeat(n)]);
    const rows = named(`select 'row ' || n, repeat('x', n) from generate_series(0, 49) n`);
    const database = open(proxy.connectionString, { acquireTimeout: 3_000 });
    const tried = { done: 0, lost: 0 };
    for (let bytes = 0; bytes < 9_000; bytes += 131) {
      await until('service', async () => (await errorOf(ask(database, [[rows], [echo, '']]))) === 'done');
      const asked = [0, 1, 2].map(() => ask(database, [[rows]], { mayShare: true }));
      const last = ask(database, [[echo, 'last']], { mayShare: true });
      proxy.cutAfter(bytes);
      for (const one of [...asked, last]) {
        const rowsOrError = await rowsOf(one).catch((error: Error) => error.name);
        expect([one === last ? [['last']] : whole, 'ConnectionLost', 'OutcomeUnknown']).toContainEqual(rowsOrError);
        tried[Array.isArray(rowsOrError) ? 'done' : 'lost']++;
      }
      proxy.release();
    }
    expect(tried.done).toBeGreaterThan(20);
    expect(tried.lost).toBeGreaterThan(20);
  });

  test('with a message of 2 GiB that does not arrive', async () => {
    const proxy = await startProxy(db.connectionString);
    const database = open(proxy.connectionString);
    const backend = await backendOf(database);
    const asked = ask(database, [[nap, '600']]);
    await until('it runs', () => isSleeping(backend));
    proxy.inject(Buffer.from([0x44, 0x7f, 0xff, 0xff, 0xff]));
    await db.query('select pg_terminate_backend($1)', [backend]);
    expect(await errorOf(asked)).toBe('OutcomeUnknown');
    expect(await database.query('select 1')).toEqual([['1']]);
  });

  test('with a second BindComplete after the response', async () => {
    const proxy = await startProxy(db.connectionString);
    const database = open(proxy.connectionString);
    const lock = await holdLock(db.connectionString, 32);
    const asked = ask(database, ['select pg_advisory_xact_lock(32)']);
    await until('it runs', async () => (await lock.waiting()) === 1);
    proxy.inject(Buffer.from([0x32, 0, 0, 0, 4]));
    await lock.release();
    expect(await errorOf(asked)).toBe('OutcomeUnknown');
    expect(await database.query('select 1')).toEqual([['1']]);
  });

  test.each([
    ['server conn crashed?', 'OutcomeUnknown'],
    ['query_wait_timeout', '08P01'],
  ])('with an error of a pooler: %s', async (message, outcome) => {
    const proxy = await startProxy(db.connectionString);
    const database = open(proxy.connectionString);
    const backend = await backendOf(database);
    const asked = ask(database, ['select pg_sleep(20)']);
    await until('it runs', () => isSleeping(backend));
    const fields = Buffer.from(`SERROR\0C08P01\0M${message}\0\0`);
    const header = Buffer.from([0x45, 0, 0, 0, fields.length + 4]);
    proxy.inject(Buffer.concat([header, fields]));
    await proxy.off();
    expect(await errorOf(asked)).toBe(outcome);
  });

  test('with bytes that violate the protocol', async () => {
    const proxy = await startProxy(db.connectionString);
    const database = open(proxy.connectionString);
    for (const bytes of [
      [0x44, 0xff, 0xff, 0xff, 0xff],
      [0x44, 0, 0, 0, 0],
      [0x01, 0, 0, 0, 4],
      // DataRow messages with wrong lengths: no field, a longer field, a shorter field, lengths below -1.
      [0x44, 0, 0, 0, 6, 0, 1],
      [0x44, 0, 0, 0, 11, 0, 1, 0, 0, 0, 9, 0x61],
      [0x44, 0, 0, 0, 12, 0, 1, 0, 0, 0, 1, 0x61, 0x61],
      [0x44, 0, 0, 0, 10, 0, 1, 0xff, 0xff, 0xff, 0xfe],
      [0x44, 0, 0, 0, 10, 0, 1, 0x7f, 0xff, 0xff, 0xff],
      [0x44, 0, 0, 0, 14, 0, 2, 0x80, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff],
      [0x44, 0, 0, 0, 5, 0],
      // Responses out of order: a premature CommandComplete with a row after it, a premature ReadyForQuery.
      [0x43, 0, 0, 0, 6, 0x41, 0, 0x44, 0, 0, 0, 11, 0, 1, 0, 0, 0, 1, 0x61],
      [0x5a, 0, 0, 0, 5, 0x49],
      // Responses to messages that were not sent.
      [0x31, 0, 0, 0, 4],
    ]) {
      const backend = await backendOf(database);
      const asked = ask(database, [[nap, '600']]);
      await until('it runs', () => isSleeping(backend));
      proxy.inject(Buffer.from(bytes));
      expect(await errorOf(asked)).toBe('OutcomeUnknown');
      expect(await database.query('select 1')).toEqual([['1']]);
      await db.query('select pg_terminate_backend($1)', [backend]);
    }
  });
});

describe('whether a lost call was executed', () => {
  const write = named('insert into written values ($1)');
  const numbers = async (): Promise<readonly number[]> =>
    (await db.query('select n from written order by n')).map(({ n }) => Number(n));

  test('lost after any number of bytes: a call that is reported as not executed has no effect', async () => {
    await db.query('truncate written');
    const proxy = await startProxy(db.connectionString);
    const database = open(proxy.connectionString, { acquireTimeout: 3_000 });
    const told = { done: [] as number[], notExecuted: [] as number[], unknown: [] as number[] };
    for (let bytes = 0, n = 0; bytes < 150; bytes += 3) {
      await until('service', async () => (await errorOf(ask(database, [[echo, '']]))) === 'done');
      await errorOf(ask(database, [[write, String(--n * 1_000)]]));
      const asked = [1, 2, 3].map((place) => {
        const number = bytes * 10 + place;
        return { number, call: ask(database, [[write, String(number)]], { mayShare: true }) };
      });
      proxy.cutAfter(bytes);
      for (const { number, call } of asked) {
        const outcome = await errorOf(call);
        const list = { done: told.done, ConnectionLost: told.notExecuted, OutcomeUnknown: told.unknown }[outcome];
        list!.push(number);
      }
      proxy.release();
    }
    const written = await numbers();
    expect(written).toEqual(expect.arrayContaining(told.done));
    expect(written.filter((n) => told.notExecuted.includes(n))).toEqual([]);
    expect(new Set(written).size).toBe(written.length);
    expect(told.done.length).toBeGreaterThan(3);
    expect(told.unknown.length).toBeGreaterThan(3);
  });

  test('a write that waits for a lock when its backend is terminated is rolled back', async () => {
    const database = open(db);
    const backend = await backendOf(database);
    const lock = await holdLock(db.connectionString, 4);
    const asked = ask(database, [[write, '7000001'], [named('select pg_advisory_xact_lock(4)')]]);
    await until('it waits', async () => (await lock.waiting()) === 1);
    await terminate(backend);
    expect(await errorOf(asked)).toBe('ConnectionLost');
    await lock.release();
    expect(await numbers()).not.toContain(7000001);
  });

  test('a procedure may have committed before its end', async () => {
    await db.query(`create or replace procedure write_and_wait(n int) language plpgsql as $$ begin
      insert into written values (n);
      commit;
      perform pg_advisory_xact_lock(4);
    end $$`);
    const database = open(db);
    const backend = await backendOf(database);
    const lock = await holdLock(db.connectionString, 4);
    const asked = ask(database, [[named('call write_and_wait($1)'), '7000002']], { atomic: true });
    await until('it waits', async () => (await lock.waiting()) === 1);
    await terminate(backend);
    expect(await errorOf(asked)).toBe('OutcomeUnknown');
    await lock.release();
    expect(await numbers()).toContain(7000002);
  });

  test('an idempotent call runs again; a call that ends its own connection is not retried forever', async () => {
    const database = open(db, { poolSize: 2 });
    const backend = await backendOf(database);
    const lock = await holdLock(db.connectionString, 4);
    const asked = ask(database, [[named('select pg_backend_pid(), pg_advisory_xact_lock(4)')]], { idempotent: true });
    await until('it waits', async () => (await lock.waiting()) === 1);
    await terminate(backend);
    await until('it waits elsewhere', async () => (await lock.waiting()) === 1);
    await lock.release();
    const [[again]] = (await rowsOf(asked)) as [[string]];
    expect(again).not.toBe(backend);
    const suicidal = named('select pg_terminate_backend(pg_backend_pid()), pg_sleep(20)');
    expect(await errorOf(ask(database, [[suicidal]], { idempotent: true }))).toBe('ConnectionLost');
    expect(await database.query('select 1')).toEqual([['1']]);
  });
});

describe('a server that cannot be reached', () => {
  test('connection refused: calls fail soon, attempts are few, and the pool recovers', async () => {
    const proxy = await startProxy(db.connectionString);
    await proxy.off();
    // A port that accepts and closes connections counts the attempts.
    let attempts = 0;
    const port = Number(new URL(proxy.connectionString).port);
    const counter = createServer((socket) => {
      attempts++;
      socket.destroy();
    });
    await new Promise<void>((resolve) => counter.listen(port, '127.0.0.1', resolve));
    const database = open(proxy.connectionString, { poolSize: 3, acquireTimeout: 30_000 });
    for (let round = 0; round < 4; round++) {
      const outcomes = await Promise.all(Array.from({ length: 40 }, () => errorOf(database.query('select 1'))));
      expect(outcomes).toEqual(outcomes.map(() => 'ConnectionLost'));
    }
    expect(attempts).toBeLessThan(30);
    await new Promise((resolve) => counter.close(resolve));
    await expect(database.query('select 1')).rejects.toThrow(`no connection to 127.0.0.1:${port}: `);
    await proxy.on();
    await until('service', async () => (await errorOf(database.query('select 1'))) === 'done');
  });

  test('accepted without a response: the connect timeout of the connection string applies', async () => {
    const proxy = await startProxy(db.connectionString);
    proxy.swallow();
    const database = open(proxy.connectionString, { parameters: 'connect_timeout=1' });
    expect(await errorOf(database.query('select 1'))).toBe('ConnectionLost');
    const impatient = open(proxy.connectionString, { parameters: 'connect_timeout=2', acquireTimeout: 200 });
    expect(await errorOf(impatient.query('select 1'))).toBe('AcquireTimeout');
  });

  test('silent after the authentication: the connect timeout applies', async () => {
    const proxy = await startProxy(db.connectionString);
    // Measures the bytes of the server until the first result, and those of the handshake.
    const measured = open(proxy.connectionString);
    await measured.query('select 1');
    const total = proxy.received;
    proxy.swallowAfter(total - 300);
    const database = open(proxy.connectionString, { parameters: 'connect_timeout=1', acquireTimeout: 20_000 });
    expect(await errorOf(database.query(`select repeat('x', 1000)`))).toBe('ConnectionLost');
    proxy.release();
    await until('service', async () => (await errorOf(database.query('select 1'))) === 'done');
  });

  test('a wrong password and an unknown database fail with the errors of the server', async () => {
    const url = new URL(db.connectionString);
    url.password = 'wrong';
    expect(await errorOf(open(url.href).query('select 1'))).toBe('28P01');
    const elsewhere = new URL(db.connectionString);
    elsewhere.pathname = '/nowhere';
    expect(await errorOf(open(elsewhere.href).query('select 1'))).toBe('3D000');
  });
});

test('a server that restarts: calls fail during the outage and succeed after it', async () => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'pgway-restart-'));
  onTestFinished(() => rm(dataDirectory, { recursive: true, force: true }));
  const start = (): ReturnType<typeof startPostgres> => startPostgres({ dataDirectory, durable: false });
  const first = await start();
  onTestFinished(() => first.stop());
  // A proxy in front of the server, because every start selects another port.
  const proxy = await startProxy(first.connectionString);
  const database = open(proxy.connectionString, { poolSize: 3 });
  await ask(database, [[echo, '']]).answer;
  const busy = [1, 2].map(() => ask(database, ['select pg_sleep(20)']));
  await until('they run', async () => {
    const [row] = await database.query(`select count(*) from pg_stat_activity where query = 'select pg_sleep(20)'`);
    return row![0] === '2';
  });
  await first.stop();
  for (const one of busy) expect(await errorOf(one)).toBe('ConnectionLost');
  expect(await errorOf(ask(database, [[echo, 'x']]))).toBe('ConnectionLost');
  const second = await start();
  onTestFinished(() => second.stop());
  proxy.aim(second.connectionString);
  await until('service', async () => (await errorOf(ask(database, [[echo, 'back']]))) === 'done');
  const asked = Array.from({ length: 10 }, (_, n) => ask(database, [[echo, String(n)]], { mayShare: true }));
  expect(await Promise.all(asked.map((one) => rowsOf(one)))).toEqual(asked.map((_, n) => [[String(n)]]));
});

describe('time limits', () => {
  test('the statement_timeout of the session ends a statement as a timeout', async () => {
    const database = open(db, { statementTimeout: 100 });
    const backend = await backendOf(database);
    expect(await errorOf(ask(database, ['select pg_sleep(20)'], { timeout: 100 }))).toBe('CallTimeout');
    expect(await backendOf(database)).toBe(backend);
  });

  test('a cancel by another session is the error of the server, not a timeout', async () => {
    const database = open(db);
    const backend = await backendOf(database);
    const asked = ask(database, ['select pg_sleep(22)'], { timeout: 10_000 });
    await until('it runs', async () => {
      const found = await db.query(`select from pg_stat_activity where pid = $1 and state = 'active'`, [backend]);
      return found.length > 0;
    });
    await db.query('select pg_cancel_backend($1)', [backend]);
    expect(await errorOf(asked)).toBe('57014');
  });

  test('a server without the timeout receives a cancel request', async () => {
    const database = open(db, { statementTimeout: 0 });
    const backend = await backendOf(database);
    expect(await errorOf(ask(database, ['select pg_sleep(20)'], { timeout: 100 }))).toBe('CallTimeout');
    expect(await backendOf(database)).toBe(backend);
  });

  test('a server that stops responding is dropped, during a call and during Parse', async () => {
    const proxy = await startProxy(db.connectionString);
    const running = open(proxy.connectionString, { statementTimeout: 100 });
    const preparing = open(proxy.connectionString, { statementTimeout: 100 });
    await backendOf(running);
    await backendOf(preparing);
    proxy.swallow();
    const asked = [
      ask(running, ['insert into written values (1)'], { timeout: 100 }),
      ask(preparing, [[named('select 1')]], { timeout: 100 }),
    ];
    skipTime(11_000);
    expect(await Promise.all(asked.map((one) => errorOf(one)))).toEqual(['OutcomeUnknown', 'ConnectionLost']);
    proxy.release();
    expect(await running.query('select 1')).toEqual([['1']]);
    expect(await preparing.query('select 1')).toEqual([['1']]);
  });

  test('after a call without an answer, idle connections to the same server take no call', async () => {
    const proxy = await startProxy(db.connectionString);
    const database = open(proxy.connectionString, { poolSize: 3, minPoolSize: 3, statementTimeout: 100 });
    await database.query('select 1');
    await until('all are open', () => database.statistics().idle === 3);
    proxy.holdRequests(true);
    const asked = ask(database, ['select 1'], { timeout: 100 });
    skipTime(11_000);
    await expect(asked.answer).rejects.toThrow('the server did not answer');
    const after = await Promise.all([1, 2, 3].map((number) => database.query(`select ${number}`)));
    expect(after).toEqual([[['1']], [['2']], [['3']]]);
  });
});
