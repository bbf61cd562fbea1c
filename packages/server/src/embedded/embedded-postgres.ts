/** The PostgreSQL that the server starts when no database is configured. Its package is an optional dependency. */
import type * as EmbeddedPackage from '@pgway/embedded';
import type { PostgresServer, PostgresServerOptions } from '@pgway/embedded';
import { importEmbeddedPackage } from './embedded-package.ts';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';

export interface EmbeddedPostgresOptions extends Pick<PostgresServerOptions, 'onProgress'> {
  /** The configured folder; null for the default. */
  readonly dataDirectory: string | null;
  readonly workingDirectory: string;
  /** Whether to connect to the server that another process runs on the folder. Otherwise that is an error. */
  readonly joins: boolean;
  /** Called once when the server exits without having been stopped. */
  readonly onUnexpectedExit: (error: EmbeddedPostgresError) => void;
}

export interface EmbeddedPostgres extends Pick<PostgresServer, 'connectionString' | 'stop'> {
  /** Absolute. */
  readonly dataDirectory: string;
  /** Whether another process has started the server, and stops it. */
  readonly isJoined: boolean;
}

/**
 * Starts the embedded PostgreSQL, or connects to the running one.
 * @param load imports `@pgway/embedded`; a test passes one that rejects
 * @throws EmbeddedPostgresError
 */
export async function startEmbeddedPostgres(
  { dataDirectory: configured, workingDirectory, joins, ...options }: EmbeddedPostgresOptions,
  load: () => Promise<typeof EmbeddedPackage> = importEmbeddedPackage,
): Promise<EmbeddedPostgres> {
  const { startPostgres, findRunningPostgres, resolveDataDirectory, PostgresServerError } = await load().catch(
    (error: unknown) => {
      throw isNotInstalled(error) ? notInstalled(error) : error;
    },
  );
  try {
    const dataDirectory = await resolveDataDirectory(configured, workingDirectory);
    const running = joins ? await findRunningPostgres(dataDirectory) : null;
    if (running !== null) {
      return { connectionString: running, dataDirectory, isJoined: true, stop: () => Promise.resolve() };
    }
    const onUnexpectedExit = (error: Error): void => options.onUnexpectedExit(withOptionName(error));
    const server = await startPostgres({ ...options, dataDirectory, onUnexpectedExit });
    return { ...server, dataDirectory, isJoined: false };
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
