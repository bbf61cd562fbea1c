import { mkdir, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { sqlFilesSource } from '@pgway/core';
import { startGateway, type TestGateway } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { createFolder, writeSqlFile } from './folder.ts';

/** Links are followed as far as they stay in the folder of the files. */

const posix = process.platform !== 'win32';

async function start(folder: string, options: { readonly folderPaths?: boolean } = {}): Promise<TestGateway> {
  const source = sqlFilesSource({ files: '**/*.sql', folder, ...options });
  const gateway = await startGateway('', { routineSources: [source] });
  onTestFinished(() => gateway.close());
  return gateway;
}

const messages = ({ gateway }: TestGateway, folder: string): readonly string[] =>
  gateway.diagnostics.map(
    ({ severity, routine, message }) => `${severity} ${routine} ${message.replace(folder, 'FOLDER')}`,
  );

test.skipIf(!posix)(
  'a ConfigMap that Kubernetes mounts: files and folders are links, which one rename replaces',
  async () => {
    const folder = await createFolder({
      '..2026_01/films.sql': '-- HTTP\nselect 1',
      '..2026_01/old.sql': '-- HTTP\nselect 2',
      '..2026_01/admin/users.sql': '-- HTTP\nselect 3',
    });
    await symlink('..2026_01', join(folder, '..data'));
    for (const name of ['films.sql', 'old.sql', 'admin']) await symlink(join('..data', name), join(folder, name));
    const source = sqlFilesSource({ files: '**/*.sql', folder });
    const started = await start(folder);
    const { gateway, send } = started;
    expect(messages(started, folder)).toEqual([]);
    expect(gateway.endpoints.map(({ id }) => id)).toEqual(['admin/users.sql', 'films.sql', 'old.sql']);
    expect((await send('GET /api/users')).body).toBe('[3]');
    const before = await source.readVersions();
    expect([...before.keys()].toSorted()).toEqual(['admin/users.sql', 'films.sql', 'old.sql']);

    await writeSqlFile(folder, '..2026_02/films.sql', '-- HTTP\nselect 4');
    await writeSqlFile(folder, '..2026_02/new.sql', '-- HTTP\nselect 5');
    await symlink('..2026_02', join(folder, '..data_tmp'));
    await rename(join(folder, '..data_tmp'), join(folder, '..data'));
    await symlink(join('..data', 'new.sql'), join(folder, 'new.sql'));
    for (const name of ['old.sql', 'admin']) await rm(join(folder, name));
    await rm(join(folder, '..2026_01'), { recursive: true });
    const after = await source.readVersions();
    expect([...after.keys()]).toEqual(['films.sql', 'new.sql']);
    expect(after.get('films.sql')).not.toBe(before.get('films.sql'));
    await gateway.refresh();
    expect(gateway.endpoints.map(({ id }) => id)).toEqual(['films.sql', 'new.sql']);
    expect((await send('GET /api/films')).body).toBe('[4]');
  },
);

test.skipIf(!posix)(
  'links that lead out of the folder, to themselves and to nothing are not followed, and named',
  async () => {
    const folder = await createFolder({ 'good.sql': '-- HTTP\nselect 1', 'down/other.sql': '-- HTTP\nselect 2' });
    const outside = await createFolder({ 'secret.sql': '-- HTTP\nselect 3', 'x/more.sql': '-- HTTP\nselect 4' });
    await symlink(join(outside, 'secret.sql'), join(folder, 'secret.sql'));
    await symlink(join(outside, 'x'), join(folder, 'down', 'out'));
    await symlink('..', join(folder, 'down', 'loop'));
    await symlink('.', join(folder, 'self'));
    await symlink('around.sql', join(folder, 'around.sql'));
    await symlink('missing', join(folder, 'missing.sql'));
    await symlink('missing', join(folder, 'no-file'));
    // No pattern reaches these.
    await symlink(join(outside, 'x'), join(folder, '.hidden'));
    await symlink(join(outside, 'x'), join(folder, 'node_modules'));
    const started = await start(folder);
    expect(messages(started, folder).toSorted()).toEqual([
      'error around.sql is a link that leads to itself; correct or remove the link',
      'error missing.sql is a link to a file that does not exist; correct or remove the link',
      'error secret.sql is outside of FOLDER, where a link leads; put the file itself there',
      'warning down/loop is a link to a folder that contains the link, and is not followed',
      'warning down/out is a link to a folder that is outside of FOLDER, and is not followed',
      'warning self is a link to a folder that contains the link, and is not followed',
    ]);
    expect(started.gateway.endpoints.map(({ id }) => id)).toEqual(['down/other.sql', 'good.sql']);
  },
);

test.skipIf(!posix)('a link is a file or folder of its own name', async () => {
  const folder = await createFolder({ 'v1/films.sql': '-- HTTP\nselect 1', 'v10/films.sql': '-- HTTP\nselect 10' });
  await symlink('v1', join(folder, 'latest'));
  await symlink('../v10', join(folder, 'v1', 'next'));
  await symlink('films.sql', join(folder, 'v10', 'movies.sql'));
  await mkdir(join(folder, 'a'));
  await mkdir(join(folder, 'b'));
  await symlink('../b', join(folder, 'a', 'x'));
  await symlink('../a', join(folder, 'b', 'y'));
  const started = await start(folder, { folderPaths: true });
  expect(started.gateway.endpoints.map(({ path }) => path).toSorted()).toEqual([
    '/api/latest/films',
    '/api/latest/next/films',
    '/api/latest/next/movies',
    '/api/v1/films',
    '/api/v1/next/films',
    '/api/v1/next/movies',
    '/api/v10/films',
    '/api/v10/movies',
  ]);
  expect((await started.send('GET /api/latest/films')).body).toBe('[1]');
  expect((await started.send('GET /api/v10/movies')).body).toBe('[10]');
});

test.skipIf(!posix).each([
  [['api/*.sql'], 'error api/secret.sql is outside of FOLDER, where a link leads; put the file itself there'],
  [['*.sql', 'api/*.sql'], 'warning api is a link to a folder that is outside of FOLDER, and is not followed'],
])('the folder of the pattern %j is a link to another folder', async (files, message) => {
  const folder = await createFolder({ 'good.sql': '-- HTTP\nselect 1' });
  const outside = await createFolder({ 'secret.sql': '-- HTTP\nselect 3' });
  await symlink(outside, join(folder, 'api'));
  const started = await startGateway('', { routineSources: [sqlFilesSource({ files, folder })] });
  onTestFinished(() => started.close());
  expect(messages(started, folder)).toEqual([message]);
  expect(started.gateway.endpoints.map(({ id }) => id)).toEqual(files.length === 1 ? [] : ['good.sql']);
});
