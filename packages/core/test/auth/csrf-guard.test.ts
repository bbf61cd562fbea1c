import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NodeRequest } from '../../src/adapters/node.ts';
import type { Caller } from '../../src/ports/ports.ts';
import { type CsrfTokenGuard, csrfGuard, type CsrfGuardOptions } from '../../src/auth-schemes/csrf-guard.ts';
import { openKeyRing } from '../../src/auth-schemes/keys/key-ring.ts';
import { memoryKeyStorage } from '../../src/auth-schemes/keys/key-storage.ts';
import { clockAt, requestOf } from './request.ts';
import { codePoint } from '../support/code-point.ts';

const ada: Caller = { scheme: 'cookie', claims: [['id', '7']], session: 'session-of-ada-1', sentByBrowser: true };
const basic: Caller = { scheme: 'basic', claims: [['name', 'ada']], session: null, sentByBrowser: true };
const bearer: Caller = { scheme: 'bearer', claims: [['id', '7']], session: 'session-of-ada-2', sentByBrowser: false };

async function make(options: Partial<CsrfGuardOptions> = {}) {
  const clock = clockAt();
  const encryption = await openKeyRing({ storage: memoryKeyStorage(), now: clock.now });
  return { guard: csrfGuard({ encryption, now: clock.now, ...options }), encryption, pass: clock.pass };
}

type Headers = Readonly<Record<string, string>>;

const post = (headers: Headers, more: { readonly method?: string; readonly secure?: boolean } = {}) =>
  requestOf({ method: 'POST', ...more, headers: { host: 'books.example', ...headers } });

/** Whether the guard allows this caller's request. */
async function allowed(guard: CsrfTokenGuard, headers: Headers, caller: Caller = ada, more = {}): Promise<boolean> {
  return guard.allows(post(headers, more), caller);
}

const evil = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };

describe('callers that the guard checks', () => {
  test('credentials that browsers do not send automatically are allowed', async () => {
    const { guard } = await make();
    expect(await allowed(guard, evil, bearer)).toBe(true);
    expect(await allowed(guard, evil, ada)).toBe(false);
  });

  test.each([
    [{}, true],
    [{ 'sec-fetch-site': 'same-origin' }, true],
    [{ 'sec-fetch-site': 'none' }, true],
    [{ origin: 'https://books.example' }, true],
    [{ origin: 'https://app.example', 'sec-fetch-site': 'cross-site' }, true],
    [evil, false],
    [{ 'sec-fetch-site': 'cross-site' }, false],
    [{ 'sec-fetch-site': 'same-site' }, false],
    [{ origin: 'https://evil.example' }, false],
    [{ origin: 'null' }, false],
  ])('anonymous, %j: %s, and true if all are allowed', async (headers, expected) => {
    const { guard } = await make({ allowedOrigins: ['https://app.example'] });
    expect(guard.allowsAnonymous(post(headers))).toBe(expected);
    const open = (await make({ crossSiteRequests: 'allow' })).guard;
    expect([open.allowsAnonymous(post(headers)), await allowed(open, evil)]).toEqual([true, false]);
  });
});

describe('Sec-Fetch-Site', () => {
  test.each([
    ['same-origin', true],
    ['none', true],
    ['same-site', false],
    ['cross-site', false],
    ['', false],
    ['same-origin, cross-site', false],
  ])('Sec-Fetch-Site %j: %s', async (site, expected) => {
    const { guard } = await make();
    expect(await allowed(guard, { 'sec-fetch-site': site })).toBe(expected);
  });

  test('a same-site request is refused, even if its origin equals that of the gateway', async () => {
    const { guard } = await make();
    // An http page of the same host is cross-site, because the scheme differs.
    expect(await allowed(guard, { origin: 'http://books.example', 'sec-fetch-site': 'cross-site' })).toBe(false);
    expect(await allowed(guard, { origin: 'https://blog.books.example', 'sec-fetch-site': 'same-site' })).toBe(false);
  });
});

describe('an Origin without Sec-Fetch-Site', () => {
  test.each([
    ['https://books.example', 'books.example', true],
    ['http://books.example', 'books.example', true],
    ['https://books.example', 'BOOKS.example', true],
    ['https://books.example', 'books.example:443', true],
    ['http://books.example', 'books.example:80', true],
    ['http://books.example:8080', 'books.example:8080', true],
    ['http://[::1]:8080', '[::1]:8080', true],
    ['https://books.example', 'books.example:80', false],
    ['https://books.example:8443', 'books.example', false],
    ['http://books.example:8081', 'books.example:8080', false],
    ['https://evil.example', 'books.example', false],
    ['https://books.example.evil.example', 'books.example', false],
    ['https://xbooks.example', 'books.example', false],
    ['https://books.example@evil.example', 'books.example', false],
    ['https://books.example, https://evil.example', 'books.example', false],
    ['https://books.example/', 'books.example', false],
    ['file://books.example', 'books.example', false],
    ['books.example', 'books.example', false],
    ['null', 'books.example', false],
    ['null', 'null', false],
    ['', '', false],
  ])('%j on the host %j: %s', async (origin, host, expected) => {
    const { guard } = await make();
    expect(await allowed(guard, { origin, host })).toBe(expected);
  });

  test('an http page is refused on an encrypted connection', async () => {
    const { guard } = await make();
    expect(await allowed(guard, { origin: 'http://books.example' }, ada, { secure: true })).toBe(false);
    expect(await allowed(guard, { origin: 'https://books.example' }, ada, { secure: true })).toBe(true);
    const proxied = (await make({ isSecure: () => true })).guard;
    expect(await allowed(proxied, { origin: 'http://books.example' })).toBe(false);
  });

  test('a forwarded host is ignored', async () => {
    const { guard } = await make();
    const headers = {
      origin: 'https://evil.example',
      'x-forwarded-host': 'evil.example',
      forwarded: 'host=evil.example',
    };
    expect(await allowed(guard, headers)).toBe(false);
  });

  test('with HTTP/2 the host is the :authority', async () => {
    const { guard } = await make();
    const allowedFor = async (authority: string): Promise<boolean> => {
      const server = createHttp2Server().listen(0, '127.0.0.1');
      await once(server, 'listening');
      const client = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
      const headers = { ':method': 'POST', ':path': '/', ':authority': authority, origin: 'https://books.example' };
      client.request(headers).on('error', () => undefined);
      const [request] = (await once(server, 'request')) as [IncomingMessage];
      const isAllowed = await guard.allows(new NodeRequest(request, null), ada);
      client.destroy();
      server.close();
      return isAllowed;
    };
    expect([await allowedFor('books.example'), await allowedFor('evil.example')]).toEqual([true, false]);
  });

  test('generated origins: only the origin of the host is allowed', async () => {
    const { guard } = await make();
    const origin = fc.oneof(
      fc.string({ unit: codePoint, maxLength: 60 }),
      fc
        // The URLs of fast-check begin with 1.5 s of computing.
        .tuple(fc.constantFrom('http://', 'https://'), fc.domain(), fc.constantFrom('', ':80', ':8443'), fc.webPath())
        .map((parts) => parts.join('')),
      fc
        .array(
          fc.constantFrom('https://', 'books.example', 'evil.example', '@', '/', ':443', '.', '#', '?', ' ', ','),
          { maxLength: 6 },
        )
        .map((parts) => parts.join('')),
    );
    const own = ['https://books.example', 'http://books.example', 'https://books.example:443'];
    await fc.assert(
      fc.asyncProperty(origin, async (text) => {
        expect(await allowed(guard, { origin: text })).toBe(own.includes(text));
      }),
      { numRuns: 2000 },
    );
  });
});

describe('allowedOrigins', () => {
  test('exactly the listed origins are allowed', async () => {
    const { guard } = await make({ allowedOrigins: ['https://App.example', 'http://localhost:5173/'] });
    expect(await allowed(guard, { origin: 'https://app.example', 'sec-fetch-site': 'cross-site' })).toBe(true);
    expect(await allowed(guard, { origin: 'http://localhost:5173' })).toBe(true);
    expect(await allowed(guard, { origin: 'http://app.example', 'sec-fetch-site': 'cross-site' })).toBe(false);
    expect(await allowed(guard, { origin: 'http://localhost:5174' })).toBe(false);
  });

  test('an invalid origin stops the start', async () => {
    for (const origin of [
      '*',
      'null',
      'app.example',
      'https://app.example/path',
      'https://*.example',
      'https://a@b.example',
      '',
    ]) {
      await expect(make({ allowedOrigins: [origin] })).rejects.toThrow(TypeError);
    }
  });
});

describe('neither Origin nor Sec-Fetch-Site', () => {
  test('a request with a cookie is refused; credentials of programs are allowed', async () => {
    const { guard } = await make();
    expect(await allowed(guard, {})).toBe(false);
    expect(await allowed(guard, {}, basic)).toBe(true);
    expect(await allowed(guard, evil, basic)).toBe(false);
    expect(await allowed((await make({ nonBrowserSchemes: [] })).guard, {}, basic)).toBe(false);
  });

  test('the source of a request without a caller follows from its headers', async () => {
    const { guard } = await make();
    expect(guard.source(post({}))).toBe('unknown');
    expect(guard.source(post(evil))).toBe('cross-site');
    expect(guard.source(post({ 'sec-fetch-site': 'same-origin' }))).toBe('trusted');
  });
});

describe('the antiforgery token', () => {
  test('a valid token in its header replaces an origin', async () => {
    const { guard } = await make();
    const { token, headers } = await guard.issue(ada);
    expect(await allowed(guard, { 'x-xsrf-token': token })).toBe(true);
    expect(await allowed(guard, { ...evil, 'x-xsrf-token': token })).toBe(true);
    expect(headers).toEqual(['set-cookie', `XSRF-TOKEN=${token}; Max-Age=86400; Path=/; Secure; SameSite=Strict`]);
  });

  test('the antiforgery cookie alone is not accepted, because browsers send it automatically', async () => {
    const { guard } = await make();
    const { token } = await guard.issue(ada);
    expect(await allowed(guard, { ...evil, cookie: `XSRF-TOKEN=${token}` })).toBe(false);
  });

  test('the cookie is Secure on a secure connection, and has the configured names', async () => {
    const { guard } = await make({ headerName: 'X-Token', cookieName: 'token', cookiePath: '/api', lifetime: 60 });
    const { token, headers } = await guard.issue(ada, post({}));
    expect(headers).toEqual(['set-cookie', `token=${token}; Max-Age=60; Path=/api; SameSite=Strict`]);
    expect((await guard.issue(ada, post({}, { secure: true }))).headers[1]).toContain('; Secure');
    expect(await allowed(guard, { 'x-token': token })).toBe(true);
    expect(await allowed(guard, { 'x-xsrf-token': token })).toBe(false);
  });

  test('a token is valid for one session', async () => {
    const { guard } = await make();
    const { token } = await guard.issue(ada);
    expect(await allowed(guard, { 'x-xsrf-token': token }, { ...ada, session: 'session-of-eve' })).toBe(false);
    expect(await allowed(guard, { 'x-xsrf-token': token }, { ...ada, scheme: 'other' })).toBe(false);
    expect(await allowed(guard, { 'x-xsrf-token': token }, { ...ada, session: null })).toBe(false);
    // Changed claims of the user leave the session unchanged.
    expect(await allowed(guard, { 'x-xsrf-token': token }, { ...ada, claims: [] })).toBe(true);
  });

  test('without a session a token is valid for one caller', async () => {
    const { guard } = await make({ nonBrowserSchemes: [] });
    const { token } = await guard.issue(basic);
    expect(await allowed(guard, { 'x-xsrf-token': token }, basic)).toBe(true);
    expect(await allowed(guard, { 'x-xsrf-token': token }, { ...basic, claims: [['name', 'eve']] })).toBe(false);
  });

  test('issuing a token needs encryption; the origin check does not', async () => {
    const { guard } = await make({ encryption: null });
    await expect(guard.issue(ada)).rejects.toThrow(TypeError);
    const { token } = await (await make()).guard.issue(ada);
    expect(await allowed(guard, { 'x-xsrf-token': token })).toBe(false);
    expect(await allowed(guard, { 'sec-fetch-site': 'same-origin' })).toBe(true);
    expect(await allowed(guard, evil)).toBe(false);
  });

  test('a token expires', async () => {
    const { guard, pass } = await make({ lifetime: 60 });
    const { token } = await guard.issue(ada);
    pass(59);
    expect(await allowed(guard, { 'x-xsrf-token': token })).toBe(true);
    pass(1);
    expect(await allowed(guard, { 'x-xsrf-token': token })).toBe(false);
  });

  test('an invented token, or another token of the same keys, is refused', async () => {
    const { guard, encryption } = await make();
    const expires = clockAt().now() / 1000 + 3600;
    const foreign = await (await make()).guard.issue(ada);
    const otherPurpose = await encryption.encrypt('cookie', { caller: 'x' }, expires);
    for (const token of ['', 'x', foreign.token, otherPurpose, ' ', 'a'.repeat(100_000)]) {
      expect(await allowed(guard, { 'x-xsrf-token': token })).toBe(false);
    }
    const { token } = await guard.issue(ada);
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string({ unit: codePoint }), fc.nat(token.length - 1)), async (hostile) => {
        const forged =
          typeof hostile === 'string'
            ? hostile
            : token.slice(0, hostile) + (token[hostile] === 'A' ? 'g' : 'A') + token.slice(hostile + 1);
        expect(await allowed(guard, { 'x-xsrf-token': forged })).toBe(false);
      }),
      { numRuns: 300 },
    );
  });
});
