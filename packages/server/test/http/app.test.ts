import { createGateway, type Gateway } from '@pgway/core';
import { useDatabase } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { gatewayOptions } from '../../src/gateway-options.ts';
import { parseConfiguration } from '../support/parse-configuration.ts';
import { openApp } from '../../src/http/deferred-app.ts';
import { listen } from '../../src/http/http-server.ts';
import type { DocumentLookup } from '../../src/http/send-document.ts';

const database = useDatabase(`
  create function hello(_name text default 'you') returns text language sql stable as $$ select 'Hello ' || _name $$;
  comment on function hello is 'HTTP GET';
  create function numbers(_count int) returns setof int language sql stable as 'select generate_series(1, _count)';
  comment on function numbers is 'HTTP GET';
  create table visit (n int);
  create function add_visit() returns int language sql as 'insert into visit values (1) returning n';
  comment on function add_visit is 'HTTP POST';
  create function enter() returns table (id text) language sql as $$ select '7' $$;
  comment on function enter is 'HTTP
  login';
  create function mine() returns int language sql as 'insert into visit values (2) returning n';
  comment on function mine is 'HTTP POST
  authorize';
  create function tell() returns void language plpgsql as $$ begin raise info 'told'; end $$;
  comment on function tell is 'HTTP POST
  info_path /info
  info_scope all';
`);

interface Served {
  readonly url: string;
  readonly gateway: Gateway;
}

/** Serves with this configuration until the test has ended. */
async function serve(file: object, pages: readonly DocumentLookup[] = []): Promise<Served> {
  const configuration = parseConfiguration({ port: 0, ...file });
  const gateway = await createGateway(await gatewayOptions(configuration, database.connectionString, {}));
  const app = await openApp(configuration, gateway, { pages });
  const server = await listen(configuration, app.handle);
  onTestFinished(async () => {
    gateway.endStreams();
    await server.stop(0, AbortSignal.abort());
    await app.close();
    await gateway.close();
  });
  return { url: `http://127.0.0.1:${server.port}`, gateway };
}

const page = { origin: 'https://app.example.org' };

/** The headers of a response that begin with one of the names. */
function headersOf(response: Response, ...names: readonly string[]): Record<string, string> {
  return Object.fromEntries([...response.headers].filter(([name]) => names.some((start) => name.startsWith(start))));
}

describe('without additions to responses', () => {
  test('endpoints, unknown paths and unknown methods answer as in the library', async () => {
    const { url } = await serve({});
    const hello = await fetch(`${url}/api/hello?name=Ada`);
    expect([hello.status, await hello.text()]).toEqual([200, 'Hello Ada']);
    const unknown = await fetch(`${url}/nothing`);
    expect([unknown.status, unknown.headers.get('content-type'), await unknown.json()]).toEqual([
      404,
      'application/problem+json',
      { type: 'about:blank', title: 'Not found', status: 404 },
    ]);
    const method = await fetch(`${url}/api/hello`, { method: 'DELETE' });
    expect([method.status, method.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS, QUERY']);
    for (const response of [hello, unknown, method]) {
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
      expect(response.headers.get('x-request-id')).toMatch(/^\S+$/);
    }
  });

  test('the format of errors as text', async () => {
    const { url } = await serve({ gateway: { errorFormat: 'text' } });
    const response = await fetch(`${url}/nothing`);
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
      404,
      'text/plain; charset=utf-8',
      'Not found',
    ]);
  });

  test('no CORS headers', async () => {
    const { url } = await serve({});
    const response = await fetch(`${url}/api/hello`, { headers: page });
    expect(headersOf(response, 'access-control')).toEqual({});
  });
});

describe('CORS', () => {
  const cors = { origins: ['https://app.example.org'] };

  test('a compressed document varies by the origin, too', async () => {
    const document = { type: 'text/plain', content: 'text '.repeat(2000) };
    const { url } = await serve({ cors }, [(_, request) => (request.url === '/page' ? document : null)]);
    const response = await fetch(`${url}/page`, { headers: { ...page, 'accept-encoding': 'gzip' } });
    expect([
      response.status,
      headersOf(response, 'access-control-allow', 'vary', 'content-encoding'),
      await response.text(),
    ]).toEqual([
      200,
      {
        'access-control-allow-origin': 'https://app.example.org',
        'content-encoding': 'gzip',
        vary: 'Origin, accept-encoding',
      },
      document.content,
    ]);
    const plain = await fetch(`${url}/page`, { headers: { ...page, 'accept-encoding': 'identity' } });
    expect([headersOf(plain, 'vary', 'content-encoding'), await plain.text()]).toEqual([
      { vary: 'Origin, accept-encoding' },
      document.content,
    ]);
  });

  test('a page of a listed origin may read responses, and some of their headers', async () => {
    const { url } = await serve({ cors });
    const response = await fetch(`${url}/api/hello`, { headers: page });
    expect([response.status, await response.text(), headersOf(response, 'access-control', 'vary')]).toEqual([
      200,
      'Hello you',
      {
        'access-control-allow-origin': 'https://app.example.org',
        'access-control-expose-headers': 'etag, ratelimit, ratelimit-policy, retry-after, x-request-id, x-total-count',
        vary: 'Origin',
      },
    ]);
  });

  test('a client of PostgREST may read the headers of its responses', async () => {
    const { url } = await serve({ cors, crud: { enabled: true, dialect: 'postgrest' } });
    const response = await fetch(`${url}/api/hello`, { headers: page });
    expect(response.headers.get('access-control-expose-headers')).toBe(
      'etag, ratelimit, ratelimit-policy, retry-after, x-request-id, x-total-count, content-encoding, content-location, content-profile, content-range, date, location, preference-applied, proxy-status',
    );
  });

  test('a preflight request', async () => {
    const { url } = await serve({ cors: { ...cors, credentials: true } });
    const response = await fetch(`${url}/api/add-visit`, {
      method: 'OPTIONS',
      headers: { ...page, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' },
    });
    expect([response.status, headersOf(response, 'access-control')]).toEqual([
      204,
      {
        'access-control-allow-origin': 'https://app.example.org',
        'access-control-allow-credentials': 'true',
        'access-control-allow-headers': 'content-type',
        'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, QUERY',
        'access-control-expose-headers': 'etag, ratelimit, ratelimit-policy, retry-after, x-request-id, x-total-count',
        'access-control-max-age': '600',
      },
    ]);
  });

  test('QUERY of another origin, with credentials: the preflight lists it, and the page may read the response', async () => {
    const { url } = await serve({ cors: { ...cors, credentials: true }, cookie: { enabled: true } });
    const asked = {
      ...page,
      'access-control-request-method': 'QUERY',
      'access-control-request-headers': 'content-type',
    };
    const preflight = await fetch(`${url}/api/hello`, { method: 'OPTIONS', headers: asked });
    expect([preflight.status, preflight.headers.get('access-control-allow-methods')?.split(', ')]).toEqual([
      204,
      expect.arrayContaining(['QUERY']),
    ]);
    const query = { method: 'QUERY', headers: { ...page, 'content-type': 'application/json' }, body: '{"name":"Ada"}' };
    const response = await fetch(`${url}/api/hello`, query);
    expect([response.status, await response.text(), headersOf(response, 'access-control-allow', 'vary')]).toEqual([
      200,
      'Hello Ada',
      {
        'access-control-allow-origin': 'https://app.example.org',
        'access-control-allow-credentials': 'true',
        vary: 'Origin',
      },
    ]);
  });

  test('a page of another origin may read nothing', async () => {
    const { url } = await serve({ cors });
    for (const origin of [
      'https://evil.example',
      'http://app.example.org',
      'https://app.example.org.evil.example',
      'null',
    ]) {
      const response = await fetch(`${url}/api/hello`, { headers: { origin } });
      expect([origin, headersOf(response, 'access-control-allow')]).toEqual([origin, {}]);
    }
  });

  test('with cookies, a listed origin may also change data, and others may not', async () => {
    const { url } = await serve({ cors: { ...cors, credentials: true }, cookie: { enabled: true } });
    const login = await fetch(`${url}/api/enter`, { method: 'POST' });
    const cookie = login.headers.getSetCookie()[0]!.split(';')[0]!;
    const call = (origin: string): Promise<Response> =>
      fetch(`${url}/api/mine`, { method: 'POST', headers: { cookie, origin, 'sec-fetch-site': 'cross-site' } });
    const allowed = await call('https://app.example.org');
    expect([allowed.status, allowed.headers.get('access-control-allow-credentials')]).toEqual([200, 'true']);
    expect((await call('https://evil.example')).status).toBe(403);
  });

  test('every origin, without credentials', async () => {
    const { url } = await serve({ cors: { origins: ['*'] } });
    const response = await fetch(`${url}/api/hello`, { headers: { origin: 'https://any.example' } });
    expect(headersOf(response, 'access-control-allow')).toEqual({ 'access-control-allow-origin': '*' });
  });

  test.each([[{ origins: ['*'], credentials: true }, 'cors.credentials']])(
    '%j is an error that names the setting',
    async (invalid, setting) => {
      const configuration = parseConfiguration({ cors: invalid });
      await expect(openApp(configuration, { handle: async () => undefined } as unknown as Gateway, {})).rejects.toThrow(
        setting,
      );
    },
  );
});

describe('security headers', () => {
  test('on every response; the content type is never guessed', async () => {
    const { url } = await serve({ securityHeaders: { enabled: true, referrerPolicy: 'same-origin' } });
    for (const path of ['/api/hello', '/nothing']) {
      const response = await fetch(url + path);
      expect(
        headersOf(response, 'content-security', 'cross-origin', 'referrer', 'x-frame', 'x-content', 'strict'),
      ).toEqual({
        'content-security-policy': "default-src 'self';base-uri 'self';frame-ancestors 'none';object-src 'none'",
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'referrer-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
      });
    }
  });

  test('a page of rows keeps its own policy, which allows no script', async () => {
    const { url } = await serve({ securityHeaders: { enabled: true } });
    const response = await fetch(`${url}/api/numbers?count=1`, { headers: { accept: 'text/html' } });
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-[^']+';/);
  });
});

describe('compression', () => {
  const compression = { enabled: true };

  test('a response above the size, by the coding that the client prefers', async () => {
    const { url } = await serve({ compression });
    const expected = JSON.stringify(Array.from({ length: 1000 }, (_, index) => index + 1));
    const response = await fetch(`${url}/api/numbers?count=1000`, { headers: { 'accept-encoding': 'br' } });
    expect([response.headers.get('content-encoding'), response.headers.get('vary')]).toEqual([
      'br',
      'accept, accept-encoding',
    ]);
    expect(await response.text()).toBe(expected);
    const gzip = await fetch(`${url}/api/numbers?count=1000`, { headers: { 'accept-encoding': 'gzip' } });
    expect(gzip.headers.get('content-encoding')).toBe('gzip');
    const none = await fetch(`${url}/api/numbers?count=1000`, { headers: { 'accept-encoding': 'identity' } });
    expect(none.headers.get('content-encoding')).toBeNull();
    expect(await none.text()).toBe(expected);
  });

  test('a response to QUERY', async () => {
    const { url } = await serve({ compression });
    const headers = { 'accept-encoding': 'br', 'content-type': 'application/json' };
    const response = await fetch(`${url}/api/numbers`, { method: 'QUERY', headers, body: '{"count":1000}' });
    expect([response.headers.get('content-encoding'), ((await response.json()) as number[]).length]).toEqual([
      'br',
      1000,
    ]);
  });

  test('a large, streamed response', async () => {
    const { url } = await serve({ compression });
    const response = await fetch(`${url}/api/numbers?count=300000`, { headers: { 'accept-encoding': 'br' } });
    expect(response.headers.get('content-encoding')).toBe('br');
    expect(((await response.json()) as number[]).length).toBe(300_000);
  });

  test('neither small responses nor event streams', async () => {
    const { url } = await serve({ compression: { ...compression, mediaTypes: ['text/*'] } });
    const small = await fetch(`${url}/api/hello`, { headers: { 'accept-encoding': 'br' } });
    expect(small.headers.get('content-encoding')).toBeNull();
    const stream = await fetch(`${url}/api/tell/info`, { headers: { 'accept-encoding': 'br' } });
    expect([stream.headers.get('content-type'), stream.headers.get('content-encoding')]).toEqual([
      'text/event-stream',
      null,
    ]);
    await fetch(`${url}/api/tell`, { method: 'POST' });
    let received = '';
    for await (const chunk of stream.body!.pipeThrough(new TextDecoderStream())) {
      received += chunk;
      if (received.includes('data: told')) break;
    }
    expect(received).toContain('data: told');
  });

  test('other media types are not compressed', async () => {
    const { url } = await serve({ compression: { ...compression, mediaTypes: ['text/*'] } });
    const response = await fetch(`${url}/api/numbers?count=1000`, { headers: { 'accept-encoding': 'br' } });
    expect(response.headers.get('content-encoding')).toBeNull();
  });

  test('a compressed request body is refused', async () => {
    const { url } = await serve({ compression });
    const response = await fetch(`${url}/api/add-visit`, {
      method: 'POST',
      headers: { 'content-encoding': 'gzip', 'content-type': 'application/json' },
      body: 'x',
    });
    expect(response.status).toBe(415);
  });
});
