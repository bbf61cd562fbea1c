import { rename, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sqlFilesSource } from '@pgway/core';
import { expect, test } from 'vitest';
import { createFolder } from './folder.ts';

/** The versions by which hosts find changed files. */

async function start() {
  const folder = await createFolder({ 'one.sql': '-- HTTP GET\nselect 1', 'other.sql': '-- HTTP GET\nselect 1' });
  const source = sqlFilesSource({ files: '*.sql', folder });
  const path = join(folder, 'one.sql');
  const { atime, mtime } = await stat(path);
  return {
    folder,
    path,
    versions: () => source.readVersions(),
    keepTime: (of: string) => utimes(of, atime, mtime),
  };
}

test('without a change, versions stay the same', async () => {
  const { versions } = await start();
  expect(await versions()).toEqual(await versions());
});

test('a save of the same size that keeps the time of the file is another version', async () => {
  const { path, versions, keepTime } = await start();
  await keepTime(path);
  const before = await versions();
  // Until the clock of the file system has gone on.
  await expect
    .poll(async () => {
      await writeFile(path, '-- HTTP GET\nselect 2');
      await keepTime(path);
      return (await versions()).get('one.sql');
    })
    .not.toBe(before.get('one.sql'));
  expect((await versions()).get('other.sql')).toBe(before.get('other.sql'));
});

test('a file of the same size and time that replaces another one is another version', async () => {
  const { folder, path, versions, keepTime } = await start();
  await keepTime(path);
  const before = await versions();
  const saved = join(folder, 'one.sql.saved');
  await writeFile(saved, '-- HTTP GET\nselect 2');
  await keepTime(saved);
  await rename(saved, path);
  const after = await versions();
  expect([...after.keys()]).toEqual(['one.sql', 'other.sql']);
  expect(after.get('one.sql')).not.toBe(before.get('one.sql'));
});
