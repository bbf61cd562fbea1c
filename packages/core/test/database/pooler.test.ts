import { holdLock, pgbouncerVersion, type PgBouncer, startPgBouncer, useDatabase } from '@pgway/testing';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { DatabaseOptions } from '../../src/postgres/connect-database.ts';
import type { Database } from '../../src/postgres/port.ts';
import { ask, errorOf, named, open, rowsOf, until } from './support.ts';

const version = await pgbouncerVersion();
/** PgBouncer supports prepared statements since 1.21. */
const knowsStatements = version !== null && Number(version.split('.')[1]) >= 21;
if (version === null) console.warn('SKIPPED: there is no PgBouncer on this machine (apt-get install pgbouncer)');

const db = useDatabase(`
  create function nap(seconds float8) returns int language sql as $$ select pg_backend_pid() from pg_sleep(seconds) $$;
`);
const echo = named('select $1::text');
const shown = named(
  `select current_setting('TimeZone'), current_setting('DateStyle'), current_setting('statement_timeout'),
     current_setting('plan_cache_mode'), current_setting('request.user', true)`,
);
const user = named(`select set_config('request.user', $1::text, true)`);

/** Tests for connections in pooler mode, with and without a pooler. */
function holds(openDatabase: (options?: Partial<DatabaseOptions>, parameters?: string) => Database): void {
  test('every call sets its settings for its transaction only', async () => {
    const database = openDatabase({ planCacheMode: 'force_generic_plan', statementTimeout: 17_000 });
    const ours = ['UTC', 'ISO, MDY', '17s', 'force_generic_plan'];
    for (const name of ['ann', 'bob', 'eve']) {
      expect(await rowsOf(ask(database, [[user, name], [shown]]))).toEqual([[...ours, name]]);
    }
    expect(await rowsOf(ask(database, [[shown]]))).toEqual([[...ours, '']]);
    expect(await database.query(`select current_setting('TimeZone')`)).toEqual([['UTC']]);
  });

  test('options and time zone of the connection string apply to every call', async () => {
    const options = encodeURIComponent(String.raw`-c statement_timeout=9s --application-name=a\ b -cwork_mem=7MB`);
    const database = openDatabase({}, `timezone=Asia/Tokyo&options=${options}`);
    const [row] = await rowsOf(ask(database, [[shown]]));
    expect(row!.slice(0, 3)).toEqual(['Asia/Tokyo', 'ISO, MDY', '9s']);
    const settings = await database.query(`select current_setting('work_mem'), current_setting('application_name')`);
    expect(settings).toEqual([['7MB', 'a b']]);
  });

  test('an error has the index of its step', async () => {
    const database = openDatabase();
    const failing = ask(database, [
      [user, 'ann'],
      [named('select $1::int'), 'x'],
    ]);
    await expect(failing.answer).rejects.toMatchObject({ step: 1, phase: 'bind', diagnostics: { code: '22P02' } });
    const broken = ask(database, ['select nothing from nowhere']);
    await expect(broken.answer).rejects.toMatchObject({ step: 0, phase: 'parse' });
    expect(await rowsOf(ask(database, [[shown]]))).toMatchObject([{ 4: '' }]);
  });

  test('unexpected columns are an error, and no row is delivered', async () => {
    let rows = 0;
    const sink = { row: () => ++rows > 0 };
    const asked = ask(openDatabase(), [[named('select 1::int4', [[25]])]], { sink });
    expect([await errorOf(asked), rows]).toEqual(['ColumnMismatch', 0]);
  });

  test('many concurrent calls, sharing or not, get their own results', async () => {
    const database = openDatabase({ poolSize: 4 });
    const asked = Array.from({ length: 300 }, (_, n) =>
      ask(database, [[user, `user ${n}`], [echo, `answer ${n}`], [shown]], { mayShare: n % 3 !== 0 }),
    );
    for (const [n, { answer }] of asked.entries()) {
      const { rows } = await answer;
      expect([rows[1], rows[2]![0]![4]]).toEqual([[[`answer ${n}`]], `user ${n}`]);
    }
  });

  test('an abandoned call is cancelled, and no other one', async () => {
    const database = openDatabase({ poolSize: 2, shareConnections: false });
    const lock = await holdLock(db.connectionString, 1);
    const [leaving, staying] = [1, 2].map((n) => ask(database, [`select ${n} from pg_advisory_xact_lock_shared(1)`]));
    await until('both run', async () => (await lock.waiting()) === 2);
    leaving!.handle.cancel();
    expect(await errorOf(leaving!)).toBe('CallCancelled');
    await lock.release();
    expect(await rowsOf(staying!)).toEqual([['2']]);
    expect(await rowsOf(ask(database, [[echo, 'x']]))).toEqual([['x']]);
  });

  test('the timeout is sent with the call and ends it on the server', async () => {
    const database = openDatabase({ statementTimeout: 150 });
    expect(await errorOf(ask(database, ['select nap(20)'], { timeout: 150 }))).toBe('CallTimeout');
    expect(await rowsOf(ask(database, [[echo, 'x']]))).toEqual([['x']]);
  });
}

describe.skipIf(version === null)(`PgBouncer ${version} in transaction mode`, () => {
  let pooler: PgBouncer;
  beforeAll(async () => {
    // Fewer server connections than client connections: every call may use another one.
    pooler = await startPgBouncer(db.connectionString, { mode: 'transaction', size: 3 });
  });
  afterAll(() => pooler.stop());
  const openDatabase =
    (preparedStatements: boolean) =>
    (options: Partial<DatabaseOptions> = {}, parameters?: string): Database =>
      open(pooler.connectionString, {
        pooler: 'transaction',
        preparedStatements,
        ...options,
        ...(parameters === undefined ? {} : { parameters }),
      });

  describe('unnamed statements', () => {
    holds(openDatabase(false));

    test('the next client of the connection finds no session state, whatever the outcome of the call', async () => {
      const database = openDatabase(false)({ statementTimeout: 150 });
      await ask(database, [[user, 'ann']]).answer;
      await errorOf(ask(database, [[user, 'ann'], 'select 1 / 0']));
      await errorOf(ask(database, [[user, 'ann'], 'select nap(20)'], { timeout: 150 }));
      const next = new Client({ connectionString: pooler.connectionString });
      await next.connect();
      const { rows } = await next.query(`select current_setting('statement_timeout') as timeout,
        coalesce(current_setting('request.user', true), '') as user, count(*)::int as prepared from pg_prepared_statements`);
      await next.end();
      expect(rows).toEqual([{ timeout: '0', user: '', prepared: 0 }]);
    });

    test('connections are shared with other clients, and no statement is prepared on them', async () => {
      const databases = [1, 2, 3, 4, 5].map(() => openDatabase(false)());
      const napping = databases.map((database) => rowsOf(ask(database, ['select nap(0.1)'])));
      const backends = new Set((await Promise.all(napping)).map(([row]) => row![0]));
      expect(backends.size).toBeLessThanOrEqual(3);
      await Promise.all(databases.map((database) => rowsOf(ask(database, [[echo, 'x']]))));
      const [prepared] = await databases[0]!.query('select count(*) from pg_prepared_statements');
      expect(prepared).toEqual(['0']);
    });
  });

  describe.skipIf(!knowsStatements)('statements with names (PgBouncer 1.21 and newer)', () => {
    holds(openDatabase(true));
  });
});

// PostgreSQL resets the name to that of the connection, which PgBouncer opens without one.
describe.skipIf(version === null).each(['session', 'transaction'] as const)(`PgBouncer ${version}, mode %s`, (mode) => {
  test('calls have the name of the connection string after calls that reset their session, and none ends the connection', async () => {
    const pooler = await startPgBouncer(db.connectionString, { mode, size: 2 });
    onTestFinished(() => pooler.stop());
    let opened = 0;
    const openAs = (name: string): Database =>
      open(pooler.connectionString, {
        pooler: mode,
        preparedStatements: mode === 'session',
        poolSize: 1,
        parameters: `application_name=${name}`,
        beforeOpen: () => void opened++,
      });
    const [shop, other] = [openAs('shop'), openAs('other')];
    const name = `select current_setting('application_name'), current_setting('work_mem')`;
    const readWith = async (database: Database): Promise<unknown> => rowsOf(ask(database, [name]));
    const memory = await readWith(shop);
    expect(memory).toEqual([['shop', expect.any(String)]]);
    for (const atomic of [true, false])
      for (const end of ['select 1', 'select 1 / 0']) {
        const left = ask(shop, [`select set_config('work_mem', '7MB', false)`, end], { altersSession: true, atomic });
        await errorOf(left);
        expect([atomic, end, await readWith(shop), await readWith(shop)]).toEqual([atomic, end, memory, memory]);
        expect(await readWith(other)).toMatchObject([['other', expect.any(String)]]);
      }
    const transaction = await shop.begin({
      settings: null,
      restoreSettings: null,
      role: undefined,
      timeout: null,
      altersSession: true,
    });
    await transaction.run([
      { statement: { name: '', sql: `select set_config('application_name', 'x', false)` }, values: [] },
    ]);
    await transaction.rollback();
    expect([await readWith(shop), await readWith(shop)]).toEqual([memory, memory]);
    // A connection with another name than at its start would be replaced.
    expect(opened).toBe(2);
  });
});

describe.skipIf(version === null)(`PgBouncer ${version} in session mode`, () => {
  test('is a server like any other', async () => {
    const pooler = await startPgBouncer(db.connectionString, { mode: 'session', size: 4 });
    try {
      const database = open(pooler.connectionString, { poolSize: 2 });
      expect(await rowsOf(ask(database, [[user, 'ann'], [shown]]))).toMatchObject([{ 0: 'UTC', 2: '20s', 4: 'ann' }]);
      await database.close();
    } finally {
      await pooler.stop();
    }
  });
});

describe('a direct connection in pooler mode', () => {
  const openDatabase =
    (preparedStatements: boolean) =>
    (options: Partial<DatabaseOptions> = {}, parameters?: string): Database =>
      open(db, {
        pooler: 'transaction',
        preparedStatements,
        ...options,
        ...(parameters === undefined ? {} : { parameters }),
      });
  describe('with names', () => {
    holds(openDatabase(true));
  });
  describe('without names', () => {
    holds(openDatabase(false));
  });
});

test('options that are not settings are rejected behind a pooler', () => {
  const parameters = `options=${encodeURIComponent('-c work_mem=7MB -E')}`;
  expect(() => open(db, { pooler: 'transaction', parameters })).toThrow('can hold only settings: -c name=value');
});
