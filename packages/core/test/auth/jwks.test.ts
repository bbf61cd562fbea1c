import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignJWT } from 'jose';
import Provider from 'oidc-provider';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Caller } from '../../src/ports/ports.ts';
import type { JwksOptions } from '../../src/auth-schemes/options.ts';
import { type JwtScheme, jwtScheme, type JwtSchemeOptions } from '../../src/auth-schemes/jwt.ts';
import { requestOf, type TestClock } from './request.ts';

interface IssuerKey {
  readonly kid: string;
  readonly alg: 'RS256' | 'ES256';
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

function issuerKey(kid: string, alg: IssuerKey['alg']): IssuerKey {
  const pair =
    alg === 'RS256'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { kid, alg, ...pair };
}

const first = issuerKey('first', 'RS256');
const second = issuerKey('second', 'RS256');
const elliptic = issuerKey('elliptic', 'ES256');
const audience = 'urn:books';

/** The handler behind the JWKS address: a provider, or a failure. */
let answer: RequestListener;
let server: Server;
let base: string;
/** The number of requests for the keys. */
let asked = 0;

beforeAll(async () => {
  // The provider prints a warning about its test setup at every start.
  for (const level of ['info', 'warn'] as const) vi.spyOn(console, level).mockImplementation(() => undefined);
  server = createServer((request, response) => {
    if (request.url === '/jwks') asked += 1;
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  vi.restoreAllMocks();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
afterEach(() => void vi.useRealTimers());
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  asked = 0;
  serve([first, elliptic]);
});

/** Starts an OpenID provider with these keys and replaces the previous one. It signs with the first key of each type. */
function serve(keys: readonly IssuerKey[]): void {
  const provider = new Provider(base, {
    jwks: {
      keys: keys.map(({ kid, alg, privateKey }) => ({ ...privateKey.export({ format: 'jwk' }), kid, alg, use: 'sig' })),
    },
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
        getResourceServerInfo: (_, resource) => ({
          scope: 'read write',
          audience: resource,
          accessTokenFormat: 'jwt',
          accessTokenTTL: 600,
          jwt: { sign: { alg: resource.endsWith(':elliptic') ? 'ES256' : 'RS256' } },
        }),
      },
    },
    extraTokenClaims: () => ({ realm_access: { roles: ['staff', 'admin'] }, active: true }),
  });
  answer = (request, response) => void provider.callback()(request, response);
}

/** A token of the provider, by the client credentials grant. */
async function grant(resource: string = audience): Promise<string> {
  const response = await fetch(`${base}/token`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${btoa('program:secret-of-the-program')}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'read', resource }),
  });
  const { access_token: token } = (await response.json()) as { access_token: string };
  expect([response.status, token.split('.').length]).toEqual([200, 3]);
  return token;
}

interface Setup {
  readonly scheme: JwtScheme;
  readonly clock: TestClock;
  readonly reports: readonly string[];
}

function make(options: Partial<JwtSchemeOptions> = {}, jwks: Partial<JwksOptions> = {}): Setup {
  // The provider and jose read the system clock.
  const clock = { now: Date.now, pass: (seconds: number) => void vi.setSystemTime(Date.now() + seconds * 1000) };
  const reports: string[] = [];
  const scheme = jwtScheme({
    name: 'jwt',
    issuer: base,
    audience,
    jwks: { url: `${base}/jwks`, ...jwks },
    report: ({ message }) => void reports.push(message),
    now: clock.now,
    ...options,
  });
  return { scheme, clock, reports };
}

async function ask(scheme: JwtScheme, token: string): Promise<Caller | null> {
  return scheme.authenticate(requestOf({ headers: { authorization: `Bearer ${token}` } }));
}

/** A token in the form of the provider, signed with any key. */
async function forge(key: IssuerKey, payload: object = {}, header: object = {}): Promise<string> {
  const seconds = Math.floor(Date.now() / 1000);
  return new SignJWT({ iss: base, aud: audience, exp: seconds + 600, sub: 'program', ...payload })
    .setProtectedHeader({ alg: key.alg, kid: key.kid, ...header })
    .sign(key.privateKey);
}

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('tokens of an OpenID provider', () => {
  test('a token authenticates its caller, with RSA and with elliptic curves', async () => {
    const { scheme, reports } = make({
      type: 'at+jwt',
      claims: { id: 'sub', roles: 'realm_access.roles' },
      audience: [audience, `${audience}:elliptic`],
    });
    const claims = [
      'active true json',
      'client_id program',
      'id program',
      'roles admin',
      'roles staff',
      'scope read',
      'sub program',
    ];
    for (const resource of [audience, `${audience}:elliptic`]) {
      const caller = await ask(scheme, await grant(resource));
      expect(caller).toMatchObject({ scheme: 'jwt', sentByBrowser: false });
      expect(caller!.claims.map((claim) => claim.join(' ')).toSorted()).toEqual(claims);
      expect(caller!.session).toMatch(/^[\w-]{20,}$/);
    }
    expect([asked, reports]).toEqual([1, []]);
  });

  test('a token of another audience or issuer, or an expired token, is invalid', async () => {
    const { scheme, clock } = make();
    expect(await ask(scheme, await grant('urn:films'))).toBe(null);
    expect(await ask(make({ issuer: 'https://other.example' }).scheme, await grant())).toBe(null);
    const [seen, unseen] = [await grant(), await grant()];
    expect(await ask(scheme, seen)).not.toBe(null);
    clock.pass(631);
    expect([await ask(scheme, seen), await ask(scheme, unseen)]).toEqual([null, null]);
  });

  test('a modified token is invalid', async () => {
    const { scheme } = make();
    const token = await grant();
    const [header, payload, signature] = token.split('.') as [string, string, string];
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
    const pem = first.publicKey.export({ format: 'pem', type: 'spki' });
    const hmac = `${part({ alg: 'HS256', kid: 'first', typ: 'at+jwt' })}.${payload}`;
    const forged = [
      `${header}.${part({ ...claims, sub: 'admin' })}.${signature}`,
      `${header}.${payload}.${signature.slice(0, -4)}AAAA`,
      `${header}.${payload}.`,
      `${part({ alg: 'none', typ: 'at+jwt' })}.${payload}.${signature}`,
      `${part({ alg: 'none', typ: 'at+jwt' })}.${payload}.`,
      `${hmac}.${createHmac('sha256', pem).update(hmac).digest('base64url')}`,
      `${part({ alg: 'ES256', kid: 'first' })}.${payload}.${signature}`,
      await forge({ ...issuerKey('first', 'RS256') }),
      await forge({ ...issuerKey('elliptic', 'ES256') }),
    ];
    expect(await Promise.all(forged.map((text) => ask(scheme, text)))).toEqual(forged.map(() => null));
    expect(await ask(scheme, token)).not.toBe(null);
  });

  test('only the configured algorithm is accepted', async () => {
    const { scheme } = make({ audience: [audience, `${audience}:elliptic`] }, { algorithms: ['RS256'] });
    expect(await ask(scheme, await grant())).not.toBe(null);
    expect(await ask(scheme, await grant(`${audience}:elliptic`))).toBe(null);
  });

  test('a token without a key id is valid if one of the keys verifies it', async () => {
    serve([first, second]);
    const { scheme } = make();
    expect(await ask(scheme, await forge(second, {}, { kid: undefined }))).not.toBe(null);
    expect(await ask(scheme, await forge(issuerKey('x', 'RS256'), {}, { kid: undefined }))).toBe(null);
  });
});

describe('key rotation of the provider', () => {
  test('a new key is valid at once, the old key as long as it is published', async () => {
    const { scheme, clock } = make();
    const old = await grant();
    expect(await ask(scheme, old)).not.toBe(null);
    clock.pass(31);
    serve([second, first]);
    const fresh = await grant();
    expect([await ask(scheme, fresh), await ask(scheme, await forge(first))]).not.toContain(null);
    expect(asked).toBe(2);
  });

  test('a removed key is invalid after the maximum age', async () => {
    const { scheme, clock } = make({}, { cacheMaxAge: 100 });
    const exp = Math.floor(Date.now() / 1000) + 86_400;
    const seen = await forge(first, { exp });
    expect(await ask(scheme, seen)).not.toBe(null);
    serve([second]);
    clock.pass(99);
    // The keys are reloaded in the background before they are too old.
    expect(await ask(scheme, await forge(first, { exp, n: 1 }))).not.toBe(null);
    await expect.poll(() => asked).toBe(2);
    let number = 2;
    await expect.poll(async () => ask(scheme, await forge(first, { exp, n: (number += 1) }))).toBe(null);
    clock.pass(600);
    expect(await ask(scheme, seen)).toBe(null);
  });

  test('unknown key ids cause one request per pause, however many they are', async () => {
    const { scheme, clock } = make();
    const flood = async (from: number): Promise<readonly (Caller | null)[]> => {
      const tokens = Array.from({ length: 100 }, (_, index) => forge({ ...elliptic, kid: `unknown ${from + index}` }));
      return Promise.all((await Promise.all(tokens)).map((token) => ask(scheme, token)));
    };
    await ask(scheme, await grant());
    expect((await flood(0)).filter((caller) => caller !== null)).toEqual([]);
    expect(asked).toBe(1);
    clock.pass(30);
    await flood(100);
    expect(asked).toBe(2);
  });

  test('tokens of other issuers and algorithms cause no request', async () => {
    const { scheme } = make();
    await ask(scheme, await forge(first, { iss: 'https://other.example' }));
    await ask(scheme, `${part({ alg: 'HS256', kid: 'x' })}.${part({ iss: base })}.AAAA`);
    await ask(scheme, 'not.a.token');
    expect(asked).toBe(0);
  });

  test('a thousand concurrent callers at the start share one request', async () => {
    const { scheme } = make();
    const token = await grant();
    const callers = await Promise.all(Array.from({ length: 1000 }, () => ask(scheme, token)));
    expect([callers.filter((caller) => caller === null).length, asked]).toEqual([0, 1]);
  });
});

describe('unavailable keys', () => {
  const broken: readonly (readonly [string, RequestListener, RegExp])[] = [
    ['status 500', (_, response) => response.writeHead(500).end(), /status 500/],
    ['a redirect', (_, response) => response.writeHead(302, { location: `${base}/elsewhere` }).end(), /status 302/],
    ['invalid JSON', (_, response) => response.end('<html>'), /JSON/],
    ['no keys', (_, response) => response.end('{"keys":7}'), /malformed/],
    ['an endless response', (_, response) => endless(response), /more than 262144 bytes/],
    ['a broken connection', (request) => request.socket.destroy(), /./],
    ['no response', () => undefined, /timed out|timeout/i],
    ['an incomplete response', (_, response) => response.write('{"keys":'), /timed out|timeout|aborted/i],
  ];

  function endless(response: Parameters<RequestListener>[1]): void {
    const more = (): void => {
      while (!response.destroyed && response.write(' '.repeat(65_536)));
    };
    response.on('drain', more);
    more();
  }

  test.each(broken)('%s: the token is refused in time, and the host gets the reason', async (_, listener, reason) => {
    const { scheme, reports } = make({}, { timeout: 0.5 });
    const token = await grant();
    answer = listener;
    const callers = await Promise.all(Array.from({ length: 20 }, () => ask(scheme, token)));
    expect(callers).toEqual(callers.map(() => null));
    expect([asked, reports.length]).toEqual([1, 1]);
    expect(reports[0]).toMatch(reason);
  });

  test('an invalid key does not affect the others', async () => {
    const { scheme, clock, reports } = make();
    const publicKeys = [first, elliptic].map(({ publicKey, kid, alg }) => ({
      ...publicKey.export({ format: 'jwk' }),
      kid,
      alg,
    }));
    const keys = [...publicKeys, { ...second.privateKey.export({ format: 'jwk' }), kid: 'second', alg: 'RS256' }];
    answer = (_, response) => response.end(JSON.stringify({ keys: keys.slice(1) }));
    const token = await forge(second);
    expect([await ask(scheme, token), await ask(scheme, token), await ask(scheme, await forge(elliptic))]).toEqual([
      null,
      null,
      expect.objectContaining({ scheme: 'jwt' }),
    ]);
    answer = (_, response) => response.end(JSON.stringify({ keys }));
    clock.pass(30);
    expect([await ask(scheme, token), reports]).toEqual([null, []]);
    expect(await ask(scheme, await forge(first))).not.toBe(null);
  });

  test('a port without a listener', async () => {
    const { scheme, reports } = make({}, { url: 'http://127.0.0.1:1/jwks' });
    expect(await ask(scheme, await grant())).toBe(null);
    expect(reports.length).toBe(1);
  });

  test('the address is retried after five seconds', async () => {
    const { scheme, clock, reports } = make();
    const token = await grant();
    answer = (_, response) => response.writeHead(503).end();
    for (let count = 0; count < 10; count += 1) expect(await ask(scheme, token)).toBe(null);
    expect([asked, reports.length]).toEqual([1, 1]);
    serve([first]);
    expect(await ask(scheme, token)).toBe(null);
    clock.pass(5);
    expect(await ask(scheme, token)).not.toBe(null);
    expect(asked).toBe(2);
  });

  test('loaded keys stay valid until they are too old', async () => {
    const { scheme, clock } = make({}, { cacheMaxAge: 100 });
    const exp = Math.floor(Date.now() / 1000) + 86_400;
    const tokens = await Promise.all([1, 2, 3].map((n) => forge(first, { exp, n })));
    expect(await ask(scheme, tokens[0]!)).not.toBe(null);
    answer = (_, response) => response.writeHead(503).end();
    clock.pass(99);
    expect(await ask(scheme, tokens[1]!)).not.toBe(null);
    clock.pass(1);
    expect(await ask(scheme, tokens[2]!)).toBe(null);
  });
});
