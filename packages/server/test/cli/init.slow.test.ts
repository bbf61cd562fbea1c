import { execFile } from 'node:child_process';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build, freePort, freshDatabase } from '@pgway/testing';
import { chromium } from 'playwright-core';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { chromiumPath, stepTimeout } from '../support/chromium.ts';
import { folderWith } from '../support/folder.ts';
import { bin, start } from '../support/program.ts';

/* Projects of `pgway init` on a database of their own: the commands that it prints, and the page in a browser. */

beforeAll(build);

const repository = fileURLToPath(new URL('../../../../', import.meta.url));
const compiler = join(repository, 'node_modules/typescript/bin/tsc');

test.skipIf(chromiumPath === undefined).each([
  { publish: 'files', signIn: 'none', heading: 'Hello, pgway!', login: 404 },
  { publish: 'functions', signIn: 'cookie', heading: 'Hello, pgway!', login: 200 },
  { publish: 'tables', signIn: 'jwt', heading: 'Hello, world!', login: 200 },
])(
  'a project with $publish and sign-in $signIn is compiled and served',
  async ({ publish, signIn, heading, login }) => {
    const database = await freshDatabase('');
    onTestFinished(() => database.drop());
    const folder = await folderWith({});
    // What npm install would do.
    await mkdir(join(folder, 'node_modules'));
    await symlink(join(repository, 'packages/server'), join(folder, 'node_modules/pgway'));
    const run = async (...words: readonly string[]): Promise<void> => {
      const program = start(folder, [process.execPath, ...words]);
      expect([await program.ended, program.text.stderr]).toEqual([0, '']);
    };
    const choices = [`--publish=${publish}`, `--sign-in=${signIn}`];
    await run(bin, 'init', `--database=${database.connectionString}`, ...choices);
    await run(bin, 'generate');
    await run(compiler);
    const origin = `http://127.0.0.1:${await freePort()}`;
    const server = start(folder, [process.execPath, bin, '--watch', `--port=${new URL(origin).port}`]);
    await server.until(/endpoints? at http/);

    const browser = await chromium.launch({ executablePath: chromiumPath!, args: ['--no-sandbox'] });
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    await page.goto(origin);
    await page.getByRole('heading', { name: heading }).waitFor({ timeout: stepTimeout });
    const post = (path: string): Promise<Response> =>
      fetch(`${origin}/api/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin },
        body: JSON.stringify({ name: 'ada', password: 'correct horse' }),
      });
    await post('sign-up');
    expect((await post('login')).status).toBe(login);
  },
  120_000,
);

test('without a connection string, the project is served by the owner of a database of its own', async () => {
  const folder = await folderWith({});
  const run = async (...words: readonly string[]): Promise<string> => {
    const program = start(folder, [process.execPath, bin, ...words]);
    expect([await program.ended, program.text.stderr.includes('connect with')]).toEqual([0, false]);
    return program.text.stdout;
  };
  expect(await run('init', '--publish=functions')).toContain('db/api.sql  applied to the database app\n');
  expect(await run('validate')).not.toMatch(/connect with|warning:/);

  const server = start(folder, [process.execPath, bin, '--watch', '--port=0']);
  const [, psql] = await server.until(/^connect with: psql "(.*)"$/m);
  const [, url] = await server.until(/endpoints? at (http:\S+)/);
  expect(server.text.stdout).not.toContain('warning');
  expect(await (await fetch(`${url!}/api/hello?name=Ada`)).text()).toBe('Hello, Ada!');
  // The other commands connect to the running database.
  expect(await run('validate')).toBe('1 endpoint, 0 errors, 0 warnings\n');

  const sql = `select concat_ws(' ', current_user, current_database(), usesuper) from pg_user where usename = current_user`;
  const ask = async (user: string): Promise<string> => {
    const { stdout } = await promisify(execFile)('psql', [psql!.replace('app_owner@', `${user}@`), '-Atc', sql]);
    return stdout;
  };
  expect([await ask('app_owner'), await ask('postgres')]).toEqual(['app_owner app f\n', 'postgres app t\n']);
}, 240_000);
