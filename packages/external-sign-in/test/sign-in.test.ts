import { externalSignIn } from '@pgway/external-sign-in';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { startGateway, type TestGateway } from '@pgway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type PageResponse, TestBrowser } from './browser.ts';
import { type Account, clientId, clientSecret, startProvider, type TestProvider } from './openid-provider.ts';

/** The command records what it gets. Users of example.org are welcome, others are not. */
export const sql = `
create table sign_in (provider text, email text, name text, profile jsonb, browser jsonb);
create function external_login(_provider text, _email text, _name text, _profile jsonb, _browser jsonb)
returns table (status int, message text, id text, name text, roles text[]) language plpgsql as $$
begin
  insert into sign_in values (_provider, _email, _name, _profile, _browser);
  if _profile->>'sub' = 'locked' then return query select 403, 'Your account is locked.', null, null, null::text[];
  elsif _profile->>'sub' = 'strange' then raise exception 'You are strange.' using errcode = 'P0001';
  elsif _profile->>'sub' <> 'unknown' then
    return query select 200, null, _profile->>'sub', _name, array['reader', 'writer'];
  end if;
end $$;
create function me(_user_id text, _user_name text, _user_roles text[]) returns json language sql stable as
$$ select json_build_object('id', _user_id, 'name', _user_name, 'roles', _user_roles) $$;
comment on function me is 'HTTP GET
authorize
user_parameters';`;

let provider: TestProvider;
let gateway: TestGateway;

beforeAll(async () => {
  provider = await startProvider();
  gateway = await startGateway(sql, {
    authentication: {
      cookie: true,
      useUserParameters: true,
      externalSignIn: externalSignIn({
        providers: {
          test: { issuer: provider.issuer, clientId, clientSecret, label: 'The Library' },
          second: { issuer: provider.issuer, clientId, clientSecret },
          // OAuth 2 without discovery and nonce.
          github: {
            clientId,
            clientSecret,
            issuer: provider.issuer,
            authorizationEndpoint: `${provider.issuer}/auth`,
            tokenEndpoint: `${provider.issuer}/token`,
            userinfoEndpoint: `${provider.issuer}/me`,
            emailsEndpoint: `${provider.issuer}/me`,
            scope: 'openid profile email',
          },
        },
        loginCommand: 'select * from external_login($1, $2, $3, $4::jsonb, $5::jsonb)',
      }),
    },
  });
  provider.register(gateway.url);
});
afterAll(async () => {
  await gateway?.close();
  await provider?.close();
});

const ada: Account = { sub: 'ada', name: 'Ada', email: 'ada@example.org', email_verified: true };

interface SignedIn {
  readonly browser: TestBrowser;
  readonly response: PageResponse;
}

/** Signs a user of the provider in, in a new browser. */
async function signIn(account: Account | null, path = '/signin/test?return_to=/api/me'): Promise<SignedIn> {
  provider.account = account;
  const browser = new TestBrowser();
  return { browser, response: await browser.visit(`${gateway.url}${path}`) };
}

const lines = (): readonly string[] =>
  gateway.observations.flatMap((observation) =>
    observation.kind === 'external-sign-in'
      ? [[observation.provider, observation.action, observation.outcome, observation.reason].join(' ')]
      : [],
  );

describe('a sign-in', () => {
  test('the command gets the user of the provider, and its row is the claims of the session', async () => {
    const { browser, response } = await signIn(ada);
    expect([response.url, response.status, JSON.parse(response.body)]).toEqual([
      `${gateway.url}/api/me`,
      200,
      { id: 'ada', name: 'Ada', roles: ['reader', 'writer'] },
    ]);
    // The cookie of the sign-in is gone.
    expect([...browser.cookies(gateway.url).keys()]).toEqual(['pgway', 'pgway-signout']);
    const [row] = await gateway.database.query('select * from sign_in');
    expect(row).toMatchObject({ provider: 'test', email: 'ada@example.org', name: 'Ada' });
    expect(row!['profile']).toMatchObject({ ...ada, iss: provider.issuer, aud: clientId });
    expect(row!['browser']).toMatchObject({ ip_address: '127.0.0.1', return_to: '/api/me' });
    expect(lines().at(-1)).toBe('test sign-in succeeded ');
  });

  test('the provider gets state, nonce and a PKCE challenge, and the address of this host', async () => {
    const { response } = await start();
    const { origin, pathname, searchParams } = new URL(response.headers.get('location')!);
    expect([response.status, `${origin}${pathname}`]).toEqual([303, `${provider.issuer}/auth`]);
    expect(Object.fromEntries(searchParams)).toEqual({
      client_id: clientId,
      redirect_uri: `${gateway.url}/signin/test/callback`,
      response_type: 'code',
      scope: 'openid email profile',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
    const [line] = response.headers.getSetCookie();
    expect(line).toMatch(/^pgway-signin-[\w-]{16}=[^;]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/);
  });

  test('an address that the provider has not verified is NULL, and in the JSON', async () => {
    for (const account of [
      { ...ada, email_verified: false },
      { sub: 'ada', email: 'ada@example.org' },
    ]) {
      await signIn(account);
      const [row] = await gateway.database.query('select * from sign_in order by ctid desc limit 1');
      expect([row!['email'], (row!['profile'] as Account).email]).toEqual([null, 'ada@example.org']);
    }
  });

  test('an OAuth 2 provider by its endpoints', async () => {
    const { response } = await signIn(ada, '/signin/github?return_to=/api/me');
    expect([response.url, JSON.parse(response.body)]).toEqual([
      `${gateway.url}/api/me`,
      { id: 'ada', name: 'Ada', roles: ['reader', 'writer'] },
    ]);
    expect(lines().at(-1)).toBe('github sign-in succeeded ');
  });

  test('without return_to the browser goes to the default path', async () => {
    const { response } = await signIn(ada, '/signin/test');
    expect(response.url).toBe(`${gateway.url}/`);
  });

  test('a user whom the command refuses gets its status and message, and no session', async () => {
    const locked = await signIn({ sub: 'locked' });
    expect([locked.response.status, textOf(locked.response)]).toEqual([
      403,
      'The sign-in was refused Your account is locked. Try again',
    ]);
    const unknown = await signIn({ sub: 'unknown' });
    expect([unknown.response.status, textOf(unknown.response)]).toEqual([401, 'The login was refused Try again']);
    const strange = await signIn({ sub: 'strange' });
    expect([strange.response.status, textOf(strange.response)]).toEqual([400, 'You are strange. Try again']);
    for (const { browser } of [locked, unknown, strange]) expect([...browser.cookies(gateway.url)]).toEqual([]);
    expect(lines().slice(-3)).toEqual([
      'test sign-in refused the command has refused the user with status 403',
      'test sign-in refused The login was refused',
      'test sign-in refused You are strange.',
    ]);
  });

  test('a user who cancels gets a page with a link to start again', async () => {
    const { response, browser } = await signIn(null);
    expect([response.status, textOf(response)]).toEqual([
      403,
      'The sign-in was cancelled or refused at the provider The Library: start the sign-in again. Try again',
    ]);
    expect(response.body).toContain('<a class="button" href="/signin/test" autofocus>');
    expect([...browser.cookies(gateway.url)]).toEqual([]);
    expect(lines().at(-1)).toBe('test sign-in refused the provider answered with the error "access_denied"');
  });

  test('pages have no script, load nothing, and are not stored', async () => {
    const { response } = await signIn(null);
    const policy = response.headers.get('content-security-policy')!;
    expect(policy).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]+'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
    );
    expect(
      ['cache-control', 'referrer-policy', 'x-content-type-options'].map((name) => response.headers.get(name)),
    ).toEqual(['no-store', 'no-referrer', 'nosniff']);
    expect(response.body).not.toMatch(/<script|javascript:| on\w+=/i);
  });

  test('several tabs of a browser sign in side by side', async () => {
    provider.account = ada;
    const browser = new TestBrowser();
    const first = await browser.visit(`${gateway.url}/signin/test?return_to=/api/me`, { follow: false });
    const second = await browser.visit(`${gateway.url}/signin/test?return_to=/api/me`);
    const completed = await browser.visit(first.headers.get('location')!);
    expect([second.status, completed.status, completed.url]).toEqual([200, 200, `${gateway.url}/api/me`]);
  });

  test('a browser that starts many sign-ins keeps few cookies', async () => {
    const browser = new TestBrowser();
    for (let count = 0; count < 30; count += 1) {
      await browser.visit(`${gateway.url}/signin/test`, { follow: false });
      expect(browser.cookies(gateway.url).size).toBeLessThanOrEqual(4);
    }
  });
});

describe('the start', () => {
  test('a page of another site cannot start a sign-in: its visitor is asked', async () => {
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }, {}]) {
      const response = await fetch(`${gateway.url}/signin/test?return_to=/x%22y`, {
        headers: { accept: 'text/html', ...headers },
        redirect: 'manual',
      });
      expect([response.status, response.headers.getSetCookie()]).toEqual([200, []]);
      expect(await response.text()).toContain(
        '<form method="post" action="/signin/test?return_to=/x%22y"><button>Continue with The Library</button></form>',
      );
    }
    const post = await gateway.send('POST /signin/test', { headers: { origin: 'https://evil.example' } });
    const get = await gateway.send('GET /signin/test', { headers: { 'sec-fetch-site': 'cross-site' } });
    expect([post.status, get.status]).toEqual([403, 403]);
    expect(JSON.parse(post.body)).toEqual({
      type: 'urn:pgway:problem:cross-site-request',
      title: 'Requests from pages of other sites are not allowed',
      status: 403,
      detail: 'Start the sign-in from a page of this site, or by POST.',
    });
  });

  test('a script starts by POST and gets the address of the provider', async () => {
    const response = await gateway.send('POST /signin/test', { headers: { origin: gateway.url } });
    const { location } = JSON.parse(response.body) as { readonly location: string };
    expect([response.status, location.startsWith(`${provider.issuer}/auth?`)]).toEqual([200, true]);
  });

  test('a form gets a page that goes on to the provider, as the rule form-action of its page forbids a redirect', async () => {
    const { response } = await start('POST');
    const refresh = /<meta http-equiv="refresh" content="0;url=([^"]+)">/.exec(response.body)![1]!;
    expect([response.status, /^http:\/\/127\.0\.0\.1:\d+\/auth\?[^&]+&amp;/.test(refresh)]).toEqual([200, true]);
  });

  test('return_to takes a path of this site only', async () => {
    for (const text of ['https://evil.example', '//evil.example', '/\\evil.example', '/\n/evil.example', 'books', '']) {
      const response = await gateway.send(`POST /signin/test?return_to=${encodeURIComponent(text)}`);
      expect([response.status, JSON.parse(response.body)]).toEqual([
        400,
        {
          type: 'urn:pgway:problem:invalid-parameter',
          title: 'A parameter has an invalid value',
          status: 400,
          detail: 'The parameter "return_to" takes one path of this site, such as /books?page=2.',
          parameters: ['return_to'],
        },
      ]);
    }
  });

  test('the address for the provider is never built from the host of the request', async () => {
    const response = await sendWithHost('evil.example');
    expect([response.status, JSON.parse(response.body)]).toMatchObject([
      421,
      { type: 'urn:pgway:problem:unknown-origin' },
    ]);
  });

  test('an unknown provider is not found', async () => {
    expect((await gateway.send('POST /signin/other')).status).toBe(404);
  });
});

describe('the callback', () => {
  test('in another browser, without a start, or with a changed state: 400, and the provider is not asked', async () => {
    const { response } = await start();
    provider.account = ada;
    const callback = await authorizeAtProvider(response);
    const asked = provider.requests.length;
    for (const url of [callback, callback.replace(/state=[^&]+/, 'state=x'), `${gateway.url}/signin/test/callback`]) {
      const stranger = await new TestBrowser().visit(url);
      expect([stranger.status, textOf(stranger), stranger.headers.getSetCookie()]).toEqual([
        400,
        'The sign-in was not started in this browser, has expired, or is already complete Try again',
        [],
      ]);
    }
    expect(provider.requests.length).toBe(asked);
    expect(lines().at(-1)).toBe(
      'test sign-in refused The sign-in was not started in this browser, has expired, or is already complete',
    );
  });

  test('a program gets a problem', async () => {
    const response = await gateway.send('GET /signin/test/callback?code=x&state=y');
    expect([response.status, response.type, JSON.parse(response.body)]).toEqual([
      400,
      'application/problem+json',
      {
        type: 'urn:pgway:problem:invalid-sign-in',
        title: 'The sign-in was not started in this browser, has expired, or is already complete',
        status: 400,
      },
    ]);
  });

  test('a second time, even with a copied cookie: 400, and the first session stays', async () => {
    const { browser, response } = await start();
    provider.account = ada;
    const callback = await authorizeAtProvider(response);
    const thief = new TestBrowser();
    thief.copyCookies(browser);
    const first = await browser.visit(callback);
    const asked = provider.requests.length;
    const [replayed, stolen] = [await browser.visit(callback), await thief.visit(callback)];
    expect([first.status, replayed.status, stolen.status]).toEqual([200, 400, 400]);
    expect([...thief.cookies(gateway.url).keys()]).toEqual([]);
    expect((await browser.visit(`${gateway.url}/api/me`)).status).toBe(200);
    expect(provider.requests.length).toBe(asked);
  });

  test('at the same time twice: one of them signs in', async () => {
    const { browser, response } = await start();
    provider.account = ada;
    const callback = await authorizeAtProvider(response);
    const browsers = Array.from({ length: 5 }, () => new TestBrowser());
    for (const copy of browsers) copy.copyCookies(browser);
    const statuses = await Promise.all(browsers.map(async (copy) => (await copy.visit(callback)).status));
    expect(statuses.filter((status) => status === 200).length).toBe(1);
    expect(statuses.filter((status) => status === 400).length).toBe(4);
  });

  test('the state of another provider: 400', async () => {
    const { browser, response } = await start();
    provider.account = ada;
    const callback = await authorizeAtProvider(response);
    const mixed = await browser.visit(callback.replace('/signin/test/', '/signin/second/'));
    expect([mixed.status, (await browser.visit(callback)).status]).toEqual([400, 200]);
  });

  test('a forged or foreign cookie: 400', async () => {
    const { browser, response } = await start();
    const [name, value] = [...browser.cookies(gateway.url)][0]!;
    const state = new URL(response.headers.get('location')!).searchParams.get('state')!;
    const session = (await signIn(ada)).browser.cookies(gateway.url).get('pgway')!;
    for (const forged of [`${value.slice(0, -4)}AAAA`, session, '', 'x'.repeat(10_000)]) {
      const answer = await gateway.send(`GET /signin/test/callback?code=x&state=${state}`, {
        headers: { cookie: `${name}=${forged}` },
      });
      expect(answer.status).toBe(400);
    }
  });
});

async function start(method = 'GET'): Promise<SignedIn> {
  const browser = new TestBrowser();
  const url = `${gateway.url}/signin/test?return_to=/api/me`;
  return { browser, response: await browser.visit(url, { method, follow: false }) };
}

/** Signs in at the provider, and returns the address of the callback without requesting it. */
async function authorizeAtProvider({ headers }: PageResponse): Promise<string> {
  const browser = new TestBrowser();
  let url = headers.get('location')!;
  while (!url.startsWith(gateway.url)) {
    // Each redirect depends on the one before.
    const response = await browser.visit(url, { follow: false });
    url = new URL(response.headers.get('location')!, url).href;
  }
  return url;
}

function textOf({ body }: PageResponse): string {
  const main = body.slice(body.indexOf('<main>'));
  return main
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** `fetch` does not set the header `Host`. */
function sendWithHost(host: string): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(`${gateway.url}/signin/test`, { method: 'POST', headers: { host } }, (response) => {
      void text(response).then((body) => resolve({ status: response.statusCode!, body }), reject);
    });
    sent.on('error', reject).end();
  });
}
