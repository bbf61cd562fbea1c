/** The client tools of the machine. */
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { startPostgres } from '@pgway/embedded';
import { build, freshDatabase, packageOfMajor, serverVersion, useDatabase } from '@pgway/testing';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { folderWith } from '../support/folder.ts';
import { bin, runProgram } from '../support/program.ts';

const version = /\(PostgreSQL\) (\d+)/.exec(spawnSync('pg_dump', ['--version']).stdout?.toString() ?? '')?.[1];
if (version === undefined) console.log('skipped: psql and pg_dump are not installed');

const database = useDatabase('create table film (id int); insert into film values (1), (2)');
/** One warning about another version than that of the server. */
const warning = /^(warning: \S+ has version \d+, and the server \d+; set \w+ in pgscout.json to another one\n)?$/;

beforeAll(build);

function run(argv: readonly string[], folder: string): ReturnType<typeof runProgram> {
  return runProgram([...argv, '-c', database.connectionString], { folder });
}

describe.runIf(version !== undefined)('with psql', () => {
  test('--psql passes arguments on, and returns the exit code', async () => {
    const folder = await folderWith();
    const argv = ['--psql', '-c', database.connectionString, '--', '-XAtc', 'select count(*) from film'];
    expect(await runProgram(argv, { folder })).toMatchObject({
      code: 0,
      stdout: '2\n',
      stderr: expect.stringMatching(warning),
    });
    expect((await runProgram([...argv.slice(0, -1), 'select 1/0'], { folder })).code).toBe(1);
  });

  test('--execute runs SQL, a file, or the files of a folder, until the first error', async () => {
    const folder = await folderWith({
      'b.sql': 'insert into film values (4);',
      'a.sql': 'insert into film values (3);',
    });
    expect(await run(['--execute', '.'], folder)).toMatchObject({ code: 0, stdout: 'INSERT 0 1\nINSERT 0 1\n' });
    expect(await run(['--execute', 'a.sql'], folder)).toMatchObject({ code: 0, stdout: 'INSERT 0 1\n' });
    expect(await run(['--execute', 'delete from film where id > 2'], folder)).toMatchObject({ stdout: 'DELETE 3\n' });
    await writeFile(join(folder, 'a.sql'), 'select 1/0;\ninsert into film values (5);');
    const failed = await run(['--execute', '.'], folder);
    expect([failed.code, failed.stdout]).toEqual([1, '']);
    expect(failed.stderr).toContain('ERROR:  division by zero\n');
    expect(failed.stderr).toContain(`pgscout: psql failed with exit code 3 in ${join(folder, 'a.sql')}\n`);
    expect(await database.query('select id from film order by id')).toEqual([{ id: 1 }, { id: 2 }]);
    expect(await run(['--execute', 'no.sql'], folder)).toMatchObject({
      code: 1,
      stderr: 'pgscout: no.sql: no such file\n',
    });
  });
});

test.runIf(version !== undefined).each(['steps', 'steps.sql'])(
  '--execute runs the steps of --diff --online: %s',
  async (output) => {
    const [from, to] = [
      await freshDatabase(`create table film (id int, title text); insert into film values (1, 'Alien')`),
      await freshDatabase('create table film (id int primary key, title text); create index by_title on film (title)'),
    ];
    onTestFinished(() => Promise.all([from.drop(), to.drop()]).then(() => {}));
    const folder = await folderWith();
    const diff = ['--diff', to.connectionString, '-c', from.connectionString];
    expect((await runProgram([...diff, '--online', '--output', output], { folder })).code).toBe(0);
    expect((await runProgram(['--execute', output, '-c', from.connectionString], { folder })).code).toBe(0);
    expect(await runProgram(diff, { folder })).toEqual({ code: 0, stdout: '', stderr: 'the schemas are equal\n' });
  },
);

test.runIf(version !== undefined)(
  '--execute - runs the standard input; --single-transaction is one of all files',
  async () => {
    const folder = await folderWith({ 'a.sql': 'create table a ();', 'b.sql': 'select 1/0;' });
    const argv = [bin, '--execute', '-', '-c', database.connectionString];
    const { status, stdout } = spawnSync(process.execPath, argv, {
      input: 'select count(*) from film where id < 3 \\g (format=unaligned tuples_only)',
    });
    expect([status, stdout.toString()]).toEqual([0, '2\n']);
    expect((await run(['--execute', '.', '--single-transaction'], folder)).code).toBe(1);
    expect(await database.query(`select to_regclass('a') as a`)).toEqual([{ a: null }]);
    await writeFile(join(folder, 'b.sql'), 'create table b ();');
    expect((await run(['--execute', '.', '--single-transaction'], folder)).code).toBe(0);
    expect(await database.query(`select to_regclass('b')::text as b`)).toEqual([{ b: 'b' }]);
  },
);

describe.runIf(version !== undefined && Number(version) >= serverVersion())('with a pg_dump that is new enough', () => {
  test.each(['shop.dump', 'shop.sql'])('--backup and --restore of %s', async (file) => {
    const folder = await folderWith();
    expect(await run(['--backup', file], folder)).toMatchObject({ code: 0, stdout: '' });
    expect(await run(['--backup', file], folder)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the file exists; remove it or pass another one'),
    });
    const copy = await freshDatabase();
    onTestFinished(() => copy.drop());
    const restored = await runProgram(['--restore', file, '-c', copy.connectionString], { folder });
    expect(restored).toMatchObject({ code: 0, stdout: '' });
    expect(await copy.query('select id from film order by id')).toEqual([{ id: 1 }, { id: 2 }]);
  });
});

test.runIf(version !== undefined)('an archive of PostgreSQL 13 is restored', async () => {
  const folder = await folderWith();
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'pgscout-')));
  const packageDirectory = (await packageOfMajor('13'))!;
  const server = await startPostgres({ dataDirectory: directory, durable: false, packageDirectory });
  onTestFinished(async () => {
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  });
  const { connectionString } = server;
  const create = 'create table rental (id int primary key, film text); insert into rental values (1, $$Alien$$)';
  expect(await runProgram(['--execute', create, '-c', connectionString], { folder })).toMatchObject({ code: 0 });
  expect(await runProgram(['--backup', 'rental.dump', '-c', connectionString], { folder })).toMatchObject({ code: 0 });

  const copy = await freshDatabase();
  onTestFinished(() => copy.drop());
  expect(await runProgram(['--restore', 'rental.dump', '-c', copy.connectionString], { folder })).toMatchObject({
    code: 0,
    stdout: '',
    stderr: expect.stringMatching(warning),
  });
  expect(await copy.query('select id, film from rental')).toEqual([{ id: 1, film: 'Alien' }]);
  // The table exists: nothing is restored.
  const again = await runProgram(['--restore', 'rental.dump', '-c', copy.connectionString], { folder });
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('relation "rental" already exists')]);
  expect(await copy.query('select count(*)::int as count from rental')).toEqual([{ count: 1 }]);
});

const isFoundWithoutPath = existsSync(`/usr/lib/postgresql/${serverVersion()}/bin/psql`);

test.skipIf(isFoundWithoutPath)('a missing tool is one line', async () => {
  const { code, stderr } = await runProgram(['--psql', '-c', database.connectionString], {
    folder: await folderWith(),
    environment: { PATH: '' },
  });
  const missing = `psql is not installed; install the client programs of PostgreSQL ${serverVersion()}, or set PsqlFallback in pgscout.json to their folder`;
  expect([code, stderr]).toEqual([1, `pgscout: ${missing}\n`]);
});

test('a tool of another version is replaced by that of the settings, with a warning; the password is in no argument', async () => {
  const script = (toolVersion: number): string =>
    `#!/bin/sh\nif [ "$1" = --version ]; then echo "psql (PostgreSQL) ${toolVersion}.1"; else echo "${toolVersion} $* $PGDATABASE" > called; fi\n`;
  const folder = await folderWith({ psql: script(9) });
  const other = await folderWith({ psql: script(serverVersion()) });
  for (const path of [folder, other]) await chmod(join(path, 'psql'), 0o755);
  await writeFile(join(folder, 'pgscout.json'), JSON.stringify({ PsqlFallback: other }));
  const { pathname, password } = new URL(database.connectionString);
  const environment = { PATH: `${folder}:/bin:/usr/bin` };
  const argv = ['--psql', '-c', database.connectionString, 'argument'];
  expect(await runProgram(argv, { folder, environment })).toEqual({
    code: 0,
    stdout: '',
    stderr: `warning: ${folder}/psql has version 9, and the server ${serverVersion()}; using ${other}/psql\n`,
  });
  const called = await readFile(join(folder, 'called'), 'utf8');
  expect(called).toBe(`${serverVersion()} argument ${pathname.slice(1)}\n`);
  expect(called).not.toContain(password);
});
