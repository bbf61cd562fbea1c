import { startGateway, useDatabase } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { parseConnectionString } from '../../src/postgres/connection-string.ts';
import { Pool } from '../../src/postgres/pool.ts';
import { createSessionOpener } from '../../src/postgres/session-opener.ts';
import { startProxy, until } from './support.ts';

const db = useDatabase();

test('requests of every kind, while connections live some milliseconds: no request fails, and every write happens once', async () => {
  const gateway = await startGateway(
    `
    create table made (number int);
    create function make(_number int) returns int language plpgsql as
      $$ begin insert into made values (_number); return _number; end $$;
    create function echo(_number int) returns int language sql stable as 'select _number';
    create function leave(_number int) returns int language plpgsql as
      $$ begin perform set_config('app.left', 'x', false); return _number; end $$;
    create function listed(_number int) returns setof int language sql stable as 'select generate_series(1, _number)';
    create procedure twice(_number int, inout _result int default null) language plpgsql as
      $$ begin insert into made values (-_number); commit; _result := _number; end $$;
    comment on function make is 'HTTP POST';
    comment on function echo is 'HTTP GET';
    comment on function leave is 'HTTP GET';
    comment on function listed is 'HTTP GET';
    comment on procedure twice is 'HTTP POST';
    `,
    { connectionLifetime: 0.005, connectionIdleLifetime: 0.005, minPoolSize: 2, poolSize: 4, acquireTimeout: 60 },
  );
  onTestFinished(() => gateway.close());
  const failures: string[] = [];
  const expectBody = async (request: string, body: object | undefined, expected: string): Promise<void> => {
    const response = await gateway.send(request, body === undefined ? {} : { body });
    if (response.status !== 200 || response.body !== expected) {
      failures.push(`${request}: ${response.status} ${response.body}`);
    }
  };
  const client = async (first: number): Promise<void> => {
    for (let number = first; number <= 2_000; number += 40) {
      const series = `[${Array.from({ length: number }, (_, index) => index + 1).join(',')}]`;
      // A client sends its requests one by one.
      if (number % 5 === 0) await expectBody('POST /api/make', { number }, String(number));
      if (number % 5 === 1) await expectBody(`GET /api/echo?number=${number}`, undefined, String(number));
      if (number % 5 === 2) await expectBody(`GET /api/leave?number=${number}`, undefined, String(number));
      if (number % 5 === 3) await expectBody(`GET /api/listed?number=${number}`, undefined, series);
      if (number % 5 === 4) await expectBody('POST /api/twice', { number }, `{"result":${number}}`);
    }
  };
  await Promise.all(Array.from({ length: 40 }, (_, index) => client(index + 1)));
  expect(failures).toEqual([]);
  expect(await gateway.database.query('select count(*)::int, count(distinct number)::int as each from made')).toEqual([
    { count: 800, each: 800 },
  ]);
});

test('a server that closes each connection at once is asked about once a second', async () => {
  const proxy = await startProxy(db.connectionString);
  const pool = new Pool({
    open: createSessionOpener(parseConnectionString(proxy.connectionString), {}),
    size: 4,
    minSize: 3,
    acquireTimeout: 60_000,
    maxQueueLength: 100,
    shareConnections: true,
    idleTimeoutMs: 60_000,
    lifetimeMs: 60_000,
    closeGraceMs: 4_000,
    onNotice: () => undefined,
    onConnectionError: () => undefined,
  });
  onTestFinished(() => pool.close());
  // The first delay begins when the connections open.
  const started = performance.now();
  await pool.query('select 1');
  await until('three are open', () => pool.statistics().idle === 3);
  const before = proxy.attempts;
  const terminate = `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'pgway' and datname = current_database()`;
  while (proxy.attempts - before < 9) {
    await db.query(terminate);
  }
  expect(performance.now() - started).toBeGreaterThan(2_000);
});

test('while the database is unavailable, attempts to reach the minimum become rare', async () => {
  const proxy = await startProxy(db.connectionString);
  const failures: number[] = [];
  const pool = new Pool({
    open: createSessionOpener(parseConnectionString(proxy.connectionString), {}),
    size: 4,
    minSize: 2,
    acquireTimeout: 60_000,
    maxQueueLength: 100,
    shareConnections: true,
    idleTimeoutMs: 60_000,
    lifetimeMs: 60_000,
    closeGraceMs: 4_000,
    onNotice: () => undefined,
    onConnectionError: () => void failures.push(performance.now()),
  });
  onTestFinished(() => pool.close());
  await pool.query('select 1');
  await until('two are open', () => pool.statistics().idle === 2);
  await proxy.off();
  await until('attempts have failed', () => failures.length >= 7);
  // The delay after the sixth failure is 50 ms · 2⁵.
  expect(failures[6]! - failures[5]!).toBeGreaterThan(1_500);
  await proxy.on();
  // A call does not wait for that delay.
  expect(await pool.query('select 1')).toEqual([['1']]);
  await until('two are open again', () => pool.statistics().idle === 2);
});
