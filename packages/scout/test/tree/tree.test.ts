import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { useDatabase } from '@pgway/testing';
import { expect, test } from 'vitest';
import { folderWith } from '../support/folder.ts';
import { scout } from '../support/scout.ts';

const database = useDatabase(`
  create table film (id int primary key);
  create table "FILM" (id int);
  create table "../../escape" ();
  create table con ();
  create function add(int, int) returns int language sql as 'select 1';
  create function touch() returns trigger language plpgsql as 'begin return new; end';
  create trigger touched before insert on film for each row execute function touch();
`);

async function filesOf(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();
}

test('each object has a file; later runs write changes only, and remove the files of dropped objects', async () => {
  const folder = await folderWith();
  const tree = (): ReturnType<typeof scout> =>
    scout(['--tree', 'schema', '--no-owner', '-c', database.connectionString], { folder });
  expect((await tree()).stderr).toBe('8 files, 8 changed\n');
  const files = await filesOf(folder);
  expect(files.map((file) => file.replace(/~[\da-f]{8}/, '~hash'))).toEqual([
    'schema/pgscout-tree.txt',
    'schema/public/function/add(integer, integer).sql',
    'schema/public/function/touch().sql',
    'schema/public/table/%2E%2E%2F..%2Fescape.sql',
    'schema/public/table/FILM~hash.sql',
    'schema/public/table/con~.sql',
    'schema/public/table/film~hash.sql',
    'schema/public/trigger/film.touched.sql',
    'schema/schema/public.sql',
  ]);
  expect(await readFile(join(folder, 'schema/public/table/con~.sql'), 'utf8')).toBe(
    '-- TABLE public.con\n\nCREATE TABLE public.con ();\n',
  );
  const before = await stat(join(folder, 'schema/public/function/touch().sql'));
  await database.query('drop table "../../escape"; alter table con add a int');
  expect(await tree()).toEqual({
    code: 0,
    stdout: 'public/table/%2E%2E%2F..%2Fescape.sql  removed\npublic/table/con~.sql  overwritten\n',
    stderr: '7 files, 2 changed\n',
  });
  expect(await filesOf(folder)).toEqual(files.filter((file) => !file.includes('escape')));
  expect((await stat(join(folder, 'schema/public/function/touch().sql'))).mtimeMs).toBe(before.mtimeMs);
});

test('a folder with other files is not touched', async () => {
  const folder = await folderWith({ 'notes.sql': 'mine' });
  expect(await scout(['--tree', '.', '-c', database.connectionString], { folder })).toEqual({
    code: 1,
    stdout: '',
    stderr: 'pgscout: .: the folder has files of others, such as "notes.sql"; pass a new folder\n',
  });
  expect(await filesOf(folder)).toEqual(['notes.sql']);
});

test('an index with paths outside of the folder removes nothing there', async () => {
  const folder = await folderWith({ 'kept.sql': 'mine' });
  const tree = await folderWith({ 'pgscout-tree.txt': `../${folder.split('/').at(-1)!}/kept.sql\n` });
  expect((await scout(['--tree', tree, '-c', database.connectionString])).code).toBe(0);
  expect(await readFile(join(folder, 'kept.sql'), 'utf8')).toBe('mine');
});
