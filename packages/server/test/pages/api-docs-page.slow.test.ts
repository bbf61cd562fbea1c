import { readFileSync } from 'node:fs';
import { useDatabase } from '@pgway/testing';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { accessibilityFindings } from '../support/axe.ts';
import { endpointOf, hasChromium, openEndpoint, sendForm, useStartPage } from './page-fixture.ts';

/* The API docs page in a browser, and what it shares with the start page: forms of listings, code, history, streams. */

const markup = '"><img src=x onerror=alert(1)>';

const database = useDatabase(`
  create table language (id int primary key, name text not null);
  create table film (id int primary key, title text not null, length int, language_id int not null references language);
  insert into language values (1, 'English'), (2, '${markup}');
  insert into film values (1, 'Alien', 117, 1), (2, 'Metropolis', 153, 2), (3, 'Up, and "away"', 96, 1), (4, 'Unknown', null, 2);
  comment on table language is 'HTTP
listing';
  comment on table film is 'Films of <b>the</b> shop.
HTTP
listing
changes';
  create table "${markup.replaceAll('"', '""')}" (id int primary key, "${markup.replaceAll('"', '""')}" text);
  comment on table "${markup.replaceAll('"', '""')}" is '${markup}
HTTP /api/hostile
listing';
  insert into "${markup.replaceAll('"', '""')}" values (1, '${markup}');
  create publication pgway_changes for table film;

  create function rent(_film_id int, _days int default 3, _note text default null) returns table (id int, due date)
  language sql as $$ select 7, date '2030-01-01' + _days $$;
  comment on function rent is 'Lends a film.
HTTP
authorize staff';
  create function count_films() returns int language plpgsql as $$ begin raise info 'counting'; return 4; end $$;
  comment on function count_films is 'HTTP
info_path';
  create function enter(_email text, _password text) returns table (id text, name text, roles text[]) language sql as
    $$ select '7', _email, array['staff'] where _password = 'secret' $$;
  comment on function enter is 'HTTP
login';
`);
const pages = useStartPage(() => database.connectionString, {
  cookie: { enabled: true },
  crud: { enabled: true },
  gateway: { batchPath: '/api/batch' },
  openApi: {
    path: '/openapi.json',
    docsPath: '/docs',
    title: 'Films',
    version: '2.1',
    description: 'All <i>films</i>.',
  },
  httpFile: { path: '/api.http' },
  externalSignIn: {
    providers: { company: { issuer: 'https://id.example.org', clientId: 'ours' } },
    loginCommand: 'select 1',
    links: { 'Forgot your password?': '/forgot' },
  },
});

const paths = { 'start page': '/', 'API docs page': '/docs' };

describe.skipIf(!hasChromium)('in a browser (skipped where there is no Chromium)', () => {
  test('describes the API, and links to the document to download', async () => {
    const { page, errors } = await pages.open({ path: '/docs' });
    expect(await page.title()).toBe('Films');
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toMatch(/^Films\s*v2\.1$/);
    expect(await page.getByLabel('About this API').innerText()).toMatch(
      new RegExp(String.raw`^All <i>films</i>\.\s+Base URL\s+${pages.origin}\s+Download OpenAPI$`),
    );
    const saved = page.waitForEvent('download');
    await page.getByText('Download OpenAPI').click();
    const document = JSON.parse(readFileSync(await (await saved).path(), 'utf8')) as { readonly openapi: string };
    expect([(await saved).suggestedFilename(), document.openapi]).toEqual(['openapi.json', '3.1.0']);
    const groups = page.locator('.sidebar summary .group-name');
    expect(await groups.allInnerTexts()).toEqual([markup, 'Functions', 'film', 'language', 'Batches']);
    expect(errors).toEqual([]);
  });

  test('shows access, responses and errors of an endpoint', async () => {
    const { page } = await pages.open({ path: '/docs', hash: '#rent' });
    const rent = endpointOf(page, 'rent');
    expect(await rent.locator('summary .mark').first().innerText()).toBe('staff');
    expect(await rent.locator('.access').innerText()).toBe('It requires the role staff.');
    expect(await rent.locator('.field label').allInnerTexts()).toEqual([
      'filmId\ninteger\nrequired',
      'days\ninteger\ndefault 3',
      'note\ntext\ndefault NULL',
    ]);
    const responses = rent.getByRole('group', { name: 'Responses' });
    await responses.getByText('Errors').click();
    expect(await responses.locator('.response-doc').allInnerTexts()).toEqual([
      '200 Rows\n\napplication/json\n\narray of {\n  id: integer or null\n  due: date or null\n}\n[\n  {\n    "id": 1,\n    "due": "2030-01-31"\n  }\n]\n\nAlso as application/x-ndjson, text/csv, text/html, application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.',
      expect.stringMatching(
        /^Errors 401, 403, 4XX, others\n401\nThe request has no valid credentials\n403\nThe endpoint requires the role staff\n4XX\n[^]*type: string[^]*"status": 400,/,
      ),
    ]);
  });

  test('lists the schemas of rows and shared bodies, with examples', async () => {
    const { page, errors } = await pages.open({ path: '/docs' });
    await page.getByRole('link', { name: 'Schemas' }).click();
    const schemas = page.locator('#schemas');
    expect(await schemas.locator('summary').allInnerTexts()).toEqual([
      `public.${markup}`,
      'public.film',
      'public.language',
      'Problem',
      'Tokens',
    ]);
    await schemas.getByText('public.film').click();
    expect(await schemas.getByRole('group', { name: 'Type of public.film' }).innerText()).toBe(
      '{\n  id: integer\n  title: string\n  length: integer or null\n  languageId: integer\n}',
    );
    expect(JSON.parse(await schemas.getByRole('group', { name: 'Example of public.film' }).innerText())).toEqual({
      id: 1,
      title: 'text',
      length: 1,
      languageId: 1,
    });
    await page.getByLabel('Filter endpoints').fill('no such words');
    expect(await schemas.isVisible()).toBe(false);
    expect(await page.getByRole('link', { name: 'Schemas' }).isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Clear the filter' }).click();
    expect(await schemas.isVisible()).toBe(true);
    expect(await page.locator(':focus').getAttribute('id')).toBe('filter');
    await page.goto(pages.origin);
    expect(await page.locator('#schemas').count()).toBe(0);
    expect(errors).toEqual([]);
  });

  test('the endpoints of a table are folded: one entry beside the list, and variants below the others', async () => {
    const { page, errors } = await pages.open();
    const sidebar = page.locator('.sidebar');
    expect(await sidebar.locator('summary').filter({ visible: true }).allInnerTexts()).toEqual([
      expect.stringContaining(markup),
      expect.stringMatching(/^Functions/),
      'film\n11',
      'language\n11',
      'Batches\n1',
    ]);
    expect(await sidebar.getByText('/api/film', { exact: true }).first().isVisible()).toBe(false);
    const variant = endpointOf(page, 'filmReturningPut');
    expect(await variant.isVisible()).toBe(false);
    await page.getByText('7 more: on conflict, with the written rows').nth(1).click();
    expect(await variant.isVisible()).toBe(true);
    expect(await endpointOf(page, 'languageReturningPut').isVisible()).toBe(false);
    await page.getByLabel('Filter endpoints').fill('language returning');
    await endpointOf(page, 'languageReturningPut').waitFor();
    await page.keyboard.press('Escape');
    await page.evaluate(`location.hash = '#languageReturningPut'`);
    await endpointOf(page, 'languageReturningPut').locator('.opened').waitFor();
    expect(errors).toEqual([]);
  });

  test.each(Object.entries(paths))('sends conditions, columns and related rows of a listing: %s', async (_, path) => {
    const { page, errors } = await pages.open({ path });
    const film = await openEndpoint(page, 'filmGet');
    const line = film.locator('.request-line');
    const conditions = film.getByRole('group', { name: 'Condition', exact: true });
    await conditions.getByLabel('Column').selectOption('length');
    await conditions.getByLabel('Operator').selectOption('gte');
    await conditions.getByLabel('Value').fill('100');
    await film.getByRole('button', { name: 'Add condition' }).click();
    const second = conditions.nth(1);
    await second.getByLabel('Column').selectOption('title');
    await second.getByLabel('Operator').selectOption('in');
    await second.getByLabel('Value').fill('Alien, Metropolis, a"b');
    await film.getByLabel('languageId', { exact: true }).uncheck();
    await film.getByLabel('length', { exact: true }).uncheck();
    await film.getByLabel('language', { exact: true }).check();
    expect(decodeURIComponent(await line.innerText())).toBe(
      String.raw`GET /api/film?title=in.(Alien,Metropolis,"a\"b")&length=gte.100&select=id,title,language(*)`,
    );
    await film.getByRole('button', { name: 'Send', exact: true }).click();
    const rows = film.locator('tbody tr');
    await expect
      .poll(() => rows.allInnerTexts())
      .toEqual([
        '1\tAlien\t{"id": 1, "name": "English"}',
        `2\tMetropolis\t{"id": 2, "name": ${JSON.stringify(markup)}}`,
      ]);
    await second.getByRole('button', { name: 'Remove the condition' }).click();
    await conditions.getByLabel('Operator').selectOption('is.null');
    expect(await conditions.getByLabel('Value').isDisabled()).toBe(true);
    expect(await line.innerText()).toContain('?length=is.null&select=');
    // The text of the parameter and the boxes tell the same.
    await film.getByText('As text').click();
    await film.getByLabel('select', { exact: false }).last().fill('t:title,language(name)');
    expect(await film.getByLabel('title', { exact: true }).isChecked()).toBe(true);
    expect(await film.getByLabel('id', { exact: true }).isChecked()).toBe(false);
    expect(await film.getByLabel('language', { exact: true }).isChecked()).toBe(true);
    expect(errors).toEqual([]);
  });

  test('watches the changes of the rows and columns that the form selects', async () => {
    const { page, errors } = await pages.open({ path: '/docs', hash: '#filmGet' });
    const film = endpointOf(page, 'filmGet');
    await film.getByLabel('Column').selectOption('length');
    await film.getByLabel('Operator').selectOption('gte');
    await film.getByLabel('Value').fill('150');
    await film.getByLabel('languageId', { exact: true }).uncheck();
    await film.getByLabel('language', { exact: true }).check();
    await film.getByLabel('order').fill('title.desc');
    await film.getByRole('button', { name: 'Watch changes' }).click();
    const events = film.locator('.events li > span');
    const records = async (): Promise<unknown[]> =>
      (await events.allInnerTexts()).map((text) => (JSON.parse(text) as { readonly record?: unknown }).record);
    await expect.poll(records).toEqual([{ id: 2, title: 'Metropolis', length: 153 }]);
    await database.query(`update film set title = 'Longer', length = 200 where id = 1`);
    await expect.poll(async () => (await records()).at(-1)).toEqual({ id: 1, title: 'Longer', length: 200 });
    await database.query(`update film set title = 'Alien', length = 117 where id = 1`);
    await film.getByRole('button', { name: 'Stop watching' }).click();
    await film.getByText('Stopped.').waitFor();
    await film.getByLabel('Operator').selectOption('eq');
    await film.getByLabel('Value').fill('soon');
    await film.getByRole('button', { name: 'Watch changes' }).click();
    await expect
      .poll(() => film.locator('.stream .note').innerText())
      .toContain('The stream was refused: 400 Bad Request. invalid input syntax for type integer: "soon".');
    expect(errors).toEqual([]);
  });

  test('shows the request as code in three languages', async () => {
    const { page } = await pages.open({ path: '/docs', hash: '#rent' });
    const rent = endpointOf(page, 'rent');
    await rent.getByLabel('filmId').fill('7');
    const code = rent.getByRole('group', { name: 'Code of the request' });
    expect(await code.innerText()).toContain(`curl ${pages.origin}/api/rent`);
    await rent.getByRole('button', { name: 'fetch' }).click();
    expect(await code.innerText()).toContain('body: JSON.stringify({\n    "filmId": 7\n  }),');
    await rent.getByRole('button', { name: 'Generated client' }).click();
    expect(await code.innerText()).toBe(
      'import { rent } from "./api.ts";\n\nconst result = await rent({\n  "filmId": 7\n});',
    );
  });

  test('has a history, whose requests are opened and sent again', async () => {
    const { page, errors } = await pages.open();
    const language = await openEndpoint(page, 'languageGet');
    await language.getByLabel('Column').selectOption('name');
    await language.getByLabel('Value').fill('English');
    await language.getByRole('button', { name: 'Send', exact: true }).click();
    const cells = language.locator('tbody tr');
    await expect.poll(() => cells.allInnerTexts()).toEqual(['1\tEnglish']);
    await language.getByLabel('Value').fill('Danish');
    expect((await sendForm(language))[1]).toBe('[]');
    await page.getByRole('button', { name: 'History (2)' }).click();
    const dialog = page.getByRole('dialog', { name: 'History' });
    expect(await dialog.locator('li .target').allInnerTexts()).toEqual([
      '/api/language?name=eq.Danish',
      '/api/language?name=eq.English',
    ]);
    await dialog.locator('li').nth(1).getByRole('button', { name: 'Send again' }).click();
    await expect.poll(() => cells.allInnerTexts()).toEqual(['1\tEnglish']);
    expect(await language.getByLabel('Value').inputValue()).toBe('English');
    await page.getByRole('button', { name: 'History (3)' }).waitFor();
    // Memory of the page only: forms have passwords.
    expect(await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')).toBe('[{},{}]');
    expect(errors).toEqual([]);
  });

  test('shows that the browser is signed in, wherever that has happened', async () => {
    const { page, errors } = await pages.open({ path: '/signin' });
    await page.getByLabel('Email').fill('ada@example.org');
    await page.getByLabel('Password').fill('secret');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${pages.origin}/`);
    await page.getByText('Signed in (cookie)').waitFor();
    // Signed out by another page.
    await page.context().clearCookies();
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(errors).toEqual([]);
  });

  test('has one button to sign in, which leads to the sign-in page and back', async () => {
    const { page, errors } = await pages.open({ path: '/docs' });
    expect(await page.getByText('Sign in', { exact: true }).filter({ visible: true }).count()).toBe(1);
    await page.getByRole('button', { name: 'Sign in' }).click();
    // There is no other way, so there is no dialog.
    await page.waitForURL('**/signin?return_to=**');
    expect(await page.title()).toBe('Sign in to Films');
    expect(await page.getByLabel('Email').getAttribute('type')).toBe('email');
    await page.getByLabel('Email').fill('ada@example.org');
    await page.getByLabel('Password').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByText('The email or the password is wrong.').waitFor();
    await page.getByLabel('Password').fill('secret');
    await page.keyboard.press('Enter');
    await page.getByText('Signed in (cookie)').waitFor();
    expect(page.url()).toBe(`${pages.origin}/docs`);
    const rent = await openEndpoint(page, 'rent');
    await rent.getByLabel('filmId').fill('7');
    await rent.getByRole('button', { name: 'Send', exact: true }).click();
    await rent.locator('tbody tr').getByText('2030-01-04').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect((await sendForm(rent))[0]).toBe('401 Unauthorized');
    await rent.getByRole('button', { name: 'Sign in' }).click();
    await page.getByLabel('Email').fill('ada@example.org');
    await page.getByLabel('Password').fill('secret');
    await page.keyboard.press('Enter');
    // The endpoint is open again.
    await page.waitForURL(`${pages.origin}/docs#rent`);
    await rent.getByLabel('filmId').waitFor();
    expect(errors).toEqual([]);
  });

  test.each(Object.entries(paths))('names and values of the database are text: %s', async (_, path) => {
    const { page, errors } = await pages.open({ path });
    const hostile = page.locator('.endpoint').filter({ hasText: '/api/hostile' }).first();
    await hostile.locator('> summary').click();
    await hostile.getByLabel('Column').selectOption({ index: 2 });
    await hostile.getByLabel('Value').fill(markup);
    await hostile.getByRole('button', { name: 'Send', exact: true }).click();
    await expect.poll(() => hostile.locator('tbody td').last().innerText()).toBe(markup);
    await page.getByRole('button', { name: 'History (1)' }).click();
    expect(await page.locator('img, [onerror]').count()).toBe(0);
    expect(errors).toEqual([]);
  });

  test('is used with the keyboard alone', async () => {
    const { page, errors } = await pages.open({ path: '/docs' });
    const focused = page.locator(':focus');
    await page.keyboard.press('Tab');
    expect(await focused.innerText()).toBe('Skip to the endpoints');
    await page.keyboard.press('Enter');
    expect(await focused.locator('.path').innerText()).toBe('/api/hostile');
    await page.keyboard.press('/');
    await page.keyboard.type('language put');
    await page.keyboard.press('Tab');
    expect(await focused.locator('.group-name').innerText()).toBe('language');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.parentElement.open')).toBe(true);
    await page.keyboard.press('Control+/');
    await page.keyboard.press('/');
    await page.keyboard.type('rent');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toBe(`${pages.origin}/docs#rent`);
    await page.keyboard.press('Tab');
    await page.keyboard.type('7');
    await page.keyboard.press('Enter');
    await endpointOf(page, 'rent').getByText('401 Unauthorized').waitFor();
    await page.getByRole('button', { name: 'History (1)' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'History' }).waitFor();
    await page.keyboard.press('Escape');
    expect(await focused.innerText()).toBe('History (1)');
    expect(errors).toEqual([]);
  });

  test('an address leads to its endpoint, also on an open page', async () => {
    const { page } = await pages.open({ path: '/docs', hash: '#languageGet' });
    await endpointOf(page, 'languageGet').locator('.opened').waitFor();
    await page.evaluate(`location.hash = '#countFilms'`);
    await endpointOf(page, 'countFilms').locator('.opened').waitFor();
    const current = page.locator('.sidebar [aria-current]');
    expect(await current.innerText()).toMatch(/count-films$/);
    // The endpoint is open already.
    await page.locator('.sidebar a', { hasText: 'GET/api/language' }).first().click();
    await expect.poll(() => page.url()).toBe(`${pages.origin}/docs#languageGet`);
    expect(await current.innerText()).toMatch(/^GET\s*\/api\/language$/);
  });

  describe.each([1280, 390])('at a width of %i pixels', (width) => {
    test.each(['light', 'dark'] as const)('axe finds nothing in %s mode', async (colorScheme) => {
      const options = { viewport: { width, height: 900 }, colorScheme };
      for (const path of Object.values(paths)) {
        const { page, errors } = await pages.open({ ...options, path });
        expect(await accessibilityFindings(page)).toEqual([]);
        await useEverything(page);
        if (path === '/docs') await page.locator('#schemas summary').first().click();
        expect(await accessibilityFindings(page)).toEqual([]);
        await page.getByRole('button', { name: /^History/ }).click();
        expect(await accessibilityFindings(page)).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
        expect(errors).toEqual([]);
      }
      const { page } = await pages.open({ ...options, path: '/signin' });
      expect(await accessibilityFindings(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    });
  });
});

/** Opens forms with all their parts, with rows, an error and a stream. */
async function useEverything(page: Page): Promise<void> {
  const film = await openEndpoint(page, 'filmGet');
  await film.getByRole('button', { name: 'Add condition' }).click();
  await film.getByLabel('Column').first().selectOption('title');
  await film.getByText('As text').click();
  await film.getByRole('button', { name: 'Send', exact: true }).click();
  await film.locator('tbody tr').first().click();
  await film.getByRole('button', { name: 'Watch changes' }).click();
  await film.locator('.events li').first().waitFor();
  await film.getByText('Errors').click();
  const rent = await openEndpoint(page, 'rent');
  await rent.getByLabel('filmId').fill('1');
  await rent.getByRole('button', { name: 'Send', exact: true }).click();
  await rent.getByText('401 Unauthorized').waitFor();
  await openEndpoint(page, 'countFilms');
}
