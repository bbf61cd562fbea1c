import { chmod, lchown, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode, PostgresServerError } from './postgres-server-error.ts';
import { type OsUser, runProgram } from './processes.ts';

/** The unprivileged user that every system has. */
const UNPRIVILEGED_UID = process.platform === 'darwin' ? '4294967294' : '65534';

/**
 * Chooses the user that PostgreSQL runs as, because it refuses to run as root: the owner of an existing cluster, else
 * `postgres`, else the unprivileged user. Returns undefined when this process does not run as root.
 */
export async function chooseOsUser(cluster: string): Promise<OsUser | undefined> {
  if (process.geteuid?.() !== 0) return undefined;
  const owner = await findOwner(cluster);
  if (owner !== undefined && owner.uid !== 0) return owner;
  const user = (await findUser('postgres')) ?? (await findUser(UNPRIVILEGED_UID));
  if (user === undefined) {
    throw new PostgresServerError(
      'PostgreSQL refuses to run as root, and the system has no user "postgres"; create that user, or run as an ordinary user',
    );
  }
  return user;
}

/** Looks up a user by name or id in the system's user database, not only in `/etc/passwd`. */
async function findUser(nameOrId: string): Promise<OsUser | undefined> {
  // Both print a line of the passwd format; macOS has no getent.
  const [command, args] = process.platform === 'linux' ? ['getent', ['passwd']] : ['id', ['-P']];
  const { output } = await runProgram(command!, [...args!, nameOrId], { user: undefined, directory: '/' });
  const match = /^([^:\s]+):[^:]*:(-?\d+):(-?\d+):/m.exec(output);
  if (match === null) return undefined;
  const [uid, gid] = [Number(match[2]) >>> 0, Number(match[3]) >>> 0];
  return uid === 0 ? undefined : { uid, gid, name: match[1]! };
}

async function findOwner(path: string): Promise<OsUser | undefined> {
  try {
    const { uid, gid } = await stat(path);
    return { uid, gid, name: `#${String(uid)}` };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Changes the owner of a directory and its content, without following symbolic links. */
export async function changeOwner(path: string, user: OsUser): Promise<void> {
  await lchown(path, user.uid, user.gid);
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const inside = join(path, entry.name);
    if (entry.isDirectory()) await changeOwner(inside, user);
    else await lchown(inside, user.uid, user.gid);
  }
}

/**
 * Lets the user enter the directory.
 * @throws {PostgresServerError} that names the parent directory without access
 */
export async function ensureAccess(directory: string, user: OsUser): Promise<void> {
  const { uid, mode } = await stat(directory);
  // Adds the permission to enter, not to list; the files inside have their own modes.
  if (uid === 0 && (mode & 0o011) !== 0o011) await chmod(directory, (mode & 0o7777) | 0o011);
  const entered = await runProgram('/bin/sh', ['-c', 'cd -- "$1"', 'sh', directory], { user, directory: '/' });
  if (entered.code === 0) return;
  if (entered.code === undefined) {
    throw new PostgresServerError(
      `PostgreSQL refuses to run as root, and no program can be started as the user "${user.name}" (${entered.output}); run as an ordinary user`,
    );
  }
  throw new PostgresServerError(
    `PostgreSQL runs as the user "${user.name}" instead of root, and that user may not enter ${await findClosed(directory, user)}; ` +
      'choose another data directory, or run as an ordinary user',
  );
}

/** Returns the topmost directory on the path that the user may not enter, with its mode. */
async function findClosed(path: string, user: OsUser): Promise<string> {
  const chain = [path];
  while (dirname(chain[0]!) !== chain[0]!) chain.unshift(dirname(chain[0]!));
  for (const directory of chain) {
    const { uid, gid, mode } = await stat(directory);
    const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return `"${directory}" (mode ${(mode & 0o777).toString(8).padStart(4, '0')})`;
  }
  return `"${path}"`;
}
