import { useDatabase } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { ask, backendOf, errorOf, named, open, rowsOf, startProxy, until } from './support.ts';

const db = useDatabase(`
  create table fruit (id int);
  create function stubborn() returns int language plpgsql as $$
  begin
    perform pg_sleep(20);
    return 0;
  exception when query_canceled then
    return 1;
  end $$;
`);

/** Returns whether the backend runs a statement with this text. */
async function runs(backend: string, text: string): Promise<boolean> {
  const found = await db.query(
    `select from pg_stat_activity where pid = $1 and state = 'active' and position($2 in query) > 0`,
    [backend, text],
  );
  return found.length > 0;
}

describe('cancel', () => {
  test('in the queue: fails at once and is never sent', async () => {
    const database = open(db);
    const running = ask(database, ['select pg_sleep(0.2)']);
    const queued = ask(database, ['create table never ()']);
    const behind = ask(database, ['select 3']);
    queued.handle.cancel();
    expect(await errorOf(queued)).toBe('CallCancelled');
    expect(await errorOf(running)).toBe('done');
    expect(await rowsOf(behind)).toEqual([['3']]);
    expect(await db.query(`select to_regclass('never') as made`)).toEqual([{ made: null }]);
  });

  test('while its statement waits for a lock during Parse', async () => {
    const database = open(db);
    const backend = await backendOf(database);
    const blocker = open(db);
    const blocking = ask(blocker, ['do $$ begin lock table fruit; perform pg_sleep(20); end $$']);
    const locks = `select from pg_locks where relation = 'fruit'::regclass and granted = $1`;
    await until('the table is locked', async () => (await db.query(locks, [true])).length > 0);
    const asked = ask(database, [[named('select * from fruit')]]);
    await until('it waits', async () => (await db.query(locks, [false])).length > 0);
    asked.handle.cancel();
    expect(await errorOf(asked)).toBe('CallCancelled');
    expect(await backendOf(database)).toBe(backend);
    blocking.handle.cancel();
    expect(await errorOf(blocking)).toBe('CallCancelled');
  });

  test('while its statement is being prepared: not executed', async () => {
    const database = open(db);
    await backendOf(database);
    const asked = ask(database, [[named('insert into fruit values (1)')]]);
    asked.handle.cancel();
    expect(await errorOf(asked)).toBe('CallCancelled');
    expect(await database.query('select * from fruit')).toEqual([]);
  });

  test('while it runs: the statement ends on the server, and the session remains usable', async () => {
    const database = open(db);
    const backend = await backendOf(database);
    const asked = ask(database, ['select pg_sleep(21)']);
    const behind = ask(database, ['select 2']);
    await until('it runs', () => runs(backend, 'pg_sleep(21)'));
    asked.handle.cancel();
    asked.handle.cancel();
    expect(await errorOf(asked)).toBe('CallCancelled');
    expect(await rowsOf(behind)).toEqual([['2']]);
    expect(await runs(backend, 'pg_sleep(21)')).toBe(false);
    expect(await backendOf(database)).toBe(backend);
  });

  test('before its statement has reached the server: cancelled, and the session remains usable', async () => {
    const proxy = await startProxy(db.connectionString);
    const database = open(proxy.connectionString);
    const backend = await backendOf(database);
    proxy.holdRequests(true);
    const asked = ask(database, ['select pg_sleep(23)']);
    asked.handle.cancel();
    await until('the server was told', () => proxy.farewells === 1);
    proxy.holdRequests(false);
    expect(await errorOf(asked)).toBe('CallCancelled');
    expect(await runs(backend, 'pg_sleep(23)')).toBe(false);
    expect(await backendOf(database)).toBe(backend);
  });

  test('a statement that handles the cancel and succeeds is still a cancelled call', async () => {
    const database = open(db);
    const backend = await backendOf(database);
    const asked = ask(database, ['select stubborn()']);
    await until('it runs', () => runs(backend, 'stubborn'));
    asked.handle.cancel();
    expect(await errorOf(asked)).toBe('CallCancelled');
    expect(await backendOf(database)).toBe(backend);
  });

  test('while rows stream and the sink has paused', async () => {
    const database = open(db);
    const backend = await backendOf(database);
    let rows = 0;
    const asked = ask(database, [`select repeat('x', 1000) from generate_series(1, 1000000)`], {
      sink: { row: () => ++rows < 0 },
    });
    await until('rows have come', () => rows > 0);
    asked.handle.cancel();
    const seen = rows;
    expect(await errorOf(asked)).toBe('CallCancelled');
    expect(rows).toBe(seen);
    expect(await backendOf(database)).toBe(backend);
  });

  test('after completion: no effect on the next call', async () => {
    const database = open(db);
    const backend = await backendOf(database);
    const quick = named('select $1::int');
    for (let n = 0; n < 500; n++) {
      const asked = ask(database, [[quick, String(n)]], { mayShare: n % 3 === 0 });
      if (n % 2 === 0) await asked.answer;
      else if (n % 5 === 0) await new Promise((resolve) => setImmediate(resolve));
      asked.handle.cancel();
      const next = ask(database, [[quick, String(-n)]], { mayShare: n % 3 === 0 });
      expect(['done', 'CallCancelled']).toContain(await errorOf(asked));
      expect(await rowsOf(next)).toEqual([[String(-n)]]);
    }
    expect(await backendOf(database)).toBe(backend);
  });

  test('the handle of a completed call does not resume another call', async () => {
    const database = open(db);
    const old = ask(database, ['select 1']);
    await old.answer;
    let rows = 0;
    const stalled = ask(database, [`select repeat('x', 1000) from generate_series(1, 100000)`], {
      sink: { row: () => ++rows < 0, chunkEnd: () => false },
    });
    await until('rows have come', () => rows > 0);
    const seen = rows;
    for (let n = 0; n < 50; n++) {
      old.handle.resume();
      old.handle.cancel();
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(rows).toBe(seen);
    stalled.handle.cancel();
    expect(await errorOf(stalled)).toBe('CallCancelled');
  });
});
