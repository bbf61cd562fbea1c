import type { ConnectionSettings } from './connection-string.ts';
import type { ConnectionMode } from './connection-mode.ts';
import { createSessionOpener, createDataSourceOpener } from './session-opener.ts';
import { Pool } from './pool.ts';
import type { ConnectionConfiguration, Database, DataSource, Notice } from './port.ts';
import { type Settings, parseStartupOptions } from './settings.ts';
import { ConnectionStringError } from './connection-parameters.ts';

export interface DatabaseSessionOptions {
  /**
   * Milliseconds; also set on the server, where it holds even if the gateway is gone. 0 leaves the server's own. Null: the server's own,
   * and 30 seconds where that is without end.
   */
  readonly statementTimeout: number | null;
  readonly planCacheMode: 'force_generic_plan' | 'auto';
  /** What stands between us and the server: with `transaction`, nothing of a session is left to the next call. */
  readonly pooler: 'session' | 'transaction';
  /** Whether statements keep their names on the server. */
  readonly preparedStatements: boolean;
}

export interface DatabaseOptions extends DatabaseSessionOptions {
  /** Null takes that of the connection string, else 10. */
  readonly poolSize: number | null;
  /** Milliseconds. */
  readonly acquireTimeout: number;
  readonly shareConnections: boolean;
  /** Right before every attempt to open a connection; may change how. */
  readonly beforeOpen?: (configuration: ConnectionConfiguration) => void | Promise<void>;
  readonly onNotice: (notice: Notice) => void;
  readonly onConnectionError: (error: Error) => void;
}

const longestQueue = 10_000;
const defaultPoolSize = 10;
const idleTimeout = 60_000;
/** What others of the host's may be waiting for is kept as long as a pool of `pg` keeps it. */
const lentIdleTimeout = 10_000;
/** A standalone server gives its gateway five seconds to end. */
const closeGrace = 4_000;

/** A database with a pool of its own. Nothing is opened before the first call. */
export function connectDatabase(connection: ConnectionSettings, options: DatabaseOptions): Database {
  const { beforeOpen = null } = options;
  const base = baseSettings(options, connection);
  if (options.pooler === 'session') {
    const open = createSessionOpener(connection, base, {
      mode: mannerOf(options, null),
      beforeOpen,
      setsDefaultTimeout: options.statementTimeout === null,
    });
    return poolOf(open, options, { size: connection.poolSize, idleTimeout });
  }
  const { options: startUp, ...direct } = connection;
  const everyCall = { ...base, ...startUpSettings(startUp) };
  const open = createSessionOpener(
    direct,
    {},
    { mode: mannerOf(options, everyCall), beforeOpen, setsDefaultTimeout: options.statementTimeout === null },
  );
  return poolOf(open, options, { size: connection.poolSize, idleTimeout });
}

/** A database whose connections come from a pool of the host's, which gets each of them back to close it. */
export function connectDataSource(source: DataSource, options: DatabaseOptions): Database {
  const base = baseSettings(options);
  const pooled = options.pooler === 'transaction';
  const manner = mannerOf(options, pooled ? base : null);
  // The host's pool may have set up its connections in ways that a reset would undo.
  const boundsTime = options.statementTimeout === null;
  const open = createDataSourceOpener(source, pooled ? {} : base, {
    mode: pooled ? manner : { ...manner, reset: 'close' },
    setsDefaultTimeout: boundsTime,
  });
  return poolOf(open, options, { size: undefined, idleTimeout: lentIdleTimeout });
}

/** What JSON and text answers are made from must not depend on the server's, role's or database's own settings. */
export function baseSettings(options: DatabaseSessionOptions, connection?: ConnectionSettings): Settings {
  const ownTimeZone = connection?.options?.toLowerCase().includes('timezone') === true;
  return {
    DateStyle: 'ISO',
    bytea_output: 'hex',
    client_encoding: 'UTF8',
    ...(ownTimeZone ? {} : { TimeZone: connection?.timeZone ?? 'UTC' }),
    plan_cache_mode: options.planCacheMode,
    ...(options.statementTimeout ? { statement_timeout: String(options.statementTimeout) } : {}),
  };
}

function mannerOf(
  { preparedStatements, statementTimeout }: DatabaseSessionOptions,
  everyCall: Settings | null,
): ConnectionMode {
  const reset = everyCall === null ? 'discard' : 'inTransaction';
  const boundsTime = everyCall !== null && statementTimeout === null;
  return {
    unnamed: !preparedStatements,
    settingsPerCall: everyCall,
    setsDefaultTimeout: boundsTime,
    isProvided: false,
    reset,
  };
}

function startUpSettings(options: string | undefined): Settings {
  const settings = options === undefined ? {} : parseStartupOptions(options);
  if (settings !== null) return settings;
  throw new ConnectionStringError(
    'behind a pooler, the options of the connection string can only be settings: -c name=value',
  );
}

interface Size {
  readonly size: number | undefined;
  readonly idleTimeout: number;
}

function poolOf(open: ReturnType<typeof createSessionOpener>, options: DatabaseOptions, size: Size): Database {
  return new Pool({
    open,
    size: options.poolSize ?? size.size ?? defaultPoolSize,
    acquireTimeout: options.acquireTimeout,
    maxQueueLength: longestQueue,
    idleTimeout: size.idleTimeout,
    shareConnections: options.shareConnections,
    closeGrace,
    onNotice: options.onNotice,
    onConnectionError: options.onConnectionError,
  });
}
