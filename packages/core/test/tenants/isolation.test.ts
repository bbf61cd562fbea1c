import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type GatewayOptions, memoryCache, memoryRateLimits } from '@pgway/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cookieOf, ownPage, people } from '../auth/people.ts';
import { openStream } from '../events/support.ts';
import { form } from '../uploads/forms.ts';
import { startTenants, type TenantGateway } from './support.ts';

/** Nothing of one tenant is valid, visible or counted at another one. */

const folder = mkdtempSync(join(tmpdir(), 'pgway-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const sql = `${people}
create function whoami(_user_id text) returns text language sql stable as 'select _user_id';
comment on function whoami is 'HTTP GET
authorize
user_parameters';
create sequence calls;
create function number() returns int language sql as $$ select nextval('calls')::int $$;
comment on function number is 'HTTP GET
cached';
create function renew() returns void language sql as '';
comment on function renew is 'HTTP POST
invalidates number';
create function limited() returns text language sql stable as $$ select 'hello' $$;
comment on function limited is 'HTTP GET
rate_limit few';
create function tell(_text text) returns void language plpgsql as $$ begin raise info '%', _text; end $$;
comment on function tell is 'HTTP POST
info_path /told
info_scope all';
create function store(_files json) returns json language sql as 'select _files';
comment on function store is 'HTTP POST
upload for file_system
param _files is upload metadata
unique_name = false';
create function guarded() returns text language sql stable as $$ select current_database()::text $$;
comment on function guarded is 'HTTP GET
challenge_command = select name, hash from person where name = $1';`;

const secret = 'a secret of at least thirty-two bytes';
const options: Partial<Omit<GatewayOptions, 'tenant'>> = {
  authentication: {
    cookie: true,
    bearer: true,
    jwt: {
      keys: [{ secret }],
      signingKey: { secret },
      issuer: null,
      audience: null,
      production: false,
    },
    antiforgeryPath: '/api/antiforgery',
    loginRateLimit: { perUser: 1, perAddress: 100, firstWait: 900 },
  },
  rateLimits: { policies: { few: { type: 'fixed-window', limit: 1, window: 3600 } } },
  uploadOptions: { defaultUploadHandlerOptions: { fileSystem: { path: folder } } },
  events: { heartbeat: 3600 },
};

/** The services that a host program gives, and those of the gateway itself. */
describe.each<[string, Partial<Omit<GatewayOptions, 'tenant'>>]>([
  ['in memory', {}],
  [
    'in shared services',
    {
      defaultRoutineCache: memoryCache({ maxEntries: 100, maxSize: 1_000_000, pruneInterval: 60_000 }),
      rateLimits: { ...options.rateLimits, store: memoryRateLimits() },
      events: { heartbeat: 3600, broadcast: 'postgres' },
    },
  ],
])('state %s', (name, more) => {
  let tenants: TenantGateway;
  beforeAll(async () => {
    tenants = await startTenants(['acme', 'globex'], sql, { ...options, ...more, tenant: { claim: 'tenant' } });
  });
  afterAll(() => tenants.close());

  const text = async (response: Promise<Response>): Promise<readonly [number, string]> => {
    const { status } = await response;
    return [status, await (await response).text()];
  };
  const login = async (tenant: string, password = 'secret'): Promise<Response> =>
    tenants.send(tenant, 'POST /api/login', { headers: ownPage, body: { user: 'ada', password } });
  const at = (tenant: string, headers: Readonly<Record<string, string>>): Promise<Response> =>
    tenants.send(tenant, 'GET /api/whoami', { headers });
  const statuses = async (headers: Readonly<Record<string, string>>): Promise<readonly number[]> => [
    (await at('acme', headers)).status,
    (await at('globex', headers)).status,
  ];

  test('a cookie is valid for its tenant only', async () => {
    const cookie = cookieOf(await login('acme'));
    expect(await statuses({ cookie, ...ownPage })).toEqual([200, 401]);
  });

  test('access, refresh and antiforgery tokens are valid for their tenant only', async () => {
    const hosts = await tenants.gateway.signIn(
      new Request('http://acme.example.com/'),
      { id: '7', name: 'ada' },
      { scheme: 'bearer' },
    );
    const tokens = JSON.parse(hosts.body!) as { access_token: string; refresh_token: string };
    expect(await statuses({ authorization: `Bearer ${tokens.access_token}` })).toEqual([200, 401]);
    const refresh = (tenant: string): Promise<Response> =>
      tenants.send(tenant, 'POST /api/auth/refresh', { body: { refresh: tokens.refresh_token } });
    expect([(await refresh('globex')).status, (await refresh('acme')).status]).toEqual([401, 200]);
    const cookies = await Promise.all(['acme', 'globex'].map(async (tenant) => cookieOf(await login(tenant))));
    const issued = await tenants.send('acme', 'GET /api/antiforgery', { headers: { cookie: cookies[0]!, ...ownPage } });
    const { token } = (await issued.json()) as { token: string };
    const crossSite = { 'sec-fetch-site': 'same-site', origin: 'http://other.example.com', 'x-xsrf-token': token };
    const write = async (tenant: string, cookie: string): Promise<number> =>
      (await tenants.send(tenant, 'POST /api/for-members', { headers: { ...crossSite, cookie } })).status;
    expect([await write('acme', cookies[0]!), await write('globex', cookies[1]!)]).toEqual([200, 403]);
  });

  test('a signed token has the name of its tenant, and is valid for it only', async () => {
    const { body } = await tenants.gateway.signIn(
      new Request('http://globex.example.com/'),
      { id: '7', tenant: 'acme' },
      { scheme: 'jwt' },
    );
    const { access_token: token } = JSON.parse(body!) as { access_token: string };
    expect(JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())).toMatchObject({ tenant: 'globex' });
    const authorization = `Bearer ${token}`;
    expect([await text(at('globex', { authorization })), await text(at('acme', { authorization }))]).toEqual([
      [200, '7'],
      [
        401,
        '{"type":"urn:pgway:problem:unauthenticated","title":"The credentials are refused","status":401,"detail":"The token is not one of this server or has expired. The token is not one of this tenant."}',
      ],
    ]);
  });

  test('a host program authenticates a request at its tenant', async () => {
    const cookie = cookieOf(await login('acme'));
    const authenticate = (host: string): Promise<unknown> =>
      tenants.gateway.authenticate(new Request(`http://${host}/`, { headers: { cookie } }));
    expect(await authenticate('acme.example.com')).toMatchObject({ claims: expect.arrayContaining([['name', 'ada']]) });
    await expect(authenticate('globex.example.com')).rejects.toMatchObject({ status: 401, code: 'unauthenticated' });
    await expect(authenticate('initech.example.com')).rejects.toMatchObject({ status: 404, code: 'unknown-tenant' });
    await expect(authenticate('www.example.org')).rejects.toMatchObject({ status: 404, code: 'unknown-tenant' });
  });

  test('HTTP Basic and challenges ask the database of the tenant', async () => {
    await tenants.databases['globex']!.query(`update person set name = 'eve' where name = 'bob'`);
    const guarded = async (tenant: string): Promise<number> => {
      const authorization = `Basic ${Buffer.from('bob:secret').toString('base64')}`;
      return (await tenants.send(tenant, 'GET /api/guarded', { headers: { authorization, ...ownPage } })).status;
    };
    expect([await guarded('acme'), await guarded('globex'), await guarded('acme')]).toEqual([200, 401, 200]);
    await tenants.databases['globex']!.query(`update person set name = 'bob' where name = 'eve'`);
  });

  test('failed logins count for their tenant', async () => {
    const wrong = await login('acme', 'wrong');
    expect([wrong.status, (await login('acme')).status, (await login('globex')).status]).toEqual([404, 429, 200]);
  });

  test('cached responses and their invalidations', async () => {
    await tenants.databases['globex']!.query(`select setval('calls', 100)`);
    const get = (tenant: string): Promise<readonly [number, string]> => text(tenants.send(tenant, 'GET /api/number'));
    const all = async (): Promise<readonly unknown[]> => [await get('acme'), await get('globex')];
    expect([await all(), await all()]).toEqual([
      [
        [200, '1'],
        [200, '101'],
      ],
      [
        [200, '1'],
        [200, '101'],
      ],
    ]);
    await tenants.send('acme', 'POST /api/renew');
    expect(await all()).toEqual([
      [200, '2'],
      [200, '101'],
    ]);
  });

  test('equal concurrent calls are shared within a tenant', async () => {
    await Promise.all(['acme', 'globex'].map((tenant) => tenants.send(tenant, 'POST /api/renew')));
    const calls = ['acme', 'globex', 'acme', 'globex'].map((tenant) => text(tenants.send(tenant, 'GET /api/number')));
    const [acme, globex, ...again] = await Promise.all(calls);
    expect([acme![1] !== globex![1], again]).toEqual([true, [acme, globex]]);
  });

  test('rate limits', async () => {
    const get = async (tenant: string): Promise<number> => (await tenants.send(tenant, 'GET /api/limited')).status;
    expect([await get('acme'), await get('acme'), await get('globex')]).toEqual([200, 429, 200]);
    expect(tenants.gateway.statistics().rateLimits).toEqual([{ policy: 'few', refused: 1 }]);
  });

  test('event streams', async () => {
    const streams = await Promise.all(
      ['acme', 'globex'].map((tenant) => openStream(tenants.url, '/api/tell/told', { host: `${tenant}.example.com` })),
    );
    await tenants.send('acme', 'POST /api/tell', { body: { text: 'for acme' } });
    await tenants.send('globex', 'POST /api/tell', { body: { text: 'for globex' } });
    expect(await Promise.all(streams.map((stream) => stream.messages(1)))).toEqual([['for acme'], ['for globex']]);
    for (const stream of streams) stream.close();
  });

  test.runIf(name === 'in shared services')('event streams at another instance', async () => {
    const other = await tenants.startInstance();
    const streams = await Promise.all(
      ['acme', 'globex'].map((tenant) => openStream(other, '/api/tell/told', { host: `${tenant}.example.com` })),
    );
    await tenants.send('acme', 'POST /api/tell', { body: { text: 'for acme' } });
    await tenants.send('globex', 'POST /api/tell', { body: { text: 'for globex' } });
    expect(await Promise.all(streams.map((stream) => stream.messages(1)))).toEqual([['for acme'], ['for globex']]);
    for (const stream of streams) stream.close();
  });

  test('uploaded files', async () => {
    const store = (tenant: string): Promise<readonly [number, string]> =>
      text(tenants.send(tenant, 'POST /api/store', { body: form(['a.txt', tenant]), headers: ownPage }));
    const [acme, globex] = [await store('acme'), await store('globex')];
    const pathOf = ([status, body]: readonly [number, string]): unknown => [
      status,
      (JSON.parse(body) as { filePath: string }[])[0]!.filePath,
    ];
    expect([pathOf(acme), pathOf(globex)]).toEqual([
      [200, join(folder, 'acme/a.txt')],
      [200, join(folder, 'globex/a.txt')],
    ]);
    expect(readdirSync(folder)).toEqual(['acme', 'globex']);
    expect(['acme', 'globex'].map((tenant) => readFileSync(join(folder, tenant, 'a.txt'), 'latin1'))).toEqual([
      'acme',
      'globex',
    ]);
  });

  test('observations have the name of the tenant', async () => {
    await tenants.send('acme', 'GET /api/whoami');
    expect(tenants.observations.filter(({ kind }) => kind === 'request-failed').at(-1)).toMatchObject({
      tenant: 'acme',
      status: 401,
    });
    expect(name).not.toBe('');
  });
});
