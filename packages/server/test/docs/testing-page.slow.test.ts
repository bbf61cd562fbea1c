/** Runs the tests of the page "Testing your API", as its readers do. */
import { execFile } from 'node:child_process';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from '@pgway/testing';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { readPage } from './page.ts';
import { root, scriptFolder } from './stage.ts';

const page = readPage(root, 'docs/guide/testing-your-api.md');

beforeAll(build);

test('vitest runs the files of the page', async () => {
  const folder = await scriptFolder();
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, 'node_modules/@pgway'), { recursive: true });
  await symlink(join(root, 'packages/embedded'), join(folder, 'node_modules/@pgway/embedded'), 'junction');
  await symlink(join(root, 'node_modules/vitest'), join(folder, 'node_modules/vitest'), 'junction');
  for (const step of page.steps) {
    if (step.kind === 'file' && 'text' in step.content) await writeFile(join(folder, step.name), step.content.text);
  }
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--root', folder],
    { cwd: folder, env: { PATH: process.env['PATH'], NO_COLOR: '1' } },
  ).catch((error: { stdout: string; stderr: string }) => ({ stdout: error.stdout + error.stderr }));
  expect(stdout).toMatch(/Tests +1 passed \(1\)/);
});
