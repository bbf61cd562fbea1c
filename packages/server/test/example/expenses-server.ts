/** The example `examples/expenses`, built and started as its page of the guide says, with people of two companies. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll } from 'vitest';
import {
  clientId,
  clientSecret,
  startProvider,
  type TestProvider,
} from '../../../external-sign-in/test/openid-provider.ts';
import { root } from '../docs/stage.ts';
import { createTestProcess, type TestProcess } from '../support/process-context.ts';
import { createExpenses, exampleFolder, type Expenses } from './expenses-fixture.ts';

export const password = 'correct horse battery';
export const png: Buffer = readFileSync(join(exampleFolder, 'receipt.png'));
export const taxi = { description: 'Taxi', amount: 12.5, spentOn: '2025-03-01' };

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

interface Running {
  readonly expenses: Expenses;
  readonly server: TestProcess;
  readonly origin: string;
  readonly provider: TestProvider;
}

export const emailOf = (name: string): string => `${name.toLowerCase().replaceAll(' ', '.')}@example.org`;

/** Ada, Bob (members) and Eve (approver) are of the company Acme, Mia (member) and Zoe (approver) of Globex. */
export function useExpenses(): ExpensesServer {
  const app = new ExpensesServer();
  beforeAll(() => app.start());
  afterAll(() => app.stop());
  return app;
}

class ExpensesServer {
  #running: Running | null = null;
  readonly #closers: (() => Promise<unknown>)[] = [];

  get running(): Running {
    return this.#running!;
  }

  get origin(): string {
    return this.running.origin;
  }

  async start(): Promise<void> {
    const provider = await startProvider();
    this.#closers.unshift(() => provider.close());
    const expenses = await createExpenses({
      EXPENSES_ISSUER: provider.issuer,
      EXPENSES_CLIENT_ID: clientId,
      EXPENSES_CLIENT_SECRET: clientSecret,
    });
    this.#closers.unshift(() => expenses.close());
    await expenses.run(['generate'], createTestProcess(expenses.folder));
    await promisify(execFile)(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', expenses.folder]);
    const server = createTestProcess(expenses.folder);
    // Heartbeats check sessions, too: without them, a stream ends only if its end is announced.
    const argv = ['pgway.json', 'provider.json', '--port=0', '--events.heartbeat=3600'];
    const ended = expenses.run(argv, server);
    this.#closers.unshift(() => {
      server.sendStop('graceful');
      return ended;
    });
    await Promise.race([server.until('Press Ctrl-C'), ended]);
    const origin = /endpoints at (http:\S+)/.exec(server.text.stdout)?.[1] ?? '';
    if (origin === '') throw new Error(server.text.stdout + server.text.stderr);
    provider.register(origin);
    this.#running = { expenses, server, origin, provider };
    const people = [
      ['Ada', 'member', 'Acme'],
      ['Bob', 'member', 'Acme'],
      ['Eve', 'approver', 'Acme'],
      ['Mia', 'member', 'Globex'],
      ['Zoe', 'approver', 'Globex'],
    ] as const;
    await Promise.all(people.map(([name, role, company]) => this.addPerson(name, role, company)));
  }

  async stop(): Promise<void> {
    for (const close of this.#closers) await close();
  }

  query(text: string, values?: readonly unknown[]): ReturnType<Expenses['database']['query']> {
    return this.running.expenses.database.query(text, values);
  }

  async invite(name: string, role: string, company: string = 'Acme'): Promise<string> {
    const [row] = await this.query('select app.invite($1, $2, $3, $4) as code', [company, name, emailOf(name), role]);
    return row!['code'] as string;
  }

  async addPerson(name: string, role: string, company: string): Promise<void> {
    const invitation = await this.invite(name, role, company);
    const { status } = await this.send(null, 'POST /api/invitation', { invitation, password });
    if (status !== 204) throw new Error(`the invitation of ${name} was answered ${status}`);
  }

  /** Sends a request of a page of the server. */
  async send(cookie: string | null, line: string, body?: unknown, headers: object = {}): Promise<Answer> {
    const [method, path] = line.split(' ') as [string, string];
    const isForm = body instanceof FormData;
    const response = await fetch(this.origin + path, {
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

  async signIn(name: string): Promise<string> {
    const { status, headers } = await this.send(null, 'POST /api/sign-in', { email: emailOf(name), password });
    if (status !== 200) throw new Error(`the sign-in of ${name} was answered ${status}`);
    return headers.get('set-cookie')!.split(';', 1)[0]!;
  }

  async list(cookie: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    return JSON.parse((await this.send(cookie, 'GET /api/expenses')).text);
  }

  async submit(cookie: string, expense: object = taxi): Promise<number> {
    return Number((await this.send(cookie, 'POST /api/expenses', expense)).text);
  }
}
