import { useDatabase } from '@pgway/testing';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import type { WholeResponse } from '../../src/http/response.ts';
import { type AuthScheme, type Claim, Problem } from '../../src/ports/ports.ts';
import { bearerScheme, type BearerSchemeOptions } from '../../src/auth-schemes/bearer.ts';
import { openKeyRing } from '../../src/auth-schemes/keys/key-ring.ts';
import { memoryKeyStorage } from '../../src/auth-schemes/keys/key-storage.ts';
import { sqlSessions } from '../../src/auth-schemes/sessions.ts';
import { describeAuthScheme } from '../contracts/auth-scheme.ts';
import { queryOf } from './query.ts';
import { clockAt, requestOf, type TestClock } from './request.ts';
import { sessionCommands, sessionTable } from './session-table.ts';

const database = useDatabase(sessionTable);

beforeEach(async () => {
  await database.query('truncate gateway_sessions');
});

const day = 86_400;
const ada: readonly Claim[] = [
  ['id', '7'],
  ['name', 'ada'],
  ['roles', 'staff'],
];

interface Tokens {
  readonly token_type: string;
  readonly access_token: string;
  readonly expires_in: number;
  readonly refresh_token: string;
  readonly refresh_expires_in: number;
}

const make = async (options: Partial<BearerSchemeOptions> = {}, clock = clockAt()): Promise<AuthScheme> =>
  bearerScheme({
    name: 'bearer',
    encryption: await openKeyRing({ storage: memoryKeyStorage(), now: clock.now }),
    now: clock.now,
    ...options,
  });

const inTable = (clock: TestClock) => sqlSessions({ ...sessionCommands, query: queryOf(database), now: clock.now });
const requestWith = (token: string) => requestOf({ headers: { authorization: `Bearer ${token}` } });

async function signIn(scheme: AuthScheme, claims = ada): Promise<Tokens> {
  return JSON.parse((await scheme.signIn!(claims, requestOf())).body!) as Tokens;
}

const json = { 'content-type': 'application/json' };

async function send(scheme: AuthScheme, body: string | Uint8Array, headers: Record<string, string> = json) {
  const [route] = scheme.routes;
  return (await route!.handle(requestOf({ method: 'POST', path: route!.path, headers, body }))) as WholeResponse;
}

async function refresh(scheme: AuthScheme, token: string): Promise<Tokens> {
  return JSON.parse(String((await send(scheme, JSON.stringify({ refresh: token }))).body)) as Tokens;
}

const refused = (answer: Promise<unknown>): Promise<void> =>
  expect(answer).rejects.toMatchObject({
    status: 401,
    code: 'unauthenticated',
    headers: ['www-authenticate', 'Bearer realm="pgway", error="invalid_token"', 'cache-control', 'no-store'],
  });

describeAuthScheme('bearer', async () => {
  const clock = clockAt();
  const scheme = await make({}, clock);
  return {
    scheme,
    credentials: async (claims) => ({ authorization: `Bearer ${(await signIn(scheme, claims)).access_token}` }),
    carrying: (text) => ({ authorization: `Bearer ${text}` }),
    carried: ({ authorization }) => authorization!.slice('Bearer '.length),
    lifetime: 3600,
    pass: clock.pass,
  };
});

describe('login', () => {
  test('the response holds two tokens as JSON, with Cache-Control: no-store', async () => {
    const scheme = await make({ sessions: inTable(clockAt()) });
    const { headers, body } = await scheme.signIn!(ada, requestOf({ headers: { 'user-agent': 'curl' } }));
    expect(headers).toEqual(['content-type', 'application/json', 'cache-control', 'no-store']);
    expect(JSON.parse(body!)).toEqual({
      token_type: 'Bearer',
      access_token: expect.stringMatching(/^ey[\w.-]+$/),
      expires_in: 3600,
      refresh_token: expect.stringMatching(/^ey[\w.-]+$/),
      refresh_expires_in: 14 * day,
    });
    expect(
      await database.query('select user_id, user_name, scheme, ip, user_agent, expires from gateway_sessions'),
    ).toEqual([
      {
        user_id: '7',
        user_name: 'ada',
        scheme: 'bearer',
        ip: '192.0.2.1',
        user_agent: 'curl',
        expires: new Date('2026-05-30T12:00:00Z'),
      },
    ]);
  });

  test('claims that exceed the size of a header are refused', async () => {
    const claims: readonly Claim[] = [['about', 'x'.repeat(7000)]];
    const signedIn = (await make()).signIn!(claims, requestOf());
    await expect(signedIn).rejects.toMatchObject({
      status: 500,
      detail: expect.stringMatching(/make a token of \d+ bytes/),
    });
  });

  test('the scheme is case-insensitive, and the header holds exactly one token', async () => {
    const scheme = await make();
    const { access_token: token } = await signIn(scheme);
    const ask = async (authorization: string) => scheme.authenticate(requestOf({ headers: { authorization } }));
    expect((await ask(`bEARER   ${token}`))?.claims).toEqual(ada);
    expect(await ask(token)).toBe(null);
    expect(await ask(`Bearer ${token}, Bearer ${token}`)).toBe(null);
    expect(await ask(`Basic ${token}`)).toBe(null);
    expect(await ask(`Bearer${token}`)).toBe(null);
    expect(await ask(`Bearer ${'A'.repeat(100_000)}`)).toBe(null);
  });
});

describe('the challenge', () => {
  test('an error appears in the challenge only after a token was sent', async () => {
    const scheme = await make({ realm: 'the "shop"' });
    const challenge = (headers: Record<string, string>) => scheme.challenge(requestOf({ headers }));
    expect(challenge({})).toBe('Bearer realm="the \\"shop\\""');
    expect(challenge({ authorization: 'Basic YTpi' })).toBe('Bearer realm="the \\"shop\\""');
    expect(challenge({ authorization: 'Bearer x' })).toBe('Bearer realm="the \\"shop\\"", error="invalid_token"');
  });
});

describe('refresh', () => {
  test('new tokens belong to the same session; the previous access token stays valid', async () => {
    const clock = clockAt();
    const scheme = await make({ sessions: inTable(clock) }, clock);
    const first = await signIn(scheme);
    clock.pass(3000);
    const answer = await send(scheme, JSON.stringify({ refresh: first.refresh_token }));
    expect(answer).toMatchObject({
      kind: 'whole',
      status: 200,
      headers: ['content-type', 'application/json', 'cache-control', 'no-store'],
    });
    const second = JSON.parse(String(answer.body)) as Tokens;
    expect(second).toMatchObject({ token_type: 'Bearer', expires_in: 3600, refresh_expires_in: 14 * day });
    clock.pass(599);
    const [old, young] = [
      await scheme.authenticate(requestWith(first.access_token)),
      await scheme.authenticate(requestWith(second.access_token)),
    ];
    expect(young!.claims).toEqual(ada);
    expect(young!.session).toBe(old!.session);
    clock.pass(1);
    expect(await scheme.authenticate(requestWith(first.access_token))).toBe(null);
    expect((await scheme.authenticate(requestWith(second.access_token)))?.claims).toEqual(ada);
  });

  test('reuse of a refresh token ends the session and all its tokens on every instance', async () => {
    const clock = clockAt();
    const encryption = await openKeyRing({ storage: memoryKeyStorage(), now: clock.now });
    const instance = () => make({ encryption, sessions: inTable(clock) }, clock);
    const [here, there] = [await instance(), await instance()];
    const first = await signIn(here);
    const other = await signIn(here);
    const second = await refresh(here, first.refresh_token);
    const third = await refresh(there, second.refresh_token);
    await refused(refresh(there, first.refresh_token));
    await refused(refresh(here, third.refresh_token));
    await refused(refresh(there, third.refresh_token));
    clock.pass(5);
    for (const { access_token: token } of [first, second, third]) {
      expect(await here.authenticate(requestWith(token))).toBe(null);
      expect(await there.authenticate(requestWith(token))).toBe(null);
    }
    expect((await there.authenticate(requestWith(other.access_token)))?.claims).toEqual(ada);
    await refresh(there, other.refresh_token);
  });

  test('concurrent uses of a refresh token succeed once at most, and end its session', async () => {
    for (const sessions of [undefined, inTable(clockAt())]) {
      const scheme = await make(sessions === undefined ? {} : { sessions });
      const { refresh_token: token, access_token: access } = await signIn(scheme);
      const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => refresh(scheme, token)));
      expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBeLessThan(2);
      expect(await scheme.authenticate(requestWith(access))).toBe(null);
    }
  });

  test('without a session table the instance itself detects a reuse', async () => {
    const scheme = await make();
    const first = await signIn(scheme);
    const second = await refresh(scheme, first.refresh_token);
    await refused(refresh(scheme, first.refresh_token));
    await refused(refresh(scheme, second.refresh_token));
    expect(await scheme.authenticate(requestWith(second.access_token))).toBe(null);
  });

  test('a refresh after the logout fails', async () => {
    const clock = clockAt();
    const scheme = await make({ sessions: inTable(clock) }, clock);
    const tokens = await signIn(scheme);
    await scheme.authenticate(requestWith(tokens.access_token));
    await scheme.signOut!(requestWith(tokens.access_token));
    await refused(refresh(scheme, tokens.refresh_token));
    expect(await scheme.authenticate(requestWith(tokens.access_token))).toBe(null);
  });

  test('a session that ended on another instance gets no tokens, despite the local cache', async () => {
    const sessions = sqlSessions({ ...sessionCommands, refresh: null, query: queryOf(database) });
    const scheme = await make({ sessions });
    const tokens = await signIn(scheme);
    expect((await scheme.authenticate(requestWith(tokens.access_token)))?.claims).toEqual(ada);
    await database.query('update gateway_sessions set ended = now()');
    await refused(refresh(scheme, tokens.refresh_token));
  });

  test('tokens expire by their own time, and the session by its lifetime', async () => {
    const clock = clockAt();
    const scheme = await make({ refreshLifetime: 1000, sessionLifetime: 1500, accessLifetime: 800 }, clock);
    const idle = await signIn(scheme);
    const first = await signIn(scheme);
    clock.pass(999);
    const second = await refresh(scheme, first.refresh_token);
    expect(second).toMatchObject({ expires_in: 501, refresh_expires_in: 501 });
    clock.pass(1);
    await refused(refresh(scheme, idle.refresh_token));
    clock.pass(500);
    await refused(refresh(scheme, second.refresh_token));
    expect(await scheme.authenticate(requestWith(second.access_token))).toBe(null);
  });

  test('the claims are those of the login, or the current ones of the host; null ends the session', async () => {
    const later: readonly Claim[] = [['id', '7']];
    const answers: (readonly Claim[] | null)[] = [later, null];
    const renewClaims = (): Promise<readonly Claim[] | null> => Promise.resolve(answers.shift()!);
    const scheme = await make({ renewClaims });
    const second = await refresh(scheme, (await signIn(scheme)).refresh_token);
    expect((await scheme.authenticate(requestWith(second.access_token)))!.claims).toEqual(later);
    await refused(refresh(scheme, second.refresh_token));
    expect(await scheme.authenticate(requestWith(second.access_token))).toBe(null);
  });

  test('a failure before the response leaves the refresh token valid', async () => {
    let failing = true;
    const renewClaims = (claims: readonly Claim[]): Promise<readonly Claim[]> =>
      failing ? Promise.reject(new Error('the database is away')) : Promise.resolve(claims);
    const scheme = await make({ renewClaims });
    const { refresh_token: token } = await signIn(scheme);
    await expect(refresh(scheme, token)).rejects.toThrow('the database is away');
    failing = false;
    await expect(refresh(scheme, token)).resolves.toMatchObject({ token_type: 'Bearer' });
  });
});

describe('attacks on refresh', () => {
  test('an access token cannot refresh, a refresh token cannot authenticate, nor can tokens of another scheme', async () => {
    const encryption = await openKeyRing({ storage: memoryKeyStorage(), now: clockAt().now });
    const [one, two] = [await make({ encryption }), await make({ encryption, name: 'partners' })];
    const tokens = await signIn(one);
    await refused(refresh(one, tokens.access_token));
    expect(await one.authenticate(requestWith(tokens.refresh_token))).toBe(null);
    await refused(refresh(two, tokens.refresh_token));
    expect(await two.authenticate(requestWith(tokens.access_token))).toBe(null);
    await refresh(one, tokens.refresh_token);
  });

  test('a body other than {"refresh": text} in JSON is refused with its error', async () => {
    const scheme = await make();
    const status = async (body: string | Uint8Array, headers?: Record<string, string>): Promise<string> => {
      const error: unknown = await send(scheme, body, headers).catch((reason: unknown) => reason);
      return error instanceof Problem ? `${error.status} ${error.code}` : String(error);
    };
    const good = '{"refresh":"x"}';
    expect(await status(good)).toBe('401 unauthenticated');
    expect(await status(good, { 'content-type': 'application/json; charset=utf-8' })).toBe('401 unauthenticated');
    expect(await status(good, {})).toBe('415 unsupported-media-type');
    expect(await status(good, { 'content-type': 'text/plain' })).toBe('415 unsupported-media-type');
    expect(await status(good, { 'content-type': 'application/x-www-form-urlencoded' })).toBe(
      '415 unsupported-media-type',
    );
    expect(await status(good, { ...json, 'content-encoding': 'gzip' })).toBe('415 unsupported-media-type');
    expect(await status('')).toBe('400 malformed-json');
    expect(await status('{"refresh":')).toBe('400 malformed-json');
    expect(await status(new Uint8Array([0x22, 0xff, 0x22]))).toBe('400 malformed-json');
    expect(await status('[]')).toBe('400 body-not-an-object');
    expect(await status('null')).toBe('400 body-not-an-object');
    expect(await status('{}')).toBe('400 missing-parameter');
    expect(await status('{"__proto__":{"refresh":"x"}}')).toBe('400 missing-parameter');
    expect(await status('{"refresh":1}')).toBe('400 invalid-parameter');
    expect(await status(JSON.stringify({ refresh: 'x'.repeat(40_000) }))).toBe('413 body-too-large');
  });

  test('any malformed input is a client error', async () => {
    const scheme = await make();
    const anything = fc.oneof(
      fc.json(),
      fc.string(),
      fc.string().map((refresh) => JSON.stringify({ refresh })),
      fc.uint8Array(),
    );
    await fc.assert(
      fc.asyncProperty(anything, async (body) => {
        const error: unknown = await send(scheme, body).catch((reason: unknown) => reason);
        expect(error).toBeInstanceOf(Problem);
        expect([400, 401]).toContain((error as Problem).status);
      }),
      { numRuns: 300 },
    );
  });
});

test('invalid paths and times stop the start', async () => {
  await expect(make({ refreshPath: 'refresh' })).rejects.toThrow(TypeError);
  await expect(make({ refreshPath: '/a?b' })).rejects.toThrow(TypeError);
  await expect(make({ accessLifetime: 0 })).rejects.toThrow(TypeError);
  await expect(make({ refreshLifetime: 1.5 })).rejects.toThrow(TypeError);
});
