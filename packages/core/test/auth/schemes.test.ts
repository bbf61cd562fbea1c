import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { startGateway, useGateway } from '@pgway/testing';
import { decodeJwt, SignJWT } from 'jose';
import Provider from 'oidc-provider';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { cookieOf, hashOfSecret, ownPage, people } from './people.ts';

const login = { body: { user: 'ada', password: 'secret' } };
const basic = (user: string, password: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});
const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
const tokenOf = ({ body }: { readonly body: string }): string =>
  (JSON.parse(body) as { access_token: string }).access_token;

describe('signed tokens of the gateway', () => {
  const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  }) as string;
  const secret = 'a secret of at least 32 bytes, really';
  const own = { issuer: 'https://books.example', audience: 'books' };

  test.each([
    ['HS256', { secret }],
    ['ES256', { pem: key }],
  ])('%s: signed at login, verified with requests, invalid after logout', async (algorithm, signingKey) => {
    const gateway = await startGateway(people, {
      authentication: { jwt: { signingKey, ...own, claims: { id: 'sub', roles: 'access.roles' } } },
    });
    const answer = await gateway.send('POST /api/login', login);
    const token = tokenOf(answer);
    expect([answer.status, answer.type, answer.headers.get('cache-control')]).toEqual([
      200,
      'application/json',
      'no-store',
    ]);
    expect(JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString())).toEqual({
      alg: algorithm,
      typ: 'JWT',
    });
    expect(decodeJwt(token)).toMatchObject({
      iss: own.issuer,
      aud: 'books',
      sub: '7',
      access: { roles: ['admin', 'a b'] },
    });
    const who = await gateway.send('GET /api/who', { headers: bearer(token) });
    expect(JSON.parse(who.body).slice(0, 3)).toEqual(['7', 'ada', ['admin', 'a b']]);
    // Browsers do not send it automatically, so the origin does not matter.
    const foreign = { ...bearer(token), origin: 'https://evil.example' };
    expect((await gateway.send('POST /api/for-admins', { headers: foreign })).status).toBe(200);
    expect((await gateway.send('POST /api/logout', { headers: bearer(token) })).status).toBe(200);
    expect((await gateway.send('POST /api/for-admins', { headers: bearer(token) })).status).toBe(401);
    await gateway.close();
  });

  test('a request with any other token: 401 with a challenge, and never 500', async () => {
    const gateway = await startGateway(people, {
      authentication: { jwt: { signingKey: { secret, id: 'ours' }, ...own } },
    });
    const make = (change: (jwt: SignJWT) => SignJWT, header: object = {}, signed = secret): Promise<string> =>
      change(
        new SignJWT({ id: '7', roles: ['admin'] })
          .setProtectedHeader({ alg: 'HS256', ...header })
          .setIssuer(own.issuer)
          .setAudience(own.audience)
          .setJti('x')
          .setExpirationTime('1h'),
      ).sign(new TextEncoder().encode(signed));
    const good = await make((jwt) => jwt);
    expect((await gateway.send('POST /api/for-admins', { headers: bearer(good) })).status).toBe(200);
    const [head, payload, signature] = good.split('.') as [string, string, string];
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    const bad = [
      await make((jwt) => jwt.setExpirationTime('-1h')),
      await make((jwt) => jwt.setIssuer('https://other.example')),
      await make((jwt) => jwt.setAudience('others')),
      await make((jwt) => jwt.setNotBefore('1h')),
      await make((jwt) => jwt, {}, 'another secret of at least 32 bytes'),
      await make((jwt) => jwt, { kid: 'unknown' }),
      `${none}.${payload}.`,
      `${none}.${payload}.${signature}`,
      `${head}.${payload}.`,
      `${head}.${payload}.${signature.slice(0, -2)}`,
      `${head}.${Buffer.from('{"id":"8"}').toString('base64url')}.${signature}`,
      '..',
      'x'.repeat(9000),
    ];
    for (const token of bad) {
      const answer = await gateway.send('POST /api/for-admins', { headers: bearer(token) });
      expect([token.slice(-20), answer.status, answer.headers.get('www-authenticate')]).toEqual([
        token.slice(-20),
        401,
        expect.stringMatching(/^Bearer realm="pgway"/),
      ]);
    }
    await gateway.close();
  });
});

test('an OpenID provider: its access token is verified with its published keys, and its scopes are roles', async () => {
  for (const level of ['info', 'warn'] as const) vi.spyOn(console, level).mockImplementation(() => undefined);
  onTestFinished(() => void vi.restoreAllMocks());
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const jwk = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' });
  const audience = 'urn:books';
  const provider = new Provider(issuer, {
    jwks: { keys: [{ ...jwk, kid: 'one', alg: 'RS256', use: 'sig' }] },
    clients: [
      {
        client_id: 'program',
        client_secret: 'secret-of-the-program',
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      },
    ],
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({
          scope: 'admin',
          audience,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  });
  const answer = provider.callback();
  const gateway = await startGateway(people, {
    authentication: {
      jwt: {
        issuer,
        audience,
        jwks: { url: `${issuer}/jwks` },
        claims: { id: 'sub', name: 'client_id', roles: 'scope' },
      },
    },
  });
  const response = await fetch(`${issuer}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa('program:secret-of-the-program')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', resource: audience, scope: 'admin' }),
  });
  const token = tokenOf({ body: await response.text() });
  const headers = bearer(token);
  expect((await gateway.send('POST /api/for-admins', { headers })).body).toBe('admin');
  expect(JSON.parse((await gateway.send('GET /api/who', { headers })).body).slice(0, 3)).toEqual([
    'program',
    'program',
    ['admin'],
  ]);
  const [head, payload, signature] = token.split('.') as [string, string, string];
  const forged = Buffer.from(JSON.stringify({ ...decodeJwt(token), scope: 'owner' })).toString('base64url');
  for (const bad of [`${head}.${forged}.${signature}`, `${head}.${payload}.${signature.slice(2)}`]) {
    expect((await gateway.send('POST /api/for-admins', { headers: bearer(bad) })).status).toBe(401);
  }
  await gateway.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

describe('HTTP Basic for the whole gateway', () => {
  const gateway = useGateway(
    `${people} create table added (what text);
    create function add(_what text, _user_name text) returns text language sql as $$ insert into added values (_what) returning _what || ' by ' || _user_name $$;
    comment on function add is 'HTTP
    authorize
    user_parameters';`,
    {
      authentication: { basic: { user: 'ada', hash: hashOfSecret }, cookie: true, realm: 'books' },
      requiresAuthorization: true,
    },
  );

  test('a program authenticates with each request, by POST as well', async () => {
    const body = ['-H', 'content-type: application/json', '-d', '{"what":"a book"}'];
    const call = ['-s', '-u', 'ada:secret', '-w', ' %{http_code}', `${gateway.url}/api/add`];
    const { stdout } = await promisify(execFile)('curl', [...body, ...call]);
    expect(stdout).toBe('a book by ada 200');
  });

  test('a cross-site request of a browser is refused, and so are wrong credentials', async () => {
    const body = { what: 'x' };
    const send = async (headers: Record<string, string>): Promise<number> =>
      (await gateway.send('POST /api/add', { headers, body })).status;
    expect(await send({ ...basic('ada', 'secret'), origin: 'https://evil.example' })).toBe(403);
    expect(await send({ ...basic('ada', 'secret'), 'sec-fetch-site': 'same-site' })).toBe(403);
    expect(await send({ ...basic('ada', 'secret'), ...ownPage })).toBe(200);
    expect(await send(basic('ada', 'wrong'))).toBe(401);
    expect(await send(basic('bob', 'secret'))).toBe(401);
    const anonymous = await gateway.send('POST /api/add', { body });
    expect(anonymous.headers.get('www-authenticate')).toBe(
      'Cookie realm="books", Basic realm="books", charset="UTF-8"',
    );
  });
});

describe('a challenge command', () => {
  const gateway = useGateway(
    `${people}
    create table asked (who text, realm text, path text);
    create function row_with_hash() returns text language sql stable as $$ select 'in' $$;
    comment on function row_with_hash is 'HTTP
    challenge_command = select id, name, roles, hash from person where name = $1 -- and nothing of the password';
    create function writes(_user_name text, _user_roles text[]) returns text language sql stable as $$ select _user_name || _user_roles::text $$;
    comment on function writes is 'HTTP
    user_parameters
    realm = the house
    challenge_command = insert into asked values ($1, $3, $4) returning who as name, array[realm, path] as roles, $2 = ''word'' as status;';
    create function literal() returns text language sql stable as $$ select 'in' $$;
    comment on function literal is 'HTTP
    challenge_command = select ''costs $9'' as note, 1 as id where $2 = ''word''';
    create function broken() returns text language sql stable as $$ select 'in' $$;
    comment on function broken is 'HTTP
    challenge_command = select * from nowhere where x = $1';`,
    { authentication: {} },
  );
  const call = async (line: string, user: string, password: string): Promise<readonly [number, string]> => {
    const { status, body } = await gateway.send(line, { headers: basic(user, password) });
    return [status, status === 200 ? body : ''];
  };

  test('the password is verified against the hash in its row', async () => {
    expect(await call('GET /api/row-with-hash', 'ada', 'secret')).toEqual([200, 'in']);
    expect(await call('GET /api/row-with-hash', 'ada', 'wrong')).toEqual([401, '']);
    expect(await call('GET /api/row-with-hash', 'ada', '')).toEqual([401, '']);
    expect(await call('GET /api/row-with-hash', 'nobody', 'secret')).toEqual([401, '']);
    expect(await call('GET /api/row-with-hash', `' or true --`, 'secret')).toEqual([401, '']);
  });

  test('the command may write, and gets user, password, realm and path', async () => {
    expect(await call('GET /api/writes', 'eve', 'word')).toEqual([200, 'eve{"the house",/api/writes}']);
    expect(await call('GET /api/writes', 'eve', 'other')).toEqual([401, '']);
    expect((await gateway.database.query('select * from asked')).length).toBe(2);
  });

  test('text with a dollar sign stays text; a failing command is a 500 without a caller', async () => {
    expect(await call('GET /api/literal', 'eve', 'word')).toEqual([200, 'in']);
    expect(await call('GET /api/broken', 'eve', 'word')).toEqual([500, '']);
  });
});

describe('HEAD and OPTIONS', () => {
  const gateway = useGateway(
    people +
      `
    create function guarded() returns text language sql stable as $$ select 'secret words' $$;
    comment on function guarded is 'HTTP
    authorize admin';`,
    { authentication: { cookie: true } },
  );

  test('HEAD is guarded like GET; OPTIONS returns the allowed methods only', async () => {
    const head = await gateway.send('HEAD /api/guarded');
    expect([head.status, head.headers.get('content-length')]).not.toContain('12');
    expect(head.status).toBe(401);
    const options = await gateway.send('OPTIONS /api/guarded');
    expect([options.status, options.headers.get('allow'), options.body]).toEqual([204, 'GET, HEAD, OPTIONS', '']);
    const bob = cookieOf(await gateway.send('POST /api/login', { body: { user: 'bob', password: 'secret' } }));
    expect((await gateway.send('HEAD /api/guarded', { headers: { cookie: bob } })).status).toBe(403);
    const ada = cookieOf(await gateway.send('POST /api/login', login));
    const allowed = await gateway.send('HEAD /api/guarded', { headers: { cookie: ada } });
    expect([allowed.status, allowed.headers.get('content-length')]).toEqual([200, '12']);
  });
});

describe('the refresh endpoint, restricted to roles', () => {
  const gateway = useGateway(people, {
    authentication: { cookie: true, bearer: true },
    refreshEndpointEnabled: true,
    refreshRoles: ['ADMIN'],
  });

  test('401, 403, cross-site, 204', async () => {
    const refresh = async (headers: Record<string, string>): Promise<number> =>
      (await gateway.send('POST /api/gateway/refresh', { headers })).status;
    const cookie = cookieOf(await gateway.send('POST /api/login', login));
    const bob = cookieOf(await gateway.send('POST /api/login', { body: { user: 'bob', password: 'secret' } }));
    expect(await refresh({})).toBe(401);
    expect(await refresh({ cookie: bob, ...ownPage })).toBe(403);
    expect(await refresh({ cookie })).toBe(403);
    expect(await refresh({ cookie, origin: 'https://evil.example' })).toBe(403);
    await gateway.database.query(
      `create function fresh() returns int language sql stable as $$ select 1 $$; comment on function fresh is 'HTTP'`,
    );
    expect(await refresh({ cookie, ...ownPage })).toBe(204);
    expect((await gateway.send('GET /api/fresh')).body).toBe('1');
  });
});

test('sessions in a table without caching: a change of the table takes effect with the next request', async () => {
  const gateway = await startGateway(
    `${people} create table session (id text primary key, ended timestamptz, refreshes int not null default 0);`,
    {
      authentication: {
        cookie: true,
        bearer: true,
        sessions: {
          beginCommand: 'insert into session (id) values ($1)',
          checkCommand: 'select ended is null from session where id = $1',
          endCommand: 'update session set ended = now() where id = $1',
          refreshCommand:
            'update session set refreshes = refreshes + 1 where id = $1 and refreshes = $2::int and ended is null returning true',
          cacheSeconds: 0,
        },
      },
    },
  );
  const cookie = cookieOf(await gateway.send('POST /api/login', login));
  const status = async (): Promise<number> =>
    (await gateway.send('POST /api/for-members', { headers: { cookie, ...ownPage } })).status;
  expect(await status()).toBe(200);
  await gateway.database.query('update session set ended = now()');
  expect(await status()).toBe(401);
  await gateway.database.query('update session set ended = null');
  expect(await status()).toBe(200);
  await gateway.database.query('delete from session');
  expect(await status()).toBe(401);
  await gateway.database.query('alter table session rename to sessions');
  // A failed session check does not make the caller anonymous.
  const unknown = await gateway.send('POST /api/for-members', { headers: { cookie, ...ownPage } });
  expect([unknown.status, unknown.headers.get('retry-after')]).toEqual([503, '1']);
  await gateway.close();
});

test('a refresh token is valid once: the second use ends the family', async () => {
  const sql = `create function enter() returns table (id int) language sql as $$ select 1 $$;
    comment on function enter is 'HTTP
    login';
    create function mine() returns int language sql stable as $$ select 1 $$;
    comment on function mine is 'HTTP
    authorize';`;
  const gateway = await startGateway(sql, { authentication: { bearer: true } });
  const first = JSON.parse((await gateway.send('POST /api/enter')).body) as Record<string, string>;
  const refresh = (token: string): ReturnType<typeof gateway.send> =>
    gateway.send('POST /api/auth/refresh', { body: { refresh: token } });
  const renewed = await refresh(first['refresh_token']!);
  const second = JSON.parse(renewed.body) as Record<string, string>;
  expect([renewed.status, renewed.headers.get('cache-control')]).toEqual([200, 'no-store']);
  const status = async (token: string): Promise<number> =>
    (await gateway.send('GET /api/mine', { headers: bearer(token) })).status;
  expect([await status(first['access_token']!), await status(second['access_token']!)]).toEqual([200, 200]);
  // An access token cannot refresh, a refresh token cannot authenticate.
  expect((await refresh(second['access_token']!)).status).toBe(401);
  expect(await status(second['refresh_token']!)).toBe(401);
  expect((await refresh(first['refresh_token']!)).status).toBe(401);
  expect([await status(second['access_token']!), (await refresh(second['refresh_token']!)).status]).toEqual([401, 401]);
  await gateway.close();
});
