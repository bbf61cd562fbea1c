import { generateKeyPairSync } from 'node:crypto';
import { startGateway, useGateway } from '@pgway/testing';
import { SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';

const secret = 'a secret of at least 32 bytes, really';
const own = { issuer: 'https://books.example', audience: 'books' };
const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

/** A valid token with one claim changed; undefined claims are left out. */
function tokenOf(change: object = {}, header: object = {}, signed = secret): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const { issuer: iss, audience: aud } = own;
  const payload = { id: '7', name: 'ada', db_role: 'pg_monitor', iss, aud, iat: now, exp: now + 3600, ...change };
  return new SignJWT(JSON.parse(JSON.stringify(payload)) as Record<string, unknown>)
    .setProtectedHeader({ alg: 'HS256', ...header })
    .sign(new TextEncoder().encode(signed));
}

const refusedTokens: readonly (readonly [string, string, () => Promise<string>])[] = [
  ['expired', 'The token has expired', () => tokenOf({ exp: 1 })],
  ['without an expiry', 'The token has no expiry', () => tokenOf({ exp: undefined })],
  ['not valid yet', 'The token is not valid yet', () => tokenOf({ nbf: Date.now() })],
  ['for another audience', 'The token is for another audience', () => tokenOf({ aud: 'others' })],
  ['of another issuer', 'The token is from another issuer', () => tokenOf({ iss: 'https://other.example' })],
  [
    'signed with another secret',
    'The signature of the token is not valid',
    () => tokenOf({}, {}, 'another secret of at least 32 bytes'),
  ],
  ['with an unknown key', 'The key of the token is not known', () => tokenOf({}, { kid: 'unknown' })],
  ['truncated', 'A token has 3 parts, and not 1', async () => (await tokenOf()).slice(0, 10)],
  ['not a JWT', 'A token has 3 parts, and not 1', async () => 'nonsense'],
  ['of two parts', 'A token has 3 parts, and not 2', async () => 'a.b'],
  ['with an expiry that is a text', 'The claim exp is not a number', () => tokenOf({ exp: 'soon' })],
  ['with a start that is a text', 'The claim nbf is not a number', () => tokenOf({ nbf: 'soon' })],
  ['issued at a text', 'The claim iat is not a number', () => tokenOf({ iat: 'soon' })],
  ['too long', 'The token is malformed', async () => `a.b.${'c'.repeat(9000)}`],
];

describe('an invalid JWT', () => {
  const lines: (readonly [object, string])[] = [];
  const log = (fields: object, message: string): void => void lines.push([fields, message]);
  const ignored = (): void => undefined;
  const gateway = useGateway(
    `create function who(_user_name text default 'anonymous') returns text language sql stable as $$ select _user_name || ' as ' || current_user $$;
    comment on function who is 'HTTP
    user_parameters';
    create function login(_name text) returns table (name text) language sql as $$ select _name $$;
    comment on function login is 'HTTP
    login';`,
    {
      authentication: {
        cookie: true,
        jwt: { keys: [{ secret, id: 'ours' }], ...own },
        databaseRole: { claim: 'db_role', anonymous: 'pg_read_all_stats' },
      },
      logger: { debug: log, info: ignored, warn: ignored, error: ignored },
    },
  );

  test('without a token the caller is anonymous, with a valid one it is authenticated', async () => {
    expect((await gateway.send('GET /api/who')).body).toBe('anonymous as pg_read_all_stats');
    const headers = bearer(await tokenOf());
    expect((await gateway.send('GET /api/who', { headers })).body).toBe('ada as pg_monitor');
  });

  test.each(refusedTokens)(
    '%s: 401 regardless of databaseRole.anonymous, with the reason: %s',
    async (_, reason, make) => {
      const token = await make();
      lines.length = 0;
      const answer = await gateway.send('GET /api/who', {
        headers: { ...bearer(token), 'x-request-id': 'the-request' },
      });
      expect([answer.status, answer.headers.get('www-authenticate'), JSON.parse(answer.body)]).toEqual([
        401,
        `Cookie realm="pgway", Bearer realm="pgway", error="invalid_token", error_description="${reason}"`,
        {
          type: 'urn:pgway:problem:unauthenticated',
          title: 'The credentials are refused',
          status: 401,
          detail: `${reason}.`,
        },
      ]);
      expect(lines).toContainEqual([
        { name: 'Gateway', method: 'GET', requestId: 'the-request', scheme: 'jwt', reason },
        'token refused',
      ]);
      expect(JSON.stringify(lines)).not.toContain(token);
    },
  );

  test('an invalid token does not prevent a new login', async () => {
    const headers = bearer(await tokenOf({ exp: 1 }));
    const answer = await gateway.send('POST /api/login', { headers, body: { name: 'ada' } });
    expect([answer.status, answer.headers.getSetCookie().length]).toEqual([200, 1]);
  });

  test('another scheme may authenticate the same request', async () => {
    const signedIn = await gateway.send('POST /api/login', { body: { name: 'bob' } });
    const cookie = signedIn.headers.getSetCookie()[0]!.split(';', 1)[0]!;
    const answer = await gateway.send('GET /api/who', { headers: { ...bearer('nonsense'), cookie } });
    expect([answer.status, answer.body]).toEqual([200, 'bob as pg_read_all_stats']);
  });
});

test('an invalid opaque token: 401, with whether its session has ended', async () => {
  const gateway = await startGateway(
    `create function login() returns table (name text) language sql as $$ select 'ada' $$;
    comment on function login is 'HTTP
    login';
    create function logout() returns void language sql as $$ $$;
    comment on function logout is 'HTTP
    logout';
    create function who(_user_name text default 'anonymous') returns text language sql stable as $$ select _user_name $$;
    comment on function who is 'HTTP
    user_parameters';`,
    { authentication: { bearer: true } },
  );
  const { body } = await gateway.send('POST /api/login');
  const { access_token: token } = JSON.parse(body) as Record<string, string>;
  const who = async (sent: string): Promise<unknown> => {
    const answer = await gateway.send('GET /api/who', { headers: bearer(sent) });
    return [answer.status, answer.status === 200 ? answer.body : answer.headers.get('www-authenticate')];
  };
  const refused = (reason: string): unknown => [
    401,
    `Bearer realm="pgway", error="invalid_token", error_description="${reason}"`,
  ];
  expect(await who(token!)).toEqual([200, 'ada']);
  expect(await who(`${token!}x`)).toEqual(refused('The token is not one of this server or has expired'));
  expect(await who('spaces in it')).toEqual(refused('The token is malformed'));
  await gateway.send('POST /api/logout', { headers: bearer(token!) });
  expect(await who(token!)).toEqual(refused('The session of the token has ended'));
  await gateway.close();
});

test('a token that another program has signed with the secret of the login: 401', async () => {
  const gateway = await startGateway(
    `create function who() returns text language sql stable as $$ select 'me' $$;
    comment on function who is 'HTTP
    authorize';`,
    { authentication: { jwt: { signingKey: { secret }, ...own } } },
  );
  const answer = await gateway.send('GET /api/who', { headers: bearer(await tokenOf()) });
  expect([answer.status, JSON.parse(answer.body)]).toEqual([
    401,
    {
      type: 'urn:pgway:problem:unauthenticated',
      title: 'The credentials are refused',
      status: 401,
      detail: 'The token has no session in jti, as those of the login endpoint have.',
    },
  ]);
  await gateway.close();
});

test('numbers, booleans and objects of a token keep their types in the claims; text stays text', async () => {
  const gateway = await startGateway(
    `create function claims(_user_claims json) returns json language sql stable as
    $$ select json_build_array(_user_claims, current_setting('request.user_claims')::json) $$;
    comment on function claims is 'HTTP
    user_parameters
    user_context';`,
    { authentication: { jwt: { keys: [{ secret }], ...own }, userClaimsContextKey: 'request.user_claims' } },
  );
  const claims = {
    id: '7',
    level: 7,
    rate: -1.5,
    verified: true,
    address: { city: 'Zürich', zip: 8001, tags: ['a', 1] },
    numbers: [1, '1', { one: 1 }],
    roles: ['admin'],
  };
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer(own.issuer)
    .setAudience(own.audience)
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(secret));
  const answer = await gateway.send('GET /api/claims', { headers: bearer(token) });
  expect([answer.status, JSON.parse(answer.body)]).toEqual([200, [claims, claims]]);
  await gateway.close();
});

describe('a role claim that the claims option renames', () => {
  const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({
    type: 'spki',
    format: 'pem',
  }) as string;
  const start = (claim: string, claims: Record<string, string | readonly string[]>) =>
    startGateway('', { authentication: { databaseRole: { claim }, jwt: { keys: [{ pem: key }], ...own, claims } } });

  test.each([
    ['db_role', { role: 'db_role' }, 'role'],
    ['realm_access', { roles: 'realm_access.roles' }, 'roles'],
    ['https://books.example/role', { role: 'https://books.example/role' }, 'role'],
    ['app', { role: ['app', 'role'] }, 'role'],
  ])('%s in %j stops the start', async (claim, claims, name) => {
    await expect(start(claim, claims as Record<string, string>)).rejects.toThrow(
      `authentication.databaseRole.claim: the scheme "jwt" has no claim "${claim}", because its option claims makes "${name}" of it: set it to "${name}", or add "${claim}" to claims`,
    );
  });

  test.each([
    ['role', { role: 'db_role' }],
    ['db_role', { role: 'db_role', db_role: 'db_role' }],
    ['db_role', { id: 'sub' }],
  ])('%s in %j is accepted', async (claim, claims) => {
    const gateway = await start(claim, claims as Record<string, string>);
    expect(gateway.gateway.endpoints).toEqual([]);
    await gateway.close();
  });
});
