import { lstat, readFile, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { glob } from 'tinyglobby';

/** A file that a pattern matches. */
export interface SqlFile {
  /** Below the folder, with `/`. */
  readonly path: string;
  readonly text: string;
  /** Why the file cannot be an endpoint; null: it can. */
  readonly fault: string | null;
}

/** Bytes; a larger file is not a query. */
const maxBytes = 1024 * 1024;
/** Letters of every script, digits and the punctuation that paths of URLs have. */
const namePattern = /^[\p{L}\p{N}_.-]+$/u;

/**
 * Reads the files below the folder that a pattern matches, ordered by path. Links are not followed.
 * @throws RangeError for a pattern that leads out of the folder
 */
export async function readFiles(folder: string, patterns: readonly string[]): Promise<readonly SqlFile[]> {
  for (const pattern of patterns) requireInside(pattern);
  const root = await realpath(folder);
  const paths = await glob(patterns.map(toPattern), {
    cwd: root,
    ignore: ['**/*.test.sql', '**/node_modules/**'],
    followSymbolicLinks: false,
    expandDirectories: false,
  });
  const sorted = paths.filter((path) => /\.sql$/i.test(path)).sort();
  return Promise.all(sorted.map((path) => readSqlFile(root, path)));
}

function toPattern(pattern: string): string {
  return pattern.replace(/^\.\//, '');
}

function requireInside(pattern: string): void {
  if (pattern.startsWith('/') || /^[A-Za-z]:/.test(pattern) || pattern.split(/[/\\]/).includes('..'))
    throw new RangeError(
      `sqlFiles: the pattern ${JSON.stringify(pattern)} leads out of its folder; use a path below the folder`,
    );
}

async function readSqlFile(root: string, path: string): Promise<SqlFile> {
  const faulty = (fault: string): SqlFile => ({ path, text: '', fault });
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (!namePattern.test(name))
    return faulty('the name of the file has characters that a path cannot contain; use letters, digits, "_" and "-"');
  try {
    const full = join(root, path);
    const status = await lstat(full);
    if (!status.isFile()) return faulty('is a link or not a file, and is not read; replace it by the file itself');
    if (!(await realpath(full)).startsWith(root + sep)) return faulty('is outside of its folder, and is not read');
    if (status.size > maxBytes) return faulty(`has ${status.size} bytes; a file may have ${maxBytes}`);
    return { path, ...decode(await readFile(full)) };
  } catch (error) {
    return faulty(`cannot be read (${(error as Error).message})`);
  }
}

function decode(bytes: Buffer): Pick<SqlFile, 'text' | 'fault'> {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? { text: '', fault: 'contains a NUL character; remove it' } : { text, fault: null };
  } catch {
    return { text: '', fault: 'is not encoded in UTF-8; save it as UTF-8' };
  }
}
