import { execFileSync } from 'node:child_process';
import { renameSync, rmSync, symlinkSync, unlinkSync } from 'node:fs';
import { appendFile, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { sqlFilesSource } from '@pgway/core';
import { expect, onTestFinished, test } from 'vitest';
import { listFiles } from '../../src/sql-files/list-files.ts';
import { readFiles, readListed, readUnchanged, readVersions } from '../../src/sql-files/read-files.ts';
import { createFolder, writeSqlFile } from './folder.ts';

/** Files that change while they are read, and those that are none. */

const posix = process.platform !== 'win32';
const all = { option: 'sqlFiles', ignored: [], name: /\.sql$/ };

/** Lists the files, and reads them after a change of each one. */
async function readAfter(folder: string, change: (path: string) => void) {
  const files = await readListed(await listFiles(folder, ['**/*.sql'], all), (path, read) => {
    change(path);
    return read('');
  });
  return files.map(({ path, text, fault }) => [path, fault ?? text]);
}

test('a file that is removed after it was listed has no endpoint and no fault', async () => {
  const folder = await createFolder({ 'a.sql': 'select 1', 'b.sql': 'select 2', 'down/c.sql': 'select 3' });
  const remove = (path: string): void => {
    if (path === 'a.sql') unlinkSync(join(folder, path));
    if (path !== 'down/c.sql') return;
    rmSync(join(folder, 'down'), { recursive: true });
    renameSync(join(folder, 'b.sql'), join(folder, 'down'));
  };
  expect(await readAfter(folder, remove)).toEqual([['b.sql', 'select 2']]);
});

test.skipIf(!posix)('a link whose file is removed after it was listed is an error', async () => {
  const folder = await createFolder({ 'a.txt': 'select 1' });
  await symlink('a.txt', join(folder, 'a.sql'));
  expect(await readAfter(folder, () => unlinkSync(join(folder, 'a.txt')))).toEqual([
    ['a.sql', 'is a link to a file that does not exist; correct or remove the link'],
  ]);
});

test.skipIf(!posix)('files of which some are replaced during the read are read again', async () => {
  const folder = await createFolder({
    '..2026_01/films.sql': 'select 1',
    '..2026_01/users.sql': 'select 1',
    '..2026_02/films.sql': 'select 2',
    '..2026_02/users.sql': 'select 2',
  });
  await symlink('..2026_01', join(folder, '..data'));
  for (const name of ['films.sql', 'users.sql']) await symlink(join('..data', name), join(folder, name));
  const texts: (readonly unknown[])[] = [];
  const read = async () => {
    const first = texts.length === 0;
    const files = await readAfter(folder, (path) => {
      if (!first || path !== 'users.sql') return;
      symlinkSync('..2026_02', join(folder, '..data_tmp'));
      renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
    });
    texts.push(files.map(([, text]) => text));
    return files;
  };
  const files = await readUnchanged(async () => ({ versions: await readVersions(folder, ['*.sql']) }), read);
  expect(texts).toEqual([
    ['select 1', 'select 2'],
    ['select 2', 'select 2'],
  ]);
  expect(files).toEqual([
    ['films.sql', 'select 2'],
    ['users.sql', 'select 2'],
  ]);
});

test('files that change during each read are read three times', async () => {
  const folder = await createFolder({ 'a.sql': 'select 1' });
  let reads = 0;
  const read = async (): Promise<number> => {
    await appendFile(join(folder, 'a.sql'), '\n');
    return (reads += 1);
  };
  const versions = (): Promise<ReadonlyMap<string, string>> => readVersions(folder, ['*.sql']);
  expect(await readUnchanged(async () => ({ versions: await versions() }), read)).toBe(3);
  reads = 0;
  expect(
    await readUnchanged(
      async () => ({ versions: await versions() }),
      async () => (reads += 1),
    ),
  ).toBe(1);
});

test.skipIf(!posix)('links of a FIFO and a socket are not read, and do not block the process', async () => {
  const folder = await createFolder({ 'good.sql': 'select 1' });
  execFileSync('mkfifo', [join(folder, 'fifo')]);
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(join(folder, 'socket'), resolve));
  onTestFinished(() => void server.close());
  for (const name of ['fifo', 'socket']) await symlink(name, join(folder, `${name}.sql`));
  const files = await readFiles(folder, ['*.sql']);
  expect(files.map(({ path, text, fault }) => [path, fault ?? text])).toEqual([
    ['fifo.sql', 'is not a file, and is not read'],
    ['good.sql', 'select 1'],
    ['socket.sql', 'is not a file, and is not read'],
  ]);
});

test.skipIf(!posix)('a folder that is replaced by a link which leads out is not read', async () => {
  const folder = await createFolder({ 'down/a.sql': 'select 1' });
  const outside = await createFolder({ 'a.sql': 'secret' });
  const replace = (): void => {
    rmSync(join(folder, 'down'), { recursive: true });
    symlinkSync(outside, join(folder, 'down'));
  };
  expect(await readAfter(folder, replace)).toEqual([
    ['down/a.sql', expect.stringMatching(/^is outside of .*, where a link leads; put the file itself there$/)],
  ]);
});

test.skipIf(!posix)('the version of a link that leads out does not tell of changes of the file outside', async () => {
  const folder = await createFolder({ 'a.sql': 'select 1' });
  const outside = await createFolder({ 'secret.sql': 'secret', 'other.sql': 'other' });
  const link = join(folder, 'link.sql');
  await symlink(join(outside, 'secret.sql'), link);
  const source = sqlFilesSource({ files: '*.sql', folder });
  const before = await source.readVersions();
  await writeSqlFile(outside, 'secret.sql', 'another secret');
  expect(await source.readVersions()).toEqual(before);
  unlinkSync(link);
  await symlink(join(outside, 'other.sql'), link);
  const after = await source.readVersions();
  expect(after.get('link.sql')).not.toBe(before.get('link.sql'));
  expect(after.get('a.sql')).toBe(before.get('a.sql'));
});

test('a file where the pattern has a folder is an error that says so', async () => {
  const folder = await createFolder({ 'api.sql': 'select 1' });
  const files = await readFiles(folder, ['api.sql/*.sql']);
  expect(files.map(({ path, fault, severity }) => [path, severity, fault])).toEqual([
    ['api.sql', 'error', 'is a file, and not a folder; correct the pattern'],
  ]);
});
