import type { ConnectionSettings } from './connection-string.ts';
import { sessionOpener } from './pg.ts';
import { Pool } from './pool.ts';
import type { Database, Notice } from './port.ts';

export interface DatabaseOptions {
  readonly poolSize: number;
  /** Milliseconds. */
  readonly acquireTimeout: number;
  /** Milliseconds; also set on the server, where it holds even if the gateway is gone. */
  readonly statementTimeout: number;
  readonly shareConnections: boolean;
  readonly planCacheMode: 'force_generic_plan' | 'auto';
  readonly notice: (notice: Notice) => void;
}

const longestQueue = 10_000;
const idleTimeout = 60_000;

/** A database with a pool of its own. Nothing is opened before the first call. */
export function connectDatabase(connection: ConnectionSettings, options: DatabaseOptions): Database {
  const open = sessionOpener(connection, {
    // What JSON and text answers are made from must not depend on the server's, role's or database's own settings.
    DateStyle: 'ISO',
    bytea_output: 'hex',
    client_encoding: 'UTF8',
    ...(connection.options?.toLowerCase().includes('timezone') ? {} : { TimeZone: connection.timeZone ?? 'UTC' }),
    // PostgreSQL would plan the inlined body of a set-returning SQL function anew at every call.
    plan_cache_mode: options.planCacheMode,
    statement_timeout: String(options.statementTimeout),
  });
  return new Pool({
    open,
    size: connection.poolSize ?? options.poolSize,
    acquireTimeout: options.acquireTimeout,
    longestQueue,
    idleTimeout,
    share: options.shareConnections,
    notice: options.notice,
  });
}
