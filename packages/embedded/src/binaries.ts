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
import { dirname, join, relative, sep } from 'node:path';
import type { Account } from './account.ts';
import { PostgresServerError, errorCode } from './embedded-error.ts';
import { type Home, unfinished } from './home.ts';
import type { NativePackage } from './native-package.ts';
import { type Outcome, runProgram } from './program.ts';

/** PostgreSQL's programs where the account can run them. */
export interface Binaries {
  readonly postgres: string;
  readonly initdb: string;
  readonly pgCtl: string;
  /** As the program says it, such as `18.4`. */
  readonly version: string;
  readonly major: number;
}

export interface BinariesRequest {
  readonly pack: NativePackage;
  readonly home: Home;
  readonly account: Account | undefined;
  readonly report: (message: string) => void;
}

/**
 * Uses the programs where they lie in node_modules, and from a folder in the data directory when that does not work:
 * links to libraries missing in a read-only node_modules, a parent folder that the account may not enter, lost modes.
 */
export async function prepareBinaries(request: BinariesRequest): Promise<Binaries> {
  const { pack, home, account, report } = request;
  if (await makeLinks(pack.native)) {
    const inPlace = await tryOut(pack.native, request);
    if (typeof inPlace !== 'string') return inPlace;
  }
  const copy = join(home.root, `binaries-${pack.version}`);
  if (!(await isOurs(copy))) {
    report(`copying the PostgreSQL programs to where ${account?.name ?? 'we'} can run them`);
    await dropBinaries(home);
    await assemble(pack.native, copy);
  }
  const copied = await tryOut(copy, request);
  if (typeof copied !== 'string') return copied;
  throw new PostgresServerError(
    `the PostgreSQL programs of ${pack.root} do not run here (${copied}): they need a system with glibc, not musl, and a data ` +
      'directory that programs may be run from; connect to a server of your own instead',
  );
}

interface Link {
  readonly source: string;
  readonly target: string;
}

/**
 * Makes the symbolic links to shared libraries, which npm cannot carry and whose install script is often not run.
 * False when the folder cannot be written.
 */
async function makeLinks(native: string): Promise<boolean> {
  try {
    for (const { source, target } of await linksOf(native)) {
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

async function linksOf(native: string): Promise<readonly Link[]> {
  const text = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'EACCES') return '[]';
    throw error;
  });
  const links = (JSON.parse(text) as readonly Link[]).map(({ source, target }) => ({
    source: inside(native, source),
    target: inside(native, target),
  }));
  if (links.some(({ source, target }) => ![source, target].every((path) => path.startsWith(native + sep)))) {
    throw new PostgresServerError(`${native}: pg-symlinks.json names files outside the package, which it must not`);
  }
  return links;
}

/** The list counts from the root of the package (`native/lib/libpq.so.5`); our copies have no such root. */
function inside(native: string, path: string): string {
  return join(native, path.replace(/^native[\\/]/, ''));
}

/** Runs the server program as the account; gives the binaries, or why they do not run. */
async function tryOut(native: string, request: BinariesRequest): Promise<Binaries | string> {
  const suffix = process.platform === 'win32' ? '.exe' : '';
  const [postgres, initdb, pgCtl] = ['postgres', 'initdb', 'pg_ctl'].map((name) => join(native, 'bin', name + suffix));
  const surroundings = { account: request.account, directory: request.home.root };
  const outcome = await runProgram(postgres!, ['--version'], surroundings);
  const version = /\(PostgreSQL\) (\d+)([\w.]*)/.exec(outcome.output);
  if (outcome.code !== 0 || version === null) return complaint(outcome);
  return Object.freeze({
    postgres: postgres!,
    initdb: initdb!,
    pgCtl: pgCtl!,
    version: `${version[1]!}${version[2]!}`,
    major: Number(version[1]),
  });
}

function complaint(outcome: Outcome): string {
  return outcome.output.trim().split('\n')[0] || `exit code ${String(outcome.code)}`;
}

/** Whether a finished folder is there that nobody but us (or root) can have filled. */
async function isOurs(copy: string): Promise<boolean> {
  try {
    const { uid, mode } = await lstat(copy);
    return process.geteuid === undefined || ([0, process.geteuid()].includes(uid) && (mode & 0o170022) === 0o040000);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

/** Other versions' folders, and one that is not ours, make room. */
async function dropBinaries(home: Home): Promise<void> {
  for (const name of await readdir(home.root)) {
    if (name.startsWith('binaries-')) await rm(join(home.root, name), { recursive: true, force: true });
  }
}

async function assemble(native: string, copy: string): Promise<void> {
  const draft = unfinished(copy);
  await reproduce(native, draft);
  await makeLinks(draft);
  await rename(draft, copy);
}

async function reproduce(from: string, to: string): Promise<void> {
  await mkdir(to);
  await chmod(to, 0o755);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await reproduce(source, target);
    else if (entry.isFile()) await linkOrCopy(source, target);
  }
}

/** A hard link costs nothing, but shares owner and mode: only files that everybody may read (and run) are linked. */
async function linkOrCopy(source: string, target: string): Promise<void> {
  const wanted = dirname(source).endsWith(`${sep}bin`) ? 0o755 : 0o644;
  const { uid, mode } = await lstat(source);
  const fits = (mode & wanted & 0o555) === (wanted & 0o555) && (mode & 0o022) === 0 && isTrusted(uid);
  if (
    fits &&
    (await link(source, target)
      .then(() => true)
      .catch(() => false))
  )
    return;
  await copyFile(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  await chmod(target, wanted);
}

function isTrusted(uid: number): boolean {
  return uid === 0 || uid === process.geteuid?.();
}
