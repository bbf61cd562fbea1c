import { externalSignIn } from '@pgway/external-sign-in';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGateway, type Gateway, memoryKeyStorage, memoryRateLimits, type RateLimitStore } from '@pgway/core';
import { useDatabase } from '@pgway/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { TestBrowser } from './browser.ts';
import { clientId, clientSecret, startProvider, stop, type TestProvider } from './openid-provider.ts';

/* Two instances behind one address. They share keys and, by Redis or the primary process of workers, a store of rate limits. */

const database = useDatabase(`
  create function me(_user_id text) returns text language sql stable as $$ select _user_id $$;
  comment on function me is 'HTTP GET
  authorize
  user_parameters';`);

let provider: TestProvider;
let gateways: readonly Gateway[] = [];
let server: Server;
let origin: string;
/** Selects the instance of each request. */
let select: (request: IncomingMessage) => 0 | 1 = () => 0;
let isAvailable = true;

beforeAll(async () => {
  provider = await startProvider();
  const storage = memoryKeyStorage();
  const memory = memoryRateLimits();
  const store: RateLimitStore = {
    acquire: (policy, key) => (isAvailable ? memory.acquire(policy, key) : null),
    release: (policy, key, permit) => memory.release(policy, key, permit),
    close: () => undefined,
  };
  const open = (whenUnavailable: 'allow' | 'refuse'): Promise<Gateway> =>
    createGateway({
      connectionString: database.connectionString,
      rateLimits: { store, whenUnavailable },
      authentication: {
        cookie: true,
        useUserParameters: true,
        dataProtection: { storage },
        externalSignIn: externalSignIn({
          providers: { test: { issuer: provider.issuer, clientId, clientSecret } },
          loginCommand: `select $4::json->>'sub' as id -- $1 $2 $3 $5`,
        }),
      },
    });
  gateways = [await open('allow'), await open('refuse')];
  server = createServer((request, response) => gateways[select(request)]!.middleware(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  provider.register(origin);
  provider.account = { sub: 'ada' };
});
afterAll(async () => {
  await stop(server);
  await Promise.all(gateways.map((gateway) => gateway.close()));
  await provider.close();
});
beforeEach(() => {
  isAvailable = true;
});

const isCallback = ({ url }: IncomingMessage): boolean => url!.includes('/callback');

/** Starts a sign-in and returns the address of its callback. */
async function startSignIn(browser: TestBrowser): Promise<string> {
  let url = `${origin}/signin/test?return_to=/api/me`;
  while (!url.includes('/callback')) {
    // Each redirect depends on the one before.
    const response = await browser.visit(url, { follow: false });
    url = new URL(response.headers.get('location')!, url).href;
  }
  return url;
}

test('a sign-in that one instance starts is completed by the other one, once for both', async () => {
  select = (request) => (isCallback(request) ? 1 : 0);
  const browser = new TestBrowser();
  const callback = await startSignIn(browser);
  const copy = new TestBrowser();
  copy.copyCookies(browser);
  const { body } = await browser.visit(callback);
  expect(body).toBe('ada');
  select = () => 0;
  expect((await copy.visit(callback)).status).toBe(400);
});

test('while the store is unavailable, whenUnavailable decides; the provider accepts a code once', async () => {
  isAvailable = false;
  select = (request) => (isCallback(request) ? 1 : 0);
  const refused = new TestBrowser();
  expect((await refused.visit(await startSignIn(refused))).status).toBe(503);
  select = () => 0;
  const browser = new TestBrowser();
  const callback = await startSignIn(browser);
  const copy = new TestBrowser();
  copy.copyCookies(browser);
  expect((await browser.visit(callback)).body).toBe('ada');
  expect((await copy.visit(callback)).status).toBe(502);
});
