/** The data directory: its layout, its temporary files, and the lock that gives it to one process at a time. */
import { createHash } from 'node:crypto';
import { link, mkdir, readdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { basename, dirname, join, resolve } from 'node:path';
import { errorCode, PostgresServerError } from './postgres-server-error.ts';
import { processIdentity } from './processes.ts';

/**
 * The paths in the data directory. Only `cluster` belongs to the user that PostgreSQL runs as, so that the database cannot
 * change the password file or the binaries.
 */
export interface DataDirectory {
  readonly root: string;
  /** PostgreSQL's own data directory. */
  readonly cluster: string;
  /** The superuser's password, mode 0600. */
  readonly passwordFile: string;
  /** Exists while a process uses the directory, and names it. */
  readonly lockFile: string;
  /** PostgreSQL's log on Windows; elsewhere the log is read from a pipe. */
  readonly logFile: string;
}

const TEMPORARY = '.unfinished-';
const LOCK_ATTEMPTS = 5;

/** Creates the data directory when it is missing. */
export async function openDataDirectory(path: string): Promise<DataDirectory> {
  const absolutePath = resolve(path);
  await mkdir(dirname(absolutePath), { recursive: true });
  // As root, the user that PostgreSQL runs as must be able to enter.
  await mkdir(absolutePath, { mode: process.geteuid?.() === 0 ? 0o711 : 0o700 }).catch(async (error: unknown) => {
    if (errorCode(error) !== 'EEXIST' || !(await stat(absolutePath)).isDirectory()) throw error;
  });
  // The path is compared with command lines of earlier servers.
  const root = await realpath(absolutePath);
  if ((await readdir(root)).includes('PG_VERSION')) {
    throw new PostgresServerError(
      `"${root}" is the data directory of another PostgreSQL server; choose another data directory, or connect to that server instead`,
    );
  }
  return directoryPaths(root);
}

export function directoryPaths(root: string): DataDirectory {
  return Object.freeze({
    root,
    cluster: join(root, 'cluster'),
    passwordFile: join(root, 'password'),
    lockFile: join(root, 'in-use'),
    logFile: join(root, 'server.log'),
  });
}

/** Returns a unique name beside the path, for a file that is renamed when it is complete. */
export function temporaryPath(path: string): string {
  return `${path}${TEMPORARY}${crypto.randomUUID()}`;
}

/** Removes what killed processes left unfinished. Requires the lock. */
export async function removeTemporaryFiles(directory: DataDirectory): Promise<void> {
  for (const name of await readdir(directory.root)) {
    // Another process may be trying to take the lock.
    if (!name.includes(TEMPORARY) || name.startsWith(basename(directory.lockFile))) continue;
    // The initdb of a killed process may still write for a moment.
    await rm(join(directory.root, name), { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

/** The exclusive right to use a data directory. It ends with the process that holds it. */
export interface DataDirectoryLock {
  release(): Promise<void>;
}

/** Takes the lock, or throws a {@link PostgresServerError} that names the process that holds it. */
export async function lockDataDirectory(directory: DataDirectory): Promise<DataDirectoryLock> {
  return process.platform === 'win32' ? lockByPipe(directory) : lockByFile(directory);
}

async function lockByFile(directory: DataDirectory): Promise<DataDirectoryLock> {
  const { lockFile } = directory;
  const content = JSON.stringify({ pid: process.pid, birth: await processIdentity(process.pid) });
  for (let attempt = 1; attempt <= LOCK_ATTEMPTS; attempt++) {
    if (await createExclusively(lockFile, content)) return { release: () => removeIfUnchanged(lockFile, content) };
    const found = await readFile(lockFile, 'utf8').catch(undefinedIfMissing);
    if (found === undefined) continue;
    const holder = await runningHolder(found);
    if (holder !== undefined) throw inUse(directory, `process ${String(holder)}`);
    await removeIfUnchanged(lockFile, found);
  }
  throw inUse(directory, 'another process that is starting');
}

/** Creates a file with its content in one step, by a hard link; returns false when the file exists. */
async function createExclusively(path: string, content: string): Promise<boolean> {
  const temporary = temporaryPath(path);
  await writeFile(temporary, content, { flag: 'wx', mode: 0o644 });
  try {
    await link(temporary, path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Removes the lock file, unless another process has replaced it since it was read. */
async function removeIfUnchanged(path: string, expected: string): Promise<void> {
  const aside = temporaryPath(path);
  try {
    await rename(path, aside);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return;
    throw error;
  }
  if ((await readFile(aside, 'utf8')) !== expected) await link(aside, path).catch(() => undefined);
  await rm(aside, { force: true });
}

async function runningHolder(content: string): Promise<number | undefined> {
  const match = /^\{"pid":(\d+),"birth":"(.*)"\}$/.exec(content);
  if (match === null) return undefined;
  const pid = Number(match[1]);
  return (await processIdentity(pid)) === match[2] ? pid : undefined;
}

/** Windows removes the name of a pipe together with the process that listens on it. */
function lockByPipe(directory: DataDirectory): Promise<DataDirectoryLock> {
  const name = createHash('sha256').update(directory.root.toLowerCase()).digest('hex');
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      const isHeld = ['EADDRINUSE', 'EACCES'].includes(errorCode(error) ?? '');
      reject(isHeld ? inUse(directory, 'another process') : error);
    });
    server.listen(`\\\\.\\pipe\\pgway-${name}`, () => {
      server.unref();
      resolve({ release: () => new Promise((done) => server.close(() => done())) });
    });
  });
}

function inUse(directory: DataDirectory, holder: string): PostgresServerError {
  return new PostgresServerError(
    `the data directory "${directory.root}" is in use by ${holder}; stop that process, or choose another data directory`,
  );
}

function undefinedIfMissing(error: unknown): undefined {
  if (errorCode(error) !== 'ENOENT') throw error;
}
