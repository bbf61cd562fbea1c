import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { resolveDataDirectory } from '../../../embedded/src/data-directory-path.ts';
import { folderWith } from '../support/folder.ts';

const isRoot = process.geteuid?.() === 0;

test('in the working directory, or as configured', async () => {
  const folder = await folderWith();

  expect(await resolveDataDirectory(null, folder)).toBe(join(folder, '.pgway', 'postgres'));
  expect(await resolveDataDirectory('data', folder)).toBe(join(folder, 'data'));
  expect(await resolveDataDirectory('/data', folder)).toBe('/data');
});

test.runIf(isRoot)('for root in a closed folder: in /var/lib/pgway, one folder per working directory', async () => {
  const folder = await folderWith();
  const [one, two] = [join(folder, 'one'), join(folder, 'two')];
  await mkdir(one);
  await mkdir(two);
  await chmod(folder, 0o700);

  const directories = [await resolveDataDirectory(null, one), await resolveDataDirectory(null, two)];

  expect(directories).toEqual([
    expect.stringMatching(/^\/var\/lib\/pgway\/one-[0-9a-f]{12}$/),
    expect.stringMatching(/^\/var\/lib\/pgway\/two-[0-9a-f]{12}$/),
  ]);
  expect(await resolveDataDirectory(null, one), 'the same at every start').toBe(directories[0]);
});

test.runIf(!isRoot)('for an ordinary user in a closed folder: in the working directory', async () => {
  const folder = await folderWith();
  await chmod(folder, 0o700);

  expect(await resolveDataDirectory(null, folder)).toBe(join(folder, '.pgway', 'postgres'));
});
