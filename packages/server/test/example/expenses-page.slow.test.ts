import axe from 'axe-core';
import { part } from '@pgway/testing';
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { chromiumPath, stepTimeout } from '../support/chromium.ts';
import { emailOf, password, png, taxi, useExpenses } from './expenses-server.ts';

/* The pages of the example `examples/expenses`, in a browser. */

describe.skipIf(chromiumPath === undefined)('in a browser (skipped where there is no Chromium)', () => {
  const app = useExpenses();
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: chromiumPath!, args: ['--no-sandbox'] });
  });
  afterAll(() => browser?.close());

  const errors: string[] = [];

  async function newPage(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext(options);
    onTestFinished(() => context.close());
    context.setDefaultTimeout(stepTimeout);
    const page = await context.newPage();
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        errors.push(message.text());
    });
    return page;
  }

  async function enter(page: Page, name: string): Promise<void> {
    await page.goto(app.origin);
    await page.getByLabel('Email').fill(emailOf(name));
    await page.locator('#sign-in').getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('#name', { hasText: name }).waitFor({ state: 'attached' });
  }

  async function open(name: string, prepare: (page: Page) => Promise<unknown> = async () => undefined): Promise<Page> {
    const page = await newPage();
    await prepare(page);
    await enter(page, name);
    return page;
  }

  const rowOf = (page: Page, text: string): Locator => page.locator('#rows li', { hasText: text });

  async function fillExpense(page: Page, description: string, amount: string): Promise<void> {
    if (!(await page.locator('#editor').isVisible())) await page.getByRole('button', { name: 'New expense' }).click();
    await page.locator('#expense').getByLabel('Description').fill(description);
    await page.locator('#expense').getByLabel('Amount').fill(amount);
    await page.locator('#expense').getByLabel('Date').fill('2025-04-01');
    await page.getByRole('button', { name: 'Save' }).click();
  }

  test('an invited person signs in, submits, edits and withdraws; markup is text', async () => {
    const code = await app.invite('Ivy', 'member');
    const page = await newPage();
    await page.goto(app.origin);
    await page.getByText('You have an invitation?').click();
    await page.getByLabel('Invitation').fill(code);
    await page.getByLabel('New password').fill(password);
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByText('Your password is set').waitFor();

    const ivy = await open('Ivy');
    await ivy.getByRole('heading', { name: 'Nothing here yet' }).waitFor();
    const markup = '<img src=x onerror=alert(1)>';
    await fillExpense(ivy, markup, '10');
    await rowOf(ivy, markup).waitFor();
    expect(await ivy.locator('#rows img').count()).toBe(0);
    await ivy.getByRole('button', { name: `Edit ${markup}` }).click();
    await ivy.getByRole('heading', { name: 'Edit expense' }).waitFor();
    await fillExpense(ivy, 'Lunch', '11.5');
    await rowOf(ivy, 'Lunch').filter({ hasText: '€11.50' }).waitFor();
    await ivy.getByRole('button', { name: 'Withdraw Lunch' }).click();
    await expect.poll(() => ivy.locator('#rows li').count()).toBe(0);
    await ivy.getByRole('heading', { name: 'Nothing here yet' }).waitFor();
    expect(errors).toEqual([]);
  });

  test('an invited person signs in with an account of the company', async () => {
    await app.invite('Liv', 'member');
    app.running.provider.account = { sub: 'liv', email: 'liv@example.org', email_verified: true };
    const page = await newPage();
    await page.goto(app.origin);
    await page.getByRole('link', { name: 'Sign in with your company account' }).click();
    await page.locator('#name', { hasText: 'Liv' }).waitFor();
    await fillExpense(page, 'Books', '30');
    await rowOf(page, 'Books').waitFor();
    expect(errors).toEqual([]);
  });

  test('an approver sees a new expense and its receipt at once, and the member the decision', async () => {
    const [ada, eve] = [await open('Ada'), await open('Eve')];
    await fillExpense(ada, 'Conference', '250');
    await rowOf(eve, 'Conference').waitFor();
    await ada.getByRole('button', { name: 'Edit Conference' }).click();
    await ada.evaluate(`
      const bar = document.querySelector('progress');
      window.values = [];
      new MutationObserver(() => values.push(bar.value)).observe(bar, { attributes: true });`);
    // Decoders ignore the bytes after the image.
    const buffer = Buffer.concat([png, Buffer.alloc(1_500_000)]);
    await ada.locator('input[name=receipt]').setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer });
    await ada.getByRole('button', { name: 'Save' }).click();
    const image = eve.getByRole('img', { name: 'Receipt of Conference' });
    await expect
      .poll(() => image.evaluate((node) => (node as unknown as { naturalWidth: number }).naturalWidth))
      .toBe(300);
    await ada.locator('#editor').waitFor({ state: 'hidden' });
    expect(await ada.evaluate('Math.max(...values)')).toBe(1);
    expect(await rowOf(eve, 'Conference').getByRole('button', { name: 'Edit' }).count()).toBe(0);
    await eve.getByRole('button', { name: 'Approve Conference' }).click();
    await rowOf(ada, 'Conference').filter({ hasText: 'Approved' }).waitFor();
    expect(await rowOf(ada, 'Conference').getByRole('button').count()).toBe(0);
    await ada.getByRole('button', { name: /^Rejected/ }).click();
    await expect.poll(() => rowOf(ada, 'Conference').count()).toBe(0);
    expect(errors).toEqual([]);
  });

  test('people of another company, and other members, see none of it', async () => {
    const [ada, bob, eve, zoe] = [await open('Ada'), await open('Bob'), await open('Eve'), await open('Zoe')];
    await fillExpense(ada, 'Lawyer', '900');
    await rowOf(eve, 'Lawyer').waitFor();
    // Streams are in the order of the commits: what follows has arrived, and what came before is not there.
    await app.submit(await app.signIn('Mia'), { ...taxi, description: 'Globex first' });
    await app.submit(await app.signIn('Bob'), { ...taxi, description: 'Bob first' });
    await Promise.all([rowOf(zoe, 'Globex first').waitFor(), rowOf(bob, 'Bob first').waitFor()]);
    const count = (page: Page, text: string): Promise<number> => rowOf(page, text).count();
    expect(
      await Promise.all([count(zoe, 'Lawyer'), count(bob, 'Lawyer'), count(eve, 'Globex'), count(zoe, 'Bob')]),
    ).toEqual([0, 0, 0, 0]);
    await ada.getByRole('button', { name: 'Withdraw Lawyer' }).click();
    await expect.poll(() => count(eve, 'Lawyer')).toBe(0);
    expect(errors).toEqual([]);
  });

  test('a change before the stream of changes is open is shown', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const eve = await open('Eve', (page) =>
      page.route('**/api/expenses/changes?**', async (route) => {
        await held;
        await route.continue();
      }),
    );
    await app.submit(await app.signIn('Ada'), { ...taxi, description: 'Early train' });
    expect(await rowOf(eve, 'Early train').count()).toBe(0);
    await eve.getByRole('status', { name: 'Loading' }).waitFor();
    release();
    await rowOf(eve, 'Early train').waitFor();
    await eve.locator('#live', { hasText: 'Live' }).waitFor();
    expect(errors).toEqual([]);
  });

  test('an edit that begins before the response of a save stays in the form', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const page = await open('Ada', (opened) =>
      opened.route('**/api/expenses', async (route) => {
        if (route.request().method() !== 'POST') return route.continue();
        const response = await route.fetch();
        await held;
        return route.fulfill({ response });
      }),
    );
    const saved = page.waitForResponse((response) => response.request().method() === 'POST');
    await fillExpense(page, 'Ferry', '12');
    // The stream of changes shows the row.
    await rowOf(page, 'Ferry').waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Edit Ferry' }).click();
    release();
    await saved;
    await page.getByText('Saved.').waitFor();
    await page.locator('#expense').getByLabel('Amount').fill('13');
    await page.getByRole('button', { name: 'Save' }).click();
    await rowOf(page, 'Ferry').filter({ hasText: '€13.00' }).waitFor();
    expect(errors).toEqual([]);
  });

  test('a problem stays in the form when the list changes', async () => {
    const page = await open('Ada');
    await page.route('**/api/expenses', (route) =>
      route.request().method() === 'POST' ? route.abort() : route.continue(),
    );
    await fillExpense(page, 'Bus', '3');
    const problem = page.locator('#expense').getByRole('alert').getByText('The server cannot be reached. Try again.');
    await problem.waitFor();
    await app.submit(await app.signIn('Ada'), { ...taxi, description: 'Tram' });
    await rowOf(page, 'Tram').waitFor({ state: 'attached' });
    expect(await problem.count()).toBe(1);
  });

  test('an error of a field is shown beside it, until the form is sent again', async () => {
    const page = await open('Ada');
    await page.getByRole('button', { name: 'New expense' }).click();
    await page.locator('#expense').getByLabel('Description').fill('Museum');
    await page.locator('#expense').getByLabel('Amount').fill('8');
    await page.locator('#expense').getByLabel('Date').fill('1999-12-31');
    await page.getByRole('button', { name: 'Save' }).click();
    const message = page.locator(
      'input[name=spentOn][aria-invalid=true][aria-describedby=expense-spentOn-error] + .error',
    );
    await message.getByText('The date is before the year 2000.').waitFor();
    expect(await page.locator('#expense .problem').textContent()).toBe('');
    await fillExpense(page, 'Museum', '8');
    await rowOf(page, 'Museum').waitFor();
    expect(await page.locator('.error, [aria-invalid=true]').count()).toBe(0);
    expect(errors).toEqual([]);
  });

  test('a wrong password is reported, a sign-out hides the list, and an ended session asks to sign in again', async () => {
    const page = await open('Ada');
    await page.locator('#rows li').first().waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await page.locator('#rows li').count()).toBe(0);
    await page.getByLabel('Email').fill(emailOf('Ada'));
    await page.locator('#sign-in').getByLabel('Password').fill('wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('The email or the password is wrong.').waitFor();

    const signedIn = await open('Bob');
    await signedIn.locator('#live', { hasText: 'Live' }).waitFor();
    await app.query(
      `update app.session set ended = now() where user_id = (select id::text from app.person where name = 'Bob')`,
    );
    await signedIn.getByRole('alert').getByText('Your session has ended: sign in again.').waitFor();
    await signedIn.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(errors).toEqual([]);
  });

  const looks = [
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
    ['dark', 390],
  ] as const;

  test.each(part(looks))('axe finds nothing, and nothing overflows: %s, %s pixels', async (colorScheme, width) => {
    const page = await newPage({ colorScheme, viewport: { width, height: 844 }, reducedMotion: 'reduce' });
    const check = async (): Promise<unknown> => {
      await page.evaluate(axe.source);
      const { violations } = (await page.evaluate('axe.run()')) as {
        readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
      };
      const found = violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]);
      return [found, await page.evaluate('document.documentElement.scrollWidth')];
    };
    await page.goto(app.origin);
    await page.getByText('You have an invitation?').click();
    const results = [await check()];
    await app.submit(await app.signIn('Ada'), { ...taxi, description: 'A very long description '.repeat(8) });
    await enter(page, 'Eve');
    await rowOf(page, 'A very long').first().waitFor();
    results.push(await check());
    await page.getByRole('button', { name: 'New expense' }).click();
    await page.locator('#expense').getByLabel('Description').fill('Museum');
    await page.locator('#expense').getByLabel('Amount').fill('8');
    await page.locator('#expense').getByLabel('Date').fill('1999-12-31');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('.error').waitFor();
    results.push(await check());
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: /^Rejected/ }).click();
    await page.getByRole('heading', { name: 'Nothing here yet' }).waitFor();
    results.push(await check());
    expect(results).toEqual(results.map(() => [[], width]));
  });
});
