import type { CommandRunner } from '../command-runner.ts';
import { randomBytes } from 'node:crypto';
import { access, link, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** A key as storage has it. */
export interface StoredKey {
  readonly text: string;
  /** Where it is, for the words of an error: a file's path, a place among the rows. */
  readonly place: string;
}

/** Where a key ring is kept. Several instances share one, and may read and write at once. */
export interface KeyStorage {
  /** Every key, in any order. */
  read(): Promise<readonly StoredKey[]>;
  /** Adds a key and never changes one: a second write of an id leaves the first. The id is 32 hexadecimal digits. */
  write(id: string, text: string): Promise<void>;
  /** What a host should know of this storage when it starts; null: nothing. */
  warning(): Promise<string | null>;
}

/** Keys that end with the process: for tests, and for development with a single process. */
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
        'The keys of sign-in are kept in memory: everybody is signed out when this process ends, and other instances ' +
          'cannot read its cookies and tokens. Keep them in a folder or in the database.',
      ),
  };
}

export interface DatabaseKeyStorageOptions {
  readonly query: CommandRunner;
  /** Gives one row a key, its text in the first column: `select text from gateway_keys`. */
  readonly read: string;
  /**
   * Adds a key, `$1` its id and `$2` its text, and leaves one that is there:
   * `insert into gateway_keys (id, text) values ($1, $2) on conflict do nothing`.
   */
  readonly write: string;
}

/** Keys in the database, by two commands. Whoever may read that table can forge sign-ins, unless the ring has a secret. */
export function databaseKeyStorage({ query, read, write }: DatabaseKeyStorageOptions): KeyStorage {
  return {
    read: async () => {
      const rows = await query(read, []);
      return rows.flatMap(([text], index) =>
        text === null || text === undefined ? [] : [{ text, place: `row ${index + 1} of the command that reads keys` }],
      );
    },
    write: async (id, text) => {
      await query(write, [id, text]);
    },
    warning: () => Promise.resolve(null),
  };
}

const keyFile = /^[0-9a-f]{32}\.key$/;

/** Keys as files `<id>.key` (mode 0600) of a folder, which is made (mode 0700) when it is not there. */
export function folderKeyStorage(path: string): KeyStorage {
  return {
    read: async () => {
      const stored = await Promise.all((await keyFiles(path)).map((name) => readStored(join(path, name))));
      return stored.filter((key) => key !== null);
    },
    write: async (id, text) => {
      await mkdir(path, { recursive: true, mode: 0o700 });
      await writeAside(join(path, `${id}.key`), join(path, `.${id}.${randomBytes(6).toString('hex')}.new`), text);
    },
    warning: () => tooOpen(path),
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

/** Null: somebody has removed it since the folder was listed. */
async function readStored(place: string): Promise<StoredKey | null> {
  try {
    return { text: await readFile(place, 'utf8'), place };
  } catch (error) {
    if (isCode(error, 'ENOENT')) return null;
    throw error;
  }
}

/** A reader sees a whole file or none, also after a crash in the middle. */
async function writeAside(place: string, aside: string, text: string): Promise<void> {
  const file = await open(aside, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    await moveWithoutOverwriting(aside, place);
  } finally {
    await rm(aside, { force: true });
  }
}

async function moveWithoutOverwriting(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (isCode(error, 'EEXIST')) return;
    if (!isCode(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EACCES', 'EXDEV')) throw error;
    // A file system without links. Two writers of one id would be needed to overwrite here, and ids are random.
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

async function tooOpen(path: string): Promise<string | null> {
  // Windows has no such modes.
  if (process.platform === 'win32') return null;
  const places = [path, ...(await keyFiles(path)).map((name) => join(path, name))];
  const open = await Promise.all(places.map(isOpenToOthers));
  const found = places[open.indexOf(true)];
  if (found === undefined) return null;
  return (
    `${found} can be read by other users of this machine, who could forge sign-ins: ` +
    `give it mode ${found === path ? '0700' : '0600'}.`
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
