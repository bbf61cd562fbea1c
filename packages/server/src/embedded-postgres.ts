/** The PostgreSQL that the server starts when no database is configured. Its package is an optional dependency. */
import type * as EmbeddedPackage from '@pgway/embedded';
import type { PostgresServer, PostgresServerOptions } from '@pgway/embedded';

/** The embedded PostgreSQL is not installed, did not start, or exited; the message is one line that says what to do. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}

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
  load: () => Promise<typeof EmbeddedPackage> = () => import('@pgway/embedded'),
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
      'pass --connectionString=postgres://user@localhost:5432/name or run npm install @pgway/embedded',
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
