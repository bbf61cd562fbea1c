import { isUtf8 } from 'node:buffer';
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { mapInSlices } from '../catalog/slices.ts';
import { type FolderFault, isInside, listFiles, type Selection, toPattern } from './list-files.ts';

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
/** Letters of every script, digits and the punctuation that paths of URLs have. */
const namePattern = /^[\p{L}\p{N}_.-]+$/u;

/**
 * Reads the files below the folder that a pattern matches, ordered by path, after the folders that cannot be read. Links are followed within the
 * folder.
 * @throws RangeError for a pattern that leads out of the folder
 */
export async function readFiles(folder: string, patterns: readonly string[]): Promise<readonly SqlFile[]> {
  const { root, paths, faults } = await listFiles(folder, patterns, endpointFiles);
  const bases = patterns.map(fixedFolder);
  const files = await mapInSlices(paths, (path): SqlFile => {
    const below = folderBelow(path, bases);
    const fault = nameFault(path, below);
    return fault === null ? readSqlFile(root, path, below) : { path, folder: below, text: '', fault };
  });
  return [...faults.map(toFaultyFile), ...files];
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
  const { root, paths, faults } = await listFiles(folder, patterns, testFiles);
  const files = await mapInSlices(paths, (path) => readSqlFile(root, path, ''));
  return [...faults.filter(({ severity }) => severity === 'error').map(toFaultyFile), ...files];
}

/**
 * Returns a text for each file that is another one after a change: its identity, size and times. The time of the last change of its entry
 * tells of a save that sets back the time of the content, as copies do that keep it.
 */
export async function readVersions(folder: string, patterns: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const { root, paths } = await listFiles(folder, patterns, endpointFiles);
  const versions = paths.map(async (path) => {
    const status = await stat(join(root, path)).catch(() => null);
    const { ino = 0, size = 0, mtimeMs = 0, ctimeMs = 0 } = status ?? {};
    return [path, `${ino} ${size} ${mtimeMs} ${ctimeMs}`] as const;
  });
  return new Map(await Promise.all(versions));
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

/** Reads a file at once: a thousand small files take far less time than with a promise for each step. */
function readSqlFile(root: string, path: string, folder: string): SqlFile {
  const faulty = (fault: string): SqlFile => ({ path, folder, text: '', fault });
  try {
    const real = realpathSync(join(root, path));
    if (!isInside(root, real)) return faulty(`is outside of ${root}, where a link leads; put the file itself there`);
    const status = statSync(real);
    if (!status.isFile()) return faulty('is not a file, and is not read');
    if (status.size > maxBytes) return faulty(`has ${status.size} bytes; a file may have ${maxBytes}`);
    return { path, folder, ...decode(readFileSync(real)) };
  } catch (error) {
    return faulty(readFault(error as NodeJS.ErrnoException));
  }
}

function readFault({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return 'is a link to a file that does not exist; correct or remove the link';
  if (code === 'ELOOP') return 'is a link that leads to itself; correct or remove the link';
  const advice = code === 'EACCES' || code === 'EPERM' ? '; allow the user of this process to read it' : '';
  return `cannot be read (${message})${advice}`;
}

function decode(bytes: Buffer): Pick<SqlFile, 'text' | 'fault'> {
  if (!isUtf8(bytes)) return { text: '', fault: 'is not encoded in UTF-8; save it as UTF-8' };
  if (bytes.includes(0)) return { text: '', fault: 'contains a NUL character; remove it' };
  return { text: bytes.toString('utf8').replace(/^\uFEFF/, ''), fault: null };
}
