import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGateway, type Gateway, type GatewayOptions, type Observation } from '@pgway/core';
import { freshDatabase, pgbouncerVersion, startPgBouncer, type TestDatabase } from '@pgway/testing';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { until } from '../database/support.ts';

const hasPooler = (await pgbouncerVersion()) !== null;
if (!hasPooler) console.warn('SKIPPED: there is no PgBouncer on this machine (apt-get install pgbouncer)');

let database: TestDatabase;
let observations: Observation[];

beforeEach(async () => {
  observations = [];
  database = await freshDatabase(`
    create function first() returns int language sql as 'select 1';
    comment on function first() is 'HTTP GET';
    create function notify_gateway() returns event_trigger language plpgsql as
      $$ begin perform pg_notify('gateway_refresh', tg_tag); end $$;
    create event trigger notify_gateway on ddl_command_end execute function notify_gateway();
  `);
});
afterEach(() => database.drop());

async function start(options: Partial<GatewayOptions> = {}): Promise<Gateway> {
  const gateway = await createGateway({
    connectionString: database.connectionString,
    refreshOnNotify: 'gateway_refresh',
    observer: (observation) => void observations.push(observation),
    ...options,
  });
  onTestFinished(() => gateway.close());
  return gateway;
}

/** Returns how often the catalog was read: `first` is created at every reading. */
const readings = (): number =>
  observations.filter((seen) => seen.kind === 'endpoint-created' && seen.endpoint.path === '/api/first').length;
const paths = (gateway: Gateway): readonly string[] => gateway.endpoints.map(({ path }) => path);
const publish = (name: string): string =>
  `create function ${name}() returns int language sql as 'select 2'; comment on function ${name}() is 'HTTP GET';`;
const killListener = (): Promise<unknown> =>
  database.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen %' and datname = current_database()`,
  );

async function get(gateway: Gateway, path: string): Promise<string> {
  const response = await gateway.fetch(new Request(`http://gateway${path}`));
  return response === undefined ? 'not ours' : `${response.status} ${await response.text()}`;
}

test('a created routine appears and a dropped one disappears without a call of refresh', async () => {
  const gateway = await start();
  expect(await get(gateway, '/api/second')).toBe('not ours');
  await database.query(publish('second'));
  await until('it is published', () => paths(gateway).includes('/api/second'));
  expect(await get(gateway, '/api/second')).toBe('200 2');
  await database.query('drop function second()');
  await until('it is gone', () => !paths(gateway).includes('/api/second'));
});

test('the catalog is read once at start and once for a migration of many statements', async () => {
  const gateway = await start();
  expect(readings()).toBe(1);
  await database.query(Array.from({ length: 40 }, (_, n) => publish(`many_${n}`)).join('\n'));
  await until('it is published', () => paths(gateway).length === 41);
  expect(readings()).toBe(2);
});

test('a notification during a refresh causes another one', async () => {
  let release: () => void = () => undefined;
  let reading = 0;
  const gateway = await start({
    endpointsCreated: () => (++reading === 2 ? new Promise<void>((resolve) => (release = resolve)) : undefined),
  });
  await database.query(publish('second'));
  await until('it reads', () => reading === 2);
  const client = new Client(database.connectionString);
  await client.connect();
  await client.query('listen gateway_refresh');
  for (const name of ['third', 'fourth', 'fifth']) {
    const notified = once(client, 'notification');
    await database.query(publish(name));
    await notified;
    // Notifications with a longer interval than the delay that joins them into one refresh.
    await sleep(300);
  }
  await client.end();
  release();
  await until('it is published', () => paths(gateway).length === 5);
  await sleep(300);
  expect(reading).toBe(3);
});

test('a lost listener: the endpoints remain, and missed changes are loaded after the reconnect', async () => {
  const gateway = await start();
  const publishing = killListener().then(() => database.query(publish('second')));
  expect(await get(gateway, '/api/first')).toBe('200 1');
  await publishing;
  await until('it is published', () => paths(gateway).includes('/api/second'));
  await database.query(publish('third'));
  await until('it is published', () => paths(gateway).includes('/api/third'));
});

test('a failed refresh keeps the endpoints and is reported, and the next one works', async () => {
  const gateway = await start({ strict: true });
  await database.query(`create function bad() returns int language sql as 'select 1';
    comment on function bad() is 'HTTP GET /api/first';`);
  await until('it is told', () => observations.some(({ kind }) => kind === 'refresh-failed'));
  expect(paths(gateway)).toEqual(['/api/first']);
  await database.query(`drop function bad(); ${publish('second')}`);
  await until('it is published', () => paths(gateway).includes('/api/second'));
});

test('after close nothing listens any more', async () => {
  const gateway = await start();
  const connected = (): Promise<readonly unknown[]> =>
    database.query(`select from pg_stat_activity where application_name = 'pgway' and datname = current_database()`);
  // The start opens two connections, and one that listens.
  await expect.poll(connected).toHaveLength(3);
  await gateway.close();
  await expect.poll(connected).toEqual([]);
});

test('an invalid channel name stops the start', async () => {
  await expect(start({ refreshOnNotify: 'n'.repeat(64) })).rejects.toThrow(
    `refreshOnNotify: the channel name "${'n'.repeat(64)}" must have 1 to 63 bytes and no NUL`,
  );
});

describe('behind a transaction pooler', () => {
  test('listening needs listenConnectionString', async () => {
    await expect(start({ pooler: 'transaction' })).rejects.toThrow('needs listenConnectionString');
  });

  test.skipIf(!hasPooler)('with one it works as anywhere', async () => {
    const pooler = await startPgBouncer(database.connectionString, { mode: 'transaction', size: 2 });
    onTestFinished(() => pooler.stop());
    const gateway = await start({
      connectionString: pooler.connectionString,
      listenConnectionString: database.connectionString,
      pooler: 'transaction',
      preparedStatements: false,
    });
    await database.query(publish('second'));
    await until('it is published', () => paths(gateway).includes('/api/second'));
    expect(await get(gateway, '/api/second')).toBe('200 2');
  });
});
