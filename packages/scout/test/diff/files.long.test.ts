import { execFileSync } from 'node:child_process';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freshDatabase, serverConnectionString, serverVersion, useDatabase } from '@pgway/testing';
import { parseConnectionString } from '@pgway/core/connection';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { noProgress } from '../../src/output/progress.ts';
import { withLoadedFiles } from '../../src/schema-files/with-loaded-files.ts';
import { folderWith } from '../support/folder.ts';
import { type Outcome, scout } from '../support/scout.ts';

/** Bodies that are not a string exist since PostgreSQL 14. */
const body =
  serverVersion() < 14
    ? `as 'select 1; select 2 * n'`
    : 'begin atomic select case when n > 0 then 2 * n end; select 2 * n; end';

/** Functions, views and tables that name each other, in an order that is not that of their files. */
const database = useDatabase(`
  create schema shop;
  create type shop.rating as enum ('G', 'PG');
  create table shop.b (id int primary key, rating shop.rating default 'G');
  create table shop.a (id int primary key, b int references shop.b);
  alter table shop.b add a int references shop.a;
  create function shop.double(n int) returns int language sql immutable ${body};
  create table shop.c (id int check (shop.double(id) > 0));
  create index on shop.c (shop.double(id));
  create view shop.z as select id, shop.double(b) as two from shop.a;
  create view shop.y as select * from shop.z;
  create rule log as on insert to shop.c do also (delete from shop.a; delete from shop.b);
  create function shop.touch() returns trigger language plpgsql as $body$ begin raise notice ';'; return new; end $body$;
  create trigger touch before insert on shop.a for each row execute function shop.touch();
  comment on table shop.a is 'It''s; a "table"';
`);

const scratch = `--scratch=${serverConnectionString()}`;

function diff(...argv: readonly string[]): Promise<Outcome> {
  return scout(['--diff', ...argv, '--no-owner', scratch]);
}

const equal = { code: 0, stdout: '', stderr: 'the schemas are equal\n' };

async function scratchDatabases(): Promise<number> {
  const client = new Client({ connectionString: serverConnectionString() });
  await client.connect();
  const { rows } = await client.query(`select from pg_database where datname like 'pgscout_scratch_%'`);
  await client.end();
  return rows.length;
}

/** A folder with the schema as a script, and as a tree. */
async function schemaFolder(): Promise<string> {
  const folder = await folderWith();
  const { stdout } = await scout(['--schema-dump', '--no-owner', '-c', database.connectionString]);
  await writeFile(join(folder, 'schema.sql'), stdout);
  await scout(['--tree', join(folder, 'tree'), '--no-owner', '-c', database.connectionString]);
  return folder;
}

test('a script and a folder are compared with a database, in both directions, and with each other', async () => {
  const folder = await schemaFolder();
  const [script, tree] = [join(folder, 'schema.sql'), join(folder, 'tree')];
  expect(await diff(script, '-c', database.connectionString)).toEqual(equal);
  expect(await diff(tree, '-c', database.connectionString, '--exit-code')).toEqual(equal);
  expect(await diff(script, '-c', tree)).toEqual(equal);
  await writeFile(script, '\\restrict abc\ncreate schema shop; create table shop.extra (id int);\n\\unrestrict abc\n');
  const changed = await diff(database.connectionString, 'shop.extra', '-c', script, '--exit-code');
  expect([changed.code, changed.stderr]).toEqual([3, '']);
  expect(changed.stdout).toContain(`-- The statements give the file ${JSON.stringify(script)}\n`);
  expect(changed.stdout).toContain('\nDROP TABLE shop.extra;\n');
  await expect.poll(scratchDatabases).toBe(0);
});

test('a commit is compared with a database', async () => {
  const folder = await schemaFolder();
  const git = (...args: readonly string[]): unknown =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: folder });
  git('init', '-q', '-b', 'main');
  git('add', '.');
  git('commit', '-q', '-m', 'schema');
  const environment = { PATH: process.env['PATH'] };
  const run = (source: string): Promise<Outcome> =>
    scout(['--diff', source, '-c', database.connectionString, '--no-owner', scratch], { folder, environment });
  await writeFile(join(folder, 'schema.sql'), 'create table not_committed ()');
  expect(await run('git:main:tree/')).toEqual(equal);
  expect(await run('git:HEAD:schema.sql')).toEqual(equal);
  expect((await run('schema.sql')).stdout).toContain('CREATE TABLE public.not_committed');
  expect([await run('git:other:tree'), await run('git:main:none')]).toEqual([
    { code: 1, stdout: '', stderr: 'pgscout: git: Needed a single revision\n' },
    {
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^pgscout: git: path 'none' does not exist in '[\da-f]+'\n$/) as string,
    },
  ]);
});

test.each([
  ['git:--output=x:schema', '"--output=x" is not a revision; pass a branch, tag or commit, as in git:main:schema/'],
  ['git:a..b:schema', '"a..b" is not a revision; pass a branch, tag or commit, as in git:main:schema/'],
  ['git:main:../secret', '"../secret" is not a path in a commit; pass one from the top of the repository'],
  ['git:main:/etc', '"/etc" is not a path in a commit; pass one from the top of the repository'],
  ['git:main', '"git:main": needs a revision and a path from the top of the repository, as in git:main:schema/'],
])('%s is refused', async (source, message) => {
  expect(await diff(source, '-c', database.connectionString)).toEqual({
    code: 2,
    stdout: '',
    stderr: `pgscout: ${message}\n`,
  });
});

test('files that are missing, foreign or wrong are named, and the scratch database is dropped', async () => {
  const folder = await folderWith({
    'wrong.sql': 'create table a ();\n\n-- b\ncreate table b (\n  id no_type);',
    'role.sql': 'create table a ();\nalter table a owner to "no;role"',
    'meta.sql': '\\connect x\n',
  });
  const message = async (source: string): Promise<string> => {
    const { code, stdout, stderr } = await diff(source, '-c', database.connectionString);
    expect([code, stdout]).toEqual([1, '']);
    return stderr.replaceAll(folder, '…');
  };
  expect(await message(join(folder, 'none.sql'))).toBe('pgscout: …/none.sql: no such file or folder\n');
  expect(await message(join(folder, 'wrong.sql'))).toBe('pgscout: …/wrong.sql:5: type "no_type" does not exist\n');
  expect(await message(join(folder, 'role.sql'))).toBe(
    'pgscout: …/role.sql:2: role "no;role" does not exist on the scratch server; create it there\n',
  );
  expect(await message(join(folder, 'meta.sql'))).toBe(
    'pgscout: …/meta.sql:1: psql commands are not supported; pass a script of SQL, as of pgscout --schema-dump or pg_dump -s\n',
  );
  expect(await message(folder)).toBe(
    'pgscout: …: the folder has no pgscout-tree.txt, and is none of pgscout --tree; pass such a folder, or one .sql file\n',
  );
  await mkdir(join(folder, 'tree'));
  await writeFile(join(folder, 'tree/pgscout-tree.txt'), '../wrong.sql\n');
  expect(await message(join(folder, 'tree'))).toBe(
    'pgscout: …/tree: pgscout-tree.txt lists "../wrong.sql", which is outside of the folder\n',
  );
  await writeFile(join(folder, 'tree/pgscout-tree.txt'), 'link.sql\n');
  await symlink(join(folder, 'wrong.sql'), join(folder, 'tree/link.sql'));
  expect(await message(join(folder, 'tree'))).toBe(
    'pgscout: …/tree: link.sql: is a symbolic link or not a file; pass a folder of pgscout --tree\n',
  );
  await expect.poll(scratchDatabases).toBe(0);
});

test('without a server, files are loaded on the embedded PostgreSQL, which creates the roles that they name', async () => {
  const folder = await folderWith({
    'old.sql': 'begin; create table film (id int); grant select on film to "Some ""role"; commit;',
    'new.sql': 'create table film (id int, title text); grant select on film to "Some ""role"',
  });
  const scratchFolders = async (): Promise<number> =>
    (await readdir(tmpdir())).filter((name) => name.startsWith('pgscout-scratch-')).length;
  const before = await scratchFolders();
  const { code, stdout, stderr } = await scout(['--diff', 'new.sql', '-c', 'old.sql'], { folder });
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain('ALTER TABLE public.film ADD COLUMN title text;');
  expect(stdout).not.toContain('GRANT');
  expect(await scratchFolders()).toBe(before);
});

test('parts of a connection are an error when --connection names files', async () => {
  const folder = await folderWith({ 'old.sql': '', 'new.sql': '' });
  expect(await scout(['--diff', 'new.sql', '-c', 'old.sql', '-d', 'shop'], { folder })).toEqual({
    code: 2,
    stdout: '',
    stderr: 'pgscout: --dbname: names a part of --connection, which names files; pass a URL to --diff or --scratch\n',
  });
});

test('the scratch database of a killed command is dropped by the next one, and no other database', async () => {
  const client = new Client({ connectionString: serverConnectionString() });
  await client.connect();
  onTestFinished(() => client.end());
  const names = ['a', 'b', 'c'].map((digit) => `pgscout_scratch_${digit.repeat(16)}`);
  for (const name of names) await client.query(`create database ${name}`);
  onTestFinished(async () => {
    for (const name of names) await client.query(`drop database if exists ${name} with (force)`);
  });
  // The first is abandoned, the second has no marker, and a session has the name of the third.
  for (const name of [names[0], names[2]]) {
    await client.query(`comment on database ${name} is 'a scratch database of pgscout'`);
  }
  await client.query(`set application_name = '${names[2]}'`);
  const folder = await folderWith({ 'old.sql': '', 'new.sql': '' });
  const { code } = await scout(['--diff', 'new.sql', '-c', 'old.sql', '--scratch', serverConnectionString()], {
    folder,
  });
  expect(code).toBe(0);
  const { rows } = await client.query(`select datname from pg_database where datname = any($1) order by 1`, [names]);
  expect(rows).toEqual([{ datname: names[1] }, { datname: names[2] }]);
});

test('an interrupted command drops the scratch database, also while a statement runs', async () => {
  const controller = new AbortController();
  const content = 'select pg_sleep(600)';
  const loaded = withLoadedFiles(
    { settings: parseConnectionString(serverConnectionString()), isOwn: false },
    { title: '', isTree: false, files: [{ name: 'a.sql', content }] },
    { progress: noProgress, signal: controller.signal },
    () => Promise.resolve(),
  );
  const ended = loaded.then(() => '').catch((error: Error) => error.message);
  await expect
    .poll(async () => {
      const sql = `select count(*)::int as count from pg_stat_activity where datname like 'pgscout_scratch_%' and query = $1`;
      return database.query(sql, [content]);
    })
    .toEqual([{ count: 1 }]);
  controller.abort();
  expect(await ended).toContain('Connection terminated');
  await expect.poll(scratchDatabases).toBe(0);
});

test('a name of the settings files is a connection, also when a file has it', async () => {
  const other = await freshDatabase('create table other ()');
  onTestFinished(() => other.drop());
  const folder = await folderWith({
    shop: 'not sql',
    'pgscout.json': { ConnectionStrings: { shop: other.connectionString } },
  });
  const { code, stdout } = await scout(['--diff', 'shop', 'other', '-c', database.connectionString], { folder });
  expect(code).toBe(0);
  expect(stdout).toContain('CREATE TABLE public.other');
});
