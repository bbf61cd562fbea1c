import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { concernsFiles, createFolderEvents, type FolderEvents } from '../../src/cli/folder-events.ts';
import { folderWith } from '../support/folder.ts';

/** A wait that only an event ends: the test would time out. */
const hour = 3_600_000;
const never = new AbortController().signal;

async function start(): Promise<{ readonly folder: string; readonly events: FolderEvents }> {
  const folder = await folderWith({ '2026_01/films.sql': 'select 1', 'films.sql': 'select 1' });
  await symlink('2026_01', join(folder, 'data'));
  const events = createFolderEvents();
  onTestFinished(() => events.close());
  events.watch(new Set([folder, join(folder, 'missing')]));
  return { folder, events };
}

test.each<[save: string, run: (folder: string) => Promise<unknown>]>([
  ['written in place', (folder) => writeFile(join(folder, 'films.sql'), 'select 2')],
  [
    'written beside it and renamed',
    async (folder) => {
      await writeFile(join(folder, 'films.sql~'), 'select 2');
      await rename(join(folder, 'films.sql~'), join(folder, 'films.sql'));
    },
  ],
  ['removed', (folder) => rm(join(folder, 'films.sql'))],
  [
    'behind a link that is replaced',
    async (folder) => {
      await mkdir(join(folder, '2026_02'));
      await symlink('2026_02', join(folder, 'data_tmp'));
      await rename(join(folder, 'data_tmp'), join(folder, 'data'));
    },
  ],
])('a file that is %s ends the wait, also before it begins', async (_, save) => {
  const { folder, events } = await start();
  const waiting = events.wait(hour, never);
  await save(folder);
  expect(await waiting).toBeUndefined();
  // A folder that is watched no more has no events.
  events.watch(new Set([join(folder, '2026_01')]));
  await writeFile(join(folder, '2026_01/films.sql'), 'select 3');
  await events.wait(hour, never);
});

test('without events, a wait ends with its time or the stop signal', async () => {
  const { events } = await start();
  events.watch(new Set());
  await events.wait(1, never);
  const stop = new AbortController();
  const waiting = events.wait(hour, stop.signal);
  stop.abort();
  expect(await waiting).toBeUndefined();
});

test.each<[string | null, boolean]>([
  ['films.sql', true],
  ['FILMS.SQL', true],
  ['films.test.sql', true],
  ['admin', true],
  ['..data', true],
  ['.hidden', true],
  // Some file systems do not tell the name.
  [null, true],
  ['gateway.log', false],
  ['films.sql~', false],
  ['.films.sql.swp', false],
])('whether an event of %s ends a wait: %s', (name, expected) => {
  expect(concernsFiles(name)).toBe(expected);
});
