import { chmod, readdir, readFile, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { useDatabase } from '@pgway/testing';
import { expect, test } from 'vitest';
import { folderWith } from './support/folder.ts';
import { scout } from './support/scout.ts';

const database = useDatabase('create table film (id int)');

test('--output replaces a file when the command succeeds, and keeps its permissions and links', async () => {
  const folder = await folderWith({ 'film.sql': 'old' });
  await chmod(join(folder, 'film.sql'), 0o600);
  await symlink('film.sql', join(folder, 'link.sql'));
  const argv = ['--ddl', 'film', '--no-owner', '-c', database.connectionString];
  const { stdout } = await scout(argv);
  expect(await scout([...argv, '--output', 'link.sql'], { folder, hasColors: true })).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
  });
  expect(await readFile(join(folder, 'film.sql'), 'utf8')).toBe(stdout);
  expect((await stat(join(folder, 'film.sql'))).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toEqual(['film.sql', 'link.sql']);
});

test('a command that fails leaves the file as it was', async () => {
  const folder = await folderWith({ 'film.sql': 'old' });
  const argv = ['--ddl', 'film;none', '-c', database.connectionString, '--output', 'film.sql'];
  expect((await scout(argv, { folder })).code).toBe(1);
  expect(await readFile(join(folder, 'film.sql'), 'utf8')).toBe('old');
  expect(await readdir(folder)).toEqual(['film.sql']);
});

test.each([
  ['none/film.sql', 'none/film.sql cannot be written: the folder does not exist'],
  ['.', '. is not a file; pass another name'],
  ['/dev/null', '/dev/null is not a file; pass another name'],
])('--output %s is an error', async (name, message) => {
  const folder = await folderWith();
  expect(await scout(['--list', '--output', name], { folder })).toEqual({
    code: 1,
    stdout: '',
    stderr: `pgscout: --output: ${message}\n`,
  });
});
