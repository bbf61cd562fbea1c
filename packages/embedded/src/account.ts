import { chmod, lchown, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PostgresServerError, errorCode } from './embedded-error.ts';
import type { Home } from './home.ts';
import { runProgram } from './program.ts';

/** A user of the operating system that PostgreSQL runs as. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
  readonly name: string;
}

/**
 * PostgreSQL refuses to run as root. As root it runs as the user that owns the cluster, for a new cluster as `postgres`,
 * else as `nobody`. As anybody else (and on Windows) it runs as ourselves: undefined.
 */
export async function chooseAccount(home: Home): Promise<Account | undefined> {
  if (process.geteuid?.() !== 0) return undefined;
  const owner = await ownerOf(home.cluster);
  if (owner !== undefined && owner.uid !== 0) return owner;
  const account = (await findAccount('postgres')) ?? (await findAccount('nobody'));
  if (account === undefined) {
    throw new PostgresServerError(
      'PostgreSQL does not run as root, and there is no user "postgres" or "nobody" to run it as: add one, or run as an ordinary user',
    );
  }
  return account;
}

async function findAccount(name: string): Promise<Account | undefined> {
  const [uid, gid] = await Promise.all(
    ['-u', '-g'].map(async (what) => {
      const { code, output } = await runProgram('id', [what, name], { account: undefined, directory: '/' });
      return code === 0 && /^-?\d+\s*$/.test(output) ? Number(output) : undefined;
    }),
  );
  return uid === undefined || gid === undefined || uid === 0 ? undefined : { uid, gid, name };
}

async function ownerOf(path: string): Promise<Account | undefined> {
  try {
    const { uid, gid } = await stat(path);
    return { uid, gid, name: `#${String(uid)}` };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Gives a folder and everything in it to the account, without ever following a symbolic link. */
export async function giveTo(account: Account, path: string): Promise<void> {
  await lchown(path, account.uid, account.gid);
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const inside = join(path, entry.name);
    if (entry.isDirectory()) await giveTo(account, inside);
    else await lchown(inside, account.uid, account.gid);
  }
}

/** Sees to it that the account can enter our folder, or says which folder above keeps it out. */
export async function openTo(account: Account, home: Home): Promise<void> {
  const { uid, mode } = await stat(home.root);
  // Entering is not listing, and what is secret in there is closed by its own mode.
  if (uid === 0 && (mode & 0o011) !== 0o011) await chmod(home.root, (mode & 0o7777) | 0o011);
  const entered = await runProgram('/bin/sh', ['-c', 'cd -- "$1"', 'sh', home.root], { account, directory: '/' });
  if (entered.code === 0) return;
  if (entered.code === undefined) {
    throw new PostgresServerError(
      `PostgreSQL does not run as root, and no program can be started as the user "${account.name}" (${entered.output}): run as an ordinary user`,
    );
  }
  throw new PostgresServerError(
    `as root, PostgreSQL runs as the user "${account.name}", which may not enter ${await closedFolder(home.root, account)}: ` +
      'choose a data directory elsewhere, or run as an ordinary user',
  );
}

async function closedFolder(path: string, account: Account): Promise<string> {
  const chain = [path];
  while (dirname(chain[0]!) !== chain[0]!) chain.unshift(dirname(chain[0]!));
  for (const folder of chain) {
    const { uid, gid, mode } = await stat(folder);
    const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return `${folder} (mode ${(mode & 0o777).toString(8).padStart(4, '0')})`;
  }
  return path;
}
