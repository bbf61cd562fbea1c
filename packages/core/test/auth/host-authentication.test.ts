import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGateway, type Gateway, Problem } from '@pgway/core';
import { freshDatabase, type TestDatabase } from '@pgway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** A host with routes beside the gateway: `/sso` logs in, `/me` returns the caller, `/bye` logs out. */

const sql = `
  create function whoami() returns text language sql stable as
    $$ select current_setting('request.user_id', true) || ' ' || current_setting('request.user_roles', true) $$;
  comment on function whoami is 'HTTP GET
authorize
user_context';
  create function news() returns void language sql as $$ select $$;
  comment on function news is 'HTTP
info_path';
  create function rename() returns void language sql as $$ select $$;
  comment on function rename is 'HTTP POST
authorize';
`;

let database: TestDatabase;
let gateway: Gateway;
let url: string;
const server = createServer((request, response) => {
  const route = routes[request.url ?? ''];
  if (route === undefined) return gateway.middleware(request, response);
  void route(request, response).catch((error: unknown) => {
    response.statusCode = error instanceof Problem ? error.status : 500;
    response.end(String((error as Error).message));
  });
});

const routes: Readonly<Record<string, (request: IncomingMessage, response: ServerResponse) => Promise<void>>> = {
  '/sso': async (request, response) => {
    const claims = { id: '7', name: 'ada', roles: ['admin', 'writer'], level: 3, verified: true };
    const { headers, body } = await gateway.signIn(request, claims);
    for (const [name, value] of headers) response.appendHeader(name, value);
    response.end(body ?? '');
  },
  '/tokens': async (request, response) => {
    const { headers, body } = await gateway.signIn(request, { id: '8', roles: 'admin' }, { scheme: 'bearer' });
    for (const [name, value] of headers) response.appendHeader(name, value);
    response.end(body ?? '');
  },
  '/me': async (request, response) => {
    const caller = await gateway.authenticate(request);
    response.end(JSON.stringify(caller === null ? null : { scheme: caller.scheme, claims: caller.claims }));
  },
  '/staff': async (request, response) => {
    const caller = await gateway.authorize(request, { roles: ['Writer'] });
    response.end(caller.scheme);
  },
  '/members': async (request, response) => {
    const caller = await gateway.authorize(request);
    const issued = await gateway.antiforgeryToken(request, caller);
    for (const [name, value] of issued?.headers ?? []) response.appendHeader(name, value);
    response.end(issued?.token ?? 'no token');
  },
  '/bye': async (request, response) => {
    const { headers } = await gateway.signOut(request);
    for (const [name, value] of headers) response.appendHeader(name, value);
    response.end();
  },
};

beforeAll(async () => {
  database = await freshDatabase(sql);
  gateway = await createGateway({
    connectionString: database.connectionString,
    authentication: { cookie: true, bearer: true },
    events: { heartbeat: 600 },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await gateway.close();
  await database.drop();
});

async function cookieOf(path: string): Promise<string> {
  const [cookie] = (await fetch(url + path, { method: 'POST' })).headers.getSetCookie();
  return cookie!.split(';', 1)[0]!;
}

describe('a login by the host', () => {
  test('a caller that the host logs in by cookie is known to endpoints and to the host', async () => {
    const cookie = await cookieOf('/sso');
    const endpoint = await fetch(`${url}/api/whoami`, { headers: { cookie } });
    expect([endpoint.status, await endpoint.text()]).toEqual([200, '7 {admin,writer}']);
    const host = await fetch(`${url}/me`, { headers: { cookie } });
    expect(await host.json()).toEqual({
      scheme: 'cookie',
      claims: [
        ['id', '7'],
        ['name', 'ada'],
        ['roles', 'admin'],
        ['roles', 'writer'],
        ['level', '3', 'json'],
        ['verified', 'true', 'json'],
      ],
    });
  });

  test('the host selects bearer tokens by the name of the scheme', async () => {
    const tokens = (await (await fetch(`${url}/tokens`, { method: 'POST' })).json()) as Record<string, string>;
    const authorization = `Bearer ${Object.values(tokens).find((value) => typeof value === 'string' && value.length > 40)!}`;
    const endpoint = await fetch(`${url}/api/whoami`, { headers: { authorization } });
    expect([endpoint.status, await endpoint.text()]).toEqual([200, '8 {admin}']);
  });

  test('an anonymous request has no caller; a refused token is a 401', async () => {
    expect(await (await fetch(`${url}/me`)).text()).toBe('null');
    const refused = await fetch(`${url}/me`, { headers: { authorization: 'Bearer forged' } });
    expect(refused.status).toBe(401);
  });

  test('a logout ends the session, also for a copy of the cookie', async () => {
    const cookie = await cookieOf('/sso');
    const bye = await fetch(`${url}/bye`, { method: 'POST', headers: { cookie } });
    expect(bye.headers.getSetCookie()[0]).toMatch(/^pgway=;.*Max-Age=0/i);
    expect((await fetch(`${url}/api/whoami`, { headers: { cookie } })).status).toBe(401);
  });

  test('a logout ends the event streams of the session immediately', async () => {
    const cookie = await cookieOf('/sso');
    const stream = await fetch(`${url}/api/news/info`, { headers: { cookie } });
    expect(stream.status).toBe(200);
    await fetch(`${url}/bye`, { method: 'POST', headers: { cookie } });
    // Otherwise the stream would end at its next heartbeat, after the time limit of the test.
    await stream.text();
  });

  test('routes for signed-in callers, and for one of several roles', async () => {
    const cookie = await cookieOf('/sso');
    const visit = async (path: string, headers: Record<string, string>): Promise<readonly [number, string]> => {
      const response = await fetch(url + path, { headers });
      return [response.status, await response.text()];
    };
    expect(await visit('/staff', { cookie })).toEqual([200, 'cookie']);
    expect(await visit('/staff', {})).toEqual([401, 'Authentication is required']);
    const tokens = (await (await fetch(`${url}/tokens`, { method: 'POST' })).json()) as Record<string, string>;
    const authorization = `Bearer ${Object.values(tokens).find((value) => typeof value === 'string' && value.length > 40)!}`;
    expect(await visit('/staff', { authorization })).toEqual([403, 'The caller has none of the required roles']);
    // Tokens protect credentials that browsers send by themselves.
    expect(await visit('/members', { authorization })).toEqual([200, 'no token']);
    expect(await visit('/members', {})).toEqual([401, 'Authentication is required']);
    await expect(gateway.authorize(new Request('http://localhost/'), { role: [] } as object)).rejects.toThrow(
      'authorize: role: unknown option; did you mean roles?',
    );
  });

  test('an antiforgery token lets a page of another site use the cookie', async () => {
    const cookie = await cookieOf('/sso');
    const issued = await fetch(`${url}/members`, { headers: { cookie } });
    const token = await issued.text();
    expect(issued.headers.getSetCookie()[0]).toContain(`XSRF-TOKEN=${token};`);
    const origin = 'https://elsewhere.example';
    const post = (headers: Record<string, string>): Promise<Response> =>
      fetch(`${url}/api/rename`, { method: 'POST', headers: { origin, cookie, ...headers } });
    expect((await post({})).status).toBe(403);
    expect((await post({ 'x-xsrf-token': token })).status).toBe(204);
  });

  test('WHATWG fetch requests are accepted too', async () => {
    const signedIn = await gateway.signIn(new Request('http://localhost/sso'), { id: '9' });
    const response = new Response(signedIn.body, {
      headers: new Headers(signedIn.headers.map(([name, value]): [string, string] => [name, value])),
    });
    const cookie = response.headers.getSetCookie()[0]!.split(';', 1)[0]!;
    const caller = await gateway.authenticate(new Request('http://localhost/me', { headers: { cookie } }));
    expect(caller?.claims).toEqual([['id', '9']]);
  });

  test.each([
    [{ id: Number.NaN }, {}, 'signIn: the claim "id" must be a string, a number or a boolean, or a list of them'],
    [{ id: null as never }, {}, 'signIn: the claim "id" must be a string, a number or a boolean, or a list of them'],
    [
      { id: '1' },
      { scheme: 'saml' },
      'signIn: no enabled scheme "saml" supports login; enable it in the option authentication, or use another one such as cookie, bearer or jwt',
    ],
    [{ id: '1' }, { shceme: 'bearer' } as object, 'signIn: shceme: unknown option; did you mean scheme?'],
    [
      undefined as never,
      {},
      'signIn: the claims must be an object of names and values, such as { id: 7, roles: ["editor"] }',
    ],
  ])('%j %j is a programming error of the host', async (claims, options, message) => {
    await expect(gateway.signIn(new Request('http://localhost/'), claims, options)).rejects.toThrow(message);
  });

  test.each([undefined, {}, 'http://localhost/'])('%j is not a request', async (value) => {
    await expect(gateway.signIn(value as never, { id: '1' })).rejects.toThrow(
      'the request must be one of node:http, Express, Fastify (request.raw) or WHATWG fetch; pass it first',
    );
  });
});
