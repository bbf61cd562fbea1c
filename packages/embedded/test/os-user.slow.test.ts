import { execFile } from 'node:child_process';
import { chmod, lstat, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { PostgresServerError } from '../src/index.ts';
import { useChildProgram } from './support/child-program.ts';
import { copyPackage, UNPRIVILEGED, postmasterPid, temporaryDirectory } from './support/directories.ts';
import { userOf } from '@pgway/testing';
import { ask, start } from './support/start.ts';

const asRoot = process.geteuid?.() === 0;

describe.runIf(asRoot)('as root', () => {
  test('PostgreSQL runs as another user, which owns only the cluster', async () => {
    const dataDirectory = await temporaryDirectory();

    await start({ dataDirectory });

    const cluster = await stat(join(dataDirectory, 'cluster'));
    const password = await stat(join(dataDirectory, 'password'));
    expect(cluster.uid).not.toBe(0);
    expect(cluster.mode & 0o777).toBe(0o700);
    expect(await userOf(await postmasterPid(dataDirectory))).toBe(cluster.uid);
    expect([password.uid, password.mode & 0o777]).toEqual([0, 0o600]);
    expect((await stat(dataDirectory)).uid).toBe(0);
  });

  test('an existing cluster keeps its owner', async () => {
    const dataDirectory = await temporaryDirectory();
    const first = await start({ dataDirectory });
    await first.stop();
    await giveAll(join(dataDirectory, 'cluster'), UNPRIVILEGED);

    await start({ dataDirectory });

    expect(await userOf(await postmasterPid(dataDirectory))).toBe(UNPRIVILEGED.uid);
  });

  test('a cluster that root restored changes its owner', async () => {
    const dataDirectory = await temporaryDirectory();
    const first = await start({ dataDirectory });
    await first.stop();
    await giveAll(join(dataDirectory, 'cluster'), { uid: 0, gid: 0 });

    const second = await start({ dataDirectory });

    expect(await ask(second.connectionString, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  test('binaries in a directory that the user may not enter are linked into the data directory', async () => {
    const closed = await temporaryDirectory();
    const packageDirectory = join(closed, 'package');
    await copyPackage(packageDirectory);
    const dataDirectory = await temporaryDirectory();
    const progress: string[] = [];

    const server = await start({ dataDirectory, packageDirectory, onProgress: (message) => progress.push(message) });

    expect((await stat(closed)).mode & 0o777).toBe(0o700);
    expect(await ask(server.connectionString, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(progress[0]).toMatch(/^copying the PostgreSQL binaries to .*\/binaries-[\w.-]+$/);
    const [copy] = (await readdir(dataDirectory)).filter((name) => name.startsWith('binaries-'));
    expect(copy).toBeDefined();
    const folder = await lstat(join(dataDirectory, copy!));
    const program = await stat(join(dataDirectory, copy!, 'bin', 'postgres'));
    expect([folder.uid, folder.mode & 0o777]).toEqual([0, 0o755]);
    expect(program.ino).toBe((await stat(join(packageDirectory, 'native', 'bin', 'postgres'))).ino);
    await server.stop();
    progress.length = 0;
    await start({ dataDirectory, packageDirectory, onProgress: (message) => progress.push(message) });
    expect(progress).toHaveLength(1);
  });

  test('binaries that have lost their modes are copied, and the originals are not changed', async () => {
    const packageDirectory = join(await temporaryDirectory(), 'package');
    await copyPackage(packageDirectory);
    const original = join(packageDirectory, 'native', 'bin', 'postgres');
    await chmod(original, 0o600);
    const dataDirectory = await temporaryDirectory();

    const server = await start({ dataDirectory, packageDirectory });

    expect(await ask(server.connectionString, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect((await stat(original)).mode & 0o777).toBe(0o600);
  });

  test('a copy of the binaries that belongs to another user is not trusted', async () => {
    const packageDirectory = join(await temporaryDirectory(), 'package');
    await copyPackage(packageDirectory);
    const dataDirectory = await temporaryDirectory(UNPRIVILEGED);
    await chmod(dataDirectory, 0o711);
    const { version } = JSON.parse(await readFile(join(packageDirectory, 'package.json'), 'utf8')) as {
      version: string;
    };
    const planted = join(dataDirectory, `binaries-${version}`);
    await mkdir(join(planted, 'bin'), { recursive: true });
    await writeFile(join(planted, 'bin', 'postgres'), '#!/bin/sh\necho "postgres (PostgreSQL) 99.9"\n', {
      mode: 0o755,
    });
    await giveAll(planted, UNPRIVILEGED);

    const server = await start({ dataDirectory, packageDirectory });

    expect(server.version).not.toBe('99.9');
    expect((await lstat(planted)).uid).toBe(0);
  });

  test('a data directory that the user may not enter is reported with the closed parent directory', async () => {
    const closed = await temporaryDirectory();
    const dataDirectory = join(closed, 'data');

    const error = await start({ dataDirectory }).catch((problem: unknown) => problem);

    expect(error).toBeInstanceOf(PostgresServerError);
    expect(error).toHaveProperty(
      'message',
      expect.stringMatching(
        new RegExp(
          `^PostgreSQL runs as the user "\\w+" instead of root, and that user may not enter "${closed}" \\(mode 0700\\); ` +
            'choose another data directory, or run as an ordinary user$',
        ),
      ),
    );
  });
});

describe.runIf(asRoot)('as an ordinary user', () => {
  const startChild = useChildProgram();

  test('PostgreSQL runs as that user, and other users have no access', async () => {
    const dataDirectory = join(await temporaryDirectory(UNPRIVILEGED), 'data');

    const { result } = await startChild({ dataDirectory, durable: false }, UNPRIVILEGED);

    expect(result).toMatchObject({ connectionString: expect.stringContaining('127.0.0.1') });
    expect(await ask((result as { connectionString: string }).connectionString, 'SELECT 1 AS one')).toEqual([
      { one: 1 },
    ]);
    expect(await userOf(await postmasterPid(dataDirectory))).toBe(UNPRIVILEGED.uid);
    expect((await stat(dataDirectory)).mode & 0o777).toBe(0o700);
  });

  test('a read-only package without its symbolic links is copied', async () => {
    const packageDirectory = join(await temporaryDirectory(), 'package');
    await copyPackage(packageDirectory);
    await chmod(join(packageDirectory, '..'), 0o755);
    const dataDirectory = join(await temporaryDirectory(UNPRIVILEGED), 'data');

    const { result } = await startChild({ dataDirectory, packageDirectory, durable: false }, UNPRIVILEGED);

    expect(result).toMatchObject({
      progress: [
        expect.stringMatching(/^copying the PostgreSQL binaries to .*\/binaries-[\w.-]+$/),
        'creating the database cluster',
        expect.stringContaining('starting PostgreSQL'),
      ],
    });
    expect(await ask((result as { connectionString: string }).connectionString, 'SELECT 1 AS one')).toEqual([
      { one: 1 },
    ]);
  });

  test('the data directory of another user is refused', async () => {
    const dataDirectory = await temporaryDirectory();
    await (await start({ dataDirectory })).stop();

    const { result } = await startChild({ dataDirectory }, UNPRIVILEGED);

    expect(result).toMatchObject({
      name: 'PostgresServerError',
      error: expect.stringContaining(
        `cannot use the data directory "${dataDirectory}": permission denied; run as the owner of the directory, or choose another data directory`,
      ),
    });
  });
});

async function giveAll(path: string, owner: { readonly uid: number; readonly gid: number }): Promise<void> {
  await promisify(execFile)('chown', ['-R', `${String(owner.uid)}:${String(owner.gid)}`, path]);
}
