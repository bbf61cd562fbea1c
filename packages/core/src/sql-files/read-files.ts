import { isUtf8 } from 'node:buffer';
import { lstatSync, readFileSync } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { glob } from 'tinyglobby';
import { mapInSlices } from '../catalog/slices.ts';

/** A file that a pattern matches. */
export interface SqlFile {
  /** Below the folder, with `/`. */
  readonly path: string;
  readonly text: string;
  /** The folders between that of its pattern and the file: `/admin`, or empty. */
  readonly folder: string;
  /** Why the file cannot be used; null: it can. */
  readonly fault: string | null;
}

/** Bytes; a larger file is not a query. */
export const maxBytes: number = 1024 * 1024;
/** Letters of every script, digits and the punctuation that paths of URLs have. */
const namePattern = /^[\p{L}\p{N}_.-]+$/u;

/**
 * Reads the files below the folder that a pattern matches, ordered by path. Links are not followed.
 * @throws RangeError for a pattern that leads out of the folder
 */
export async function readFiles(folder: string, patterns: readonly string[]): Promise<readonly SqlFile[]> {
  const { root, paths } = await listFiles(folder, patterns, endpointFiles);
  const bases = patterns.map(fixedFolder);
  const outside = await foldersOutside(root, paths);
  return mapInSlices(paths, (path): SqlFile => {
    const below = folderBelow(path, bases);
    const fault = nameFault(path, below);
    return fault === null ? readSqlFile({ root, outside }, path, below) : { path, folder: below, text: '', fault };
  });
}

/**
 * Reads the files of tests below the folder that a pattern matches, as `readFiles`.
 * @throws RangeError for a pattern that leads out of the folder
 */
export async function readTestFiles(
  folder: string,
  patterns: readonly string[],
): Promise<readonly Omit<SqlFile, 'folder'>[]> {
  const { root, paths } = await listFiles(folder, patterns, testFiles);
  const outside = await foldersOutside(root, paths);
  return mapInSlices(paths, (path) => readSqlFile({ root, outside }, path, ''));
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

interface ListedFiles {
  readonly root: string;
  readonly paths: readonly string[];
}

/** The files that an option selects. */
interface Selection {
  /** The option with the patterns. */
  readonly option: string;
  readonly ignored: readonly string[];
  readonly name: RegExp;
}

const endpointFiles: Selection = { option: 'sqlFiles', ignored: ['**/*.test.sql'], name: /\.sql$/i };
const testFiles: Selection = { option: 'testFiles', ignored: [], name: /\.test\.sql$/i };

async function listFiles(
  folder: string,
  patterns: readonly string[],
  { option, ignored, name }: Selection,
): Promise<ListedFiles> {
  for (const pattern of patterns) requireInside(option, pattern);
  const root = await realpath(folder);
  const paths = await glob(patterns.map(toPattern), {
    cwd: root,
    ignore: [...ignored, '**/node_modules/**'],
    followSymbolicLinks: false,
    expandDirectories: false,
  });
  return { root, paths: paths.filter((path) => name.test(path)).toSorted() };
}

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

function toPattern(pattern: string): string {
  return pattern.replace(/^\.\//, '');
}

function requireInside(option: string, pattern: string): void {
  if (pattern.startsWith('/') || /^[A-Za-z]:/.test(pattern) || pattern.split(/[/\\]/).includes('..'))
    throw new RangeError(
      `${option}: the pattern ${JSON.stringify(pattern)} leads out of its folder; use a path below the folder`,
    );
}

/** Returns why the name of a file cannot be the path of an endpoint; null: it can. */
function nameFault(path: string, folder: string): string | null {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (namePattern.test(name) && /^[\p{L}\p{N}_./-]*$/u.test(folder)) return null;
  return 'the name of the file has characters that a path cannot contain; use letters, digits, "_" and "-"';
}

/** Returns the folders of the files, in full, that a link leads out of the root to. */
async function foldersOutside(root: string, paths: readonly string[]): Promise<ReadonlySet<string>> {
  const folders = [...new Set(paths.map((path) => dirname(join(root, path))))];
  const real = await Promise.all(folders.map((folder) => realpath(folder).catch(() => '')));
  return new Set(folders.filter((_, index) => !`${real[index]!}${sep}`.startsWith(root + sep)));
}

/** Reads a file at once: a thousand small files take far less time than with a promise for each step. */
function readSqlFile(
  { root, outside }: { readonly root: string; readonly outside: ReadonlySet<string> },
  path: string,
  folder: string,
): SqlFile {
  const faulty = (fault: string): SqlFile => ({ path, folder, text: '', fault });
  try {
    const full = join(root, path);
    const status = lstatSync(full);
    if (!status.isFile()) return faulty('is a link or not a file, and is not read; replace it by the file itself');
    if (outside.has(dirname(full))) return faulty('is outside of its folder, and is not read');
    if (status.size > maxBytes) return faulty(`has ${status.size} bytes; a file may have ${maxBytes}`);
    return { path, folder, ...decode(readFileSync(full)) };
  } catch (error) {
    return faulty(`cannot be read (${(error as Error).message})`);
  }
}

function decode(bytes: Buffer): Pick<SqlFile, 'text' | 'fault'> {
  if (!isUtf8(bytes)) return { text: '', fault: 'is not encoded in UTF-8; save it as UTF-8' };
  if (bytes.includes(0)) return { text: '', fault: 'contains a NUL character; remove it' };
  return { text: bytes.toString('utf8').replace(/^\uFEFF/, ''), fault: null };
}
