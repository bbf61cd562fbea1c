import { createGateway, type Gateway } from '@pgway/core';
import { freshDatabase } from '@pgway/testing';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { cookieOf, ownPage, people } from '../auth/people.ts';
import { sendTo, startTenants, type TenantGateway } from './support.ts';

const sql = `
create table items (name text);
create function list_items() returns setof text language sql stable as 'select name from items order by name';
comment on function list_items() is 'HTTP';
create function cached_items() returns setof text language sql stable as 'select name from items order by name';
comment on function cached_items() is 'HTTP GET
cached';
create function add_item(_name text) returns void language sql as 'insert into items values (_name)';
comment on function add_item is 'HTTP';`;

const unknownTenant = '{"type":"urn:pgway:problem:unknown-tenant","title":"No tenant has this name","status":404}';
const unavailable =
  '{"type":"urn:pgway:problem:database-unavailable","title":"The database cannot be reached","status":503,"correlationId":"…"}';

async function answer(response: Promise<Response>): Promise<readonly [number, string]> {
  const { status } = await response;
  return [status, (await (await response).text()).replace(/(?<="correlationId":")[^"]*/, '…')];
}

describe('tenants by host', () => {
  let tenants: TenantGateway;
  beforeAll(async () => {
    tenants = await startTenants(['acme', 'globex'], sql, {
      tenant: { connectionStrings: {}, query: 'select name, connection_string from tenants', queryInterval: 3600 },
    });
    await tenants.main.query(`insert into items values ('of the main database')`);
    await tenants.databases['acme']!.query(`insert into items values ('anvil')`);
    await tenants.databases['globex']!.query(`insert into items values ('reactor')`);
  });
  afterAll(() => tenants.close());

  const list = (tenant: string): Promise<readonly [number, string]> =>
    answer(tenants.send(tenant, 'GET /api/list-items'));

  test('each host has the data of its database, and shares the endpoints', async () => {
    expect([await list('acme'), await list('globex'), await list('ACME.Example.com.:80')]).toEqual([
      [200, '["anvil"]'],
      [200, '["reactor"]'],
      [200, '["anvil"]'],
    ]);
    expect(tenants.gateway.health().tenants).toEqual({ known: 2, open: 2, unavailable: 0, schemaVersions: 1 });
    const { pools } = tenants.gateway.statistics();
    expect(pools.map(({ connection, size }) => [connection, size])).toEqual([
      [null, 10],
      ['tenants', 100],
    ]);
  });

  test('another host, and that of no tenant', async () => {
    expect([await list('initech'), await list('example.com'), await list('www.example.org')]).toEqual([
      [404, unknownTenant],
      [404, '{"type":"about:blank","title":"Not found","status":404}'],
      [404, '{"type":"about:blank","title":"Not found","status":404}'],
    ]);
  });

  test('a thousand invented names leave nothing: no tenant, no connection, no question to the database', async () => {
    const before = tenants.gateway.statistics();
    const names = Array.from({ length: 1000 }, (_, index) => `invented-${index}`);
    for (let start = 0; start < names.length; start += 50) {
      const answers = await Promise.all(names.slice(start, start + 50).map(list));
      expect(new Set(answers.map(([status, body]) => `${status} ${body}`))).toEqual(new Set([`404 ${unknownTenant}`]));
    }
    const { pools, tenants: state } = tenants.gateway.statistics();
    expect([pools.map(({ open, waits }) => [open, waits]), state]).toEqual([
      before.pools.map(({ open, waits }) => [open, waits]),
      before.tenants,
    ]);
  });

  test('a refresh reads the list again: new tenants answer, removed ones are unknown, invalid ones are reported', async () => {
    const added = await freshDatabase(`${sql} insert into items values ('new')`);
    onTestFinished(() => added.drop());
    await tenants.main.query('insert into tenants values ($1, $2), ($3, $4), ($5, null)', [
      'new',
      added.connectionString,
      '../etc',
      'postgres://localhost/x',
      'nowhere',
    ]);
    expect(await list('new')).toEqual([404, unknownTenant]);
    await tenants.gateway.refresh();
    expect(await list('new')).toEqual([200, '["new"]']);
    const warnings = tenants.observations.flatMap((observation) =>
      observation.kind === 'start-warning' && observation.code === 'invalid-tenant' ? [observation.message] : [],
    );
    expect(warnings).toEqual([
      'tenant.query: "../etc" is not the name of a tenant: 1 to 63 lower-case letters, digits, "-" and "_", with a letter or digit at both ends',
      'tenant.query: "nowhere" has no connection string; set tenant.connectionString',
    ]);
    await tenants.main.query(`delete from tenants where name <> 'acme' and name <> 'globex'`);
    await tenants.gateway.refresh();
    expect(await list('new')).toEqual([404, unknownTenant]);
  });
});

test('a tenant whose database cannot be used gets 503 and is tried again later; the others answer', async () => {
  const tenants = await startTenants(['acme', 'gone'], sql);
  onTestFinished(() => tenants.close());
  const { pathname } = new URL(tenants.databases['gone']!.connectionString);
  await tenants.main.query(`drop database ${pathname.slice(1)} with (force)`);
  const list = (tenant: string): Promise<Response> => tenants.send(tenant, 'GET /api/list-items');
  // The half second until the next attempt does not pass, however slow the machine is.
  const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
  onTestFinished(() => clock.mockRestore());
  const first = await list('gone');
  expect([first.headers.get('retry-after'), await answer(Promise.resolve(first))]).toEqual(['1', [503, unavailable]]);
  expect([await answer(list('gone')), await answer(list('acme'))]).toEqual([
    [503, unavailable],
    [200, '[]'],
  ]);
  const found = tenants.observations.filter(({ kind }) => kind === 'tenant-unavailable');
  expect(found).toEqual([
    {
      kind: 'tenant-unavailable',
      tenant: 'gone',
      retryMs: 500,
      error: expect.objectContaining({ name: 'StartError' }),
    },
  ]);
  expect(tenants.gateway.health().tenants).toEqual({ known: 2, open: 1, unavailable: 1, schemaVersions: 1 });
});

describe('tenants by claim', () => {
  const secret = 'a secret of at least thirty-two bytes';
  const logins = `${people}
    drop function login;
    create function login(_user text, _password text) returns table (id int, name text, tenant text, hash text)
    language sql as $$ select id, name, nullif(roles[1], 'a b'), hash from person where name = _user $$;
    comment on function login is 'HTTP
    login';
    update person set roles = array['acme'] where name = 'ada';
    ${sql}`;

  async function start(tenant: { readonly default?: string } = {}): Promise<TenantGateway> {
    const tenants = await startTenants(['acme', 'globex', 'directory'], logins, {
      authentication: {
        cookie: true,
        jwt: { keys: [{ secret }], signingKey: { secret }, issuer: null, audience: null, production: false },
      },
      tenant: { by: 'claim', host: null, claim: 'tenant', ...tenant },
    });
    onTestFinished(() => tenants.close());
    await Promise.all(
      Object.entries(tenants.databases).map(([name, database]) =>
        database.query('insert into items values ($1)', [name]),
      ),
    );
    return tenants;
  }

  const token = async (gateway: Gateway, claims: Readonly<Record<string, string | string[]>>) => {
    const { body } = await gateway.signIn(new Request('http://any.example.com/'), claims, { scheme: 'jwt' });
    return { authorization: `Bearer ${(JSON.parse(body!) as { access_token: string }).access_token}` };
  };

  test('the claim of the caller selects the database; anonymous callers get 401', async () => {
    const tenants = await start();
    const list = async (claims: Readonly<Record<string, string | string[]>> | null) => {
      const headers = claims === null ? {} : await token(tenants.gateway, claims);
      return answer(tenants.send('any', 'GET /api/list-items', { headers }));
    };
    expect([
      await list({ id: '1', tenant: 'acme' }),
      await list({ id: '1', tenant: 'globex' }),
      await list({ id: '1', tenant: 'initech' }),
      await list({ id: '1', tenant: '../acme' }),
      await list({ id: '1', tenant: ['acme', 'globex'] }),
      await list({ id: '1' }),
      await list(null),
    ]).toEqual([
      [200, '["acme"]'],
      [200, '["globex"]'],
      [404, unknownTenant],
      [404, unknownTenant],
      [403, '{"type":"urn:pgway:problem:forbidden","title":"The caller belongs to several tenants","status":403}'],
      [403, '{"type":"urn:pgway:problem:forbidden","title":"The caller belongs to no tenant","status":403}'],
      [401, '{"type":"urn:pgway:problem:unauthenticated","title":"Authentication is required","status":401}'],
    ]);
  });

  test('a path without an endpoint is one of the host program, for every caller', async () => {
    const tenants = await start();
    const page = (claims: Readonly<Record<string, string>> | null): Promise<readonly [number, string]> =>
      (claims === null ? Promise.resolve({}) : token(tenants.gateway, claims)).then((headers) =>
        answer(tenants.send('any', 'GET /page.html', { headers })),
      );
    const notFound = [404, '{"type":"about:blank","title":"Not found","status":404}'];
    expect([await page(null), await page({ id: '1' }), await page({ id: '1', tenant: 'acme' })]).toEqual([
      notFound,
      notFound,
      notFound,
    ]);
  });

  test('shared caches must not store the response of a tenant, which its URL does not tell', async () => {
    const tenants = await start();
    const headers = await token(tenants.gateway, { id: '1', tenant: 'acme' });
    const response = await tenants.send('any', 'GET /api/cached-items', { headers });
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'private, no-cache']);
  });

  test('a login in the default tenant names the tenant of the caller', async () => {
    const tenants = await start({ default: 'directory' });
    const list = async (cookie: string): Promise<readonly [number, string]> =>
      answer(tenants.send('any', 'GET /api/list-items', { headers: { ...ownPage, ...(cookie ? { cookie } : {}) } }));
    const login = async (user: string): Promise<string> =>
      cookieOf(await tenants.send('any', 'POST /api/login', { headers: ownPage, body: { user, password: 'secret' } }));
    const ada = await login('ada');
    expect([await list(''), await list(ada), await list(await login('bob'))]).toEqual([
      [200, '["directory"]'],
      [200, '["acme"]'],
      [200, '["directory"]'],
    ]);
  });

  test('a request with refused credentials is not one to the default tenant', async () => {
    const tenants = await start({ default: 'directory' });
    const send = (line: string, headers: Readonly<Record<string, string>>, body?: object): Promise<Response> =>
      tenants.send('any', line, { headers: { ...ownPage, ...headers }, ...(body === undefined ? {} : { body }) });
    const login = (cookie: string): Promise<Response> =>
      send('POST /api/login', { cookie }, { user: 'ada', password: 'secret' });
    const ended = cookieOf(await login(''));
    const logout = await send('POST /api/logout', { cookie: ended });
    const refusal = (detail: string): string =>
      `{"type":"urn:pgway:problem:unauthenticated","title":"The credentials are refused","status":401,"detail":"${detail}"}`;
    const noSession = refusal('The session has ended, or its cookie has expired or is not one of this server.');
    expect([
      logout.status,
      await answer(send('POST /api/add-item', { cookie: ended }, { name: 'lost' })),
      await answer(send('POST /api/add-item', { cookie: 'pgway=forged' }, { name: 'lost' })),
      await answer(send('POST /api/add-item', { authorization: 'Bearer a.b.c' }, { name: 'lost' })),
      await tenants.databases['directory']!.query('select name from items'),
      (await login(ended)).status,
    ]).toEqual([
      200,
      [401, noSession],
      [401, noSession],
      [401, refusal('The token is malformed.')],
      [{ name: 'directory' }],
      200,
    ]);
  });

  test('a login in the database of a tenant cannot name another one', async () => {
    const tenants = await start({ default: 'directory' });
    const send = (line: string, cookie: string, body?: object): Promise<Response> =>
      tenants.send('any', line, { headers: { ...ownPage, cookie }, ...(body === undefined ? {} : { body }) });
    const credentials = { user: 'ada', password: 'secret' };
    const cookie = cookieOf(await send('POST /api/login', '', credentials));
    const { acme } = tenants.databases;
    await acme!.query(`update person set roles = array['globex'] where name = 'ada'`);
    const stolen = await send('POST /api/login', cookie, credentials);
    await acme!.query(`update person set roles = array['a b'] where name = 'ada'`);
    const silent = await send('POST /api/login', cookie, credentials);
    const listed = await answer(send('GET /api/list-items', cookieOf(silent)));
    expect([await answer(Promise.resolve(stolen)), cookieOf(stolen), silent.status, listed]).toEqual([
      [
        403,
        '{"type":"urn:pgway:problem:forbidden","title":"The login names another tenant","status":403,"detail":"A caller who is signed in to a tenant can log in to the same one only; sign out first."}',
      ],
      '',
      200,
      [200, '["acme"]'],
    ]);
  });

  test('nor can the host program, for a caller that is signed in', async () => {
    const { gateway } = await start({ default: 'directory' });
    const request = async (tenant: string): Promise<Request> => {
      const { headers } = await gateway.signIn(new Request('http://any/'), { id: '1', tenant }, { scheme: 'cookie' });
      return new Request('http://any/', {
        headers: { cookie: cookieOf({ headers: new Headers(headers.map(([name, value]) => [name, value])) }) },
      });
    };
    const [ofAcme, ofDefault] = [await request('acme'), await request('directory')];
    const claims = { id: '1', tenant: 'globex' };
    await expect(gateway.signIn(ofAcme, claims)).rejects.toMatchObject({ status: 403, code: 'forbidden' });
    await expect(gateway.signIn(ofAcme, { id: '1' })).resolves.toMatchObject({ body: null });
    await expect(gateway.signIn(ofDefault, claims)).resolves.toMatchObject({ body: null });
  });
});

test('a host program serves other hosts itself', async () => {
  const tenants = await startTenants(['acme'], sql, { tenant: { default: 'acme' } });
  onTestFinished(() => tenants.close());
  expect(await answer(sendTo(tenants.url, 'localhost', 'GET /api/list-items'))).toEqual([200, '[]']);
});

describe('contradictory options fail the start', () => {
  const tenant = { by: 'host', host: '{tenant}.example.com', connectionStrings: { acme: 'postgres://localhost/acme' } };

  test.each<[string, object, string]>([
    [
      'no host',
      { tenant: { ...tenant, host: null } },
      "tenant.host: is missing; with by: 'host', give a pattern such as {tenant}.example.com",
    ],
    [
      'a host without the placeholder',
      { tenant: { ...tenant, host: 'example.com' } },
      'tenant.host: "example.com" must be a host name with {tenant} in its first label, such as {tenant}.example.com',
    ],
    [
      'no tenants',
      { tenant: { by: 'host', host: '{tenant}.example.com' } },
      'tenant: lists no tenants; set tenant.query, or tenant.connectionStrings',
    ],
    [
      'a claim without schemes',
      { tenant: { ...tenant, by: 'claim', host: null, claim: 'tenant' } },
      'tenant.by: claim needs an authentication scheme, such as authentication.jwt or cookie',
    ],
    [
      'named connections',
      { tenant, connectionStrings: { reports: 'postgres://localhost/reports' } },
      'connectionStrings: not with tenant, as all tenants would share its database; remove one of the two',
    ],
    [
      'tokens without a tenant',
      { tenant, authentication: { jwt: { keys: [{ secret: 'x'.repeat(32) }], issuer: null, audience: null } } },
      'tenant.claim: is missing; with authentication.jwt, name the claim of their tokens that has the name of the tenant, or a token would be valid for every tenant',
    ],
    [
      'a user of all tenants',
      { tenant, authentication: { basic: { user: 'ada', hash: 'x' } } },
      'authentication.basic.user: its password would be valid for every tenant; use authentication.basic.command, which runs in the database of the tenant',
    ],
    [
      'sign-in through providers whose redirect URI has one host',
      {
        tenant,
        authentication: {
          cookie: true,
          externalSignIn: { publicOrigin: 'https://app.example.com', routes: () => [] },
        },
      },
      'authentication.externalSignIn.publicOrigin: must have {tenant}, or providers would send the users of all tenants to one host; set it to an origin such as https://{tenant}.example.com',
    ],
    [
      'a name that is no tenant',
      { tenant: { ...tenant, connectionStrings: { '../etc': 'postgres://localhost/x' } } },
      'tenant.connectionStrings["../etc"]: is not the name of a tenant: 1 to 63 lower-case letters, digits, "-" and "_", with a letter or digit at both ends',
    ],
    [
      'an unknown option',
      { tenant: { ...tenant, hosts: 'x' } },
      'tenant.hosts: unknown option; did you mean tenant.host?',
    ],
  ])('%s', async (_, options, message) => {
    const start = createGateway({ connectionString: 'postgres://localhost:1/x', ...options } as never);
    await expect(start).rejects.toMatchObject({ name: 'StartError', message });
  });
});
