import { connectDatabase, type DatabaseSessionOptions } from '../postgres/connect-database.ts';
import { parseConnectionString } from '../postgres/connection-string.ts';
import type { Database } from '../postgres/port.ts';
import { toStartError } from './start-error.ts';

/** A connection of a program beside those of the gateway. */
export interface SingleConnectionOptions extends Partial<
  Pick<DatabaseSessionOptions, 'pooler' | 'preparedStatements'>
> {
  readonly connectionString: string;
  /** The name of the connection in `pg_stat_activity`. */
  readonly applicationName: string;
}

/** Milliseconds. */
export const runTimeoutMs = 30_000;
/** Milliseconds. */
const acquireTimeout = 10_000;

/**
 * Returns a database with one connection, which is opened by the first call, and again after a loss.
 * @throws StartError for an invalid connection string
 */
export function openSingleConnection({
  connectionString,
  applicationName,
  pooler = 'session',
  preparedStatements = true,
}: SingleConnectionOptions): Database {
  try {
    const settings = parseConnectionString(connectionString);
    return connectDatabase(
      { ...settings, applicationName },
      {
        statementTimeout: runTimeoutMs,
        planCacheMode: 'auto',
        pooler,
        preparedStatements,
        poolSize: 1,
        minPoolSize: 0,
        acquireTimeout,
        shareConnections: false,
        onNotice: () => undefined,
        // Each call reports its own failure.
        onConnectionError: () => undefined,
      },
    );
  } catch (error) {
    throw toStartError(error);
  }
}
