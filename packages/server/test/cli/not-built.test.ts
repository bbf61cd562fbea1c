import { execFile } from 'node:child_process';
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { folderWith } from '../support/folder.ts';

const packages = join(import.meta.dirname, '../../../');

const programs = [
  ['pgway', 'server'],
  ['pgscout', 'scout'],
] as const;

test.each(programs)('%s of a checkout says how it is built, instead of missing', async (name, folder) => {
  const copy = await folderWith({ 'package.json': { type: 'module' } });
  await cp(join(packages, folder, 'bin'), join(copy, 'bin'), { recursive: true });
  const run = promisify(execFile)(process.execPath, [join(copy, 'bin', `${name}.js`)]);
  await expect(run).rejects.toMatchObject({
    code: 1,
    stdout: '',
    stderr: `${name} is not built yet: run npm run build in the checkout\n`,
  });
});

test.each(programs)('%s names the version of Node.js that its package needs', async (name, folder) => {
  const { engines } = JSON.parse(await readFile(join(packages, folder, 'package.json'), 'utf8')) as {
    readonly engines: object;
  };
  expect(engines).toEqual({ node: '>=20.19' });
  const run = (version: string): Promise<unknown> => {
    const old = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`;
    const argv = [`--import=data:text/javascript,${encodeURIComponent(old)}`, join(packages, folder, `bin/${name}.js`)];
    return promisify(execFile)(process.execPath, [...argv, '--version']).catch((error: unknown) => error);
  };
  const message = (version: string): string =>
    `${name}: this is Node.js ${version}, and 20.19 or newer is needed; install it, as from https://nodejs.org\n`;

  expect(await run('18.20.8')).toMatchObject({ code: 1, stdout: '', stderr: message('18.20.8') });
  expect(await run('20.18.3')).toMatchObject({ code: 1, stdout: '', stderr: message('20.18.3') });
  expect(await run('20.19.0')).not.toMatchObject({ stderr: message('20.19.0') });
  expect(await run('22.0.0')).not.toMatchObject({ stderr: message('22.0.0') });
});
