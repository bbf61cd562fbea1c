import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGateway } from '@pgway/core';
import { startPostgres } from '@pgway/embedded';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** Two hundred databases behind one gateway. They are on a server of their own, on disk. */

const count = 200;
const endpoints = 200;
const names = Array.from({ length: count }, (_, index) => `tenant-${index + 1}`);

const schema = `
  create type state as enum ('open', 'closed');
  create table orders (id int, state state, owner text);
  do $do$ begin
    for i in 1..${endpoints} loop
      execute format($f$ create function get_orders_%1$s(_state state) returns setof orders language sql stable
        as $$ select * from orders where state = _state $$; comment on function get_orders_%1$s is 'HTTP GET' $f$, i);
    end loop;
  end $do$`;

let server: Awaited<ReturnType<typeof startPostgres>>;
let dataDirectory: string;

const databaseUrl = (name: string): string => server.connectionString.replace(/[^/]*$/, name);

async function query(database: string, sql: string): Promise<readonly unknown[]> {
  const client = new Client({ connectionString: databaseUrl(database) });
  await client.connect();
  const { rows } = await client.query<Record<string, unknown>>(sql);
  await client.end();
  return rows;
}

beforeAll(async () => {
  dataDirectory = await mkdtemp(join(tmpdir(), 'pgway-test-tenants-'));
  const settings = { max_connections: '60', autovacuum: 'off', wal_level: 'minimal', max_wal_senders: '0' };
  server = await startPostgres({ dataDirectory, durable: false, settings });
  await query('postgres', 'create database app_reference');
  await query('app_reference', schema);
  const administrator = new Client({ connectionString: databaseUrl('postgres') });
  await administrator.connect();
  for (const name of names) {
    await administrator.query(`create database "app_${name}" template app_reference strategy file_copy`);
  }
  await administrator.end();
});

afterAll(async () => {
  await server.stop();
  await rm(dataDirectory, { recursive: true, force: true });
});

test('200 tenants share the endpoints and 20 connections, and each one has its own data', async () => {
  const gateway = await createGateway({
    connectionString: databaseUrl('app_reference'),
    poolSize: 4,
    acquireTimeout: 60,
    tenant: {
      by: 'host',
      host: '{tenant}.example.com',
      connectionString: databaseUrl('app_{tenant}'),
      query: `select substr(datname, 5) from pg_database where datname like 'app\\_tenant-%'`,
      maxConnections: 20,
    },
  });
  await Promise.all(
    ['tenant-1', 'tenant-77', 'tenant-200'].map((name) =>
      query(`app_${name}`, `insert into orders values (1, 'open', '${name}')`),
    ),
  );
  const get = async (name: string, endpoint: number): Promise<string> => {
    const path = `/api/get-orders-${endpoint}?state=open`;
    const response = await gateway.fetch(new Request(`http://${name}.example.com${path}`));
    return `${response!.status} ${await response!.text()}`;
  };
  const expected = names.map((name) =>
    ['tenant-1', 'tenant-77', 'tenant-200'].includes(name)
      ? `200 [{"id":1,"state":"open","owner":"${name}"}]`
      : '200 []',
  );
  expect(await Promise.all(names.map((name, index) => get(name, 1 + (index % endpoints))))).toEqual(expected);
  expect(gateway.health().tenants).toEqual({ known: count, open: count, unavailable: 0, schemaVersions: 1 });
  const [{ connections }] = (await query(
    'postgres',
    `select count(*)::int as connections from pg_stat_activity where application_name = 'pgway' and datname <> 'app_reference'`,
  )) as [{ readonly connections: number }];
  expect(connections).toBeLessThanOrEqual(20);
  // Once more, in another order: the tenants are open now, and most of them without a connection.
  const again = await Promise.all(names.toReversed().map((name, index) => get(name, 1 + ((index * 7) % endpoints))));
  expect(again.toReversed()).toEqual(expected);
  await gateway.close();
});
