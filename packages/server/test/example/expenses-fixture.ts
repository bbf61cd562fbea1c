/** The example `examples/expenses` in a folder and a database of its own. */
import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freshDatabase, type TestDatabase } from '@pgway/testing';
import { run } from '../../src/cli/run.ts';
import type { ProcessContext } from '../../src/process-context.ts';
import { root } from '../docs/stage.ts';
import { createTestProcess } from '../support/process-context.ts';
import { dropRoles } from '../support/roles.ts';

export const exampleFolder: string = join(root, 'examples/expenses');
/** Roles belong to the whole server, hence a prefix for each run. */
const shownPrefix = 'expenses_';

export interface Expenses {
  readonly folder: string;
  readonly database: TestDatabase;
  /** Of the server, which has the role of no caller yet. */
  readonly connectionString: string;
  /** The name of a role of the example in this run. */
  role(name: string): string;
  /** Runs a command of the program in the folder. Resolves with its exit code. */
  run(argv: readonly string[], process: ProcessContext): Promise<number>;
  close(): Promise<void>;
}

/** @param variables of `provider.json` */
export async function createExpenses(variables: Readonly<Record<string, string>>): Promise<Expenses> {
  const prefix = `${shownPrefix}${randomBytes(4).toString('hex')}_`;
  const database = await freshDatabase();
  const folder = await mkdtemp(join(await realpath(tmpdir()), 'pgway-expenses-'));
  const close = async (): Promise<void> => {
    await database.drop();
    await dropRoles(prefix);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const password = randomBytes(16).toString('hex');
    for (const text of await readScripts(prefix)) await database.query(text);
    for (const role of ['gateway', 'changes'])
      await database.query(`alter role ${prefix}${role} password '${password}'`);
    await cp(exampleFolder, folder, { recursive: true, filter: (file) => !/site\/.*\.js$/.test(file) });
    await writeConfiguration(folder, prefix, database);
    const url = new URL(database.connectionString);
    [url.username, url.password] = [`${prefix}gateway`, password];
    const secret = randomBytes(32).toString('hex');
    const passwords = { EXPENSES_PASSWORD: password, EXPENSES_CHANGES_PASSWORD: password };
    const environment = { ...passwords, EXPENSES_KEY_SECRET: secret, ...variables };
    const installer = createTestProcess(folder);
    const argv = ['install', 'changes', '--yes', `--connectionString=${database.connectionString}`];
    if ((await run(argv, environment, installer)) !== 0) throw new Error(installer.text.stderr);
    return {
      folder,
      database,
      connectionString: url.href,
      role: (name) => `${prefix}${name}`,
      run: (argv, process) => run(argv, environment, process),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function readScripts(prefix: string): Promise<readonly string[]> {
  const files = (await readdir(join(exampleFolder, 'database'))).toSorted();
  const texts = await Promise.all(files.map((file) => readFile(join(exampleFolder, 'database', file), 'utf8')));
  return texts.map((text) => text.replaceAll(shownPrefix, prefix));
}

async function writeConfiguration(folder: string, prefix: string, database: TestDatabase): Promise<void> {
  const file = join(folder, 'pgway.json');
  const { host, pathname } = new URL(database.connectionString);
  const text = (await readFile(file, 'utf8'))
    .replaceAll(shownPrefix, prefix)
    .replaceAll('@localhost:5432/expenses"', `@${host}${pathname}"`);
  await writeFile(file, text);
}
