import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startTenants, type TenantGateway } from './support.ts';

/** All tenants share `maxConnections` fairly. */

const sql = `
create function wait(_seconds float8) returns text language sql volatile as $$ select pg_sleep(_seconds)::text $$;
comment on function wait is 'HTTP GET';
create function quick() returns text language sql stable as $$ select 'quick' $$;
comment on function quick is 'HTTP GET';
create function all_rows() returns setof text language sql stable as $$
  select repeat('x', 1000) from generate_series(1, 30000) $$;
comment on function all_rows is 'HTTP GET';`;

const names = ['acme', 'globex', 'initech', 'umbrella', 'hooli'];

async function start(maxConnections: number): Promise<TenantGateway> {
  const tenants = await startTenants(names, sql, { poolSize: 4, acquireTimeout: 20, tenant: { maxConnections } });
  onTestFinished(() => tenants.close());
  return tenants;
}

/** Watches the connections of all tenants, by what the server has. */
async function mostConnections({ main, databases }: TenantGateway, until: Promise<unknown>): Promise<number> {
  const databaseNames = Object.values(databases).map(({ connectionString }) =>
    new URL(connectionString).pathname.slice(1),
  );
  let most = 0;
  let isOver = false;
  void until.finally(() => (isOver = true));
  while (!isOver) {
    const [row] = await main.query(
      `select count(*)::int as count from pg_stat_activity where datname = any ($1) and application_name = 'pgway'`,
      [databaseNames],
    );
    most = Math.max(most, row!['count'] as number);
  }
  return most;
}

test('the cap holds, and every tenant gets its turn', async () => {
  const tenants = await start(2);
  const rounds = names.flatMap((name) => [name, name, name]);
  const all = Promise.all(rounds.map(async (name) => (await tenants.send(name, 'GET /api/quick')).status));
  const most = await mostConnections(tenants, all);
  expect(await all).toEqual(rounds.map(() => 200));
  expect([1, 2]).toContain(most);
  expect(tenants.gateway.statistics().pools.at(-1)).toMatchObject({ connection: 'tenants', size: 2 });
});

test('a busy tenant cannot keep the others from the database', async () => {
  const tenants = await start(3);
  let isOver = false;
  const statuses = new Set<number>();
  // Eight clients of one tenant, each with its next call as soon as the last one has ended.
  const busy = Array.from({ length: 8 }, async () => {
    while (!isOver) {
      statuses.add((await tenants.send('acme', 'GET /api/wait?seconds=0.02')).status);
    }
  });
  await expect.poll(() => tenants.gateway.statistics().pools.at(-1)?.open).toBe(3);
  for (const name of names.slice(1)) {
    expect([name, await (await tenants.send(name, 'GET /api/quick')).text()]).toEqual([name, 'quick']);
  }
  isOver = true;
  await Promise.all(busy);
  expect([...statuses]).toEqual([200]);
});

test('a tenant whose clients do not read gives its connections to the others', async () => {
  const tenants = await start(2);
  const unread = Array.from({ length: 2 }, () => askUnread(tenants, 'acme', '/api/all-rows'));
  await expect.poll(() => tenants.gateway.statistics().pools.at(-1)).toMatchObject({ open: 2, idle: 0 });
  for (const name of names.slice(1)) {
    expect((await tenants.send(name, 'GET /api/quick')).status).toBe(200);
  }
  expect(unread.map((socket) => socket.destroyed)).toEqual([false, false]);
});

/** Sends a request, and reads nothing of the response. */
function askUnread({ url }: TenantGateway, tenant: string, path: string): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => undefined).pause();
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${tenant}.example.com\r\n\r\n`);
  onTestFinished(() => void socket.destroy());
  return socket;
}
