import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { TestBrowser } from '../../../external-sign-in/test/browser.ts';
import {
  type Account,
  clientId,
  clientSecret,
  startProvider,
  type TestProvider,
} from '../../../external-sign-in/test/openid-provider.ts';
import { root } from '../docs/stage.ts';
import { chromiumPath, stepTimeout } from '../support/chromium.ts';
import { createTestProcess, type TestProcess } from '../support/process-context.ts';
import { createExpenses, exampleFolder, type Expenses } from './expenses-fixture.ts';

/* The example `examples/expenses`, built and started as its page of the guide says. */

const password = 'correct horse battery';
const png = readFileSync(join(root, 'examples/library/cover.png'));

let expenses: Expenses;
let server: TestProcess;
let ended: Promise<number>;
let origin: string;
let provider: TestProvider;

async function runCommand(...argv: readonly string[]): Promise<string> {
  const process = createTestProcess(expenses.folder);
  await expenses.run(argv, process);
  return process.text.stdout + process.text.stderr;
}

beforeAll(async () => {
  provider = await startProvider();
  expenses = await createExpenses({
    EXPENSES_ISSUER: provider.issuer,
    EXPENSES_CLIENT_ID: clientId,
    EXPENSES_CLIENT_SECRET: clientSecret,
  });
  await runCommand('generate');
  await promisify(execFile)(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', expenses.folder]);
  server = createTestProcess(expenses.folder);
  ended = expenses.run(['pgway.json', 'provider.json', '--port=0'], server);
  await Promise.race([server.until('Press Ctrl-C'), ended]);
  origin = /endpoints at (http:\S+)/.exec(server.text.stdout)?.[1] ?? '';
  if (origin === '') throw new Error(server.text.stdout + server.text.stderr);
  provider.register(origin);
  await Promise.all([addPerson('Ada', 'member'), addPerson('Bob', 'member'), addPerson('Eve', 'approver')]);
});

afterAll(async () => {
  server?.sendStop('graceful');
  await ended;
  await expenses?.close();
  await provider?.close();
});

const emailOf = (name: string): string => `${name.toLowerCase()}@example.org`;

async function invite(name: string, role: string): Promise<string> {
  const [row] = await expenses.database.query('select app.invite($1, $2, $3) as code', [name, emailOf(name), role]);
  return row!['code'] as string;
}

async function addPerson(name: string, role: string): Promise<void> {
  const { status } = await send(null, 'POST /api/invitation', { invitation: await invite(name, role), password });
  expect(status).toBe(204);
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

/** Sends a request of a page of the server. */
async function send(cookie: string | null, line: string, body?: unknown, headers: object = {}): Promise<Answer> {
  const [method, path] = line.split(' ') as [string, string];
  const isForm = body instanceof FormData;
  const response = await fetch(origin + path, {
    method,
    headers: {
      'sec-fetch-site': 'same-origin',
      ...(cookie === null ? {} : { cookie }),
      ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: isForm ? body : body === undefined ? null : JSON.stringify(body),
  });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

async function signIn(name: string): Promise<string> {
  const { status, headers } = await send(null, 'POST /api/sign-in', { email: emailOf(name), password });
  expect(status).toBe(200);
  return headers.get('set-cookie')!.split(';', 1)[0]!;
}

async function list(cookie: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  return JSON.parse((await send(cookie, 'GET /api/expenses')).text);
}

const taxi = { description: 'Taxi', amount: 12.5, spentOn: '2025-03-01' };

async function submit(cookie: string, expense: object = taxi): Promise<number> {
  return Number((await send(cookie, 'POST /api/expenses', expense)).text);
}

function imageForm(content: Buffer = png, type = 'image/png'): FormData {
  const form = new FormData();
  form.append('file', new File([content], 'a.png', { type }));
  return form;
}

test('the client in the folder of the example is the generated one', async () => {
  const generated = await readFile(join(expenses.folder, 'src/api.ts'), 'utf8');
  await expect(generated).toMatchFileSnapshot(join(exampleFolder, 'src/api.ts'));
});

test('the start has no warnings', () => {
  expect([server.text.stdout.match(/warning/i), server.text.stderr]).toEqual([null, '']);
});

describe('a member', () => {
  test('sees and changes the own expenses only, and decides on none', async () => {
    const [ada, bob] = [await signIn('Ada'), await signIn('Bob')];
    const id = await submit(ada);
    expect((await list(ada)).find((expense) => expense['id'] === id)).toEqual({
      id,
      owner: 'Ada',
      ...taxi,
      status: 'submitted',
      receipt: null,
      mine: true,
    });
    expect((await list(bob)).filter(({ owner }) => owner !== 'Bob')).toEqual([]);
    const attempts = [
      await send(bob, `PUT /api/expenses/${id}`, taxi),
      await send(bob, `DELETE /api/expenses/${id}`),
      await send(bob, `POST /api/expenses/${id}/receipt`, imageForm()),
      await send(bob, `POST /api/expenses/${id}/decision`, { approved: true }),
      await send(ada, `POST /api/expenses/${id}/decision`, { approved: true }),
    ];
    expect(attempts.map(({ status }) => status)).toEqual([404, 404, 403, 403, 403]);
    expect((await send(ada, `PUT /api/expenses/${id}`, { ...taxi, amount: 13 })).status).toBe(204);
    expect((await list(ada)).find((expense) => expense['id'] === id)).toMatchObject({ amount: 13 });
    expect((await send(ada, `DELETE /api/expenses/${id}`)).status).toBe(204);
  });

  test('gets errors that say what is wrong', async () => {
    const ada = await signIn('Ada');
    const amount = await send(ada, 'POST /api/expenses', { ...taxi, amount: -1 });
    const text = await send(ada, `POST /api/expenses/${await submit(ada)}/receipt`, imageForm(Buffer.from('text')));
    const large = await send(ada, 'POST /api/expenses/1/receipt', imageForm(Buffer.alloc(3_000_000)));
    expect([amount.status, JSON.parse(amount.text).errors]).toEqual([
      422,
      [{ pointer: '/amount', code: 'check', detail: 'The amount is more than 0.' }],
    ]);
    expect([text.status, JSON.parse(text.text).title]).toEqual([400, 'Send one PNG or JPEG image.']);
    expect(large.status).toBe(413);
  });

  test('a receipt is visible with its expense, and no large object stays', async () => {
    const [ada, bob, eve] = [await signIn('Ada'), await signIn('Bob'), await signIn('Eve')];
    const id = await submit(ada);
    const receiptOf = async () => (await list(ada)).find((expense) => expense['id'] === id)!['receipt'] as string;
    expect((await send(ada, `POST /api/expenses/${id}/receipt`, imageForm())).status).toBe(204);
    const path = await receiptOf();
    const answers = await Promise.all([ada, eve, bob, null].map((cookie) => send(cookie, `GET ${path}`)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 401]);
    expect(answers[0]!.headers.get('content-type')).toBe('image/png');
    await send(ada, `POST /api/expenses/${id}/receipt`, imageForm());
    expect(await receiptOf()).not.toBe(path);
    expect(await expenses.database.query('select count(*)::int as n from pg_largeobject_metadata')).toEqual([{ n: 0 }]);
  });
});

describe('an approver', () => {
  test('decides on the expenses of others, once', async () => {
    const [ada, eve] = [await signIn('Ada'), await signIn('Eve')];
    const [id, own] = [await submit(ada), await submit(eve)];
    const decide = async (expense: number) =>
      (await send(eve, `POST /api/expenses/${expense}/decision`, { approved: true })).status;
    expect([await decide(own), await decide(id), await decide(id)]).toEqual([403, 204, 404]);
    expect((await list(ada)).find((expense) => expense['id'] === id)).toMatchObject({ status: 'approved' });
    expect((await send(ada, `PUT /api/expenses/${id}`, taxi)).status).toBe(404);
    expect((await send(ada, `DELETE /api/expenses/${id}`)).status).toBe(404);
  });

  test('who is no longer one is signed out', async () => {
    const bob = await signIn('Bob');
    expect((await send(bob, 'GET /api/expenses')).status).toBe(200);
    const become = (role: string) =>
      expenses.database.query(`update app.person set role = $1 where name = 'Bob'`, [role]);
    await become('approver');
    onTestFinished(() => become('member').then(() => undefined));
    await expect.poll(async () => (await send(bob, 'GET /api/expenses')).status).toBe(401);
    expect(JSON.parse((await send(await signIn('Bob'), 'GET /api/me')).text)).toEqual({
      name: 'Bob',
      roles: ['approver'],
    });
  });
});

describe('an invitation', () => {
  test('is valid once, for 7 days, with a long password', async () => {
    const accept = async (code: string, text = password) =>
      (await send(null, 'POST /api/invitation', { invitation: code, password: text })).status;
    const code = await invite('Gus', 'member');
    const unaccepted = await send(null, 'POST /api/sign-in', { email: emailOf('Gus'), password });
    expect(unaccepted.status).toBe(404);
    expect([await accept(code, 'short'), await accept(code), await accept(code)]).toEqual([400, 204, 400]);
    const late = await invite('Hal', 'member');
    await expenses.database.query(`update app.person set invited_until = now() where name = 'Hal'`);
    expect([await accept(late), await accept('')]).toEqual([400, 400]);
  });
});

describe('an account of the company', () => {
  async function visit(account: Account | null): Promise<readonly [number, string]> {
    provider.account = account;
    const { status, body } = await new TestBrowser().visit(`${origin}/signin/company?return_to=/api/me`);
    return [status, body];
  }

  test('accepts an invitation to its verified address, and stays with that person', async () => {
    const account = { sub: 'jan', name: 'J', email: 'Jan@example.org', email_verified: true };
    await invite('Jan', 'approver');
    const signedIn = [200, '{"name":"Jan","roles":["approver"]}'];
    expect(await visit(account)).toEqual(signedIn);
    expect(await visit({ ...account, email: 'other@example.org' })).toEqual(signedIn);
    // The address belongs to another account now, whose user was not invited.
    expect((await visit({ ...account, sub: 'other' }))[0]).toBe(403);
  });

  test('is refused without an invitation', async () => {
    await invite('Kim', 'member');
    const kim = { sub: 'kim', email: 'kim@example.org' };
    const refused = [
      await visit({ ...kim, email_verified: false }),
      await visit({ sub: 'lea', email: 'lea@example.org', email_verified: true }),
      await visit({ sub: 'ada', email: 'ada@example.org', email_verified: true }),
      await visit(null),
    ];
    expect(refused.map(([status]) => status)).toEqual([403, 403, 403, 403]);
    expect(refused[1]![1]).toContain('Ask for an invitation to your email address.');
    await expenses.database.query(`update app.person set invited_until = now() where name = 'Kim'`);
    expect((await visit({ ...kim, email_verified: true }))[0]).toBe(403);
  });
});

describe('without a caller', () => {
  test('nothing of the database can be read, also not by the user of the server', async () => {
    const requests = ['GET /api/expenses', 'POST /api/sign-out', 'GET /api/expenses/live', 'POST /api/expenses'];
    const answers = await Promise.all(requests.map((line) => send(null, line)));
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
    const client = new Client({ connectionString: expenses.connectionString });
    await client.connect();
    onTestFinished(() => client.end());
    const read = (columns: string, table: string): Promise<number | string> =>
      client.query(`select ${columns} from app.${table}`).then(
        ({ rowCount }) => rowCount!,
        (error: Error) => error.message.replace(/ for .*/, ''),
      );
    for (const [role, seen] of [
      [null, 'permission denied'],
      ['anonymous', 'permission denied'],
      ['member', 0],
    ] as const) {
      if (role !== null) await client.query(`set role ${expenses.role(role)}`);
      for (const table of ['person', 'expense', 'receipt']) expect(await read('id', table)).toBe(seen);
      expect(await read('hash', 'person')).toBe('permission denied');
      await client.query('reset role');
    }
    await expect(client.query(`set role ${expenses.role('owner')}`)).rejects.toThrow('permission denied');
  });

  test('pages of other sites can change nothing, and the page of the example runs no other script', async () => {
    const ada = await signIn('Ada');
    const other = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
    expect((await send(ada, 'POST /api/expenses', taxi, other)).status).toBe(403);
    expect((await send(null, 'POST /api/sign-in', { email: emailOf('Ada'), password }, other)).status).toBe(403);
    const { headers } = await send(null, 'GET /');
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none';script-src 'self';style-src 'self';/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });
});

describe.skipIf(chromiumPath === undefined)('in a browser (skipped where there is no Chromium)', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: chromiumPath!, args: ['--no-sandbox'] });
  });
  afterAll(() => browser?.close());

  const errors: string[] = [];

  async function newPage(): Promise<Page> {
    const context = await browser.newContext();
    onTestFinished(() => context.close());
    context.setDefaultTimeout(stepTimeout);
    return context.newPage();
  }

  async function open(name: string, prepare: (page: Page) => Promise<unknown> = async () => undefined): Promise<Page> {
    const page = await newPage();
    await prepare(page);
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        errors.push(message.text());
    });
    await page.goto(origin);
    await page.getByLabel('Email').fill(emailOf(name));
    await page.locator('#sign-in').getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText(name, { exact: true }).first().waitFor();
    return page;
  }

  async function fillExpense(page: Page, description: string, amount: string): Promise<void> {
    await page.getByLabel('Description').fill(description);
    await page.getByLabel('Amount').fill(amount);
    await page.getByLabel('Date').fill('2025-04-01');
    await page.getByRole('button', { name: 'Save' }).click();
  }

  test('an invited person signs in, submits, edits and withdraws; markup is text', async () => {
    const code = await invite('Ivy', 'member');
    const page = await newPage();
    await page.goto(origin);
    await page.getByLabel('Invitation').fill(code);
    await page.getByLabel('New password').fill(password);
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByText('Your password is set').waitFor();

    const ivy = await open('Ivy');
    const markup = '<img src=x onerror=alert(1)>';
    await fillExpense(ivy, markup, '10');
    const row = ivy.getByRole('row', { name: markup });
    await row.waitFor();
    expect(await ivy.locator('tbody img').count()).toBe(0);
    await row.getByRole('button', { name: 'Edit' }).click();
    await ivy.getByRole('heading', { name: 'Edit expense' }).waitFor();
    await fillExpense(ivy, 'Lunch', '11.5');
    await ivy.getByRole('row', { name: 'Lunch 11.50 submitted' }).waitFor();
    await ivy.getByRole('button', { name: 'Withdraw' }).click();
    await expect.poll(() => ivy.locator('tbody tr').count()).toBe(0);
    expect(errors).toEqual([]);
  });

  test('an invited person signs in with an account of the company', async () => {
    await invite('Liv', 'member');
    provider.account = { sub: 'liv', email: 'liv@example.org', email_verified: true };
    const page = await newPage();
    await page.goto(origin);
    await page.getByRole('link', { name: 'Sign in with your company account' }).click();
    await page.locator('#name', { hasText: 'Liv' }).waitFor();
    await fillExpense(page, 'Books', '30');
    await page.getByRole('row', { name: 'Liv Books 30.00 submitted' }).waitFor();
    expect(errors).toEqual([]);
  });

  test('an approver sees a new expense and its receipt at once, and the member the decision', async () => {
    const [ada, eve] = [await open('Ada'), await open('Eve')];
    await fillExpense(ada, 'Conference', '250');
    const [own, seen] = [ada, eve].map((page) => page.getByRole('row', { name: 'Conference' }));
    await seen!.waitFor();
    await own!.getByLabel('Receipt').setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: png });
    const image = seen!.getByRole('img', { name: 'Receipt of Conference' });
    await expect
      .poll(() => image.evaluate((node) => (node as unknown as { naturalWidth: number }).naturalWidth))
      .toBe(220);
    expect(await seen!.getByRole('button', { name: 'Edit' }).count()).toBe(0);
    await seen!.getByRole('button', { name: 'Approve' }).click();
    await ada.getByRole('row', { name: 'Conference 250.00 approved' }).waitFor();
    expect(await own!.getByRole('button').count()).toBe(0);
    expect(errors).toEqual([]);
  });

  test('a change before the stream of changes is open is shown', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const eve = await open('Eve', (page) =>
      page.route('**/api/expenses/live', async (route) => {
        await held;
        await route.continue();
      }),
    );
    await submit(await signIn('Ada'), { ...taxi, description: 'Early train' });
    expect(await eve.getByRole('row', { name: 'Early train' }).count()).toBe(0);
    release();
    await eve.getByRole('row', { name: 'Early train' }).waitFor();
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
    await page.getByRole('row', { name: 'Ferry' }).getByRole('button', { name: 'Edit' }).click();
    const listed = page.waitForResponse((response) => response.request().method() === 'GET');
    release();
    await Promise.all([saved, listed]);
    await page.getByLabel('Amount').fill('13');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: 'Ferry 13.00' }).waitFor();
    expect(errors).toEqual([]);
  });

  test('a problem stays on the page when the list changes', async () => {
    const page = await open('Ada');
    await page.route('**/api/expenses', (route) =>
      route.request().method() === 'POST' ? route.abort() : route.continue(),
    );
    await fillExpense(page, 'Bus', '3');
    const problem = page.getByRole('alert').getByText('The server cannot be reached. Try again.');
    await problem.waitFor();
    await submit(await signIn('Ada'), { ...taxi, description: 'Tram' });
    await page.getByRole('row', { name: 'Tram' }).waitFor();
    expect(await problem.count()).toBe(1);
  });

  test('an error of a field is shown beside it, until the form is sent again', async () => {
    const page = await open('Ada');
    await page.getByLabel('Description').fill('Museum');
    await page.getByLabel('Amount').fill('8');
    await page.getByLabel('Date').fill('1999-12-31');
    await page.getByRole('button', { name: 'Save' }).click();
    const message = page.locator('input[name=spentOn][aria-invalid=true] + .error');
    await message.getByText('The date is before the year 2000.').waitFor();
    expect(await page.getByRole('alert').textContent()).toBe('');
    await fillExpense(page, 'Museum', '8');
    await page.getByRole('row', { name: 'Museum 8.00 submitted' }).waitFor();
    expect(await page.locator('.error, [aria-invalid=true]').count()).toBe(0);
    expect(errors).toEqual([]);
  });

  test('a wrong password is reported, a sign-out hides the list, and an ended session asks to sign in again', async () => {
    const page = await open('Ada');
    await page.locator('tbody tr').first().waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await page.locator('tbody tr').count()).toBe(0);
    await page.getByLabel('Email').fill(emailOf('Ada'));
    await page.locator('#sign-in').getByLabel('Password').fill('wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('Email or password are wrong.').waitFor();

    const signedIn = await open('Bob');
    await signedIn.context().clearCookies();
    await fillExpense(signedIn, 'Train', '20');
    await signedIn.getByRole('alert').getByText('Your session has ended: sign in again.').waitFor();
    await signedIn.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(errors).toEqual([]);
  });
});
