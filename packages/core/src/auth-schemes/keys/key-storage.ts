import type { CommandRunner } from '../command-runner.ts';
import { randomBytes } from 'node:crypto';
import { access, link, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** A stored key. */
export interface StoredKey {
  readonly text: string;
  /** The file or row, for error messages. */
  readonly place: string;
}

/** The storage of a key ring. Several instances share it, and may read and write concurrently. */
export interface KeyStorage {
  /** Returns all keys, in any order. */
  read(): Promise<readonly StoredKey[]>;
  /** Adds a key. An existing key with this id is not changed. The id is 32 hexadecimal digits. */
  write(id: string, text: string): Promise<void>;
  /** Returns a warning for the log at start, or null. */
  warning(): Promise<string | null>;
}

/** Creates a storage of keys in memory, lost at the end of the process: for tests, and for development with one process. */
export function memoryKeyStorage(): KeyStorage {
  const keys = new Map<string, string>();
  return {
    read: () => Promise.resolve([...keys].map(([id, text]) => ({ text, place: `key ${id} in memory` }))),
    write: (id, text) => {
      if (!keys.has(id)) keys.set(id, text);
      return Promise.resolve();
    },
    warning: () =>
      Promise.resolve(
        'The keys of cookies and tokens are kept in memory: all sessions end with this process, and other instances ' +
          'cannot read its cookies and tokens. Set a folder, or the commands of a key table.',
      ),
  };
}

export interface DatabaseKeyStorageOptions {
  readonly query: CommandRunner;
  /** Returns a row per key with its text: `select text from gateway_keys`. */
  readonly read: string;
  /**
   * Adds a key unless it exists, `$1` id and `$2` text:
   * `insert into gateway_keys (id, text) values ($1, $2) on conflict do nothing`.
   */
  readonly write: string;
}

/** Keys in a table of the host, by two commands. Without a secret, read access to the table is enough to forge tokens. */
export function databaseKeyStorage({ query, read, write }: DatabaseKeyStorageOptions): KeyStorage {
  return {
    read: async () => {
      const rows = await query(read, []);
      return rows.flatMap(([text], index) =>
        text === null || text === undefined ? [] : [{ text, place: `row ${index + 1} of readCommand` }],
      );
    },
    write: async (id, text) => {
      await query(write, [id, text]);
    },
    warning: () => Promise.resolve(null),
  };
}

const keyFile = /^[0-9a-f]{32}\.key$/;

/** Keys as files `<id>.key` (mode 0600) in a folder, which is created (mode 0700) when it does not exist. */
export function folderKeyStorage(path: string): KeyStorage {
  return {
    read: async () => {
      const stored = await Promise.all((await keyFiles(path)).map((name) => readStored(join(path, name))));
      return stored.filter((key) => key !== null);
    },
    write: async (id, text) => {
      await mkdir(path, { recursive: true, mode: 0o700 });
      await writeAtomically(join(path, `${id}.key`), join(path, `.${id}.${randomBytes(6).toString('hex')}.new`), text);
    },
    warning: () => permissionWarning(path),
  };
}

async function keyFiles(path: string): Promise<readonly string[]> {
  try {
    return (await readdir(path)).filter((name) => keyFile.test(name));
  } catch (error) {
    if (isCode(error, 'ENOENT')) return [];
    throw error;
  }
}

/** Returns null when the file was removed after the folder was listed. */
async function readStored(place: string): Promise<StoredKey | null> {
  try {
    return { text: await readFile(place, 'utf8'), place };
  } catch (error) {
    if (isCode(error, 'ENOENT')) return null;
    throw error;
  }
}

/** Writes the file under a temporary name first, so that readers never see a part of it, not even after a crash. */
async function writeAtomically(place: string, temporary: string, text: string): Promise<void> {
  const file = await open(temporary, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    await moveWithoutOverwriting(temporary, place);
  } finally {
    await rm(temporary, { force: true });
  }
}

async function moveWithoutOverwriting(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (isCode(error, 'EEXIST')) return;
    if (!isCode(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EACCES', 'EXDEV')) throw error;
    // The file system has no hard links. The check is not atomic, but two writers with the same random id do not occur.
    if (!(await exists(to))) await rename(from, to);
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}

async function permissionWarning(path: string): Promise<string | null> {
  // Windows has no file modes.
  if (process.platform === 'win32') return null;
  const places = [path, ...(await keyFiles(path)).map((name) => join(path, name))];
  const open = await Promise.all(places.map(isOpenToOthers));
  const found = places[open.indexOf(true)];
  if (found === undefined) return null;
  return (
    `${found} can be read by other users of this machine, who could forge tokens; ` +
    `give it mode ${found === path ? '0700' : '0600'}`
  );
}

async function isOpenToOthers(path: string): Promise<boolean> {
  try {
    return ((await stat(path)).mode & 0o077) !== 0;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return false;
    throw error;
  }
}

function isCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
