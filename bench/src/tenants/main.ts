/**
 * Measures the memory of one gateway with many tenants: `npm run bench:tenants [endpoints] [tenants]`. Each tenant has a database of its own
 * on an embedded PostgreSQL in a temporary folder, which needs about 30 MB each.
 */

import { createGateway, type Gateway } from '@pgway/core';
import pg from 'pg';

import { startTemporaryServer } from '../temporary-server.ts';

const [endpoints = 10_000, tenants = 200] = process.argv.slice(2).map(Number);

/** Endpoints with parameters and results of user-defined types, as those of a schema for real. */
const schema = `
  create type state as enum ('open', 'paid', 'closed');
  create table orders (id int primary key, state state, note text, amount numeric);
  insert into orders values (1, 'open', current_database(), 12.5);
  do $do$ begin
    for i in 1..${endpoints} loop
      execute format($f$
        create function get_orders_%1$s(_state state default null, _from int default 0, _to int default 100) returns setof orders
        language sql stable as $$ select * from orders where (_state is null or state = _state) and id between _from and _to $$;
        comment on function get_orders_%1$s is 'HTTP GET'$f$, i);
    end loop;
  end $do$;
  create table copies (name text);`;

const milliseconds = (since: number): string => `${(performance.now() - since).toFixed(0)} ms`;

function report(label: string): void {
  global.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
  const peak = mebibytes(process.resourceUsage().maxRSS * 1024);
  console.log(`${label.padEnd(44)} RSS ${mebibytes(rss)}, heap ${mebibytes(heapUsed)}, peak RSS ${peak}`);
}

async function createDatabases(connectionString: string): Promise<void> {
  const administrator = new pg.Client({ connectionString });
  await administrator.connect();
  await administrator.query('create database app_reference strategy file_copy');
  const reference = new pg.Client({ connectionString: databaseUrl(connectionString, 'app_reference') });
  await reference.connect();
  await reference.query(schema);
  await reference.query(`insert into copies select 't' || n from generate_series(1, ${tenants}) n`);
  await reference.end();
  for (let number = 1; number <= tenants; number++) {
    await administrator.query(`create database app_t${number} template app_reference strategy file_copy`);
  }
  await administrator.end();
}

function databaseUrl(connectionString: string, name: string): string {
  return connectionString.replace(/\/[^/]*$/, `/${name}`);
}

async function call(gateway: Gateway, tenant: string, endpoint: number): Promise<void> {
  const response = await gateway.fetch(new Request(`http://${tenant}.example.com/api/get-orders-${endpoint}`));
  if (response?.status !== 200) throw new Error(`${tenant} answered ${response?.status}`);
  const [row] = (await response.json()) as readonly { readonly id: number }[];
  if (row?.id !== 1) throw new Error(`${tenant} answered with other rows`);
}

async function measure(connectionString: string): Promise<void> {
  report('before the start');
  const start = performance.now();
  const gateway = await createGateway({
    acquireTimeout: 60,
    connectionString: databaseUrl(connectionString, 'app_reference'),
    tenant: {
      by: 'host',
      host: '{tenant}.example.com',
      connectionString: databaseUrl(connectionString, 'app_{tenant}'),
      query: 'select name from copies',
    },
  });
  report(`started with ${endpoints} endpoints in ${milliseconds(start)}`);
  const names = Array.from({ length: tenants }, (_, index) => `t${index + 1}`);
  const first = performance.now();
  for (const [index, name] of names.entries()) {
    await call(gateway, name, 1 + (index % endpoints));
  }
  report(`first request of ${tenants} tenants in ${milliseconds(first)}`);
  const all = performance.now();
  for (let round = 0; round < 10; round++) {
    await Promise.all(names.map((name, index) => call(gateway, name, 1 + ((index * 7 + round * 31) % endpoints))));
  }
  report(`10 rounds of all tenants at once in ${milliseconds(all)}`);
  const { tenants: state } = gateway.health();
  console.log(`tenants in use ${state?.open}, versions of the schema ${state?.schemaVersions}`);
  await gateway.close();
}

const server = await startTemporaryServer({
  max_connections: '150',
  autovacuum: 'off',
  max_locks_per_transaction: '512',
  wal_level: 'minimal',
  max_wal_senders: '0',
});
try {
  const begin = performance.now();
  await createDatabases(server.connectionString);
  console.log(`created ${tenants} databases in ${milliseconds(begin)}`);
  await measure(server.connectionString);
} finally {
  await server.stop();
}
