import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, serverConnectionString } from '@pgway/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import { folderWith } from '../support/folder.ts';
import { bin, closed, isOpen, start } from '../support/program.ts';
import type { Program } from '../support/program.ts';

beforeAll(build);

const scout = fileURLToPath(new URL('../../../scout/dist/bin.js', import.meta.url));
const program = [process.execPath, bin, '--port=0'];

interface Ready {
  readonly program: Program;
  readonly url: string;
  /** The port of the embedded PostgreSQL. */
  readonly port: number;
}

async function ready(running: Program): Promise<Ready> {
  const [, url] = await running.until(/endpoints at (http:\S+)/);
  const [, port] = await running.until(/starting PostgreSQL .* on port (\d+)/);
  return { program: running, url: url!, port: Number(port) };
}

async function post(url: string, body: unknown): Promise<Response> {
  return fetch(url, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });
}

const member = { name: 'Zuse', email: 'zuse@test.example' };

describe('without a database, in an empty folder', () => {
  test('serves the example database, keeps its data over Ctrl-C and SIGKILL, and leaves no process running', async () => {
    const folder = await folderWith();

    const first = await ready(start(folder, program));
    expect(first.program.text.stdout).toContain('created the example database library');
    const [, command] = await first.program.until(/Try: {2}curl (\S+)/);
    expect((await fetch(command!)).status).toBe(200);
    expect((await post(`${first.url}/api/members`, member)).status).toBe(200);
    first.program.child.kill('SIGINT');
    expect(await first.program.ended).toBe(0);
    expect([await isOpen(first.port), first.program.text.stderr]).toEqual([false, '']);

    const second = await ready(start(folder, program));
    expect(second.program.text.stdout).not.toContain('created');
    expect((await post(`${second.url}/api/members`, member)).status, 'the address is known already').toBe(409);
    second.program.child.kill('SIGKILL');
    await second.program.ended;

    const third = await ready(start(folder, program));
    expect((await post(`${third.url}/api/members`, member)).status).toBe(409);
    third.program.child.kill('SIGTERM');
    expect(await third.program.ended).toBe(0);
    await closed(second.port);
    expect(await isOpen(third.port)).toBe(false);
  });

  test('two in one folder: the second one reports it and exits with 1', async () => {
    const folder = await folderWith();
    await ready(start(folder, program));

    const second = start(folder, program);

    expect(await second.ended).toBe(1);
    expect(second.text.stderr).toMatch(/^pgway: .*\n$/);
  });

  test('commands use the database of a server that runs in the folder', async () => {
    const folder = await folderWith({ 'pgway.json': '{ "openApi": { "filePath": "openapi.json" } }' });
    const { url } = await ready(start(folder, program));
    const run = async (...argv: readonly string[]): Promise<readonly [number | string, string, string]> => {
      const { ended, text } = start(folder, [process.execPath, ...argv]);
      return [await ended, text.stdout, text.stderr];
    };

    expect(await run(bin, 'generate')).toEqual([0, 'openapi.json  written\n', '']);
    const [listed, endpoints] = await run(bin, 'endpoints', 'late-fee');
    expect([listed, endpoints.split('\n', 1)[0]]).toEqual([0, 'GET /api/late-fee']);
    expect(await run(bin, 'validate')).toEqual([0, expect.stringMatching(/^29 endpoints, 0 errors/), '']);
    expect(await run(scout, '--list', 'domain')).toEqual([0, expect.stringContaining('DOMAIN public.isbn'), '']);
    expect((await post(`${url}/api/members`, member)).status, 'the server keeps its password').toBe(200);
  });

  test('an interrupt during the start leaves no process running, and the next start succeeds', async () => {
    const folder = await folderWith();
    const first = start(folder, program);
    await first.until(/creating/);
    first.child.kill('SIGINT');
    expect(await first.ended).toBe(0);

    const second = await ready(start(folder, program));

    expect((await fetch(`${second.url}/api/books`)).status).toBe(200);
  });
});

test.runIf(process.platform !== 'win32')(
  'its PostgreSQL is killed: it says so in one line and ends with 1, and the next start has the data',
  async () => {
    const folder = await folderWith();
    const withData = [...program, '--embedded.dataDirectory=data'];
    const first = await ready(start(folder, withData));
    expect((await post(`${first.url}/api/members`, member)).status).toBe(200);

    const pid = Number((await readFile(join(folder, 'data', 'cluster', 'postmaster.pid'), 'utf8')).split('\n')[0]);
    process.kill(pid, 'SIGKILL');

    expect(await first.program.ended).toBe(1);
    expect(first.program.text.stderr).toBe(
      'pgway: the PostgreSQL server exited unexpectedly (SIGKILL); start it again, the data is kept\n',
    );
    const second = await ready(start(folder, withData));
    expect((await post(`${second.url}/api/members`, member)).status).toBe(409);
  },
);

test.runIf(process.platform !== 'win32')('under npm: it ends when the shell between npm and it is killed', async () => {
  const folder = await folderWith();
  // `:` after it keeps the shell from becoming the program.
  const shell = start(folder, ['sh', '-c', `"$0" "$@"; :`, ...program], { npm_lifecycle_event: 'start' });
  const { url, port } = await ready(shell);

  shell.child.kill('SIGKILL');

  await expect(Promise.all([closed(Number(new URL(url).port)), closed(port)])).resolves.toHaveLength(2);
});

test('the exit code and the error message reach the shell', async () => {
  const failing = start(await folderWith({ 'pgway.json': '{' }), program);

  expect([await failing.ended, failing.text.stdout]).toEqual([2, '']);
  expect(failing.text.stderr).toBe('pgway: pgway.json:1:2: "," or "}" expected, found the end of the file\n');
});

test('the last lines of the log are kept when an error ends the process', async () => {
  const folder = await folderWith({
    'pgway.json': { connectionString: serverConnectionString(), log: { file: { path: 'pgway.log' } } },
    'crash.mjs': `process.on('SIGUSR2', () => { throw new Error('crash'); });`,
  });
  const [node = '', ...rest] = program;
  const running = start(folder, [node, '--import=./crash.mjs', ...rest, '--log.format=json']);
  const [, url] = await running.until(/"url":"([^"]+)"/);

  for (let count = 0; count < 10; count += 1) await fetch(`${url!}/nothing`);
  running.child.kill('SIGUSR2');

  expect(await running.ended).toBe(1);
  expect(running.text.stderr).toContain('Error: crash');
  const lines = [running.text.stdout, await readFile(join(folder, 'pgway.log'), 'utf8')];
  expect(lines.map((text) => text.match(/"source":"access"/g)?.length)).toEqual([10, 10]);
});

test('a standard output that is not read delays no response, and its lines are kept', async () => {
  const folder = await folderWith({ 'pgway.json': { connectionString: serverConnectionString() } });
  const running = start(folder, [...program, '--log.format=json']);
  const [, url] = await running.until(/"url":"([^"]+)"/);
  running.child.stdout!.pause();
  // More than pipes and streams buffer.
  const path = `/${'x'.repeat(4000)}`;

  const statuses: number[] = [];
  for (let count = 0; count < 400; count += 1) statuses.push((await fetch(url! + path)).status);
  running.child.stdout!.resume();
  running.child.kill('SIGTERM');

  expect(statuses).toEqual(Array.from({ length: 400 }, () => 404));
  expect(await running.ended).toBe(0);
  expect(running.text.stdout.match(/"source":"access"/g)).toHaveLength(400);
});
