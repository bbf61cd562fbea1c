/** The PostgreSQL that the server starts when no database is configured. Its package is an optional dependency. */
import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type * as EmbeddedPackage from '@pgway/embedded';
import type { PostgresServer, PostgresServerOptions } from '@pgway/embedded';
import { importEmbeddedPackage } from './embedded-package.ts';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';

export interface EmbeddedPostgresOptions extends Pick<PostgresServerOptions, 'dataDirectory' | 'onProgress'> {
  /** Called once when the server exits without having been stopped. */
  readonly onUnexpectedExit: (error: EmbeddedPostgresError) => void;
}

/**
 * Starts the embedded PostgreSQL.
 * @param load imports `@pgway/embedded`; a test passes one that rejects
 * @throws EmbeddedPostgresError
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
  load: () => Promise<typeof EmbeddedPackage> = importEmbeddedPackage,
): Promise<PostgresServer> {
  const { startPostgres, PostgresServerError } = await load().catch((error: unknown) => {
    throw isNotInstalled(error) ? notInstalled(error) : error;
  });
  try {
    const onUnexpectedExit = (error: Error): void => options.onUnexpectedExit(withOptionName(error));
    return await startPostgres({ ...options, onUnexpectedExit });
  } catch (error) {
    throw error instanceof PostgresServerError ? withOptionName(error) : error;
  }
}

/** True only for the package itself: a dependency that is missing from it is an unexpected error. */
function isNotInstalled(error: unknown): error is Error {
  return (
    error instanceof Error &&
    'code' in error &&
    error.code === 'ERR_MODULE_NOT_FOUND' &&
    error.message.startsWith("Cannot find package '@pgway/embedded'")
  );
}

function notInstalled(cause: Error): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    'no database is configured and the package @pgway/embedded is not installed; ' +
      'pass --connectionString=postgres://user@localhost:5432/name or install @pgway/embedded',
    { cause },
  );
}

/** `@pgway/embedded` does not know the option of this program that chooses the data directory. */
function withOptionName(error: Error): EmbeddedPostgresError {
  const message = error.message.replace(
    'choose another data directory',
    'choose another one with --embedded.dataDirectory=…',
  );
  return new EmbeddedPostgresError(message, { cause: error });
}

/**
 * Returns the absolute path of the configured folder, or of `.pgway/postgres` in the working directory. For root, PostgreSQL runs
 * as another user; if that user has no access to the working directory, as in `/root`, the path is a folder in `/var/lib/pgway`.
 */
export async function resolveDataDirectory(configured: string | null, workingDirectory: string): Promise<string> {
  if (configured !== null) return resolve(workingDirectory, configured);
  if (process.geteuid?.() !== 0 || (await isOpenToOthers(workingDirectory))) {
    return join(workingDirectory, '.pgway', 'postgres');
  }
  const hash = createHash('sha256').update(workingDirectory).digest('hex').slice(0, 12);
  return join('/var/lib/pgway', `${basename(workingDirectory) || 'root'}-${hash}`);
}

/** Whether every user has execute permission on the folder and all folders above it. */
async function isOpenToOthers(folder: string): Promise<boolean> {
  const { mode } = await stat(folder);
  if ((mode & 0o001) === 0) return false;
  return dirname(folder) === folder || isOpenToOthers(dirname(folder));
}
