import { isUtf8 } from 'node:buffer';
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, realpathSync } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { mapInSlices } from '../catalog/slices.ts';
import {
  describeReadError,
  type FolderFault,
  isInside,
  type ListedFiles,
  listFiles,
  type Selection,
  toPattern,
} from './list-files.ts';

/** A file that a pattern matches. */
export interface SqlFile {
  /** Below the folder, with `/`. */
  readonly path: string;
  readonly text: string;
  /** The folders between that of its pattern and the file: `/admin`, or empty. */
  readonly folder: string;
  /** Why the file cannot be used; null: it can. */
  readonly fault: string | null;
  /** Of the fault; absent: an error. */
  readonly severity?: FolderFault['severity'];
}

/** Bytes; a larger file is not a query. */
export const maxBytes: number = 1024 * 1024;
/** Of a load, while files change during each of them. */
const maxReads = 3;
/** Letters of every script, digits and the punctuation that paths of URLs have. */
const namePattern = /^[\p{L}\p{N}_.-]+$/u;

/**
 * Reads the files below the folder that a pattern matches, ordered by path, after the folders that cannot be read. Links are followed within the
 * folder.
 * @throws RangeError for a pattern that leads out of the folder
 */
export async function readFiles(folder: string, patterns: readonly string[]): Promise<readonly SqlFile[]> {
  const bases = patterns.map(fixedFolder);
  const list = (): Promise<FileVersions> => listVersions(folder, patterns, endpointFiles);
  return readUnchanged(list, ({ listed }) =>
    readListed(listed, (path, read) => {
      const below = folderBelow(path, bases);
      const fault = nameFault(path, below);
      return fault === null ? read(below) : { path, folder: below, text: '', fault };
    }),
  );
}

/**
 * Reads the files, and reads them again when their versions are others after the read: the files would be some of before a change of several
 * files and some of after it, as when Kubernetes replaces the folder of a ConfigMap. Files that change during each read are those of the last one.
 */
export async function readUnchanged<Listed extends { readonly versions: ReadonlyMap<string, string> }, Product>(
  list: () => Promise<Listed>,
  read: (listed: Listed) => Promise<Product>,
): Promise<Product> {
  let before = await list();
  for (let reads = 1; ; reads += 1) {
    const product = await read(before);
    const after = await list();
    if (reads === maxReads || isDeepStrictEqual(before.versions, after.versions)) return product;
    before = after;
  }
}

/**
 * Reads listed files.
 * @param toFile receives a function that reads the file; null: there is no file any more
 */
export async function readListed(
  { root, paths, faults }: ListedFiles,
  toFile: (path: string, read: (folder: string) => SqlFile | null) => SqlFile | null,
): Promise<readonly SqlFile[]> {
  const buffer = Buffer.allocUnsafe(maxBytes + 1);
  const files = await mapInSlices(paths, (path) => toFile(path, (below) => readSqlFile(root, path, below, buffer)));
  return [...faults.map(toFaultyFile), ...files.filter((file) => file !== null)];
}

function toFaultyFile({ path, severity, message }: FolderFault): SqlFile {
  return { path, text: '', folder: '', fault: message, severity };
}

/**
 * Reads the files of tests below the folder that a pattern matches, as `readFiles`.
 * @throws RangeError for a pattern that leads out of the folder
 */
export async function readTestFiles(
  folder: string,
  patterns: readonly string[],
): Promise<readonly Omit<SqlFile, 'folder'>[]> {
  return readListed(await listFiles(folder, patterns, testFiles), (_, read) => read(''));
}

/**
 * Returns a text for each file that is another one after a change: its identity, size and times. The time of the last change of its entry
 * tells of a save that sets back the time of the content, as copies do that keep it.
 */
export async function readVersions(folder: string, patterns: readonly string[]): Promise<ReadonlyMap<string, string>> {
  return (await listVersions(folder, patterns, endpointFiles)).versions;
}

interface FileVersions {
  readonly listed: ListedFiles;
  readonly versions: ReadonlyMap<string, string>;
}

async function listVersions(folder: string, patterns: readonly string[], selection: Selection): Promise<FileVersions> {
  const listed = await listFiles(folder, patterns, selection);
  const { root, paths } = listed;
  const versions = paths.map(async (path) => [path, await readVersion(root, path)] as const);
  return { listed, versions: new Map(await Promise.all(versions)) };
}

/** Nothing of a file outside of the folder is read: its version is the path that the link leads to. */
async function readVersion(root: string, path: string): Promise<string> {
  const real = await realpath(join(root, path)).catch(() => null);
  if (real !== null && !isInside(root, real)) return real;
  const status = real === null ? null : await stat(real).catch(() => null);
  const { ino = 0, size = 0, mtimeMs = 0, ctimeMs = 0 } = status ?? {};
  return `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
}

const endpointFiles: Selection = { option: 'sqlFiles', ignored: ['**/*.test.sql'], name: /\.sql$/i };
const testFiles: Selection = { option: 'testFiles', ignored: [], name: /\.test\.sql$/i };

/** Returns the folders at the beginning of a pattern, which all its files have: `api/` of `api/**`. */
function fixedFolder(pattern: string): string {
  const fixed = /^[^*?{[(!]*/.exec(toPattern(pattern))![0];
  return fixed.slice(0, fixed.lastIndexOf('/') + 1);
}

function folderBelow(path: string, bases: readonly string[]): string {
  const longest = bases.filter((base) => path.startsWith(base)).toSorted((left, right) => right.length - left.length);
  const below = path.slice((longest[0] ?? '').length);
  const at = below.lastIndexOf('/');
  return at === -1 ? '' : `/${below.slice(0, at)}`;
}

/** Returns why the name of a file cannot be the path of an endpoint; null: it can. */
function nameFault(path: string, folder: string): string | null {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (namePattern.test(name) && /^[\p{L}\p{N}_./-]*$/u.test(folder)) return null;
  return 'the name of the file has characters that a path cannot contain; use letters, digits, "_" and "-"';
}

/** A FIFO without a writer does not block the open. Windows has neither of them. */
const openFlags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);

/**
 * Reads a file at once: a thousand small files take far less time than with a promise for each step. The checks are those of the opened file, as
 * its path may lead to another one at any time. Returns null when there is no file any more.
 */
function readSqlFile(root: string, path: string, folder: string, buffer: Buffer): SqlFile | null {
  const faulty = (fault: string): SqlFile => ({ path, folder, text: '', fault });
  const full = join(root, path);
  let handle: number | null = null;
  try {
    const real = realpathSync(full);
    if (!isInside(root, real)) return faulty(`is outside of ${root}, where a link leads; put the file itself there`);
    handle = openSync(real, openFlags);
    if (!fstatSync(handle).isFile()) return faulty(notFile);
    // The folder may have been replaced by a link between the check and the open.
    if (realpathSync(full) !== real) return faulty('was replaced while it was read; load the files again');
    const bytes = readBytes(handle, buffer);
    const size = Math.max(bytes.length, fstatSync(handle).size);
    if (size > maxBytes) return faulty(`has ${size} bytes; a file may have ${maxBytes}`);
    return { path, folder, ...decode(bytes) };
  } catch (error) {
    const fault = readFault(full, error as NodeJS.ErrnoException);
    return fault === null ? null : faulty(fault);
  } finally {
    if (handle !== null) closeSync(handle);
  }
}

const notFile = 'is not a file, and is not read';

/** Returns the bytes up to the end of the file, and at most those that the buffer has room for. */
function readBytes(handle: number, buffer: Buffer): Buffer {
  let length = 0;
  for (;;) {
    const read = readSync(handle, buffer, length, buffer.length - length, null);
    length += read;
    if (read === 0 || length === buffer.length) return buffer.subarray(0, length);
  }
}

/** Returns null for a file that has been removed since it was listed. */
function readFault(path: string, error: NodeJS.ErrnoException): string | null {
  switch (error.code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return isLink(path) ? 'is a link to a file that does not exist; correct or remove the link' : null;
    case 'ELOOP':
      return 'is a link that leads to itself; correct or remove the link';
    // The open of a socket.
    case 'ENXIO':
      return notFile;
    default:
      return describeReadError(error, 'it');
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

function decode(bytes: Buffer): Pick<SqlFile, 'text' | 'fault'> {
  if (!isUtf8(bytes)) return { text: '', fault: 'is not encoded in UTF-8; save it as UTF-8' };
  if (bytes.includes(0)) return { text: '', fault: 'contains a NUL character; remove it' };
  return { text: bytes.toString('utf8').replace(/^\uFEFF/, ''), fault: null };
}
