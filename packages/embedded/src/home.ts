import { mkdir, readdir, realpath, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { PostgresServerError, errorCode } from './embedded-error.ts';

/**
 * What lies in the data directory. The folder itself belongs to whoever runs the gateway; only `cluster` belongs to the
 * account that PostgreSQL runs as, so that the database cannot touch the password file or the binaries.
 */
export interface Home {
  readonly root: string;
  /** PostgreSQL's own data directory. */
  readonly cluster: string;
  /** The generated password, mode 0600. */
  readonly passwordFile: string;
  /** Names the process that uses the directory while it does. */
  readonly claimFile: string;
  /** PostgreSQL's log, where it cannot write to a pipe of ours (Windows). */
  readonly logFile: string;
}

/** What is being made carries this in its name, and takes its real name only when it is whole. */
const UNFINISHED = '.unfinished-';

/** Creates the data directory when it is missing. */
export async function openHome(dataDirectory: string): Promise<Home> {
  const wanted = resolve(dataDirectory);
  await mkdir(dirname(wanted), { recursive: true });
  // Another account must get through to the cluster when we are root.
  await mkdir(wanted, { mode: process.geteuid?.() === 0 ? 0o711 : 0o700 }).catch(async (error: unknown) => {
    if (errorCode(error) !== 'EEXIST' || !(await stat(wanted)).isDirectory()) throw error;
  });
  // The command line of an orphan is compared with this path: one spelling only.
  const root = await realpath(wanted);
  if ((await readdir(root)).includes('PG_VERSION')) {
    throw new PostgresServerError(
      `${root} is the data directory of another PostgreSQL server: give pgway a folder of its own, or connect to that server instead`,
    );
  }
  return Object.freeze({
    root,
    cluster: join(root, 'cluster'),
    passwordFile: join(root, 'password'),
    claimFile: join(root, 'in-use'),
    logFile: join(root, 'server.log'),
  });
}

/** The name that a thing bears until it is whole. */
export function unfinished(path: string): string {
  return `${path}${UNFINISHED}${crypto.randomUUID()}`;
}

/** Removes what earlier runs began and did not finish. Only for the holder of the claim. */
export async function sweep(home: Home): Promise<void> {
  for (const name of await readdir(home.root)) {
    // The claim is not ours to sweep: another process may be asking for it at this moment.
    if (!name.includes(UNFINISHED) || name.startsWith(basename(home.claimFile))) continue;
    // The initdb of a run that was killed may live a moment longer and still write.
    await rm(join(home.root, name), { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}
