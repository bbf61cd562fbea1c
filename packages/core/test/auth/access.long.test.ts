import { createGateway } from '@pgway/core';
import { startGateway, type TestGateway, useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { type OpenStream, openStream } from '../events/support.ts';
import { cookieOf, defaultHashOfSecret, ownPage, people } from './people.ts';

type Send = TestGateway['send'];

const login = { body: { user: 'ada', password: 'secret' } };
const basic = (user: string, password: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});

describe('authorization of endpoints', () => {
  const gateway = useGateway(
    `${people}
    create function for_all() returns int language sql stable as $$ select 1 $$;
    comment on function for_all is 'HTTP
    allow_anonymous';
    create function by_default() returns int language sql stable as $$ select 1 $$;
    comment on function by_default is 'HTTP';
    create function reads_body(_a int) returns int language sql as $$ select _a $$;
    comment on function reads_body is 'HTTP
    authorize owner';`,
    { authentication: { cookie: true, bearer: true }, requiresAuthorization: true },
  );
  const bob = { body: { user: 'bob', password: 'secret' } };

  test('an anonymous request: 401 with a challenge of each scheme; a caller without the role: 403; a caller with it: 200', async () => {
    const anonymous = await gateway.send('POST /api/for-admins');
    expect([anonymous.status, anonymous.headers.get('www-authenticate')]).toEqual([
      401,
      'Cookie realm="pgway", Bearer realm="pgway"',
    ]);
    const other = { cookie: cookieOf(await gateway.send('POST /api/login', bob)), ...ownPage };
    expect((await gateway.send('POST /api/for-admins', { headers: other })).status).toBe(403);
    expect((await gateway.send('POST /api/for-members', { headers: other })).body).toBe('member');
    const admin = { cookie: cookieOf(await gateway.send('POST /api/login', login)), ...ownPage };
    expect((await gateway.send('POST /api/for-admins', { headers: admin })).body).toBe('admin');
  });

  test('every endpoint needs a caller, except the login and those that allow anonymous requests', async () => {
    expect((await gateway.send('GET /api/by-default')).status).toBe(401);
    expect((await gateway.send('GET /api/for-all')).body).toBe('1');
    expect((await gateway.send('POST /api/login', login)).status).toBe(200);
  });

  test('a request is rejected before its body is read', async () => {
    const headers = { 'content-type': 'text/plain' };
    expect((await gateway.send('POST /api/reads-body', { body: '{broken', headers })).status).toBe(401);
  });

  test.each(['pgway=', 'pgway=x', 'pgway=eyJhbGciOiJkaXIifQ..a.b.c', `pgway=${'a'.repeat(5000)}`])(
    'a request with an invalid cookie is anonymous: %s',
    async (cookie) => {
      const answer = await gateway.send('POST /api/for-members', {
        headers: { cookie: cookie.slice(0, 5005), ...ownPage },
      });
      expect(answer.status).toBe(401);
    },
  );

  test('a cookie is not accepted as a token, nor a token as a cookie', async () => {
    const value = cookieOf(await gateway.send('POST /api/login', login)).slice('pgway='.length);
    const headers = { authorization: `Bearer ${value}` };
    const answer = await gateway.send('POST /api/for-members', { headers });
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
      401,
      'Cookie realm="pgway", Bearer realm="pgway", error="invalid_token", error_description="The token is not one of this server or has expired"',
    ]);
  });
});

describe('cross-site requests', () => {
  const gateway = useGateway(people, {
    authentication: { cookie: true, antiforgeryPath: '/api/antiforgery', allowedOrigins: ['https://app.example.org'] },
  });
  const signedIn = async (): Promise<string> => cookieOf(await gateway.send('POST /api/login', login));

  test.each([
    [{ origin: 'https://evil.example' }, 403],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ origin: 'null' }, 403],
    [{}, 403],
    [{ 'sec-fetch-site': 'same-origin' }, 200],
    [{ origin: 'https://app.example.org' }, 200],
  ])('%j: %d', async (headers, status) => {
    const cookie = await signedIn();
    expect((await gateway.send('POST /api/for-members', { headers: { cookie, ...headers } })).status).toBe(status);
  });

  test('the origin of the gateway itself is allowed', async () => {
    const headers = { cookie: await signedIn(), origin: gateway.url };
    expect((await gateway.send('POST /api/for-members', { headers })).status).toBe(200);
  });

  test('read-only endpoints accept cross-site links', async () => {
    const headers = { cookie: await signedIn(), 'sec-fetch-site': 'cross-site' };
    expect((await gateway.send('GET /api/who', { headers })).status).toBe(200);
  });

  test("the antiforgery token of the caller's session is accepted, that of another session is not", async () => {
    const cookie = await signedIn();
    const answer = await gateway.send('GET /api/antiforgery', { headers: { cookie } });
    const { token } = JSON.parse(answer.body) as { token: string };
    expect(answer.headers.getSetCookie()[0]).toMatch(/^XSRF-TOKEN=/);
    const send = async (sent: string): Promise<number> =>
      (await gateway.send('POST /api/for-members', { headers: { cookie: sent, 'x-xsrf-token': token } })).status;
    expect([await send(cookie), await send(await signedIn())]).toEqual([200, 403]);
  });

  test('an anonymous request gets no antiforgery token', async () => {
    expect((await gateway.send('GET /api/antiforgery')).status).toBe(401);
  });
});

describe('HTTP Basic', () => {
  const gateway = useGateway(
    `create function one() returns int language sql stable as $$ select 1 $$;
    comment on function one is 'HTTP
    basic_auth ada ${defaultHashOfSecret}
    realm "The" house';
    create function closed() returns int language sql stable as $$ select 1 $$;
    comment on function closed is 'HTTP
    basic_authentication';
    create function knows(_user text, _password text, _realm text, _path text) returns table (status bool, id int, name text, roles text[]) language sql as
    $$ select _password = 'word', 9, _user || '@' || _realm || _path, array['reader'] where _user <> 'nobody' $$;
    create function asked(_user_name text, _user_roles text[]) returns json language sql stable as $$ select json_build_array(_user_name, _user_roles) $$;
    comment on function asked is 'HTTP GET /asked
    authorize reader
    user_parameters
    challenge_command = select * from knows($1, $2, $3, $4)';
    create function staff() returns int language sql stable as $$ select 1 $$;
    comment on function staff is 'HTTP GET /staff
    authorize staff
    challenge_command = select * from knows($1, $2, $3, $4)';`,
  );

  test.each([
    ['/api/one', {}, 401],
    ['/api/one', { authorization: 'Basic !!!' }, 401],
    ['/api/one', basic('ada', 'wrong'), 401],
    ['/api/one', basic('eve', 'secret'), 401],
    ['/api/one', basic('ada', 'secret'), 200],
    ['/api/closed', basic('ada', 'secret'), 401],
    ['/asked', basic('bob', 'x'), 401],
    ['/asked', basic('nobody', 'word'), 401],
    ['/staff', basic('bob', 'word'), 403],
  ])('GET %s with %j: %d', async (path, headers, status) => {
    expect((await gateway.send(`GET ${path}`, { headers })).status).toBe(status);
  });

  test('the challenge names the realm', async () => {
    const answer = await gateway.send('GET /api/one');
    expect(answer.headers.get('www-authenticate')).toBe('Basic realm="\\"The\\" house", charset="UTF-8"');
  });

  test('the challenge command authenticates the caller of this request only', async () => {
    const answer = await gateway.send('GET /asked', { headers: basic('bob', 'word') });
    expect([answer.body, answer.headers.getSetCookie()]).toEqual(['["bob@pgway/asked", ["reader"]]', []]);
  });

  test('credentials over an unencrypted remote connection are refused', async () => {
    const headers = { ...basic('ada', 'secret'), 'x-forwarded-for': '203.0.113.9' };
    expect((await gateway.send('GET /api/one', { headers })).status).toBe(403);
  });
});

describe('behind a reverse proxy', () => {
  test('the client address comes from a trusted proxy; headers of other peers are ignored', async () => {
    const headers = { 'x-forwarded-for': '198.51.100.7, 203.0.113.9', 'x-forwarded-proto': 'https' };
    const address = async (trustedProxies: readonly string[]): Promise<unknown> => {
      const gateway = await startGateway(people, { authentication: { trustedProxies } });
      const { body } = await gateway.send('GET /api/who', { headers });
      await gateway.close();
      return (JSON.parse(body) as unknown[])[4];
    };
    expect(await address([])).toBe('127.0.0.1');
    expect(await address(['loopback'])).toBe('203.0.113.9');
    expect(await address(['loopback', '203.0.113.0/24'])).toBe('198.51.100.7');
  });

  test('the cookie is Secure if the client connected by TLS', async () => {
    const gateway = await startGateway(people, { authentication: { cookie: true, trustedProxies: ['loopback'] } });
    const answer = await gateway.send('POST /api/login', {
      ...login,
      headers: { 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.9' },
    });
    expect(answer.headers.getSetCookie()[0]).toContain('; Secure');
    await gateway.close();
  });

  test('the cookie is Secure if the public origin is https, whatever the connection', async () => {
    const attributes = async (publicOrigin: string): Promise<unknown> => {
      const gateway = await startGateway(people, {
        authentication: {
          cookie: true,
          externalSignIn: { publicOrigin, routes: () => [] },
        },
      });
      const { headers } = await gateway.send('POST /api/login', login);
      await gateway.close();
      return headers.getSetCookie()[0]!.includes('; Secure');
    };
    expect([await attributes('https://app.example.org'), await attributes('http://localhost:8080')]).toEqual([
      true,
      false,
    ]);
  });

  test('an invalid proxy address stops the start', async () => {
    const gateway = await startGateway(people);
    await expect(
      createGateway({
        connectionString: gateway.database.connectionString,
        authentication: { trustedProxies: ['the proxy'] },
      }),
    ).rejects.toThrow(/trustedProxies: .*the proxy/);
    await gateway.close();
  });
});

describe('sessions shared by all instances', () => {
  const sessions = {
    beginCommand: `insert into session (id, user_id, user_name, scheme, ip, user_agent, expires) values ($1, $2, $3, $4, $5, $6, $7::timestamptz)`,
    checkCommand: `select ended is null and expires > now() from session where id = $1`,
    endCommand: `update session set ended = now() where id = $1 and ended is null`,
    refreshCommand: `update session set refreshes = refreshes + 1 where id = $1 and refreshes = $2::int and ended is null returning true`,
    channel: 'session_ended',
    cacheSeconds: 3600,
  };
  const sql = `${people}
    create table session (id text primary key, user_id text, user_name text, scheme text, ip text, user_agent text,
      expires timestamptz, ended timestamptz, refreshes int not null default 0);
    create function tell() returns trigger language plpgsql as $$ begin perform pg_notify('session_ended', new.id); return null; end $$;
    create trigger tell after update of ended on session for each row execute function tell();`;

  const dataProtection = {
    readCommand: 'select text from gateway_key',
    writeCommand: 'insert into gateway_key (id, text) values ($1, $2) on conflict (id) do nothing',
    secret: 'a secret of sixteen or more',
  };

  test('only a scheme with refresh tokens warns that their reuse is detected by each instance alone', async () => {
    const { refreshCommand: _, ...without } = sessions;
    const warnings = async (scheme: 'cookie' | 'bearer'): Promise<readonly string[]> => {
      const gateway = await startGateway(sql, { authentication: { [scheme]: true, sessions: without } });
      const told = gateway.observations.flatMap((one) => (one.kind === 'start-warning' ? [one.message] : []));
      await gateway.close();
      return told.filter((message) => message.includes('refresh token'));
    };
    expect([await warnings('cookie'), await warnings('bearer')]).toEqual([
      [],
      [expect.stringContaining('set the command that counts the refreshes')],
    ]);
  });

  test.each([
    ['cookie', async (send: Send) => ({ cookie: cookieOf(await send('POST /api/login', login)), ...ownPage })],
    [
      'bearer',
      async (send: Send) => {
        const { body } = await send('POST /api/login', login);
        return { authorization: `Bearer ${(JSON.parse(body) as { access_token: string }).access_token}` };
      },
    ],
  ] as const)('%s: a logout on one instance ends the session on the other', async (scheme, signIn) => {
    const options = { authentication: { [scheme]: true, sessions, dataProtection } };
    const here = await startGateway(
      `${sql} create table gateway_key (id text primary key, text text not null);`,
      options,
    );
    const there = await startGateway('', { ...options, connectionString: here.database.connectionString });
    const headers = await signIn(here.send);
    expect((await there.send('POST /api/for-members', { headers })).status).toBe(200);
    expect(await here.database.query('select user_id, user_name, scheme, ip from session')).toEqual([
      { user_id: '7', user_name: 'ada', scheme, ip: '127.0.0.1' },
    ]);
    expect((await here.send('POST /api/logout', { headers })).status).toBe(200);
    expect((await here.send('POST /api/for-members', { headers })).status).toBe(401);
    // The other instance trusts its cached answer for an hour, unless the notification arrives.
    await expect.poll(async () => (await there.send('POST /api/for-members', { headers })).status).toBe(401);
    await there.close();
    await here.close();
  });

  test('the end of a session in the database ends its streams on every instance', async () => {
    const options = {
      authentication: { cookie: true, sessions, dataProtection },
      // No heartbeat checks the session in this test.
      events: { heartbeat: 3600 },
    };
    const here = await startGateway(
      `${sql} create table gateway_key (id text primary key, text text not null);
      create function news() returns void language plpgsql as $$ begin raise info 'news'; end $$;
      comment on function news is 'HTTP POST
authorize
info_path
info_scope authorize';`,
      options,
    );
    const there = await startGateway('', { ...options, connectionString: here.database.connectionString });
    const signIn = async (): Promise<{ readonly cookie: string }> => ({
      cookie: cookieOf(await here.send('POST /api/login', login)),
    });
    const ended = await signIn();
    const [{ id } = {}] = await here.database.query('select id from session');
    const other = await signIn();
    const open = async ({ url }: { readonly url: string }, headers: { readonly cookie: string }): Promise<OpenStream> =>
      openStream(url, '/api/news/info', headers);
    const streams = [await open(here, ended), await open(there, ended)];
    const kept = await open(there, other);
    await here.database.query('update session set ended = now() where id = $1', [id]);
    await Promise.all(streams.map((stream) => stream.over()));
    expect((await open(there, ended)).status).toBe(401);
    expect(kept.closed).toBe(false);
    await there.close();
    await here.close();
  });

  test('an interrupted LISTEN connection invalidates the cached sessions', async () => {
    const gateway = await startGateway(
      `${sql} alter table session disable trigger tell; create table gateway_key (id text primary key, text text not null);`,
      { authentication: { cookie: true, sessions, dataProtection } },
    );
    const { database, send } = gateway;
    const headers = { cookie: cookieOf(await send('POST /api/login', login)), ...ownPage };
    const status = async (): Promise<number> => (await send('POST /api/for-members', { headers })).status;
    expect(await status()).toBe(200);
    await database.query('update session set ended = now()');
    // The instance missed the notification, and its trust lasts an hour.
    expect(await status()).toBe(200);
    await database.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where query ilike 'listen%' and datname = current_database()`,
    );
    await expect.poll(status).toBe(401);
    await gateway.close();
  });
});
