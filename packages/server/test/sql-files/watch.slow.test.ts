import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freshDatabase } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { folderWith } from '../support/folder.ts';
import { createTestProcess } from '../support/process-context.ts';

async function watch(args: readonly string[]): Promise<{
  readonly folder: string;
  readonly until: (text: string) => Promise<unknown>;
  readonly changes: () => readonly string[];
}> {
  const database = await freshDatabase('create table film (film_id int primary key, title text not null);');
  onTestFinished(() => database.drop());
  const { connectionString } = database;
  const folder = await folderWith({
    'pgway.json': {
      connectionString,
      port: 0,
      sqlFiles: 'api/*.sql',
      typescriptClient: { filePath: 'client.ts', fileOverwrite: true },
    },
    'api/films.sql': '-- HTTP\nselect title from film',
  });
  const streams = createTestProcess(folder);
  const ended = run(args, {}, streams);
  onTestFinished(async () => {
    streams.sendStop('forced');
    expect(await ended).toBe(0);
  });
  await Promise.race([
    streams.until('Ctrl-C'),
    ended.then((code) => Promise.reject(new Error(`${code}: ${streams.text.stdout}${streams.text.stderr}`))),
  ]);
  const begun = streams.text.stdout.length;
  /** All lines since the start. */
  const changes = (): readonly string[] => streams.text.stdout.slice(begun).trim().split('\n');
  return { folder, until: (text) => streams.until(text), changes };
}

test('with --watch, a saved file is live, and the terminal shows what has changed', async () => {
  const { folder, until, changes } = await watch(['--watch']);
  await writeFile(join(folder, 'api/films.sql'), '-- HTTP\nselect film_id, title from film');
  await until('changed file api/films.sql');
  await until('changed GET /api/films');
  await writeFile(join(folder, 'api/added.sql'), '-- HTTP\nselect 1');
  await until('added GET /api/added');
  await rm(join(folder, 'api/added.sql'));
  await until('removed GET /api/added');
  expect(changes()).toEqual([
    'changed file api/films.sql',
    'changed GET /api/films (api/films.sql)',
    'added file api/added.sql',
    'added GET /api/added (api/added.sql)',
    'removed file api/added.sql',
    'removed GET /api/added (api/added.sql)',
  ]);
});

test('with --watch, the files of a ConfigMap are live after the rename that replaces its folder', async () => {
  const { folder, until, changes } = await watch(['--watch']);
  const api = join(folder, 'api');
  const mount = async (version: string, text: string): Promise<void> => {
    await mkdir(join(api, version));
    await writeFile(join(api, version, 'mounted.sql'), text);
    await symlink(version, join(api, '..data_tmp'));
    await rename(join(api, '..data_tmp'), join(api, '..data'));
  };
  await mount('..2026_01', '-- HTTP\nselect 1');
  await symlink('..data/mounted.sql', join(api, 'mounted.sql'));
  await until('added GET /api/mounted');
  await mount('..2026_02', '-- HTTP\nselect title from film');
  await until('changed GET /api/mounted');
  expect(changes()).toEqual([
    'added file api/mounted.sql',
    'added GET /api/mounted (api/mounted.sql)',
    'changed file api/mounted.sql',
    'changed GET /api/mounted (api/mounted.sql)',
  ]);
});

test('with generate --watch, the client is written again', async () => {
  const { folder } = await watch(['generate', '--watch']);
  await writeFile(
    join(folder, 'api/counted.sql'),
    '-- HTTP\n-- single\nselect count(*) as films from film where title = :title',
  );
  await expect.poll(() => readFile(join(folder, 'client.ts'), 'utf8')).toContain('counted');
});
