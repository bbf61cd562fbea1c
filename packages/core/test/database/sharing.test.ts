import { holdLock, useDatabase } from '@pgway/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ask, type Asked, backendOf, errorOf, named, open, rowsOf, skipTime, until } from './support.ts';

const db = useDatabase(`
  create table counted (n int);
  create function count_up(n int) returns int language sql as 'insert into counted values (n) returning n';
`);

const echo = named('select $1::text, pg_backend_pid()');
const divide = named('select 100 / $1::int');
const nap = named('select pg_sleep($1::float8)');
const wait = named('select pg_advisory_xact_lock($1::int)');

test('queued calls share the connection: fifty results in a few round trips', async () => {
  const database = open(db);
  await ask(database, [[echo, '']]).answer;
  const sleepers = Array.from({ length: 5 }, () => ask(database, [[nap, '0']], { mayShare: true }));
  const asked = Array.from({ length: 50 }, (_, n) => ask(database, [[echo, String(n)]], { mayShare: true }));
  const rows = await Promise.all(asked.map((one) => rowsOf(one)));
  expect(rows.map(([row]) => row![0])).toEqual(asked.map((_, n) => String(n)));
  expect(new Set(rows.map(([row]) => row![1])).size).toBe(1);
  await Promise.all(sleepers.map(({ answer }) => answer));
});

test('every result and error reaches its own call', async () => {
  const question = fc.oneof(
    fc.record({ kind: fc.constant('echo' as const), value: fc.string({ unit: 'grapheme', maxLength: 30 }) }),
    fc.record({ kind: fc.constant('divide' as const), value: fc.constantFrom('0', '1', '7', 'x') }),
    fc.record({ kind: fc.constant('alone' as const), value: fc.constantFrom('1', '2') }),
    fc.record({ kind: fc.constant('leaves' as const), value: fc.constantFrom('0', '0.002') }),
  );
  const database = open(db);
  await fc.assert(
    fc.asyncProperty(fc.array(question, { minLength: 50, maxLength: 60 }), async (questions) => {
      const asked = questions.map(({ kind, value }): Asked => {
        if (kind === 'echo') return ask(database, [[echo, value]], { mayShare: true });
        if (kind === 'divide') return ask(database, [[divide, value]], { mayShare: true });
        if (kind === 'alone') return ask(database, [`select ${value}`]);
        const leaving = ask(database, [[nap, value]], { mayShare: true });
        setImmediate(() => leaving.handle.cancel());
        return leaving;
      });
      const outcomes = await Promise.all(
        asked.map((one) =>
          rowsOf(one).then(
            ([row]) => row![0]!,
            () => errorOf(one),
          ),
        ),
      );
      const wanted = questions.map(({ kind, value }, index) => {
        // An abandoned call may have completed before.
        if (kind === 'leaves') return outcomes[index] === '' ? '' : 'CallCancelled';
        if (kind !== 'divide') return value;
        return { 0: '22012', x: '22P02', 1: '100', 7: '14' }[value];
      });
      expect(outcomes).toEqual(wanted);
    }),
    { numRuns: 25 },
  );
});

test('a call that may not share is not starved by others', async () => {
  const database = open(db);
  await ask(database, [[echo, '']]).answer;
  let running = true;
  let finished = 0;
  const stream = async (): Promise<void> => {
    while (running) {
      await ask(database, [[echo, 'x']], { mayShare: true }).answer;
      finished++;
    }
  };
  const streams = Array.from({ length: 30 }, stream);
  await until('the others run', () => finished > 100);
  const before = finished;
  expect(await rowsOf(ask(database, ['select 1']))).toEqual([['1']]);
  expect(finished - before).toBeLessThan(300);
  running = false;
  await Promise.all(streams);
});

test('a call never follows or joins one that may not share', async () => {
  const database = open(db, { acquireTimeout: 150 });
  await until('it is open', async () => (await errorOf(ask(database, [[echo, '']]))) === 'done');
  const lock = await holdLock(db.connectionString, 1);
  const alone = ask(database, [[wait, '1']]);
  expect(await errorOf(ask(database, [[echo, 'x']], { mayShare: true }))).toBe('AcquireTimeout');
  await lock.release();
  expect(await errorOf(alone)).toBe('done');
});

test('an abandoned call is not cancelled while others share its connection, and they complete', async () => {
  const database = open(db);
  const backend = await backendOf(database);
  await ask(database, [[echo, '']]).answer;
  await ask(database, [[wait, '0']]).answer;
  const count = named('select count_up($1::int)');
  await ask(database, [[count, '0']]).answer;
  await db.query('truncate counted');
  const lock = await holdLock(db.connectionString, 2);
  const leaving = ask(database, [[wait, '2']], { mayShare: true });
  const neighbours = [1, 2, 3].map((n) => ask(database, [[count, String(n)]], { mayShare: true }));
  await until('it runs', async () => (await lock.waiting()) === 1);
  leaving.handle.cancel();
  neighbours[1]!.handle.cancel();
  await lock.release();
  expect(await Promise.all(neighbours.map((one) => errorOf(one)))).toEqual(['done', 'CallCancelled', 'done']);
  expect(await errorOf(leaving)).toBe('CallCancelled');
  expect(await db.query('select n from counted order by n')).toContainEqual({ n: 3 });
  expect(await backendOf(database)).toBe(backend);
});

test('without sharing, calls run one after the other', async () => {
  const database = open(db, { shareConnections: false });
  const asked = Array.from({ length: 20 }, (_, n) => ask(database, [[echo, String(n)]], { mayShare: true }));
  const rows = await Promise.all(asked.map((one) => rowsOf(one)));
  expect(rows.map(([row]) => row![0])).toEqual(asked.map((_, n) => String(n)));
});

describe('a call that waits for a lock', () => {
  test('blocks no other calls when marked with mayBlock: four connections, forty callers', async () => {
    const database = open(db, { poolSize: 4 });
    await ask(database, [[echo, '']]).answer;
    const lock = await holdLock(db.connectionString, 5);
    const blocked = ask(database, [[wait, '5']], { mayShare: true, mayBlock: true });
    const asked = Array.from({ length: 40 }, (_, n) => ask(database, [[echo, String(n)]], { mayShare: true }));
    const rows = await Promise.all(asked.map((one) => rowsOf(one)));
    expect(rows.map(([row]) => row![0])).toEqual(asked.map((_, n) => String(n)));
    await until('it waits', async () => (await lock.waiting()) === 1);
    await lock.release();
    expect(await errorOf(blocked)).toBe('done');
  });

  test('releases idempotent calls behind it to other connections', async () => {
    const database = open(db, { poolSize: 2 });
    const [one, other] = [
      ask(database, [[echo, '']]),
      ask(database, [
        [nap, '0.01'],
        [wait, '0'],
      ]),
    ];
    await Promise.all([one.answer, other.answer]);
    const lock = await holdLock(db.connectionString, 6);
    const blocked = ask(database, [[wait, '6']], { mayShare: true });
    const asked = Array.from({ length: 8 }, (_, n) =>
      ask(database, [[echo, String(n)]], { mayShare: true, idempotent: true }),
    );
    const rows = await Promise.all(asked.map((each) => rowsOf(each)));
    expect(rows.map(([row]) => row![0])).toEqual(asked.map((_, n) => String(n)));
    await until('it waits', async () => (await lock.waiting()) === 1);
    await lock.release();
    expect(await errorOf(blocked)).toBe('done');
  });

  test('accepts no followers after it has run for long', async () => {
    const database = open(db, { poolSize: 1, acquireTimeout: 500 });
    await ask(database, [[echo, '']]).answer;
    await ask(database, [[wait, '0']]).answer;
    const lock = await holdLock(db.connectionString, 7);
    const blocked = ask(database, [[wait, '7']], { mayShare: true });
    await until('it waits', async () => (await lock.waiting()) === 1);
    skipTime(30);
    expect(await errorOf(ask(database, [[echo, 'x']], { mayShare: true }))).toBe('AcquireTimeout');
    await lock.release();
    expect(await errorOf(blocked)).toBe('done');
  });

  test('leaves a connection for calls that do not block', async () => {
    const database = open(db, { poolSize: 4 });
    const lock = await holdLock(db.connectionString, 8);
    const blocked = Array.from({ length: 20 }, () => ask(database, [[wait, '8']], { mayBlock: true }));
    await until('they wait', async () => (await lock.waiting()) === 3);
    const asked = Array.from({ length: 40 }, (_, n) => ask(database, [[echo, String(n)]], { mayShare: true }));
    const rows = await Promise.all(asked.map((one) => rowsOf(one)));
    expect(rows.map(([row]) => row![0])).toEqual(asked.map((_, n) => String(n)));
    expect(await lock.waiting()).toBe(3);
    await lock.release();
    expect(await Promise.all(blocked.map((one) => errorOf(one)))).toEqual(blocked.map(() => 'done'));
  });
});

describe('the error of statement_timeout', () => {
  const limit = named(`select set_config('statement_timeout', $1::text, true)`);
  const fail = named(`do $$ begin raise 'as a timeout' using errcode = 'query_canceled'; end $$`);

  test('is a timeout although the process was slow to read the response before it', async () => {
    const database = open(db);
    await ask(database, [
      [limit, '0'],
      [nap, '0'],
    ]).answer;
    const before = ask(database, [[nap, '0.2']], { mayShare: true });
    const late = ask(
      database,
      [
        [limit, '100'],
        [nap, '20'],
      ],
      { mayShare: true, timeout: 100 },
    );
    // Behind the callback that sends both: the responses of both wait for the process.
    await new Promise((resolve) => setImmediate(resolve));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
    expect([await errorOf(before), await errorOf(late)]).toEqual(['done', 'CallTimeout']);
  });

  test('differs from a cancel request of another session at the same time, and from an error that a statement raises', async () => {
    const database = open(db);
    const backend = await backendOf(database);
    const cancelled = ask(database, [[nap, '20']], { timeout: 10_000 });
    const isRunning = async (): Promise<boolean> =>
      (await db.query(`select from pg_stat_activity where pid = ${backend} and wait_event = 'PgSleep'`)).length === 1;
    await until('the call runs', isRunning);
    skipTime(10_000);
    await db.query(`select pg_cancel_backend(${backend})`);
    expect(await errorOf(cancelled)).toBe('57014');
    const raised = ask(database, [[fail]], { timeout: 1 });
    expect(await errorOf(raised)).toBe('57014');
  });
});
