import { externalSignIn } from '@pgway/external-sign-in';
import { startGateway, type TestGateway } from '@pgway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type PageResponse, TestBrowser } from './browser.ts';
import { type Account, clientId, clientSecret, startProvider, type TestProvider } from './openid-provider.ts';

/** Users may have several accounts, each account belongs to one user. */
const sql = `
create table person (id int primary key, name text);
insert into person values (1, 'Ada'), (2, 'Bob');
create table account (provider text, subject text, person int references person, primary key (provider, subject));
create function login(_name text, _scheme text default 'cookie') returns table (id int, name text, scheme text) language sql as
$$ select id, name, _scheme from person where name = _name $$;
comment on function login is 'HTTP
login';
create function logout() returns void language sql as '';
comment on function logout is 'HTTP
logout';
create function external_login(_provider text, _profile jsonb) returns table (id int, name text) language sql as
$$ select p.id, p.name from account a join person p on p.id = a.person
   where (a.provider, a.subject) = (_provider, _profile->>'sub') $$;
create function link_account(_provider text, _profile jsonb, _person int) returns table (status boolean, message text) language sql as
$$ with added as (insert into account values (_provider, _profile->>'sub', _person) on conflict do nothing returning true)
   select true, null from added
   union all select false, 'This account belongs to another user.' where not exists (select from added) $$;
create function me(_user_name text) returns text language sql stable as $$ select _user_name $$;
comment on function me is 'HTTP GET
authorize
user_parameters';`;

let provider: TestProvider;
let gateway: TestGateway;

beforeAll(async () => {
  provider = await startProvider({ features: { rpInitiatedLogout: { enabled: true } } });
  gateway = await startGateway(sql, {
    authentication: {
      cookie: true,
      bearer: true,
      useUserParameters: true,
      externalSignIn: externalSignIn({
        providers: { test: { issuer: provider.issuer, clientId, clientSecret } },
        loginCommand: 'select * from external_login($1, $4::jsonb) -- $2 $3 $5',
        linkCommand: 'select * from link_account($1, $4::jsonb, $6::int) -- $2 $3 $5',
        unlinkCommand: 'delete from account where provider = $1 and person = $2::int returning true as status',
      }),
    },
  });
  provider.register(gateway.url);
});
afterAll(async () => {
  await gateway?.close();
  await provider?.close();
});

const account = (sub: string): Account => ({ sub });
const linkPath = '/signin/test?link=true&return_to=/api/me';
const signInPath = '/signin/test?return_to=/api/me';

/** Signs in without a provider. */
async function browserOf(name: string): Promise<TestBrowser> {
  const browser = new TestBrowser();
  const { headers } = await gateway.send('POST /api/login', { body: { name } });
  browser.setCookies(gateway.url, headers);
  return browser;
}

const visit = (browser: TestBrowser, path: string, method = 'GET'): Promise<PageResponse> =>
  browser.visit(`${gateway.url}${path}`, { method });

/** Links an account by the form of a page of this site. */
async function link(browser: TestBrowser): Promise<PageResponse> {
  const page = await visit(browser, linkPath, 'POST');
  const next = /<meta http-equiv="refresh" content="0;url=(http[^"]*)">/.exec(page.body)?.[1];
  if (next === undefined) return page;
  return browser.visit(next.replaceAll('&amp;', '&'), { headers: { 'sec-fetch-site': 'cross-site' } });
}

describe('linked accounts', () => {
  test('a signed-in user links an account, signs in with it, and removes it', async () => {
    provider.account = account('ada-at-provider');
    expect((await visit(new TestBrowser(), signInPath)).status).toBe(401);
    const ada = await browserOf('Ada');
    const linked = await link(ada);
    expect([linked.url, linked.body]).toEqual([`${gateway.url}/api/me`, 'Ada']);
    expect(await gateway.database.query('select * from account')).toEqual([
      { provider: 'test', subject: 'ada-at-provider', person: 1 },
    ]);
    expect((await visit(new TestBrowser(), signInPath)).body).toBe('Ada');
    const headers = { accept: 'application/json', 'sec-fetch-site': 'same-origin' };
    const unlink = (): Promise<PageResponse> =>
      ada.visit(`${gateway.url}/signin/test/unlink`, { method: 'POST', headers });
    const [removed, again] = [await unlink(), await unlink()];
    expect([removed.status, removed.body, again.status, JSON.parse(again.body)]).toEqual([
      204,
      '',
      404,
      {
        type: 'urn:pgway:problem:account-not-linked',
        title: 'The account is not linked to this user',
        status: 404,
      },
    ]);
    expect((await visit(new TestBrowser(), signInPath)).status).toBe(401);
  });

  test('an account of another user: the status is 409, with the message of the command', async () => {
    provider.account = account('shared');
    await link(await browserOf('Ada'));
    const bob = await browserOf('Bob');
    const refused = await link(bob);
    expect([refused.status, refused.body.includes('This account belongs to another user.')]).toEqual([409, true]);
    expect((await visit(bob, '/api/me')).body).toBe('Bob');
  });

  test('linking needs a session, and a page of this site: another site cannot link an account of its own', async () => {
    expect((await visit(new TestBrowser(), linkPath)).status).toBe(401);
    const ada = await browserOf('Ada');
    for (const method of ['GET', 'POST']) {
      const response = await ada.visit(`${gateway.url}${linkPath}`, {
        method,
        headers: { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
        follow: false,
      });
      // The question; it has no cookie of a sign-in.
      expect([response.status, response.headers.getSetCookie()]).toEqual([method === 'GET' ? 200 : 403, []]);
    }
    const unlink = await ada.visit(`${gateway.url}/signin/test/unlink`, {
      method: 'POST',
      headers: { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
    });
    expect(unlink.status).toBe(403);
  });

  test.each([
    ['a link of a mail', { 'sec-fetch-site': 'none' }],
    ['a link of another site', { 'sec-fetch-site': 'cross-site' }],
    ['a link of a page of this site', { 'sec-fetch-site': 'same-origin' }],
    ['a browser without Sec-Fetch-Site', { 'sec-fetch-site': '' }],
  ])('%s asks the user by name, and the button adds the account', async (_, headers) => {
    provider.account = account(`asked ${headers['sec-fetch-site']}`);
    const ada = await browserOf('Ada');
    const page = await ada.visit(`${gateway.url}${linkPath}`, { headers });
    const main = /<main>\n([^]*)<\/main>/.exec(page.body)?.[1];
    expect([page.status, page.headers.getSetCookie(), main]).toEqual([
      200,
      [],
      `<h1>Add an account of test?</h1>
<p>You are signed in as Ada.</p>
<p>An account of test will be added to this user. The owner of that account can then sign in as this user.</p>
<form method="post" action="/signin/test?link=true&amp;return_to=/api/me"><button>Add the account of test</button></form>
`,
    ]);
    expect((await link(ada)).body).toBe('Ada');
    expect(
      await gateway.database.query('select person from account where subject = $1', [provider.account.sub]),
    ).toEqual([{ person: 1 }]);
  });

  test('a program that links by GET is told to use POST', async () => {
    const ada = await browserOf('Ada');
    const { status, body } = await ada.visit(`${gateway.url}${linkPath}`, { headers: { accept: 'application/json' } });
    expect([status, JSON.parse(body)]).toMatchObject([
      403,
      { detail: 'Link the account by POST from a page of this site.' },
    ]);
  });

  test('a session that has ended before the return links nothing', async () => {
    provider.account = account('late');
    const ada = await browserOf('Ada');
    const headers = { accept: 'application/json' };
    const { body } = await ada.visit(`${gateway.url}${linkPath}`, { method: 'POST', headers });
    await ada.visit(`${gateway.url}/api/logout`, { method: 'POST' });
    const response = await ada.visit((JSON.parse(body) as { readonly location: string }).location);
    expect(response.status).toBe(400);
    expect(response.body).toContain('The session that has started this has ended. Sign in again.');
    expect(await gateway.database.query(`select from account where subject = 'late'`)).toEqual([]);
  });

  test('a program with a token links in the browser that it opens', async () => {
    provider.account = account('by-token');
    const { body } = await gateway.send('POST /api/login', { body: { name: 'Bob', scheme: 'bearer' } });
    const { access_token: token } = JSON.parse(body) as { readonly access_token: string };
    const browser = new TestBrowser();
    const started = await browser.visit(`${gateway.url}/signin/test?link=true`, {
      method: 'POST',
      headers: { accept: 'application/json', authorization: `Bearer ${token}` },
    });
    const { location } = JSON.parse(started.body) as { readonly location: string };
    await browser.visit(location);
    expect(await gateway.database.query(`select person from account where subject = 'by-token'`)).toEqual([
      { person: 2 },
    ]);
  });
});

describe('the sign-out', () => {
  test('ends the session here, then at the provider, which gets the ID token as a hint', async () => {
    provider.account = account('ada-leaves');
    await link(await browserOf('Ada'));
    const browser = new TestBrowser();
    await visit(browser, signInPath);
    const copied = new TestBrowser();
    copied.copyCookies(browser);
    const response = await visit(browser, '/signout?return_to=/bye', 'POST');
    const url = new URL(/url=([^"]+)">/.exec(response.body)![1]!.replaceAll('&amp;', '&'));
    expect([response.status, `${url.origin}${url.pathname}`]).toEqual([200, `${provider.issuer}/session/end`]);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: clientId,
      post_logout_redirect_uri: `${gateway.url}/bye`,
      id_token_hint: expect.stringMatching(/^eyJ/),
    });
    expect([...browser.cookies(gateway.url)]).toEqual([]);
    // The session has ended, not only the cookie.
    expect((await visit(copied, '/api/me')).status).toBe(401);
    // The provider knows the client and the user: it asks the user, and does not refuse.
    const page = await browser.visit(url.href);
    expect([page.status, page.body.includes('Do you want to sign-out')]).toEqual([200, true]);
  });

  test('without a session at a provider it ends the session here', async () => {
    const browser = await browserOf('Bob');
    const response = await browser.visit(`${gateway.url}/signout`, {
      method: 'POST',
      headers: { accept: 'application/json' },
    });
    expect([response.status, JSON.parse(response.body)]).toEqual([200, { location: '/' }]);
    expect([...browser.cookies(gateway.url)]).toEqual([]);
  });

  test('another site cannot sign its visitor out', async () => {
    const browser = await browserOf('Bob');
    const response = await browser.visit(`${gateway.url}/signout`, {
      method: 'POST',
      headers: { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
    });
    expect([response.status, (await visit(browser, '/api/me')).body]).toEqual([403, 'Bob']);
    expect((await browser.visit(`${gateway.url}/signout`)).status).toBe(405);
  });
});
