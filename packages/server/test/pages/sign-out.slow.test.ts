import { useDatabase } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { hasChromium, openEndpoint, sendForm, useStartPage } from './page-fixture.ts';

/* The sign-out of the start page for a session that no endpoint ends. */

const database = useDatabase(`
  create function enter(_password text) returns table (id text) language sql as
    $$ select '7' where _password = 'secret' $$;
  comment on function enter is 'HTTP
login';
`);
const startPage = useStartPage(() => database.connectionString, {
  cookie: { enabled: true },
  bearer: { enabled: true },
});

describe.skipIf(!hasChromium)('without a logout endpoint (skipped where there is no Chromium)', () => {
  test.each([1280, 390])('the page says that the cookie stays, %s px wide', async (width) => {
    const { page, errors } = await startPage.open({ viewport: { width, height: 800 } });
    const enter = await openEndpoint(page, 'enter');
    await enter.getByLabel('password').fill('secret');
    expect((await sendForm(enter))[0]).toBe('200 OK');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('Signed in (cookie): no logout endpoint', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Sign out' }).count()).toBe(1);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    expect(errors).toEqual([]);
  });

  test('a token is forgotten', async () => {
    const { page, errors } = await startPage.open();
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByLabel('Bearer token').fill('of another issuer');
    await page.getByRole('button', { name: 'Use token' }).click();
    await page.getByText('Signed in (token)').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(errors).toEqual([]);
  });
});
