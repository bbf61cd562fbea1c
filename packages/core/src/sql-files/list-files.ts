import { type Dirent, readdir, stat, type Stats } from 'node:fs';
import { realpath, stat as readStatus } from 'node:fs/promises';
import { dirname, relative, sep } from 'node:path';
import { type FileSystemAdapter, glob } from 'tinyglobby';

/** A folder that a pattern reaches, and whose files are left out. */
export interface FolderFault {
  readonly path: string;
  readonly severity: 'error' | 'warning';
  readonly message: string;
}

export interface ListedFiles {
  /** In full, without links. */
  readonly root: string;
  /** Below the root, with `/`, in their order. */
  readonly paths: readonly string[];
  readonly faults: readonly FolderFault[];
}

/** The files that an option selects. */
export interface Selection {
  /** The option with the patterns. */
  readonly option: string;
  readonly ignored: readonly string[];
  readonly name: RegExp;
}

/**
 * Lists the files below the folder that a pattern matches. Links are followed, but those of folders that lead out of the folder, or to a folder
 * that contains the link. Links of files are listed wherever they lead.
 * @throws RangeError for a pattern that leads out of the folder
 */
export async function listFiles(
  folder: string,
  patterns: readonly string[],
  { option, ignored, name }: Selection,
): Promise<ListedFiles> {
  for (const pattern of patterns) requireInside(option, pattern);
  const root = await realpath(folder);
  const faults: FolderFault[] = [];
  const paths = await glob(patterns.map(toPattern), {
    cwd: root,
    ignore: [...ignored, '**/node_modules/**'],
    expandDirectories: false,
    fs: walkedFileSystem(root, faults),
  });
  return { root, paths: paths.filter((path) => name.test(path)).toSorted(), faults };
}

/** Returns the pattern without `./` at its beginning. */
export function toPattern(pattern: string): string {
  return pattern.replace(/^\.\//, '');
}

/** Whether a real path is that of the root or below it. */
export function isInside(root: string, real: string): boolean {
  return `${real}${sep}`.startsWith(root.endsWith(sep) ? root : root + sep);
}

/** Returns why a file or folder cannot be read. */
export function describeReadError({ code, message }: NodeJS.ErrnoException, what: 'it' | 'the folder'): string {
  const advice = code === 'EACCES' || code === 'EPERM' ? `; allow the user of this process to read ${what}` : '';
  return `cannot be read (${message})${advice}`;
}

function requireInside(option: string, pattern: string): void {
  if (pattern.startsWith('/') || /^[A-Za-z]:/.test(pattern) || pattern.split(/[/\\]/).includes('..'))
    throw new RangeError(
      `${option}: the pattern ${JSON.stringify(pattern)} leads out of its folder; use a path below the folder`,
    );
}

type Done<Value> = (error: Error | null, value?: Value) => void;

/** Separates the path of a link from the reason why it is not followed, which may be empty; paths cannot contain it. */
const separator = '\0';
/** In place of a reason: the link has no target. */
const dangling = 'dangling';

/**
 * The file system that patterns are matched against. A folder that cannot be read is empty, and a link that is not followed is an empty
 * folder: it is reported if a pattern reaches it. A link of a folder resolves to its own path and the separator, as the matcher takes folders
 * whose real paths begin alike for a loop.
 */
function walkedFileSystem(root: string, faults: FolderFault[]): FileSystemAdapter {
  const report = (path: string, severity: FolderFault['severity'], message: string): void => {
    faults.push({ path: relative(root, path).replaceAll(sep, '/') || '.', severity, message });
  };
  const fileSystem = {
    readdir: (path: string, options: { readonly withFileTypes: true }, done: Done<readonly Dirent[]>): void => {
      const [folder = '', reason = ''] = path.replace(/[/\\]$/, '').split(separator);
      if (reason !== '') {
        report(folder, 'warning', `is a link to a folder that ${reason}, and is not followed`);
        return done(null, []);
      }
      readdir(folder || sep, options, (error, entries) => {
        if (error === null) return done(null, entries);
        if (error.code === 'ENOTDIR') report(folder, 'error', 'is a file, and not a folder; correct the pattern');
        else if (error.code !== 'ENOENT') report(folder, 'error', describeReadError(error, 'the folder'));
        done(null, []);
      });
    },
    realpath: (path: string, done: Done<string>): void => {
      void resolveLink(root, path).then(
        (real) => done(null, real),
        // A link without a target is listed as a file, whose fault says so.
        () => done(null, path + separator + dangling),
      );
    },
    stat: (path: string, done: Done<Pick<Stats, 'isDirectory'>>): void => {
      if (path.includes(separator)) return done(null, { isDirectory: () => !path.endsWith(dangling) });
      stat(path, done);
    },
  };
  // The overloads of node:fs, of which the matcher uses one each.
  return fileSystem as unknown as FileSystemAdapter;
}

/** Returns the real path of the link of a file, or the path of the link of a folder. Rejects for a link without a target. */
async function resolveLink(root: string, path: string): Promise<string> {
  const real = await realpath(path);
  const status = await readStatus(real);
  if (!status.isDirectory()) return real;
  if (!isInside(root, real)) return `${path}${separator}is outside of ${root}`;
  for (let parent = dirname(path); isInside(root, parent); parent = dirname(parent)) {
    if (isInside(real, await realpath(parent))) return `${path}${separator}contains the link`;
  }
  return path + separator;
}
