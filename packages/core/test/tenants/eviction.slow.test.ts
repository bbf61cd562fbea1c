import { expect, onTestFinished, test } from 'vitest';
import { cookieOf, ownPage, people } from '../auth/people.ts';
import { openStream } from '../events/support.ts';
import { startTenants, type TenantGateway } from './support.ts';

/** Tenants that are not used give their connections and memory back, but nothing that a client could reset by waiting. */

const sql = `${people}
create function for_me() returns text language sql stable as $$ select 'mine' $$;
comment on function for_me is 'HTTP GET
authorize';
create function limited() returns text language sql stable as $$ select 'hello' $$;
comment on function limited is 'HTTP GET
rate_limit few';
create sequence calls;
create function number() returns int language sql as $$ select nextval('calls')::int $$;
comment on function number is 'HTTP GET
cached';
create function tell() returns void language plpgsql as $$ begin raise info 'hello'; end $$;
comment on function tell is 'HTTP POST
info_path /told
info_scope all';`;

async function start(tenant: { readonly idleTimeout?: number; readonly maxOpen?: number }): Promise<TenantGateway> {
  const tenants = await startTenants(['acme', 'globex', 'initech'], sql, {
    authentication: { cookie: true, loginRateLimit: { perUser: 1, firstWait: 900 } },
    rateLimits: { policies: { few: { type: 'fixed-window', limit: 1, window: 3600 } } },
    events: { heartbeat: 3600 },
    tenant,
  });
  onTestFinished(() => tenants.close());
  return tenants;
}

const open = ({ gateway }: TenantGateway): number => gateway.health().tenants!.open;

test('a tenant that no request uses is closed; ended sessions and counters stay', async () => {
  // Longer than a busy machine takes between two requests.
  const tenants = await start({ idleTimeout: 3 });
  const login = (password: string): Promise<Response> =>
    tenants.send('acme', 'POST /api/login', { headers: ownPage, body: { user: 'ada', password } });
  const get = async (path: string, headers: Readonly<Record<string, string>> = {}): Promise<number> =>
    (await tenants.send('acme', `GET ${path}`, { headers: { ...ownPage, ...headers } })).status;
  const cookie = cookieOf(await login('secret'));
  const other = cookieOf(await login('secret'));
  await tenants.send('acme', 'POST /api/logout', { headers: { ...ownPage, cookie } });
  const first = [await get('/api/for-me', { cookie }), await get('/api/for-me', { cookie: other })];
  const number = async (): Promise<string> => (await tenants.send('acme', 'GET /api/number')).text();
  expect([first, await get('/api/limited'), (await login('wrong')).status, await number(), await number()]).toEqual([
    [401, 200],
    200,
    404,
    '1',
    '1',
  ]);

  await expect.poll(() => open(tenants)).toBe(0);
  const sessions = (): Promise<unknown> =>
    tenants.main.query(
      `select count(*)::int as count from pg_stat_activity
       where datname = $1 and application_name = 'pgway'`,
      [new URL(tenants.databases['acme']!.connectionString).pathname.slice(1)],
    );
  // A process of the server ends after its connection.
  await expect.poll(sessions).toEqual([{ count: 0 }]);

  const again = [await get('/api/for-me', { cookie }), await get('/api/for-me', { cookie: other })];
  expect([again, await get('/api/limited'), (await login('secret')).status, await number()]).toEqual([
    [401, 200],
    429,
    429,
    // The routine may have changed meanwhile.
    '2',
  ]);
});

test('a tenant with an open event stream is not closed', async () => {
  const tenants = await start({ idleTimeout: 0.2 });
  const stream = await openStream(tenants.url, '/api/tell/told', { host: 'acme.example.com' });
  await tenants.send('globex', 'GET /api/limited');
  await expect.poll(() => open(tenants)).toBe(1);
  await tenants.send('acme', 'POST /api/tell');
  expect(await stream.messages(1)).toEqual(['hello']);
  stream.close();
  await expect.poll(() => open(tenants)).toBe(0);
});

test('the least recently used tenant makes room for another one; without an idle one, the request gets 503', async () => {
  const tenants = await start({ maxOpen: 2 });
  const number = (tenant: string): Promise<Response> => tenants.send(tenant, 'GET /api/number');
  for (const tenant of ['acme', 'globex', 'acme', 'initech']) {
    expect([tenant, (await number(tenant)).status]).toEqual([tenant, 200]);
  }
  // The cached response of acme is still there.
  expect([open(tenants), await (await number('acme')).text()]).toEqual([2, '1']);
  const streams = await Promise.all(
    ['acme', 'initech'].map((tenant) => openStream(tenants.url, '/api/tell/told', { host: `${tenant}.example.com` })),
  );
  const refused = await number('globex');
  expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).toEqual([
    503,
    '1',
    {
      type: 'urn:pgway:problem:no-free-connection',
      title: 'No database connection became free in time',
      status: 503,
      correlationId: expect.any(String),
    },
  ]);
  for (const stream of streams) stream.close();
});
