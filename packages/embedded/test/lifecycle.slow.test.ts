import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { temporaryDirectory } from './support/directories.ts';
import { processesOn } from '@pgway/testing';
import { ask, start } from './support/start.ts';

const linux = process.platform === 'linux';

test('the first start creates a cluster, reports it, and returns a superuser with a generated password', async () => {
  const dataDirectory = await temporaryDirectory();
  const progress: string[] = [];

  const server = await start({ dataDirectory, onProgress: (message) => progress.push(message) });

  expect(server.connectionString).toMatch(/^postgres:\/\/postgres:[\w-]{32}@127\.0\.0\.1:\d+\/postgres$/);
  expect(new URL(server.connectionString).port).toBe(String(server.port));
  expect(progress).toEqual([
    'creating the database cluster',
    `starting PostgreSQL ${server.version} on port ${String(server.port)}`,
  ]);
  const [facts] = await ask(
    server.connectionString,
    `SELECT current_setting('server_version') AS version, current_setting('server_encoding') AS encoding,
            current_setting('listen_addresses') AS addresses, current_setting('unix_socket_directories') AS sockets,
            (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS superuser,
            (SELECT array_agg(DISTINCT auth_method) FROM pg_hba_file_rules) AS methods,
            (SELECT left(rolpassword, 13) FROM pg_authid WHERE rolname = current_user) AS password,
            lower('ÄÖ') AS lowered`,
  );
  expect(facts).toEqual({
    version: server.version,
    encoding: 'UTF8',
    addresses: '127.0.0.1',
    sockets: '',
    superuser: true,
    methods: ['scram-sha-256'],
    password: 'SCRAM-SHA-256',
    // PostgreSQL 17 and later have a Unicode locale of their own.
    lowered: Number.parseInt(server.version, 10) >= 17 ? 'äö' : 'ÄÖ',
  });
  expect((await readdir(dataDirectory)).toSorted()).toEqual(['cluster', 'in-use', 'password']);
});

test('a wrong password is rejected', async () => {
  const server = await start({ dataDirectory: await temporaryDirectory() });
  const url = new URL(server.connectionString);
  url.password = 'guess';

  await expect(ask(url.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
});

test.runIf(linux)('the server listens on 127.0.0.1 only', async () => {
  const server = await start({ dataDirectory: await temporaryDirectory() });

  const answer = await new Promise((resolve) => {
    connect({ host: '127.0.0.2', port: server.port })
      .once('connect', () => resolve('connected'))
      .once('error', (error: NodeJS.ErrnoException) => resolve(error.code));
  });

  expect(answer).toBe('ECONNREFUSED');
});

test('data and password survive a restart; the second start creates nothing', async () => {
  const dataDirectory = await temporaryDirectory();
  const first = await start({ dataDirectory });
  await ask(first.connectionString, `CREATE TABLE kept AS SELECT 'still here' AS text`);
  await first.stop();

  const progress: string[] = [];
  const second = await start({ dataDirectory, onProgress: (message) => progress.push(message) });

  expect(await ask(second.connectionString, 'SELECT text FROM kept')).toEqual([{ text: 'still here' }]);
  expect(new URL(second.connectionString).password).toBe(new URL(first.connectionString).password);
  expect(progress).toEqual([`starting PostgreSQL ${second.version} on port ${String(second.port)}`]);
});

test('stop() disconnects clients, leaves no process and may be called again', async () => {
  const dataDirectory = await temporaryDirectory();
  const server = await start({ dataDirectory });
  const cutOff = ask(server.connectionString, 'SELECT pg_sleep(60)').catch((error: { code: string }) => error.code);
  const running = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)' AND pid <> pg_backend_pid()`;
  await expect.poll(() => ask(server.connectionString, running)).toEqual([{ n: 1 }]);

  await Promise.all([server.stop(), server.stop()]);
  await server.stop();

  expect(await cutOff).toBe('57P01');
  await expect.poll(() => processesOn(dataDirectory)).toEqual([]);
  expect((await readdir(dataDirectory)).toSorted()).toEqual(['cluster', 'password']);
});

test('a server is durable by default', async () => {
  const dataDirectory = await temporaryDirectory();
  const safety = `SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS "commit",
                         current_setting('full_page_writes') AS pages`;

  const fast = await start({ dataDirectory, durable: false });
  expect(await ask(fast.connectionString, safety)).toEqual([{ fsync: 'off', commit: 'off', pages: 'off' }]);
  await fast.stop();
  const safe = await start({ dataDirectory, durable: true });
  expect(await ask(safe.connectionString, safety)).toEqual([{ fsync: 'on', commit: 'on', pages: 'on' }]);
});

test('settings reach the server', async () => {
  const settings = { max_connections: '17', 'app.greeting': 'good morning, "world"' };

  const server = await start({ dataDirectory: await temporaryDirectory(), settings });

  const [found] = await ask(
    server.connectionString,
    `SELECT current_setting('max_connections') AS max, current_setting('app.greeting') AS greeting`,
  );
  expect(found).toEqual({ max: '17', greeting: 'good morning, "world"' });
});

const replication = `SELECT current_setting('wal_level') AS level, current_setting('max_wal_senders')::int AS senders,
                            current_setting('max_replication_slots')::int AS slots`;

test('changes of rows can be read from the log: wal_level is logical', async () => {
  const server = await start({ dataDirectory: await temporaryDirectory() });

  expect(await ask(server.connectionString, replication)).toEqual([{ level: 'logical', senders: 10, slots: 10 }]);
  const slot = `SELECT slot_name FROM pg_create_logical_replication_slot('for_a_test', 'pgoutput', true)`;
  expect(await ask(server.connectionString, slot)).toEqual([{ slot_name: 'for_a_test' }]);
});

test('a data directory of a server with less in its log gets the level at the next start', async () => {
  const dataDirectory = await temporaryDirectory();
  const settings = { wal_level: 'minimal', max_wal_senders: '0' };
  const earlier = await start({ dataDirectory, settings });
  expect(await ask(earlier.connectionString, replication)).toEqual([{ level: 'minimal', senders: 0, slots: 10 }]);
  await ask(earlier.connectionString, `CREATE TABLE kept AS SELECT 'still here' AS text`);
  await earlier.stop();

  const server = await start({ dataDirectory });

  expect(await ask(server.connectionString, replication)).toEqual([{ level: 'logical', senders: 10, slots: 10 }]);
  expect(await ask(server.connectionString, 'SELECT text FROM kept')).toEqual([{ text: 'still here' }]);
});

test('environment variables of the process do not reach the server', async () => {
  process.env['PGPORT'] = '1';
  process.env['PGDATA'] = '/nonexistent';
  process.env['GATEWAY_SECRET'] = 'hush';
  try {
    const server = await start({ dataDirectory: await temporaryDirectory() });
    await ask(server.connectionString, `CREATE TABLE environment (line text)`);
    await ask(server.connectionString, `COPY environment FROM PROGRAM 'env'`);
    const rows = await ask(
      server.connectionString,
      `SELECT count(*)::int AS n FROM environment WHERE line LIKE '%hush%'`,
    );
    expect(rows).toEqual([{ n: 0 }]);
  } finally {
    delete process.env['PGPORT'];
    delete process.env['PGDATA'];
    delete process.env['GATEWAY_SECRET'];
  }
});
