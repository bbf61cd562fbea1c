import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { holdLock, useDatabase } from '@pgway/testing';
import { Client } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseConnectionString } from '../../src/postgres/connection-string.ts';
import { createSessionOpener } from '../../src/postgres/session-opener.ts';
import { Pool } from '../../src/postgres/pool.ts';
import type { RowSink } from '../../src/postgres/port.ts';
import { ask, backendOf, countSessions, errorOf, open, rowsOf, startProxy, until } from './support.ts';

const db = useDatabase();

/** Creates a role with this connection limit. */
async function limited(connections: number): Promise<string> {
  const role = `limited_${randomBytes(4).toString('hex')}`;
  await db.query(`create role ${role} login password 'x' connection limit ${connections}`);
  onTestFinished(() => db.query(`drop role ${role}`).then(() => undefined));
  const url = new URL(db.connectionString);
  url.username = role;
  url.password = 'x';
  return url.href;
}

async function connected(connectionString: string): Promise<Client> {
  const client = new Client({ connectionString });
  client.on('error', () => undefined);
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

describe('a server without a free connection', () => {
  test('calls wait until one is free', async () => {
    const connectionString = await limited(1);
    const other = await connected(connectionString);
    const problems: string[] = [];
    const database = open(connectionString, { onConnectionError: ({ message }) => void problems.push(message) });
    const asked = ask(database, ['select 1']);
    await until('it was refused', () => problems.length >= 2);
    await other.end();
    expect(await rowsOf(asked)).toEqual([['1']]);
    expect(new Set(problems).size).toBe(1);
    expect(problems[0]).toMatch(/^too many connections for role/);
  });

  test('calls that time out report the reason', async () => {
    const connectionString = await limited(1);
    await connected(connectionString);
    let refusals = 0;
    const database = open(connectionString, { acquireTimeout: 200, onConnectionError: () => void refusals++ });
    const impatient = errorOf(database.query('select 1'));
    await until('it was refused', () => refusals > 0);
    expect(await impatient).toBe('AcquireTimeout');
    await expect(database.query('select 1')).rejects.toThrow(
      /^no connection became free within 200 ms: too many connections for role/,
    );
  });

  test('with another open connection, the error is reported and the call succeeds', async () => {
    const connectionString = await limited(1);
    const problems: string[] = [];
    const database = open(connectionString, {
      poolSize: 2,
      shareConnections: false,
      onConnectionError: ({ message }) => void problems.push(message),
    });
    const backend = await backendOf(database);
    const lock = await holdLock(db.connectionString, 1);
    const asked = [ask(database, ['select pg_advisory_xact_lock(1)']), ask(database, ['select pg_backend_pid()'])];
    await until('it was refused', () => problems.length > 0);
    await lock.release();
    expect(await rowsOf(asked[1]!)).toEqual([[backend]]);
    expect(problems[0]).toMatch(/^too many connections for role/);
  });

  test('a call that waits for the end of calls that block runs on an idle connection when one of them is lost', async () => {
    const connectionString = await limited(4);
    const database = open(connectionString, { poolSize: 4, minPoolSize: 4, shareConnections: false });
    const lock = await holdLock(db.connectionString, 1);
    const waits = `select pg_advisory_xact_lock(1)`;
    await database.query('select 1');
    await until('all connections are open', () => database.statistics().idle === 4);
    const asked = Array.from({ length: 4 }, () => ask(database, [waits], { mayBlock: true }));
    await until('three run', async () => (await lock.waiting()) === 3);
    const { username } = new URL(connectionString);
    await db.query(`alter role ${username} connection limit 0`);
    await db.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where usename = '${username}' and wait_event_type = 'Lock' limit 1`);
    await until('the fourth has an idle connection', () => database.statistics().waiting === 0);
    expect(database.statistics()).toMatchObject({ open: 3, acquireTimeouts: 0 });
    await lock.release();
    const outcomes = await Promise.all(asked.map((one) => errorOf(one)));
    expect(outcomes.toSorted()).toEqual(['ConnectionLost', 'done', 'done', 'done']);
  });
});

/** The response of a server that is starting: an ErrorResponse to any message. */
const starting = Buffer.from('E\0\0\0\0SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0', 'latin1');
starting.writeInt32BE(starting.length - 1, 1);

test('a server that is starting: calls wait, up to the acquire timeout', async () => {
  const proxy = await startProxy(db.connectionString);
  await proxy.off();
  const port = Number(new URL(proxy.connectionString).port);
  const greeter = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(starting));
  });
  await new Promise<void>((resolve) => greeter.listen(port, '127.0.0.1', resolve));
  let told = 0;
  const impatient = open(proxy.connectionString, { acquireTimeout: 200, onConnectionError: () => void told++ });
  const first = errorOf(impatient.query('select 1'));
  await until('it was refused', () => told > 0);
  expect(await first).toBe('AcquireTimeout');
  await expect(impatient.query('select 1')).rejects.toThrow(
    'no connection became free within 200 ms: the database system is starting up',
  );
  let refusals = 0;
  const database = open(proxy.connectionString, { onConnectionError: () => void refusals++ });
  const asked = [ask(database, ['select 1']), ask(database, ['select 2'])];
  await until('it was refused', () => refusals >= 2);
  await new Promise((resolve) => greeter.close(resolve));
  await proxy.on();
  // Between the two, connections were refused at once; such calls are retried.
  const outcomes = await Promise.all(asked.map((one) => errorOf(one)));
  expect(['done,done', 'ConnectionLost,ConnectionLost']).toContain(outcomes.join());
  await until('service', async () => (await errorOf(database.query('select 1'))) === 'done');
});

test('an unavailable server: calls fail soon, and attempts are few', async () => {
  const proxy = await startProxy(db.connectionString);
  const problems: string[] = [];
  const database = open(proxy.connectionString, {
    poolSize: 8,
    onConnectionError: ({ message }) => void problems.push(message),
  });
  await backendOf(database);
  await proxy.off();
  await errorOf(database.query('select 1'));
  for (let round = 0; round < 3; round++) {
    const refused = await Promise.all(Array.from({ length: 50 }, () => errorOf(database.query('select 1'))));
    expect(refused).toEqual(refused.map(() => 'ConnectionLost'));
  }
  expect(problems.length).toBeLessThan(20);
  await proxy.on();
  await until('service', async () => (await errorOf(database.query('select 1'))) === 'done');
});

describe('close does not wait forever', () => {
  function poolOf(name: string): Pool {
    return new Pool({
      open: createSessionOpener(parseConnectionString(`${db.connectionString}?application_name=${name}`), {}),
      size: 1,
      acquireTimeout: 600_000,
      maxQueueLength: 100,
      shareConnections: false,
      idleTimeoutMs: 60_000,
      lifetimeMs: Number.POSITIVE_INFINITY,
      minSize: 0,
      closeGraceMs: 200,
      onNotice: () => undefined,
      onConnectionError: () => undefined,
    });
  }
  const gone = async (name: string): Promise<boolean> => (await countSessions(db, name)) === 0;

  test('for a running call: it is cancelled on the server, and later calls fail', async () => {
    const pool = poolOf('closing_running');
    await backendOf(pool);
    const asked = [ask(pool, ['select pg_sleep(600)']), ask(pool, ['select 1'])];
    await pool.close();
    expect(await Promise.all(asked.map((one) => errorOf(one)))).toEqual(['OutcomeUnknown', 'ConnectionLost']);
    await expect(asked[1]!.answer).rejects.toThrow('the gateway is closing');
    await until('the server has ended it', () => gone('closing_running'));
  });

  test('for a paused sink', async () => {
    const pool = poolOf('closing_stalled');
    const stalled: RowSink = { row: () => false };
    const asked = ask(pool, [`select repeat('x', 1000) from generate_series(1, 100000)`], { sink: stalled });
    await until('rows have come', async () => !(await gone('closing_stalled')));
    await pool.close();
    expect(await errorOf(asked)).toBe('OutcomeUnknown');
    await until('the server has ended it', () => gone('closing_stalled'));
  });

  test('for a server that accepts a connection and does not respond', async () => {
    const proxy = await startProxy(db.connectionString);
    proxy.swallow();
    const pool = new Pool({
      open: createSessionOpener(parseConnectionString(`${proxy.connectionString}?connect_timeout=600`), {}),
      size: 1,
      acquireTimeout: 600_000,
      maxQueueLength: 100,
      shareConnections: false,
      idleTimeoutMs: 60_000,
      lifetimeMs: Number.POSITIVE_INFINITY,
      minSize: 0,
      closeGraceMs: 200,
      onNotice: () => undefined,
      onConnectionError: () => undefined,
    });
    const asked = ask(pool, ['select 1']);
    await pool.close();
    expect(await errorOf(asked)).toBe('ConnectionLost');
  });
});
