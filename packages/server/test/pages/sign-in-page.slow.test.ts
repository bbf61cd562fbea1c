import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGateway } from '@pgway/core';
import { build, useDatabase } from '@pgway/testing';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  clientId,
  clientSecret,
  startProvider,
  type TestProvider,
} from '../../../external-sign-in/test/openid-provider.ts';
import { parseConfiguration } from '../support/parse-configuration.ts';
import { gatewayOptions } from '../../src/gateway-options.ts';
import { Lifecycle } from '../../src/lifecycle.ts';
import { createSignInPage } from '../../src/pages/sign-in-page.ts';
import { startHttpServer } from '../../src/start.ts';
import { chromiumPath, stepTimeout } from '../support/chromium.ts';

/* Sign-in, linked accounts and sign-out in Chromium, with the pages of an OpenID provider. */

const database = useDatabase(`
  create table account (subject text primary key, person text not null);
  create function external_login(_name text, _profile jsonb) returns table (id text, name text) language sql as
    $$ select coalesce((select person from account where subject = _profile->>'sub'), _profile->>'sub'), _name $$;
  create function enter(_name text, _password text) returns table (id text, name text, status boolean, message text) language sql as
    $$ select _name, _name, _password = 'secret', null $$;
  comment on function enter is 'HTTP
  login';
  create function me(_user_id text) returns text language sql stable as $$ select 'You are ' || _user_id || '.' $$;
  comment on function me is 'HTTP GET
  authorize
  user_parameters';
`);

const accountPage = `<!doctype html>
<title>Account</title>
<a href="/signin?return_to=/api/me">Sign in</a>
<form method="post" action="/signin/company?link=true&return_to=/api/me"><button>Link the company account</button></form>
<form method="post" action="/signout?return_to=/"><button>Sign out</button></form>`;

let provider: TestProvider;
let browser: Browser;
/** A server for each value of the attribute `SameSite` of its session cookie. */
const origins: Record<string, string> = {};
const folders: string[] = [];
const lifecycle = new Lifecycle();

async function startServer(sameSite: 'lax' | 'strict'): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'pgway-sign-in-'));
  folders.push(folder);
  await mkdir(join(folder, 'public'));
  await writeFile(join(folder, 'public/index.html'), accountPage);
  const configuration = parseConfiguration({
    port: 0,
    connectionString: database.connectionString,
    cookie: { enabled: true, sameSite },
    staticFiles: { root: 'public' },
    // Forms may not be redirected to other sites.
    securityHeaders: { enabled: true, contentSecurityPolicy: "default-src 'self'; form-action 'self'" },
    externalSignIn: {
      providers: { company: { issuer: provider.issuer, clientId, clientSecret, label: 'Company' } },
      loginCommand: 'select * from external_login($3, $4::jsonb)',
      linkCommand: `insert into account values ($4::jsonb->>'sub', $6) on conflict do nothing returning true`,
    },
  });
  const gateway = await createGateway(await gatewayOptions(configuration, database.connectionString, {}));
  await lifecycle.start({
    name: 'gateway',
    startTimeoutMs: 10_000,
    start: async () => gateway,
    stopTimeoutMs: 10_000,
    stop: () => gateway.close(),
  });
  const { port } = await startHttpServer(lifecycle, configuration, gateway, {
    handlers: [],
    pages: [createSignInPage(configuration)],
    certificates: null,
    workingDirectory: folder,
  });
  origins[sameSite] = `http://127.0.0.1:${port}`;
}

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  await build();
  provider = await startProvider({ hasPages: true });
  await startServer('lax');
  await startServer('strict');
  provider.register(origins['lax']!, origins['strict']!);
  browser = await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox'] });
});
afterAll(async () => {
  await browser?.close();
  await lifecycle.stop();
  await provider?.close();
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true })));
});

interface OpenedPage {
  readonly page: Page;
  /** Errors of scripts and violations of the content security policy. */
  readonly errors: readonly string[];
}

async function open(url: string, options: BrowserContextOptions = {}): Promise<OpenedPage> {
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  context.setDefaultTimeout(stepTimeout);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    const isOwn = page.url().startsWith(origins['lax']!) || page.url().startsWith(origins['strict']!);
    if (isOwn && message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      errors.push(message.text());
  });
  await page.goto(url);
  return { page, errors };
}

/** Signs in on the pages of the provider, and consents. */
async function signInAtProvider(page: Page, name: string): Promise<void> {
  await page.waitForURL(`${provider.issuer}/**`);
  await page.fill('input[name=login]', name);
  await page.fill('input[name=password]', 'any');
  await page.click('button[type=submit]');
  await page.click('button:has-text("Continue")');
}

describe.skipIf(chromiumPath === undefined)('in a browser (skipped where there is no Chromium)', () => {
  test.each(['lax', 'strict'])(
    'signs in with the keyboard alone, with a session cookie of SameSite %s',
    async (site) => {
      const { page, errors } = await open(origins[site]!);
      await page.click('text=Sign in');
      // A key that is pressed earlier goes to the page before.
      await page.waitForURL(`${origins[site]!}/signin?**`);
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Continue with Company');
      await page.keyboard.press('Enter');
      await signInAtProvider(page, 'ada');
      await page.waitForURL(`${origins[site]!}/api/me`);
      expect(await page.textContent('body')).toBe('You are ada.');
      const cookies = await page.context().cookies(origins[site]!);
      expect(cookies.map(({ name, httpOnly, sameSite }) => [name, httpOnly, sameSite])).toEqual([
        ['pgway', true, site === 'lax' ? 'Lax' : 'Strict'],
      ]);
      expect(errors).toEqual([]);
    },
  );

  test('signs out here and at the provider, and returns', async () => {
    const { page, errors } = await open(`${origins['lax']!}/signin/company?return_to=/`);
    await signInAtProvider(page, 'ada');
    await page.waitForURL(`${origins['lax']!}/`);
    await page.click('text=Sign out');
    await page.waitForURL(`${provider.issuer}/session/end**`);
    await page.click('text=Yes, sign me out');
    await page.waitForURL(`${origins['lax']!}/`);
    expect(await page.context().cookies(origins['lax']!)).toEqual([]);
    // The provider asks for the user again.
    await page.goto(`${origins['lax']!}/signin/company`);
    await page.waitForSelector('input[name=login]');
    expect(errors).toEqual([]);
  });

  test.each(['lax', 'strict'])('links an account to a user with a password, with SameSite %s', async (site) => {
    const { page, errors } = await open(`${origins[site]!}/signin?return_to=/`);
    await page.fill('#user', `bob-${site}`);
    await page.fill('#password', 'wrong');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.textContent('[role=alert]')).toBe('The user name or the password is wrong.');
    await page.fill('#password', 'secret');
    await page.keyboard.press('Enter');
    await page.click('text=Link the company account');
    await signInAtProvider(page, `robert-${site}`);
    await page.waitForURL(`${origins[site]!}/api/me`);
    expect(await page.textContent('body')).toBe(`You are bob-${site}.`);
    const other = await open(`${origins[site]!}/signin/company?return_to=/api/me`);
    await signInAtProvider(other.page, `robert-${site}`);
    await other.page.waitForURL(`${origins[site]!}/api/me`);
    expect(await other.page.textContent('body')).toBe(`You are bob-${site}.`);
    expect(errors).toEqual([]);
  });

  test('a link of another site asks first', async () => {
    // localhost and 127.0.0.1 are different sites.
    const { page, errors } = await open(origins['lax']!.replace('127.0.0.1', 'localhost'));
    await page.evaluate(
      `document.body.innerHTML = '<a href="${origins['lax']!}/signin/company?return_to=/api/me">Win!</a>'`,
    );
    await page.click('text=Win!');
    await page.waitForSelector('text=Sign in with Company?');
    expect(await page.context().cookies(origins['lax']!)).toEqual([]);
    await page.click('text=Continue with Company');
    await signInAtProvider(page, 'eve');
    await page.waitForURL(`${origins['lax']!}/api/me`);
    expect(await page.textContent('body')).toBe('You are eve.');
    expect(errors).toEqual([]);
  });

  test('a cancelled sign-in shows a page, and starts again', async () => {
    const { page } = await open(`${origins['lax']!}/signin/company`);
    await page.click('text=[ Cancel ]');
    await page.waitForURL(`${origins['lax']!}/signin/company/callback**`);
    expect(await page.textContent('h1')).toBe('The sign-in was cancelled or refused at the provider');
    await page.click('text=Try again');
    await page.waitForSelector('input[name=login]');
    // Back to the callback: it is over.
    await page.goBack();
    await expect.poll(() => page.textContent('h1')).toMatch(/was not started in this browser|was cancelled/);
  });

  test('is dark or light as the browser prefers, and fits narrow windows', async () => {
    const colors = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, errors } = await open(`${origins['lax']!}/signin`, {
        colorScheme,
        viewport: { width: 320, height: 600 },
      });
      colors.push(await page.evaluate('getComputedStyle(document.documentElement).backgroundColor'));
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
      expect(errors).toEqual([]);
    }
    expect(colors).toEqual(['rgb(246, 248, 249)', 'rgb(17, 20, 23)']);
  });
});
