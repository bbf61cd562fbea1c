import { createGateway } from '@pgway/core';
import { freshDatabase, holdLock, type TestDatabase } from '@pgway/testing';
import { Pool, type PoolConfig } from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

let database: TestDatabase;

beforeAll(async () => {
  database = await freshDatabase(`
    create function who() returns text language sql as $$ select current_setting('app.tenant', true) $$;
    create function zone() returns text language sql as $$ select current_setting('TimeZone') $$;
    create function nap(seconds float8) returns int language sql as $$ select pg_backend_pid() from pg_sleep(seconds) $$;
    create function wait() returns int language sql as $$ select pg_backend_pid() from pg_advisory_xact_lock_shared(1) $$;
    comment on function who() is 'HTTP GET';
    comment on function zone() is 'HTTP GET';
    comment on function nap(float8) is 'HTTP GET';
    comment on function wait() is 'HTTP GET';
  `);
});
afterAll(() => database.drop());

function poolOf(config: PoolConfig = {}): Pool {
  const pool = new Pool({ connectionString: database.connectionString, max: 3, ...config });
  pool.on('error', () => undefined);
  onTestFinished(() => pool.end());
  return pool;
}

async function get(gateway: Awaited<ReturnType<typeof createGateway>>, path: string): Promise<string> {
  const response = await gateway.fetch(new Request(`http://gateway${path}`));
  return `${response!.status} ${await response!.text()}`;
}

test('connections come from the pool and are returned to be closed', async () => {
  const pool = poolOf();
  const gateway = await createGateway({ dataSource: pool, poolSize: 2 });
  expect(await get(gateway, '/api/zone')).toBe('200 UTC');
  const lock = await holdLock(database.connectionString, 1);
  const waiting = [1, 2, 3, 4].map(() => get(gateway, '/api/wait'));
  await expect.poll(() => lock.waiting()).toBe(2);
  await lock.release();
  const ours = new Set(await Promise.all(waiting));
  expect(ours.size).toBe(2);
  const { rows } = await pool.query(`select pg_backend_pid() as pid, current_setting('TimeZone') as zone`);
  const [{ zone } = { zone: '' }] = await database.query(`select current_setting('TimeZone') as zone`);
  expect(ours).not.toContain(`200 ${rows[0].pid}`);
  expect(rows[0].zone).toBe(zone);
  await gateway.close();
  expect([pool.totalCount, pool.idleCount]).toEqual([1, 1]);
});

test('the queries of the host on a new connection run first', async () => {
  const pool = poolOf();
  pool.on('connect', (client) => {
    void client.query(`select pg_sleep(0.05)`);
    void client.query(`set app.tenant = 'blue'`);
  });
  const gateway = await createGateway({ dataSource: pool });
  expect(await get(gateway, '/api/who')).toBe('200 blue');
  await gateway.close();
});

test('a connection that the server closes is replaced', async () => {
  const pool = poolOf();
  const gateway = await createGateway({ dataSource: pool, poolSize: 1 });
  const answer = await get(gateway, '/api/nap?seconds=0');
  await database.query('select pg_terminate_backend($1)', [answer.slice(4)]);
  await expect.poll(() => get(gateway, '/api/who')).toBe('200 ');
  await gateway.close();
  expect(pool.totalCount).toBe(0);
});

test('an abandoned request is cancelled on the server', async () => {
  const gateway = await createGateway({ dataSource: poolOf(), poolSize: 1 });
  const leaving = new AbortController();
  const left = gateway.fetch(new Request('http://gateway/api/nap?seconds=600', { signal: leaving.signal }));
  await expect
    .poll(() =>
      database.query(`select from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`),
    )
    .toHaveLength(1);
  leaving.abort();
  await Promise.resolve(left).catch(() => undefined);
  expect(await get(gateway, '/api/zone')).toBe('200 UTC');
  await gateway.close();
});

test('an invalid data source is reported at start', async () => {
  const ended = new Pool({ connectionString: database.connectionString });
  await ended.end();
  await expect(createGateway({ dataSource: ended })).rejects.toThrow(
    'no connection from the data source: Cannot use a pool after calling end on the pool',
  );
  const stranger = { connect: async () => ({ query: async () => [], release: () => undefined }) };
  await expect(createGateway({ dataSource: stranger })).rejects.toThrow(
    'the provided client is not a connected JavaScript client of "pg"',
  );
  const wrong = poolOf({ password: 'wrong', connectionString: undefined, ...partsOf(database.connectionString) });
  await expect(createGateway({ dataSource: wrong })).rejects.toThrow('refused the user or password');
});

function partsOf(text: string): PoolConfig {
  const { hostname, port, username, pathname } = new URL(text);
  return { host: hostname, port: Number(port), user: username, database: pathname.slice(1), password: 'wrong' };
}
