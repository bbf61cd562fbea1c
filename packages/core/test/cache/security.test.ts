import { randomBytes } from 'node:crypto';
import { createGateway, type AuthScheme, crudSource, functionsSource } from '@pgway/core';
import { useGateway } from '@pgway/testing';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

/* Attacks on the cache: no caller gets the response of another one. */

/** Authenticates by header: `x-user: ada admin,staff`. With `x-renew` the response sets a new cookie. */
const scheme: AuthScheme = {
  name: 'said',
  authenticate: (request) => {
    const [name, roles = ''] = (request.header('x-user') ?? '').split(' ');
    if (name === undefined || name === '') return null;
    const claims = [['id', `id of ${name}`], ['name', name], ...roles.split(',').map((role) => ['roles', role])];
    const renewed = request.header('x-renew');
    return {
      scheme: 'said',
      claims: claims as [string, string][],
      session: null,
      sentByBrowser: false,
      ...(renewed === undefined ? {} : { headers: ['set-cookie', `session=${renewed}`] }),
    };
  },
  challenge: () => null,
  signIn: null,
  signOut: null,
  routes: [],
};

const role = (name: string): string => `cache_${name}_${randomBytes(6).toString('hex')}`;
const [ada, bob] = [role('ada'), role('bob')];

const schema = `
  create sequence calls;
  create function told_by_setting() returns text language sql as $$
    select concat_ws('|', current_setting('request.user_id', true), current_setting('request.user_roles', true), nextval('calls')) $$;
  comment on function told_by_setting() is 'HTTP GET
    cached
    user_context';
  create function told_by_parameter(a text, _user_id text default null) returns text language sql as
    $$ select concat_ws('|', a, _user_id, nextval('calls')) $$;
  comment on function told_by_parameter is 'HTTP GET
    cached a
    user_parameters';
  create function by_address(a text, _ip text default null) returns text language sql as $$ select concat_ws('|', a, _ip, nextval('calls')) $$;
  comment on function by_address is 'HTTP GET
    cached a
    param _ip is ip_address';
  create function guarded() returns text language sql as $$ select 'secret ' || nextval('calls') $$;
  comment on function guarded() is 'HTTP GET
    cached
    authorize admin';
  create function by_headers() returns text language sql as
    $$ select concat_ws('|', current_setting('request.headers', true)::json->>'x-tenant', nextval('calls')) $$;
  comment on function by_headers() is 'HTTP GET
    cached
    request_headers context';
  create function by_header_parameter(a text, headers json default null) returns text language sql as
    $$ select concat_ws('|', a, headers->>'x-tenant', nextval('calls')) $$;
  comment on function by_header_parameter is 'HTTP GET
    cached a
    request_headers parameter';
  create function anybody(a text) returns text language sql as $$ select concat_ws('|', a, nextval('calls')) $$;
  comment on function anybody is 'HTTP GET
    cached';
  create function "over"(a int) returns text language sql as $$ select 'int ' || a || ' ' || nextval('calls') $$;
  create function "over"(b text) returns text language sql as $$ select 'text ' || b || ' ' || nextval('calls') $$;
  comment on function "over"(int) is 'HTTP GET
    cached';
  comment on function "over"(text) is 'HTTP GET
    cached';
  create table note (id int primary key, owner text, body text);
  insert into note values (1, 'a', 'x'), (2, 'b', 'y');
  comment on table note is 'HTTP
    cached id';
`;

const options = {
  authentication: { schemes: [scheme] },
  sourcesCreated: (sources: unknown[]) => void sources.push(crudSource({ crudTypes: 'select', listing: true })),
};
const gateway = useGateway(schema, options);

const get = async (path: string, headers: Record<string, string> = {}): Promise<string> => {
  const answer = await gateway.send(`GET ${path}`, { headers });
  return `${answer.status} ${answer.body}`;
};
const bodyOf = async (path: string, headers: Record<string, string> = {}): Promise<string> =>
  (await get(path, headers)).replace(/^200 /, '');

test.each(['/api/told-by-setting', '/api/told-by-parameter?a=1'])(
  '%s: two users and the anonymous caller have separate entries',
  async (path) => {
    const [mine, theirs, nobodys] = [
      await bodyOf(path, { 'x-user': 'ada' }),
      await bodyOf(path, { 'x-user': 'bob' }),
      await bodyOf(path),
    ];
    expect([mine.includes('id of ada'), theirs.includes('id of bob'), /id of/.test(nobodys)]).toEqual([
      true,
      true,
      false,
    ]);
    expect(await bodyOf(path, { 'x-user': 'ada' })).toBe(mine);
    expect(await bodyOf(path)).toBe(nobodys);
  },
);

test('the same user with other roles has another entry', async () => {
  const path = '/api/told-by-setting';
  const one = await bodyOf(path, { 'x-user': 'eve admin' });
  expect(await bodyOf(path, { 'x-user': 'eve staff' })).not.toBe(one);
  expect(await bodyOf(path, { 'x-user': 'eve admin,staff' })).not.toBe(one);
});

test('parameters of a client cannot forge the key of another caller', async () => {
  await bodyOf('/api/told-by-parameter?a=1', { 'x-user': 'ada' });
  for (const path of [
    '/api/told-by-parameter?a=1&_user_id=id%20of%20ada',
    '/api/told-by-parameter?a=1&userId=id%20of%20ada',
  ]) {
    expect(await get(path)).toMatch(/^400 /);
  }
  expect(await bodyOf(`/api/told-by-parameter?a=${encodeURIComponent('1p2t9:id of ada')}`)).not.toContain(
    '|id of ada|',
  );
});

test('authorization precedes the cache lookup', async () => {
  expect(await get('/api/guarded', { 'x-user': 'ada admin' })).toMatch(/^200 secret/);
  expect(await get('/api/guarded')).toMatch(/^401 /);
  expect(await get('/api/guarded', { 'x-user': 'bob staff' })).toMatch(/^403 /);
});

test('an entity tag gives no access', async () => {
  const { headers } = await gateway.send('GET /api/guarded', { headers: { 'x-user': 'ada admin' } });
  for (const known of [headers.get('etag')!, '*']) {
    expect((await gateway.send('GET /api/guarded', { headers: { 'if-none-match': known } })).status).toBe(401);
  }
});

test.each(['/api/by-headers', '/api/by-header-parameter?a=1'])(
  '%s: headers that the call receives vary the key',
  async (path) => {
    const [one, two] = [await bodyOf(path, { 'x-tenant': 'one' }), await bodyOf(path, { 'x-tenant': 'two' })];
    expect([one.includes('one'), two.includes('two')]).toEqual([true, true]);
    expect(await bodyOf(path, { 'x-tenant': 'one' })).toBe(one);
  },
);

test('responses that depend on a caller are private for HTTP caches, others public', async () => {
  const control = async (path: string, headers = {}): Promise<string | null> =>
    (await gateway.send(`GET ${path}`, { headers })).headers.get('cache-control');
  const paths = [
    'told-by-setting',
    'told-by-parameter?a=1',
    'by-address?a=1',
    'by-headers',
    'by-header-parameter?a=1',
    'note?id=1',
  ];
  for (const path of paths) expect([path, await control(`/api/${path}`)]).toEqual([path, 'private, no-cache']);
  expect(await control('/api/guarded', { 'x-user': 'ada admin' })).toBe('private, no-cache');
  expect(await control('/api/anybody?a=1')).toBe('public, no-cache');
});

test('overloads have separate entries', async () => {
  expect([await bodyOf('/api/over?a=1'), await bodyOf('/api/over?b=1')]).toEqual([
    expect.stringMatching(/^int 1/),
    expect.stringMatching(/^text 1/),
  ]);
});

test('a response that renews a cookie is not cached, and no other caller receives the cookie', async () => {
  const path = '/api/told-by-setting';
  const renewed = await gateway.send(`GET ${path}`, { headers: { 'x-user': 'zoe', 'x-renew': 'secret' } });
  expect(renewed.headers.get('set-cookie')).toBe('session=secret');
  expect(renewed.headers.get('etag')).toBe(null);
  const later = await gateway.send(`GET ${path}`, { headers: { 'x-user': 'zoe' } });
  expect(later.body).not.toBe(renewed.body);
  expect(later.headers.get('set-cookie')).toBe(null);
  const again = await gateway.send(`GET ${path}`, { headers: { 'x-user': 'zoe', 'x-renew': 'other' } });
  expect([again.body, again.headers.get('set-cookie'), again.headers.get('cache-control')]).toEqual([
    later.body,
    'session=other',
    'no-store',
  ]);
});

test('a listing: each operator of the query, and the count that a header requests, vary the key', async () => {
  const table = async (query: string, prefer?: string): Promise<string> => {
    const answer = await gateway.send(`GET /api/note?${query}`, { headers: prefer === undefined ? {} : { prefer } });
    return `${answer.headers.get('x-total-count')} ${answer.body}`;
  };
  const all = [
    await table('order=id'),
    await table('order=id.desc'),
    await table('order=id', 'count=exact'),
    await table('id=gt.1'),
    await table('id=1'),
  ];
  expect(new Set(all).size).toBe(5);
  expect(all[2]).toMatch(/^2 /);
  expect([await table('order=id'), await table('order=id', 'count=exact')]).toEqual([all[0], all[2]]);
});

test('hooks run before the cache lookup, and no response is public then', async () => {
  const hooked = await createGateway({
    connectionString: gateway.database.connectionString,
    validateParameters: ({ request }) => (request.header('x-bad') === undefined ? undefined : { status: 418 }),
  });
  onTestFinished(() => hooked.close());
  const ask = (headers = {}) => hooked.fetch(new Request('http://x/api/anybody?a=hook', { headers }));
  expect((await ask())!.headers.get('cache-control')).toBe('private, no-cache');
  expect((await ask({ 'x-bad': '1' }))!.status).toBe(418);
});

test('with a connectionProvider nothing is cached, and the start warns', async () => {
  const said: string[] = [];
  const provided = await createGateway({
    connectionString: gateway.database.connectionString,
    connectionProvider: () => null,
    observer: (seen) => void (seen.kind === 'start-warning' && said.push(seen.code)),
  });
  onTestFinished(() => provided.close());
  const ask = async () => (await provided.fetch(new Request('http://x/api/anybody?a=provided')))!.text();
  expect(await ask()).not.toBe(await ask());
  expect(said).toContain('cache-disabled');
});

test('cacheEnabled: false caches nothing', async () => {
  const off = await createGateway({
    connectionString: gateway.database.connectionString,
    cacheEnabled: false,
    routineSources: [functionsSource()],
  });
  onTestFinished(() => off.close());
  const ask = async () => (await off.fetch(new Request('http://x/api/anybody?a=off')))!.text();
  expect(await ask()).not.toBe(await ask());
});

/* The role that a call runs under decides which rows it sees. */

beforeAll(async () => {
  await gateway.database.query(`
    create role ${ada}; create role ${bob};
    create table secret (owner text, body text);
    insert into secret values ('${ada}', 'of ada'), ('${bob}', 'of bob');
    grant select on secret to ${ada}, ${bob};
    alter table secret enable row level security;
    create policy own on secret using (owner = current_user);
    create function secrets() returns setof text language sql stable as $$ select body from secret $$;
    comment on function secrets() is 'HTTP GET
      cached';
  `);
});
afterAll(async () => {
  await gateway.database.query(`drop owned by ${ada}, ${bob}; drop role ${ada}; drop role ${bob};`);
});

test('under row-level security, each role has its own entries', async () => {
  const byRole = await createGateway({
    connectionString: gateway.database.connectionString,
    authentication: { schemes: [scheme], databaseRole: { claim: 'name' } },
  });
  onTestFinished(() => byRole.close());
  const ask = async (user: string): Promise<string> => {
    const response = await byRole.fetch(new Request('http://x/api/secrets', { headers: { 'x-user': user } }));
    return `${await response!.text()} ${response!.headers.get('cache-control')}`;
  };
  for (let n = 0; n < 2; n++) {
    expect([await ask(ada), await ask(bob)]).toEqual(['["of ada"] private, no-cache', '["of bob"] private, no-cache']);
  }
});
