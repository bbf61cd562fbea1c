import { createHmac, generateKeyPairSync, type JsonWebKey, type KeyObject } from 'node:crypto';
import fc from 'fast-check';
import { SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { type Caller, type Claim, Problem } from '../../src/ports/ports.ts';
import { bearerScheme } from '../../src/auth-schemes/bearer.ts';
import { readClaims, createPayload } from '../../src/auth-schemes/jwt-claims.ts';
import { type JwtScheme, jwtScheme, type JwtSchemeOptions } from '../../src/auth-schemes/jwt.ts';
import { openKeyRing } from '../../src/auth-schemes/keys/key-ring.ts';
import { memoryKeyStorage } from '../../src/auth-schemes/keys/key-storage.ts';
import { describeAuthScheme } from '../contracts/auth-scheme.ts';
import { clockAt, requestOf } from './request.ts';
import { codePoint } from '../support/code-point.ts';

const secret = 'a secret of thirty-two bytes or more';
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pemOf = (key: KeyObject): string =>
  key.export({ format: 'pem', type: key.type === 'private' ? 'pkcs8' : 'spki' }).toString();
const jwkOf = (key: KeyObject): JsonWebKey => key.export({ format: 'jwk' });

const ada: readonly Claim[] = [
  ['id', '7'],
  ['name', 'ada'],
];
const pinned = { issuer: 'https://books.example', audience: 'books' } as const;

function make(options: Partial<JwtSchemeOptions> = {}) {
  const clock = clockAt();
  const scheme = jwtScheme({ name: 'jwt', now: clock.now, clockTolerance: 0, ...pinned, ...options });
  return { scheme, clock };
}

const requestWith = (token: string) => requestOf({ headers: { authorization: `Bearer ${token}` } });

async function ask(scheme: JwtScheme, token: string): Promise<Caller | null> {
  return scheme.authenticate(requestWith(token));
}

async function signIn(scheme: JwtScheme, claims = ada): Promise<string> {
  const { body } = await scheme.signIn!(claims, requestOf());
  return (JSON.parse(body!) as { access_token: string }).access_token;
}

/** A token in the form of another issuer; undefined claims are left out. */
async function tokenOf(
  payload: object,
  key: KeyObject | Uint8Array = bytes(secret),
  header: object = {},
): Promise<string> {
  const seconds = clockAt().now() / 1000;
  const whole = { iss: pinned.issuer, aud: pinned.audience, iat: seconds, exp: seconds + 3600, ...payload };
  return new SignJWT(JSON.parse(JSON.stringify(whole)) as Record<string, unknown>)
    .setProtectedHeader({ alg: 'HS256', ...header })
    .sign(key);
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const payloadIn = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Record<string, unknown>;
const headerIn = (token: string): unknown => JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString());

const signingKeys = {
  HS256: { secret },
  RS256: { pem: pemOf(rsa.privateKey) },
  ES256: { jwk: jwkOf(ec.privateKey), id: 'of-2026' },
} as const;

for (const [algorithm, signingKey] of Object.entries(signingKeys)) {
  describeAuthScheme(`jwt, ${algorithm}`, async () => {
    const { scheme, clock } = make({ signingKey, lifetime: 600 });
    return {
      scheme,
      credentials: async (claims) => ({ authorization: `Bearer ${await signIn(scheme, claims)}` }),
      carrying: (text) => ({ authorization: `Bearer ${text}` }),
      carried: ({ authorization }) => authorization!.slice(7),
      lifetime: 600,
      pass: clock.pass,
    };
  });
}

describe('login', () => {
  test('the response is a token with subject, issuer, audience and expiry', async () => {
    const { scheme, clock } = make({ signingKey: signingKeys.ES256, lifetime: 900 });
    const { headers, body } = await scheme.signIn!([...ada, ['roles', 'a'], ['roles', 'b']], requestOf());
    const answer = JSON.parse(body!) as Record<string, string>;
    expect({ headers, ...answer, access_token: headerIn(answer.access_token!) }).toEqual({
      headers: ['content-type', 'application/json', 'cache-control', 'no-store'],
      token_type: 'Bearer',
      access_token: { alg: 'ES256', typ: 'JWT', kid: 'of-2026' },
      expires_in: 900,
    });
    const seconds = clock.now() / 1000;
    expect(payloadIn(answer.access_token!)).toEqual({
      id: '7',
      name: 'ada',
      roles: ['a', 'b'],
      iss: 'https://books.example',
      aud: 'books',
      iat: seconds,
      exp: seconds + 900,
      jti: expect.stringMatching(/^[\w-]{22}$/),
    });
  });

  test('each login begins a new session', async () => {
    const { scheme } = make({ signingKey: { secret } });
    const [one, other] = [await signIn(scheme), await signIn(scheme)];
    expect(payloadIn(one).jti).not.toBe(payloadIn(other).jti);
    expect((await ask(scheme, one))?.session).toBe(payloadIn(one).jti);
  });

  test('a column cannot set a registered claim', async () => {
    const { scheme } = make({ signingKey: { secret } });
    for (const name of ['iss', 'aud', 'exp', 'nbf', 'iat', 'jti']) {
      await expect(scheme.signIn!([[name, '9999999999']], requestOf())).rejects.toThrow(Problem);
    }
  });

  test('a token that exceeds the size of a header is refused before a session begins', async () => {
    const begun: unknown[] = [];
    const sessions = { ...noSessions, begin: async (session: unknown) => void begun.push(session) };
    const { scheme } = make({ signingKey: { secret }, sessions });
    await expect(scheme.signIn!([['x', 'y'.repeat(8000)]], requestOf())).rejects.toMatchObject({ status: 500 });
    expect(begun).toEqual([]);
  });

  test('without a signing key a login fails', () => {
    expect(make({ keys: [{ pem: pemOf(rsa.publicKey) }] }).scheme.signIn).toBe(null);
  });
});

describe('accepted tokens', () => {
  test('each type of key verifies its own tokens', async () => {
    const { scheme } = make({
      keys: [{ secret }, { pem: pemOf(rsa.publicKey) }, { jwk: { ...jwkOf(ec.publicKey), kid: 'e' } as JsonWebKey }],
    });
    const known = [
      await tokenOf({ sub: '1' }),
      await tokenOf({ sub: '2' }, rsa.privateKey, { alg: 'RS256' }),
      await tokenOf({ sub: '3' }, ec.privateKey, { alg: 'ES256', kid: 'e' }),
    ];
    const callers = await Promise.all(known.map((token) => ask(scheme, token)));
    expect(callers.map((caller) => caller?.claims)).toEqual(
      ['1', '2', '3'].map((id) => [
        ['sub', id],
        ['id', id],
      ]),
    );
  });

  test('during a rotation both secrets are accepted', async () => {
    const { scheme } = make({ keys: [{ secret: 'the old secret of at least 32 bytes' }, { secret }] });
    expect(await ask(scheme, await tokenOf({}))).not.toBe(null);
    expect(await ask(scheme, await tokenOf({}, bytes('the old secret of at least 32 bytes')))).not.toBe(null);
    expect(await ask(scheme, await tokenOf({}, bytes('some other secret, also of 32 bytes')))).toBe(null);
  });

  test('a token with an unknown key id is refused', async () => {
    const { scheme } = make({ keys: [{ secret, id: 'a' }] });
    expect(await ask(scheme, await tokenOf({}, bytes(secret), { kid: 'a' }))).not.toBe(null);
    expect(await ask(scheme, await tokenOf({}))).not.toBe(null);
    for (const kid of ['b', '', '__proto__', '../../../dev/null', 'a" or "1"="1']) {
      expect(await ask(scheme, await tokenOf({}, bytes(secret), { kid }))).toBe(null);
    }
  });

  test.each([
    ['another issuer', { iss: 'https://evil.example' }],
    ['no issuer', { iss: undefined }],
    ['an issuer that has ours as its prefix', { iss: `${pinned.issuer}.evil.example` }],
    ['a list of issuers', { iss: [pinned.issuer] }],
    ['another audience', { aud: 'films' }],
    ['other audiences', { aud: ['films', 'music'] }],
    ['no audience', { aud: undefined }],
    ['no exp', { exp: undefined }],
    ['exp as text', { exp: '9999999999' }],
    ['exp in the past', { exp: clockAt().now() / 1000 }],
    ['nbf in the future', { nbf: clockAt().now() / 1000 + 1 }],
    ['a jti that is not text', { jti: 7 }],
    ['a jti that is too long', { jti: 'x'.repeat(257) }],
    ['a user id with a NUL character', { sub: 'a\0' }],
    ['a role with an unpaired surrogate', { roles: ['admin\ud800'] }],
    ['a nested claim with a NUL character', { app: { tenant: 't\0' } }],
    ['a claim whose name has a NUL character', { 'group\0': 'x' }],
    ['a jti with a NUL character', { jti: 'j\0' }],
  ])('%s: the token is invalid', async (_, payload) => {
    const { scheme } = make({ keys: [{ secret }] });
    expect(await ask(scheme, await tokenOf({ sub: 'a' }))).not.toBe(null);
    expect(await ask(scheme, await tokenOf({ sub: 'a', ...payload }))).toBe(null);
  });

  test('a matching audience among several is enough, and null accepts any', async () => {
    const { scheme } = make({ keys: [{ secret }], audience: ['books', 'films'] });
    expect(await ask(scheme, await tokenOf({ aud: ['music', 'films'] }))).not.toBe(null);
    const anyIssuer = make({ keys: [{ secret }], issuer: null, audience: null }).scheme;
    expect(await ask(anyIssuer, await tokenOf({ iss: undefined, aud: 'x' }))).not.toBe(null);
  });

  test('clocks may differ by the tolerance', async () => {
    const { scheme } = make({ keys: [{ secret }], clockTolerance: 30 });
    const seconds = clockAt().now() / 1000;
    expect(await ask(scheme, await tokenOf({ exp: seconds - 29 }))).not.toBe(null);
    expect(await ask(scheme, await tokenOf({ exp: seconds - 30 }))).toBe(null);
    expect(await ask(scheme, await tokenOf({ nbf: seconds + 30 }))).not.toBe(null);
    expect(await ask(scheme, await tokenOf({ nbf: seconds + 31 }))).toBe(null);
  });

  test('the maximum age counts from iat, also for cached tokens', async () => {
    const { scheme, clock } = make({ keys: [{ secret }], maxTokenAge: 60 });
    const token = await tokenOf({});
    expect(await ask(scheme, await tokenOf({ iat: undefined }))).toBe(null);
    expect(await ask(scheme, await tokenOf({ iat: clock.now() / 1000 + 10 }))).toBe(null);
    expect(await ask(scheme, token)).not.toBe(null);
    clock.pass(61);
    expect(await ask(scheme, token)).toBe(null);
  });

  test('a required typ must be present', async () => {
    const { scheme } = make({ keys: [{ secret }], type: 'at+jwt' });
    expect(await ask(scheme, await tokenOf({}, bytes(secret), { typ: 'at+jwt' }))).not.toBe(null);
    expect(await ask(scheme, await tokenOf({}, bytes(secret), { typ: 'JWT' }))).toBe(null);
    expect(await ask(scheme, await tokenOf({}))).toBe(null);
  });

  test('a token without exp is valid only if the option allows it', async () => {
    const { scheme } = make({ keys: [{ secret }], requireExpiry: false });
    expect(await ask(scheme, await tokenOf({ exp: undefined }))).not.toBe(null);
  });
});

describe('forged tokens', () => {
  const payload = () => payloadOfAda();
  const payloadOfAda = () => {
    const seconds = clockAt().now() / 1000;
    return { iss: pinned.issuer, aud: pinned.audience, exp: seconds + 3600, sub: 'ada' };
  };

  test('HS256 with the public key as its secret', async () => {
    const pem = pemOf(rsa.publicKey);
    const { scheme } = make({ keys: [{ pem }] });
    const jwk = JSON.stringify(jwkOf(rsa.publicKey));
    const der = rsa.publicKey.export({ format: 'der', type: 'spki' });
    for (const known of [pem, pem.trim(), pem.replaceAll('\n', '\r\n'), jwk, der]) {
      const text = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(payload())}`;
      const signature = createHmac('sha256', known).update(text).digest('base64url');
      expect(await ask(scheme, `${text}.${signature}`)).toBe(null);
    }
  });

  test('a token without a signature, whatever its alg', async () => {
    const { scheme } = make({ keys: [{ secret }, { pem: pemOf(rsa.publicKey) }] });
    for (const alg of ['none', 'None', 'NONE', 'nOnE', '', 'HS256', 'RS256', null, undefined, 0, ['HS256']]) {
      for (const signature of ['', 'AA', part('')]) {
        expect(await ask(scheme, `${part({ alg })}.${part(payload())}.${signature}`)).toBe(null);
      }
    }
  });

  test('other algorithms, with the right key', async () => {
    const { scheme } = make({ keys: [{ secret: 'x'.repeat(64) }, { pem: pemOf(rsa.publicKey) }] });
    for (const alg of ['HS384', 'HS512'])
      expect(await ask(scheme, await tokenOf({}, bytes('x'.repeat(64)), { alg }))).toBe(null);
    for (const alg of ['RS384', 'RS512', 'PS256'])
      expect(await ask(scheme, await tokenOf({}, rsa.privateKey, { alg }))).toBe(null);
    expect(await ask(scheme, await tokenOf({}, rsa.privateKey, { alg: 'RS256' }))).not.toBe(null);
  });

  test('a key inside the token', async () => {
    const mine = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const { scheme } = make({ keys: [{ jwk: jwkOf(ec.publicKey) }] });
    const header = {
      alg: 'ES256',
      jwk: jwkOf(mine.publicKey),
      jku: 'http://127.0.0.1:1/keys',
      x5u: 'http://127.0.0.1:1/',
    };
    expect(await ask(scheme, await tokenOf({}, mine.privateKey, header))).toBe(null);
  });

  test('an ES256 signature of zeros', async () => {
    const { scheme } = make({ keys: [{ jwk: jwkOf(ec.publicKey) }] });
    const zeros = Buffer.alloc(64).toString('base64url');
    expect(await ask(scheme, `${part({ alg: 'ES256' })}.${part(payload())}.${zeros}`)).toBe(null);
  });

  test('an unknown critical extension', async () => {
    const { scheme } = make({ keys: [{ secret }] });
    const text = `${part({ alg: 'HS256', crit: ['exp'], exp: 1 })}.${part(payload())}`;
    expect(await ask(scheme, `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`)).toBe(null);
  });

  test('a signed header or payload that is not an object', async () => {
    const { scheme } = make({ keys: [{ secret }], issuer: null, audience: null, requireExpiry: false });
    const sign = (text: string): string => `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
    expect(await ask(scheme, sign(`${part({ alg: 'HS256' })}.${part({})}`))).not.toBe(null);
    for (const odd of ['[]', '"x"', '1', 'null', '{', '{"a":1}x', '', '\ud800']) {
      const text = Buffer.from(odd).toString('base64url');
      expect(await ask(scheme, sign(`${part({ alg: 'HS256' })}.${text}`))).toBe(null);
      expect(await ask(scheme, sign(`${text}.${part({})}`))).toBe(null);
    }
  });

  test('a header with more than one token, or none', async () => {
    const { scheme } = make({ keys: [{ secret }] });
    const token = await tokenOf({});
    const headers = [
      `Bearer ${token}, Bearer ${token}`,
      `Bearer`,
      `Bearer ${token}.x`,
      `Basic ${token}`,
      token,
      ` Bearer ${token}`,
    ];
    for (const authorization of headers) {
      expect(await scheme.authenticate(requestOf({ headers: { authorization } }))).toBe(null);
    }
    expect(await scheme.authenticate(requestOf({ headers: { authorization: `bEARER  ${token} ` } }))).not.toBe(null);
  });
});

describe('the claims', () => {
  const claimsIn = (payload: object, paths = {}) => readClaims(payload as Record<string, unknown>, paths, 'id');

  test('text stays text, numbers, booleans and objects become JSON, arrays become a list', () => {
    const payload = {
      s: 'Zoë',
      n: 1.5,
      i: -7,
      t: true,
      a: ['x', 1, null, { b: 1 }, ['c']],
      o: { k: ['v'] },
      z: null,
      e: [],
    };
    expect(claimsIn(payload)).toEqual([
      ['s', 'Zoë'],
      ['n', '1.5', 'json'],
      ['i', '-7', 'json'],
      ['t', 'true', 'json'],
      ['a', 'x'],
      ['a', '1', 'json'],
      ['a', '{"b":1}', 'json'],
      ['a', '["c"]', 'json'],
      ['o', '{"k":["v"]}', 'json'],
    ]);
  });

  test('registered claims are not claims of the caller', () => {
    expect(claimsIn({ iss: 'a', aud: 'b', exp: 1, nbf: 1, iat: 1, jti: 'c', sub: 'd', id: 'e' })).toEqual([
      ['sub', 'd'],
      ['id', 'e'],
    ]);
    expect(claimsIn({ iss: 'a' }, { issuer: 'iss' })).toEqual([['issuer', 'a']]);
  });

  test('`sub` is the user id by default, and stays when it is mapped', () => {
    expect([
      claimsIn({ sub: '7' }),
      claimsIn({ sub: '7', id: '8' }),
      claimsIn({ sub: '7' }, { id: 'sub' }),
      claimsIn({ sub: '7', uid: '8' }, { id: 'uid' }),
      claimsIn({ sub: '7', uid: '8' }, { sub: 'uid' }),
      claimsIn({ sub: '7' }, { id: 'uid' }),
    ]).toEqual([
      [
        ['sub', '7'],
        ['id', '7'],
      ],
      [
        ['sub', '7'],
        ['id', '8'],
      ],
      [
        ['sub', '7'],
        ['id', '7'],
      ],
      [
        ['sub', '7'],
        ['id', '8'],
      ],
      [
        ['sub', '8'],
        ['id', '7'],
      ],
      [['sub', '7']],
    ]);
  });

  test('a number that JavaScript would round makes the token invalid', () => {
    // 9007199254740993 would be rounded to the number of another user.
    expect(claimsIn(JSON.parse('{"id":9007199254740993,"ok":9007199254740991}') as object)).toEqual([
      ['ok', '9007199254740991', 'json'],
    ]);
  });

  test('claim names as paths', () => {
    const payload = {
      sub: '7',
      realm_access: { roles: ['admin', 'staff'], other: 1 },
      'https://x.example/y': 'z',
      resource_access: { 'my.client': { roles: ['r'] } },
      email: 'a@b',
    };
    const paths = {
      id: 'sub',
      roles: 'realm_access.roles',
      tenant: 'https://x.example/y',
      client_roles: ['resource_access', 'my.client', 'roles'],
    };
    expect(claimsIn(payload, paths)).toEqual([
      ['sub', '7'],
      ['email', 'a@b'],
      ['id', '7'],
      ['roles', 'admin'],
      ['roles', 'staff'],
      ['tenant', 'z'],
      ['client_roles', 'r'],
    ]);
  });

  test('a name with a path is read from that path only', () => {
    expect(claimsIn({ id: 'forged', roles: ['forged'] }, { id: 'sub', roles: 'realm_access.roles' })).toEqual([]);
    expect(claimsIn({ a: 'text' }, { b: 'a.length', c: 'constructor.name', d: '__proto__.x' })).toEqual([]);
  });

  test('verification reads the paths that the login writes', () => {
    const name = fc.constantFrom('id', 'roles', 'name', '__proto__', 'constructor', 'x.y', 'toString');
    const claims = fc.uniqueArray(fc.tuple(name, fc.string({ unit: codePoint })), { selector: ([key]) => key });
    const paths = { id: 'sub', roles: 'realm_access.roles' };
    fc.assert(
      fc.property(claims, (given) => {
        const payload = JSON.parse(JSON.stringify(createPayload(given, paths))) as Record<string, unknown>;
        const sorted = (all: readonly Claim[]) => [...all].sort(([one], [other]) => (one < other ? -1 : 1));
        // A lone surrogate has no UTF-8 encoding and stays an escape in JSON.
        const ids = given.filter(([key]) => key === 'id').map(([, id]): Claim => ['sub', id]);
        expect(sorted(readClaims(payload, paths, 'id'))).toEqual(sorted([...given, ...ids]));
      }),
    );
  });

  test('two claims at one path are an error of the routine', () => {
    expect(() =>
      createPayload(
        [
          ['id', '1'],
          ['sub', '2'],
        ],
        { id: 'sub' },
      ),
    ).toThrow(Problem);
    expect(() =>
      createPayload(
        [
          ['realm_access', '1'],
          ['roles', '2'],
        ],
        { roles: 'realm_access.roles' },
      ),
    ).toThrow(Problem);
  });
});

const noSessions = {
  begin: async () => undefined,
  isAlive: () => true,
  end: async () => undefined,
  useRefreshToken: async () => true,
  invalidate: () => undefined,
  invalidateAll: () => undefined,
  warnings: [],
};

describe('revocation', () => {
  test('an ended session invalidates its tokens at once, including cached ones', async () => {
    const over = new Set<string>();
    const sessions = {
      ...noSessions,
      isAlive: async (session: string) => !over.has(session),
      end: async (session: string) => void over.add(session),
    };
    const { scheme } = make({ signingKey: { secret }, sessions });
    const [token, other] = [await signIn(scheme), await signIn(scheme)];
    expect(await ask(scheme, token)).not.toBe(null);
    // Another instance.
    over.add(payloadIn(token).jti as string);
    expect(await ask(scheme, token)).toBe(null);
    expect(await ask(scheme, other)).not.toBe(null);
    await scheme.signOut!(requestWith(other));
    expect([...over]).toEqual([payloadIn(token).jti, payloadIn(other).jti]);
    expect(await ask(scheme, other)).toBe(null);
  });

  test('with a session check a token without a session is invalid', async () => {
    const asked = make({ keys: [{ secret }], sessions: noSessions }).scheme;
    const token = await tokenOf({ sub: 'a' });
    expect(await ask(asked, token)).toBe(null);
    expect((await ask(make({ keys: [{ secret }] }).scheme, token))?.session).toBe(null);
  });

  test('a failed session check fails the request, and ends no session', async () => {
    const sessions = { ...noSessions, isAlive: () => Promise.reject(new Problem('database-unavailable')) };
    const { scheme } = make({ signingKey: { secret }, sessions });
    await expect(ask(scheme, await signIn(scheme))).rejects.toMatchObject({ status: 503 });
  });

  test('a changed version invalidates tokens issued before', async () => {
    let version = '1';
    let questions = 0;
    const current = async (user: string) => {
      questions += 1;
      return user === '7' ? version : null;
    };
    const { scheme, clock } = make({ signingKey: { secret }, versions: { current } });
    const old = await signIn(scheme, [...ada, ['version', '1']]);
    expect(await ask(scheme, old)).not.toBe(null);
    expect(await ask(scheme, old)).not.toBe(null);
    expect(questions).toBe(1);
    version = '2';
    const fresh = await signIn(scheme, [...ada, ['version', '2']]);
    // A new login takes effect at once; cached tokens end after the trust interval.
    expect(await ask(scheme, fresh)).not.toBe(null);
    expect(await ask(scheme, old)).toBe(null);
    clock.pass(5);
    expect(await ask(scheme, old)).toBe(null);
  });

  test('a token without a version or a user, or with two of them, is invalid', async () => {
    const { scheme } = make({ keys: [{ secret }], versions: { current: async () => '1' } });
    expect(await ask(scheme, await tokenOf({ id: '7', version: 1 }))).not.toBe(null);
    for (const payload of [
      { id: '7' },
      { version: '1' },
      { id: '7', version: ['1', '1'] },
      { id: ['7', '8'], version: '1' },
    ]) {
      expect(await ask(scheme, await tokenOf(payload))).toBe(null);
    }
  });
});

describe('beside other schemes', () => {
  test('opaque tokens and JWTs coexist', async () => {
    const clock = clockAt();
    const encryption = await openKeyRing({ storage: memoryKeyStorage(), now: clock.now });
    const opaque = bearerScheme({ name: 'bearer', encryption, now: clock.now });
    const { scheme } = make({ signingKey: { secret } });
    const token = await signIn(scheme);
    const { access_token: other } = JSON.parse((await opaque.signIn!(ada, requestOf())).body!) as Record<
      string,
      string
    >;
    expect(await opaque.authenticate(requestWith(token))).toBe(null);
    expect(await ask(scheme, other!)).toBe(null);
    expect((await opaque.authenticate(requestWith(other!)))?.scheme).toBe('bearer');
    expect((await ask(scheme, token))?.scheme).toBe('jwt');
  });

  test('two issuers, each with its own scheme', async () => {
    const one = make({ name: 'one', keys: [{ secret }], issuer: 'one' }).scheme;
    const two = make({ name: 'two', keys: [{ pem: pemOf(rsa.publicKey) }], issuer: 'two' }).scheme;
    const token = await tokenOf({ iss: 'two' }, rsa.privateKey, { alg: 'RS256' });
    expect([(await ask(one, token))?.scheme, (await ask(two, token))?.scheme]).toEqual([undefined, 'two']);
  });

  test('the challenge tells whether a token was sent', async () => {
    const { scheme } = make({ keys: [{ secret }], realm: 'books' });
    expect(scheme.challenge(requestOf())).toBe('Bearer realm="books"');
    expect(scheme.challenge(requestWith('a.b.c'))).toBe('Bearer realm="books", error="invalid_token"');
  });
});

describe('options at the start', () => {
  /** The message of the TypeError. */
  const refusalOf = (start: () => unknown): string => {
    try {
      start();
    } catch (error) {
      return error instanceof TypeError ? error.message : '';
    }
    return '';
  };

  test('issuer and audience are required in production, even if null', () => {
    const options = { name: 'jwt', keys: [{ secret }] };
    expect(() => jwtScheme(options)).toThrow(/issuer[\s\S]*audience/);
    expect(() => jwtScheme({ ...options, issuer: 'x' })).toThrow(/any audience/);
    expect(jwtScheme({ ...options, issuer: null, audience: null }).warnings).toEqual([]);
    expect(jwtScheme({ ...options, production: false }).warnings.length).toBe(2);
  });

  test.each([
    ['no key', {}],
    ['a secret that is too short', { keys: [{ secret: 'x'.repeat(31) }] }],
    ['a public key as a secret', { keys: [{ secret: pemOf(rsa.publicKey) }] }],
    ['a short JWK', { keys: [{ jwk: { kty: 'oct', k: 'AAAA' } }] }],
    ['an invalid PEM', { keys: [{ pem: secret }] }],
    ['RSA with 1024 bits', { keys: [{ pem: pemOf(generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey) }] }],
    ['another curve', { keys: [{ jwk: jwkOf(generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey) }] }],
    ['Ed25519', { keys: [{ pem: pemOf(generateKeyPairSync('ed25519').publicKey) }] }],
    ['a JWK for another algorithm', { keys: [{ jwk: { ...jwkOf(rsa.publicKey), alg: 'PS256' } }] }],
    ['a JWK for encryption', { keys: [{ jwk: { ...jwkOf(rsa.publicKey), use: 'enc' } }] }],
    ['a public key to sign with', { signingKey: { pem: pemOf(rsa.publicKey) } }],
    ['a lifetime of 0', { signingKey: { secret }, lifetime: 0 }],
    ['keys and a JWKS URL', { keys: [{ secret }], jwks: { url: 'https://keys.example' } }],
    ['a JWKS URL without a scheme', { jwks: { url: 'keys.example' } }],
    ['a password in the JWKS URL', { jwks: { url: 'https://a:b@keys.example' } }],
    ['an unencrypted JWKS URL', { jwks: { url: 'http://keys.example' } }],
  ])('%s is refused, and the message does not reveal the key', (_, options) => {
    const message = refusalOf(() => make(options as Partial<JwtSchemeOptions>));
    expect(message).not.toBe('');
    expect(message).not.toMatch(/MII|a secret of thirty|xxxx/);
  });
});

test('a cached token is not verified again: its caller is returned synchronously', async () => {
  const { scheme } = make({ signingKey: signingKeys.RS256 });
  const request = requestWith(await signIn(scheme));
  const caller = await scheme.authenticate(request);
  expect([caller?.claims, scheme.authenticate(request)]).toEqual([ada, caller]);
});
