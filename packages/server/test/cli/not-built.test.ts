import { execFile } from 'node:child_process';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { folderWith } from '../support/folder.ts';

const packages = join(import.meta.dirname, '../../../');

test.each([
  ['pgway', 'server'],
  ['pgscout', 'scout'],
])('%s of a checkout says how it is built, instead of missing', async (name, folder) => {
  const copy = await folderWith({ 'package.json': { type: 'module' } });
  await cp(join(packages, folder, 'bin'), join(copy, 'bin'), { recursive: true });
  const run = promisify(execFile)(process.execPath, [join(copy, 'bin', `${name}.js`)]);
  await expect(run).rejects.toMatchObject({
    code: 1,
    stdout: '',
    stderr: `${name} is not built yet: run npm run build in the checkout\n`,
  });
});
