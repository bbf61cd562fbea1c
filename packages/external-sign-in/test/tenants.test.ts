import { externalSignIn } from '@pgway/external-sign-in';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientId, clientSecret, startProvider, type TestProvider } from './openid-provider.ts';
import { TestBrowser } from './browser.ts';
import { startTenants, type TenantGateway } from '../../core/test/tenants/support.ts';

const sql = `create function external_login(_provider text, _name text) returns table (id text, name text) language sql
as $$ select current_database()::text, _name $$;
create function whoami(_user_id text) returns text language sql stable as 'select _user_id';
comment on function whoami is 'HTTP GET
authorize
user_parameters';`;

let provider: TestProvider;
let tenants: TenantGateway;

beforeAll(async () => {
  provider = await startProvider();
  provider.register('https://acme.example.com', 'https://globex.example.com');
  tenants = await startTenants(['acme', 'globex'], sql, {
    authentication: {
      cookie: true,
      useUserParameters: true,
      externalSignIn: externalSignIn({
        providers: { test: { issuer: provider.issuer, clientId, clientSecret } },
        loginCommand: 'select * from external_login($1, $3)',
        publicOrigin: 'https://{tenant}.example.com',
      }),
    },
  });
});
afterAll(async () => {
  await tenants?.close();
  await provider?.close();
});

/** Signs in at the provider, and returns the path of the callback with the cookies of the gateway. */
async function authorizeAt(tenant: string): Promise<{ readonly callback: URL; readonly cookie: string }> {
  provider.account = { sub: 'ada', name: 'Ada' };
  const start = await tenants.send(tenant, 'GET /signin/test', {
    headers: { 'sec-fetch-site': 'same-origin', accept: 'text/html' },
  });
  expect(start.status).toBe(303);
  const browser = new TestBrowser();
  let location = start.headers.get('location')!;
  // The last redirect leads to the tenant, whose host this machine cannot look up.
  for (let count = 0; location.startsWith(provider.issuer) && count < 10; count += 1) {
    const page = await browser.visit(location, { follow: false });
    location = new URL(page.headers.get('location')!, location).href;
  }
  return { callback: new URL(location), cookie: cookiesOf(start) };
}

function cookiesOf(response: Response): string {
  return response.headers
    .getSetCookie()
    .map((line) => line.split(';', 1)[0])
    .join('; ');
}

test('a sign-in ends at the host of its tenant, and its command runs in the database of the tenant', async () => {
  const { callback, cookie } = await authorizeAt('acme');
  expect(`${callback.origin}${callback.pathname}`).toBe('https://acme.example.com/signin/test/callback');
  const response = await tenants.send('acme', `GET ${callback.pathname}${callback.search}`, {
    headers: { cookie, 'sec-fetch-site': 'cross-site', accept: 'text/html' },
  });
  expect([response.status, response.headers.get('location')]).toEqual([303, '/']);
  const session = { cookie: cookiesOf(response), 'sec-fetch-site': 'same-origin' };
  const answers = await Promise.all(
    ['acme', 'globex'].map((tenant) => tenants.send(tenant, 'GET /api/whoami', { headers: session })),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 401]);
  expect(await answers[0]!.text()).toBe(new URL(tenants.databases['acme']!.connectionString).pathname.slice(1));
});

test('the callback of one tenant is refused at another one', async () => {
  const { callback, cookie } = await authorizeAt('acme');
  const response = await tenants.send('globex', `GET ${callback.pathname}${callback.search}`, {
    headers: { cookie, accept: 'application/json' },
  });
  expect([response.status, await response.json()]).toEqual([
    400,
    expect.objectContaining({ type: 'urn:pgway:problem:invalid-sign-in' }),
  ]);
  expect(response.headers.getSetCookie()).toEqual([]);
});
