import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { TestBrowser } from '../../../external-sign-in/test/browser.ts';
import type { Account } from '../../../external-sign-in/test/openid-provider.ts';
import { exampleFolder } from './expenses-fixture.ts';
import { emailOf, password, png, taxi, useExpenses } from './expenses-server.ts';

/* The example `examples/expenses`, built and started as its page of the guide says. */

const app = useExpenses();
const send: typeof app.send = (...request) => app.send(...request);

async function idOf(cookie: string): Promise<number> {
  return JSON.parse((await send(cookie, 'GET /api/me')).text).id;
}

function imageForm(content: Buffer = png, type = 'image/png'): FormData {
  const form = new FormData();
  form.append('file', new File([content], 'a.png', { type }));
  return form;
}

test('the client in the folder of the example is the generated one', async () => {
  const generated = await readFile(join(app.running.expenses.folder, 'src/api.ts'), 'utf8');
  await expect(generated).toMatchFileSnapshot(join(exampleFolder, 'src/api.ts'));
});

test('the start has no warnings', () => {
  expect([app.running.server.text.stdout.match(/warning/i), app.running.server.text.stderr]).toEqual([null, '']);
});

describe('a member', () => {
  test('sees and changes the own expenses only, and decides on none', async () => {
    const [ada, bob] = [await app.signIn('Ada'), await app.signIn('Bob')];
    const id = await app.submit(ada);
    expect((await app.list(ada)).find((expense) => expense['id'] === id)).toEqual({
      id,
      company: 'Acme',
      ownerId: await idOf(ada),
      owner: 'Ada',
      ...taxi,
      status: 'submitted',
      decidedBy: null,
      receipt: null,
    });
    expect((await app.list(bob)).filter(({ owner }) => owner !== 'Bob')).toEqual([]);
    const attempts = [
      await send(bob, `PUT /api/expenses/${id}`, taxi),
      await send(bob, `DELETE /api/expenses/${id}`),
      await send(bob, `POST /api/expenses/${id}/receipt`, imageForm()),
      await send(bob, `POST /api/expenses/${id}/decision`, { approved: true }),
      await send(ada, `POST /api/expenses/${id}/decision`, { approved: true }),
    ];
    expect(attempts.map(({ status }) => status)).toEqual([404, 404, 403, 403, 403]);
    expect((await send(ada, `PUT /api/expenses/${id}`, { ...taxi, amount: 13 })).status).toBe(204);
    expect((await app.list(ada)).find((expense) => expense['id'] === id)).toMatchObject({ amount: 13 });
    expect((await send(ada, `DELETE /api/expenses/${id}`)).status).toBe(204);
  });

  test('gets errors that say what is wrong', async () => {
    const ada = await app.signIn('Ada');
    const amount = await send(ada, 'POST /api/expenses', { ...taxi, amount: -1 });
    const text = await send(ada, `POST /api/expenses/${await app.submit(ada)}/receipt`, imageForm(Buffer.from('text')));
    const large = await send(ada, 'POST /api/expenses/1/receipt', imageForm(Buffer.alloc(3_000_000)));
    expect([amount.status, JSON.parse(amount.text).errors]).toEqual([
      422,
      [{ pointer: '/amount', code: 'check', detail: 'The amount must be more than 0.' }],
    ]);
    expect([text.status, JSON.parse(text.text).title]).toEqual([400, 'Send one PNG or JPEG image.']);
    expect(large.status).toBe(413);
  });

  test('a receipt is visible with its expense, and no large object stays', async () => {
    const [ada, bob, eve] = [await app.signIn('Ada'), await app.signIn('Bob'), await app.signIn('Eve')];
    const id = await app.submit(ada);
    const receiptOf = async () => (await app.list(ada)).find((expense) => expense['id'] === id)!['receipt'] as string;
    expect((await send(ada, `POST /api/expenses/${id}/receipt`, imageForm())).status).toBe(204);
    const path = await receiptOf();
    const answers = await Promise.all([ada, eve, bob, null].map((cookie) => send(cookie, `GET ${path}`)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 401]);
    expect(answers[0]!.headers.get('content-type')).toBe('image/png');
    await send(ada, `POST /api/expenses/${id}/receipt`, imageForm());
    expect(await receiptOf()).not.toBe(path);
    expect(await app.query('select count(*)::int as n from pg_largeobject_metadata')).toEqual([{ n: 0 }]);
  });
});

describe('an approver', () => {
  test('decides on the expenses of others, once', async () => {
    const [ada, eve] = [await app.signIn('Ada'), await app.signIn('Eve')];
    const [id, own] = [await app.submit(ada), await app.submit(eve)];
    const decide = async (expense: number) =>
      (await send(eve, `POST /api/expenses/${expense}/decision`, { approved: true })).status;
    expect([await decide(own), await decide(id), await decide(id)]).toEqual([403, 204, 404]);
    expect((await app.list(ada)).find((expense) => expense['id'] === id)).toMatchObject({ status: 'approved' });
    expect((await send(ada, `PUT /api/expenses/${id}`, taxi)).status).toBe(404);
    expect((await send(ada, `DELETE /api/expenses/${id}`)).status).toBe(404);
  });

  test('who is no longer one is signed out', async () => {
    const bob = await app.signIn('Bob');
    expect((await send(bob, 'GET /api/expenses')).status).toBe(200);
    const become = (role: string) => app.query(`update app.person set role = $1 where name = 'Bob'`, [role]);
    await become('approver');
    onTestFinished(() => become('member').then(() => undefined));
    await expect.poll(async () => (await send(bob, 'GET /api/expenses')).status).toBe(401);
    expect(JSON.parse((await send(await app.signIn('Bob'), 'GET /api/me')).text)).toEqual({
      id: expect.any(Number),
      name: 'Bob',
      company: 'Acme',
      roles: ['approver'],
    });
  });
});

describe('the stream of changes', () => {
  /** Reads the stream up to the text. */
  async function readUntil(cookie: string, end: string, begun: () => Promise<void>): Promise<string> {
    const stopped = new AbortController();
    const response = await fetch(`${app.origin}/api/expenses/changes`, { headers: { cookie }, signal: stopped.signal });
    expect(response.status).toBe(200);
    await begun();
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of response.body!) {
      text += decoder.decode(chunk, { stream: true });
      if (text.includes(end)) break;
    }
    stopped.abort();
    return text;
  }

  test('has the rows of the own company for an approver, and the own rows for a member, deletes included', async () => {
    const cookies = await Promise.all(['Ada', 'Bob', 'Eve', 'Mia', 'Zoe'].map((name) => app.signIn(name)));
    const [ada, bob, eve, mia, zoe] = cookies as [string, string, string, string, string];
    let open = 0;
    let change: () => void = () => undefined;
    const changed = new Promise<void>((resolve) => (change = resolve));
    const begun = (): Promise<void> => {
      open += 1;
      if (open === 4) change();
      return changed;
    };
    const texts = Promise.all([
      readUntil(bob, 'last of Bob', begun),
      readUntil(eve, 'last of Bob', begun),
      readUntil(mia, 'last of Mia', begun),
      readUntil(zoe, 'last of Mia', begun),
    ]);
    await changed;
    const id = await app.submit(ada, { ...taxi, description: 'secret of Acme' });
    await send(ada, `PUT /api/expenses/${id}`, { ...taxi, description: 'second secret of Acme' });
    expect((await send(ada, `DELETE /api/expenses/${id}`)).status).toBe(204);
    await app.submit(mia, { ...taxi, description: 'secret of Globex' });
    await app.submit(bob, { ...taxi, description: 'last of Bob' });
    await app.submit(mia, { ...taxi, description: 'last of Mia' });

    const shown = (await texts).map((text) => [
      text.includes('of Acme'),
      text.includes(`"old":{"id":${id}}`),
      text.includes('of Bob'),
      text.includes('of Globex'),
      text.includes('of Mia'),
    ]);
    // Changes of a short time are one: the row may have come and gone for Eve, too.
    expect(shown.map((one, index) => (index === 1 ? one.slice(2) : one))).toEqual([
      [false, false, true, false, false],
      [true, false, false],
      [false, false, false, true, true],
      [false, false, false, true, true],
    ]);
  });

  test('ends with the session', async () => {
    const mia = await app.signIn('Mia');
    const response = await fetch(`${app.origin}/api/expenses/changes`, { headers: { cookie: mia } });
    expect((await send(mia, 'POST /api/sign-out')).status).toBe(200);
    await response.text().catch(() => undefined);
    expect((await send(mia, 'GET /api/expenses/changes')).status).toBe(401);
  });

  test.each([
    ['has another role', `update app.person set role = 'approver' where id = $1`],
    ['is of another company', `update app.person set company = 'Acme' where id = $1`],
    ['has another password', `update app.person set hash = 'other' where id = $1`],
    ['is deleted', `delete from app.person where id = $1`],
  ])('ends when the person %s', async (change, statement) => {
    const name = `Nia ${change}`;
    await app.addPerson(name, 'member', 'Globex');
    const nia = await app.signIn(name);
    const id = await idOf(nia);
    const response = await fetch(`${app.origin}/api/expenses/changes`, { headers: { cookie: nia } });
    expect(response.status).toBe(200);
    await app.query(statement, [id]);
    await response.text();
    expect((await send(nia, 'GET /api/expenses/changes')).status).toBe(401);
  });
});

describe('an invitation', () => {
  test('is valid once, for 7 days, with a long password', async () => {
    const accept = async (code: string, text = password) =>
      (await send(null, 'POST /api/invitation', { invitation: code, password: text })).status;
    const code = await app.invite('Gus', 'member');
    const unaccepted = await send(null, 'POST /api/sign-in', { email: emailOf('Gus'), password });
    expect(unaccepted.status).toBe(404);
    expect([await accept(code, 'short'), await accept(code), await accept(code)]).toEqual([400, 204, 400]);
    const late = await app.invite('Hal', 'member');
    await app.query(`update app.person set invited_until = now() where name = 'Hal'`);
    expect([await accept(late), await accept('')]).toEqual([400, 400]);
  });
});

describe('an account of the company', () => {
  async function visit(account: Account | null): Promise<readonly [number, string]> {
    app.running.provider.account = account;
    const { status, body } = await new TestBrowser().visit(`${app.origin}/signin/company?return_to=/api/me`);
    return [status, body];
  }

  test('accepts an invitation to its verified address, and stays with that person', async () => {
    const account = { sub: 'jan', name: 'J', email: 'Jan@example.org', email_verified: true };
    await app.invite('Jan', 'approver');
    const signedIn = [200, expect.stringMatching(/^{"id":\d+,"name":"Jan","company":"Acme","roles":\["approver"\]}$/)];
    expect(await visit(account)).toEqual(signedIn);
    expect(await visit({ ...account, email: 'other@example.org' })).toEqual(signedIn);
    // The address belongs to another account now, whose user was not invited.
    expect((await visit({ ...account, sub: 'other' }))[0]).toBe(403);
  });

  test('is refused without an invitation', async () => {
    await app.invite('Kim', 'member');
    const kim = { sub: 'kim', email: 'kim@example.org' };
    const refused = [
      await visit({ ...kim, email_verified: false }),
      await visit({ sub: 'lea', email: 'lea@example.org', email_verified: true }),
      await visit({ sub: 'ada', email: 'ada@example.org', email_verified: true }),
      await visit(null),
    ];
    expect(refused.map(([status]) => status)).toEqual([403, 403, 403, 403]);
    expect(refused[1]![1]).toContain('Ask for an invitation to your email address.');
    await app.query(`update app.person set invited_until = now() where name = 'Kim'`);
    expect((await visit({ ...kim, email_verified: true }))[0]).toBe(403);
  });
});

describe('without a caller', () => {
  test('nothing of the database can be read, also not by the user of the server', async () => {
    const requests = ['GET /api/expenses', 'POST /api/sign-out', 'GET /api/expenses/changes', 'POST /api/expenses'];
    const answers = await Promise.all(requests.map((line) => send(null, line)));
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
    const client = new Client({ connectionString: app.running.expenses.connectionString });
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
      if (role !== null) await client.query(`set role ${app.running.expenses.role(role)}`);
      for (const table of ['expense', 'receipt']) expect(await read('id', table)).toBe(seen);
      for (const column of ['id', 'hash']) expect(await read(column, 'person')).toBe('permission denied');
      await client.query('reset role');
    }
    await expect(client.query(`set role ${app.running.expenses.role('owner')}`)).rejects.toThrow('permission denied');
    await expect(client.query(`set role ${app.running.expenses.role('changes')}`)).rejects.toThrow('permission denied');
    const slot = `select pg_create_logical_replication_slot('escaped', 'test_decoding', true)`;
    await expect(client.query(slot)).rejects.toThrow('permission denied to use replication slots');
  });

  test('pages of other sites can change nothing, and the page of the example runs no other script', async () => {
    const ada = await app.signIn('Ada');
    const other = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
    expect((await send(ada, 'POST /api/expenses', taxi, other)).status).toBe(403);
    expect((await send(null, 'POST /api/sign-in', { email: emailOf('Ada'), password }, other)).status).toBe(403);
    const { headers } = await send(null, 'GET /');
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none';script-src 'self';style-src 'self';/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });
});
