import { connectDatabase } from './database/connect.ts';
import { type ConnectionSettings, parseConnectionString } from './database/connection-string.ts';
import type { Database } from './database/port.ts';
import type { Options } from './options.ts';
import { StartError, startError } from './start-error.ts';

const oldestServer = 130_000;
/** Seconds; what a database driver of this field waits when nobody says anything. */
const defaultCommandTimeout = 30;

/** The gateway's own database, and those that a comment may name; each has a pool of its own. */
export interface Connections {
  readonly main: Database;
  readonly named: ReadonlyMap<string, Database>;
  close(): Promise<void>;
}

/** Milliseconds. */
export function commandTimeout(options: Options): number {
  return (options.commandTimeout ?? defaultCommandTimeout) * 1_000;
}

/** @throws StartError for a connection string that cannot be understood; nothing is connected yet */
export function openConnections(options: Options): Connections {
  if (typeof options.connectionString !== 'string') {
    throw new StartError('no connection string: give one such as postgres://user:password@localhost:5432/database');
  }
  const main = open(options.connectionString, options);
  const named = new Map(
    Object.entries(options.connectionStrings).map(([name, text]) => [name, open(text, options, name)] as const),
  );
  const close = async (): Promise<void> => {
    await Promise.all([main, ...named.values()].map((database) => database.close()));
  };
  return { main, named, close };
}

function open(text: string, options: Options, name?: string): Database {
  return connectDatabase(settingsOf(text, name), {
    ...options,
    acquireTimeout: options.acquireTimeout * 1_000,
    statementTimeout: commandTimeout(options),
    notice: () => undefined,
  });
}

/** A named connection carries its own application name, so that the server's views tell them apart. */
function settingsOf(text: string, name: string | undefined): ConnectionSettings {
  try {
    const settings = parseConnectionString(text);
    return name === undefined ? settings : { ...settings, applicationName: settings.applicationName ?? name };
  } catch (error) {
    const { message } = startError(error);
    throw new StartError(name === undefined ? message : `connection "${name}": ${message}`, { cause: error });
  }
}

/** @throws StartError for a server that is too old */
export async function requireSupportedServer(database: Database): Promise<void> {
  const [[number, version] = []] = await database.query(
    `select pg_catalog.current_setting('server_version_num'), pg_catalog.current_setting('server_version')`,
  );
  if (Number(number) >= oldestServer) return;
  throw new StartError(`the server is PostgreSQL ${version}; the gateway needs version 13 or newer`);
}
