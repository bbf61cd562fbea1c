import { useDatabase } from '@pgway/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import type { HeaderList } from '../../src/http/response.ts';
import { type AuthScheme, type Claim, Problem } from '../../src/ports/ports.ts';
import { cookieScheme, type CookieSchemeOptions } from '../../src/auth-schemes/cookie.ts';
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

const make = async (options: Partial<CookieSchemeOptions> = {}, clock = clockAt()): Promise<AuthScheme> =>
  cookieScheme({
    name: 'cookie',
    encryption: await openKeyRing({ storage: memoryKeyStorage(), now: clock.now }),
    now: clock.now,
    ...options,
  });

const inTable = (clock: TestClock, trust?: number) =>
  sqlSessions({
    ...sessionCommands,
    query: queryOf(database),
    now: clock.now,
    ...(trust === undefined ? {} : { cacheSeconds: trust }),
  });

const setCookie = (headers: HeaderList): string => headers[headers.indexOf('set-cookie') + 1]!;
const pairOf = (headers: HeaderList): string => setCookie(headers).split(';', 1)[0]!;
const requestWith = (cookie: string) => requestOf({ headers: { cookie } });

async function signIn(scheme: AuthScheme, claims = ada): Promise<string> {
  return pairOf((await scheme.signIn!(claims, requestOf())).headers);
}

describeAuthScheme('cookie', async () => {
  const clock = clockAt();
  const scheme = await make({}, clock);
  return {
    scheme,
    credentials: async (claims) => ({ cookie: `theme=dark; ${await signIn(scheme, claims)}; x=y` }),
    carrying: (text) => ({ cookie: `pgway=${text}` }),
    carried: ({ cookie }) => /pgway=([^;]*)/.exec(cookie!)![1]!,
    lifetime: 14 * day,
    pass: clock.pass,
  };
});

describeAuthScheme('cookie, with sessions in a table', async () => {
  const clock = clockAt();
  const scheme = await make({ sessions: inTable(clock) }, clock);
  return {
    scheme,
    credentials: async (claims) => ({ cookie: await signIn(scheme, claims) }),
    carrying: (text) => ({ cookie: `pgway=${text}` }),
    carried: ({ cookie }) => cookie!.slice('pgway='.length),
    lifetime: 14 * day,
    pass: clock.pass,
  };
});

describe('the cookie', () => {
  test('the cookie is HttpOnly and SameSite, and its value is opaque', async () => {
    const { headers, body } = await (await make()).signIn!(ada, requestOf());
    expect(body).toBe(null);
    expect(headers).toEqual(['set-cookie', setCookie(headers), 'cache-control', 'no-store']);
    expect(setCookie(headers)).toMatch(
      /^pgway=[\w.-]+; Max-Age=1209600; Path=\/; Expires=Sun, 15 Mar 2026 12:00:00 GMT; HttpOnly; SameSite=Lax$/,
    );
    const parts = pairOf(headers)
      .split('.')
      .map((part) => Buffer.from(part, 'base64url').toString('latin1'));
    expect(parts.join()).not.toMatch(/ada|staff/);
  });

  test('the cookie is Secure if the connection is encrypted, or if the option says so', async () => {
    const auto = await make();
    const always = await make({ secure: 'always', cookieName: '__Host-pgway', sameSite: 'strict' });
    const line = async (scheme: AuthScheme, secure: boolean): Promise<string> =>
      setCookie((await scheme.signIn!(ada, requestOf({ secure }))).headers);
    expect(await line(auto, false)).not.toContain('Secure');
    expect(await line(auto, true)).toContain('; Secure');
    expect(await line(always, false)).toMatch(/^__Host-pgway=.*; Path=\/; .*; Secure; SameSite=Strict$/);
  });

  test('the cookie has the configured path and domain', async () => {
    const scheme = await make({ path: '/api', domain: 'example.com' });
    const signedIn = setCookie((await scheme.signIn!(ada, requestOf())).headers);
    const signedOut = setCookie(await scheme.signOut!(requestOf()));
    expect(signedIn).toContain('; Domain=example.com; Path=/api; ');
    expect(signedOut).toMatch(
      /^pgway=; Max-Age=0; Domain=example.com; Path=\/api; Expires=Thu, 01 Jan 1970 00:00:00 GMT; /,
    );
  });

  test('a cookie that browsers would reject stops the start', async () => {
    const refused = (options: Partial<CookieSchemeOptions>) => expect(make(options)).rejects.toThrow(TypeError);
    await refused({ cookieName: '__Host-a' });
    await refused({ cookieName: '__Host-a', secure: 'always', path: '/api' });
    await refused({ cookieName: '__host-a', secure: 'always', domain: 'example.com' });
    await refused({ cookieName: '__Secure-a' });
    await refused({ cookieName: 'a b' });
    await refused({ cookieName: 'a;b' });
    await refused({ path: '/;x' });
    await refused({ domain: 'a b' });
    await refused({ lifetime: 0 });
    await refused({ lifetime: Number.NaN });
    await refused({ realm: 'a\r\nb' });
  });

  test('claims that exceed the size of a cookie are refused, and no session begins', async () => {
    const clock = clockAt();
    const scheme = await make({ sessions: inTable(clock) }, clock);
    const claims: Claim[] = Array.from({ length: 200 }, (_, index) => ['roles', `role number ${index}`]);
    const error: unknown = await scheme.signIn!(claims, requestOf()).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Problem);
    expect(error).toMatchObject({
      status: 500,
      detail: expect.stringMatching(/make a cookie of \d+ bytes; browsers take 4093\. Let the login routine/),
    });
    expect(await database.query('select * from gateway_sessions')).toEqual([]);
  });

  test('a cookie holds about 2.7 kB of claims', async () => {
    const scheme = await make();
    const cookie = await signIn(scheme, [['about', 'x'.repeat(2700)]]);
    expect((await scheme.authenticate(requestWith(cookie)))!.claims).toEqual([['about', 'x'.repeat(2700)]]);
  });
});

describe('attacks', () => {
  test('a cookie of another scheme, another name or another key ring is invalid', async () => {
    const encryption = await openKeyRing({ storage: memoryKeyStorage(), now: clockAt().now });
    const [one, two] = [await make({ encryption }), await make({ encryption, name: 'admin' })];
    const cookie = await signIn(one);
    expect((await one.authenticate(requestWith(cookie)))?.claims).toEqual(ada);
    expect(await two.authenticate(requestWith(cookie))).toBe(null);
    expect(await one.authenticate(requestWith(cookie.replace('pgway', 'pgway2')))).toBe(null);
    expect(await (await make()).authenticate(requestWith(cookie))).toBe(null);
  });

  test('a login replaces and ends the session that a planted cookie had', async () => {
    const clock = clockAt();
    const scheme = await make({ sessions: inTable(clock) }, clock);
    const planted = await signIn(scheme, [['id', 'mallory']]);
    const before = await scheme.authenticate(requestWith(planted));
    const cookie = pairOf((await scheme.signIn!(ada, requestWith(planted))).headers);
    const after = await scheme.authenticate(requestWith(cookie));
    expect(after!.session).not.toBe(before!.session);
    expect(await scheme.authenticate(requestWith(planted))).toBe(null);
  });

  test('after a logout a copy of the cookie is invalid on every instance', async () => {
    const clock = clockAt();
    const encryption = await openKeyRing({ storage: memoryKeyStorage(), now: clock.now });
    const [here, there] = [
      await make({ encryption, sessions: inTable(clock) }, clock),
      await make({ encryption, sessions: inTable(clock) }, clock),
    ];
    const cookie = await signIn(here);
    expect((await there.authenticate(requestWith(cookie)))?.claims).toEqual(ada);
    await here.signOut!(requestWith(cookie));
    expect(await here.authenticate(requestWith(cookie))).toBe(null);
    clock.pass(5);
    expect(await there.authenticate(requestWith(cookie))).toBe(null);
  });

  test('a session that is ended in the table by hand is invalid', async () => {
    const clock = clockAt();
    const scheme = await make({ sessions: inTable(clock, 0) }, clock);
    const cookie = await signIn(scheme);
    const { session } = (await scheme.authenticate(requestWith(cookie)))!;
    await database.query('update gateway_sessions set ended = now() where id = $1 and user_id = $2', [session, '7']);
    expect(await scheme.authenticate(requestWith(cookie))).toBe(null);
  });
});

describe('an unavailable database', () => {
  test('a signed-in caller gets 503, and a logout does not report success', async () => {
    const clock = clockAt();
    let away = false;
    const direct = queryOf(database);
    const sessions = sqlSessions({
      ...sessionCommands,
      now: clock.now,
      query: (sql, values) => (away ? Promise.reject(new Error('away')) : direct(sql, values)),
    });
    const scheme = await make({ sessions }, clock);
    const cookie = await signIn(scheme);
    away = true;
    const asked = async () => scheme.authenticate(requestWith(cookie));
    await expect(asked()).rejects.toMatchObject({ status: 503 });
    await expect(scheme.signOut!(requestWith(cookie))).rejects.toMatchObject({ status: 503 });
    expect(await scheme.authenticate(requestWith('pgway=forged'))).toBe(null);
    away = false;
    expect((await asked())?.claims).toEqual(ada);
  });
});

describe('sliding expiration', () => {
  test('an idle session expires; in the second half of its time the cookie is renewed, up to the lifetime', async () => {
    const clock = clockAt();
    const scheme = await make({ sliding: 1000, lifetime: 2000 }, clock);
    const first = await signIn(scheme);
    clock.pass(499);
    expect((await scheme.authenticate(requestWith(first)))!.headers).toBe(undefined);
    clock.pass(1);
    const caller = (await scheme.authenticate(requestWith(first)))!;
    expect(setCookie(caller.headers!)).toMatch(/^pgway=[\w.-]+; Max-Age=1000; /);
    const second = pairOf(caller.headers!);
    clock.pass(500);
    expect(await scheme.authenticate(requestWith(first))).toBe(null);
    clock.pass(300);
    const again = (await scheme.authenticate(requestWith(second)))!;
    expect([again.claims, again.session]).toEqual([ada, caller.session]);
    expect(setCookie(again.headers!)).toMatch(/; Max-Age=700; /);
    const last = pairOf(again.headers!);
    clock.pass(699);
    expect((await scheme.authenticate(requestWith(last)))!.headers).toBe(undefined);
    clock.pass(1);
    expect(await scheme.authenticate(requestWith(last))).toBe(null);
  });

  test('a logout ends all cookies of the session, including renewed ones', async () => {
    const clock = clockAt();
    const scheme = await make({ sliding: 1000 }, clock);
    const first = await signIn(scheme);
    clock.pass(600);
    const second = pairOf((await scheme.authenticate(requestWith(first)))!.headers!);
    await scheme.signOut!(requestWith(first));
    expect(await scheme.authenticate(requestWith(second))).toBe(null);
  });
});

test('a cached cookie is authenticated synchronously', async () => {
  const scheme = await make();
  const request = requestWith(await signIn(scheme));
  await scheme.authenticate(request);
  expect(scheme.authenticate(request)).toMatchObject({ scheme: 'cookie', claims: ada, sentByBrowser: true });
});
