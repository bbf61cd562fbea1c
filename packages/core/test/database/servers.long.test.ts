import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { packageOfRun, useDatabase } from '@pgway/testing';
import { startPostgres } from '@pgway/embedded';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Database } from '../../src/postgres/port.ts';
import { ask, backendOf, errorOf, open, type Proxy, startProxy, until } from './support.ts';

const db = useDatabase();
/** The same user on every server, as on replicas. */
const role = `walker_${randomBytes(4).toString('hex')}`;
const stops: (() => Promise<unknown>)[] = [];

async function run(connectionString: string, sql: string): Promise<void> {
  const client = new Client({ connectionString, options: '-c default_transaction_read_only=off' });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

async function startServer(settings: Record<string, string>, standby: boolean): Promise<string> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'pgway-servers-'));
  stops.unshift(() => rm(dataDirectory, { recursive: true, force: true }));
  const packageDirectory = await packageOfRun();
  const pack = packageDirectory === undefined ? {} : { packageDirectory };
  const start = async (): ReturnType<typeof startPostgres> => {
    const server = await startPostgres({ dataDirectory, durable: false, settings, ...pack });
    stops.unshift(() => server.stop());
    return server;
  };
  const server = await start();
  await run(server.connectionString, `create role ${role} login password 'x'`);
  if (!standby) return server.connectionString;
  await server.stop();
  const files = await readdir(dataDirectory, { recursive: true });
  const data = dirname(files.find((file) => /(^|\/)postgresql\.auto\.conf$/.test(file))!);
  await writeFile(join(dataDirectory, data, 'standby.signal'), '');
  return (await start()).connectionString;
}

let servers: { readonly primary: string; readonly readOnly: string; readonly standby: string };

beforeAll(async () => {
  const primary = db.connectionString;
  await run(primary, `create role ${role} login password 'x'`);
  stops.push(() => run(primary, `drop role ${role}`));
  const [readOnly, standby] = await Promise.all([
    startServer({ default_transaction_read_only: 'on' }, false),
    startServer({}, true),
  ]);
  servers = { primary, readOnly, standby };
});
afterAll(async () => {
  for (const stop of stops) await stop();
});

/** Returns a connection string with these servers, in order. */
function through(hosts: readonly string[], parameters = ''): string {
  const addresses = hosts.map((text) => new URL(text).host);
  return `postgres://${role}:x@${addresses.join(',')}/postgres?${parameters}`;
}

async function serverOf(database: Database): Promise<string> {
  const [[port] = []] = await database.query('select inet_server_port()');
  const found = Object.entries(servers).find(([, text]) => new URL(text).port === port);
  return found![0];
}

test('the first available server is used, in order; the next one during its outage', async () => {
  const proxy: Proxy = await startProxy(servers.primary);
  const hosts = [proxy.connectionString, servers.readOnly];
  expect(await serverOf(open(through(hosts)))).toBe('primary');
  await proxy.off();
  const database = open(through(hosts));
  expect(await serverOf(database)).toBe('readOnly');
  await proxy.on();
  expect(await serverOf(database)).toBe('readOnly');
  expect(await serverOf(open(through(hosts)))).toBe('primary');
});

test('a lost connection is reopened on the first available server', async () => {
  const proxy: Proxy = await startProxy(servers.primary);
  const database = open(through([proxy.connectionString, servers.readOnly]));
  expect(await serverOf(database)).toBe('primary');
  await proxy.off();
  // One call may be lost with the connection.
  await until('it is seen', async () => (await errorOf(database.query('select 1'))) === 'done');
  expect(await serverOf(database)).toBe('readOnly');
});

test('when all servers fail, the message names each of them', async () => {
  const one = await startProxy(servers.primary);
  const other = await startProxy(servers.primary);
  await one.off();
  await other.off();
  const database = open(through([one.connectionString, other.connectionString]));
  const addresses = [one, other].map(({ connectionString }) => new URL(connectionString).host);
  await expect(database.query('select 1')).rejects.toThrow(
    `no connection to ${addresses[0]}: connect ECONNREFUSED ${addresses[0]}; no connection to ${addresses[1]}: connect ECONNREFUSED ${addresses[1]}`,
  );
});

test('a server that rejects the password ends the search', async () => {
  const wrong = through([servers.primary, servers.readOnly]).replace(':x@', ':wrong@');
  expect(await errorOf(open(wrong).query('select 1'))).toBe('28P01');
});

describe('target_session_attrs', () => {
  test.each([
    ['any', ['standby', 'readOnly', 'primary'], 'standby'],
    ['read-write', ['standby', 'readOnly', 'primary'], 'primary'],
    ['read-only', ['primary', 'readOnly', 'standby'], 'readOnly'],
    ['read-only', ['primary', 'standby', 'readOnly'], 'standby'],
    ['primary', ['standby', 'readOnly', 'primary'], 'readOnly'],
    ['standby', ['primary', 'readOnly', 'standby'], 'standby'],
    ['prefer-standby', ['primary', 'readOnly', 'standby'], 'standby'],
    ['prefer-standby', ['readOnly', 'primary'], 'readOnly'],
  ] as const)('%s among %j is the %s', async (target, hosts, expected) => {
    const list = hosts.map((name) => servers[name]);
    expect(await serverOf(open(through(list, `target_session_attrs=${target}`)))).toBe(expected);
  });

  test.each([
    ['read-write', 'readOnly', 'the server is read-only'],
    ['read-write', 'standby', 'the server is read-only'],
    ['read-only', 'primary', 'the server is not read-only'],
    ['primary', 'standby', 'the server is a standby'],
    ['standby', 'readOnly', 'the server is not a standby'],
  ] as const)('%s and only the %s: %s', async (target, name, reason) => {
    const database = open(through([servers[name]], `target_session_attrs=${target}`));
    const { host } = new URL(servers[name]);
    await expect(database.query('select 1')).rejects.toThrow(`no connection to ${host}: ${reason}`);
  });

  test.each(['read-write', 'primary'] as const)(
    '%s: a server that accepts connections and does not answer delays no call, wherever it is in the list',
    async (target) => {
      const hanging = await startProxy(servers.standby);
      hanging.swallow();
      const list = [hanging.connectionString, servers.standby, servers.primary];
      const parameters = `target_session_attrs=${target}&connect_timeout=3600`;
      expect(await serverOf(open(through(list, parameters)))).toBe('primary');
    },
  );

  test('a server that becomes the primary is found while another one does not answer', async () => {
    const [hanging, promoted] = [await startProxy(servers.primary), await startProxy(servers.standby)];
    hanging.swallow();
    const list = [promoted.connectionString, hanging.connectionString];
    const database = open(through(list, 'target_session_attrs=read-write&connect_timeout=3600'), {
      acquireTimeout: 60_000,
    });
    const server = serverOf(database);
    await until('both were tried', () => promoted.attempts > 0 && hanging.attempts > 0);
    promoted.aim(servers.primary);
    expect(await server).toBe('primary');
    // The connection that comes too late is closed.
    hanging.release();
    await until('it has ended', () => hanging.ended === 1);
  });

  test('the search ends when the last server has failed', async () => {
    const hanging = await startProxy(servers.primary);
    hanging.swallow();
    const list = [hanging.connectionString, servers.standby];
    const query = open(through(list, 'target_session_attrs=read-write&connect_timeout=1')).query('select 1');
    await expect(query).rejects.toThrow(/timeout.*; no connection to .*: the server is read-only|read-only; .*timeout/);
  });

  test('also behind a transaction pooler', async () => {
    const list = [servers.standby, servers.primary];
    const database = open(through(list, 'target_session_attrs=read-write'), { pooler: 'transaction' });
    expect(await serverOf(database)).toBe('primary');
  });
});

test.each([
  ['read-write', 'ConnectionLost', true],
  ['any', '25006', false],
] as const)('%s: a server that refuses a write as read-only', async (target, error, isReplaced) => {
  const database = open(db, { parameters: `target_session_attrs=${target}` });
  const backend = await backendOf(database);
  const refused = ask(database, ['set transaction read only', 'create table written (id int)']);
  expect(await errorOf(refused)).toBe(error);
  expect((await backendOf(database)) !== backend).toBe(isReplaced);
});

test('a commit that no synchronous standby has confirmed is not reported as done', async () => {
  await run(servers.readOnly, `create table confirmed (id int); grant insert on confirmed to ${role}`);
  const setStandby = async (name: string): Promise<void> => {
    await run(servers.readOnly, `alter system set synchronous_standby_names to '${name}'`);
    await run(servers.readOnly, 'select pg_reload_conf()');
    await until('it is set', async () => (await database.query('show synchronous_standby_names'))[0]![0] === name);
  };
  const database = open(
    through([servers.readOnly], 'options=-c%20default_transaction_read_only%3Doff%20-c%20synchronous_commit%3Don'),
  );
  await setStandby('missing');
  onTestFinished(() => setStandby(''));
  const insert = (): Promise<string> => errorOf(ask(database, ['insert into confirmed values (1)'], { timeout: 100 }));
  // Another process of PostgreSQL makes the setting effective; a slow machine reaches the limit before the commit.
  await expect.poll(insert).toBe('OutcomeUnknown');
});
