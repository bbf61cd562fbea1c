import type { ConnectionSettings } from './connection-string.ts';
import type { ConnectionLimit } from './connection-limit.ts';
import type { ConnectionMode } from './connection-mode.ts';
import { KnownRoutines } from './known-routines.ts';
import { createSessionOpener, createDataSourceOpener } from './session-opener.ts';
import { Pool } from './pool.ts';
import { reportSharedProcesses } from './shared-processes.ts';
import type { ConnectionConfiguration, Database, DataSource, Notice } from './port.ts';
import { type Settings, parseStartupOptions } from './settings.ts';
import { ConnectionStringError } from './connection-parameters.ts';

export interface DatabaseSessionOptions {
  /**
   * Milliseconds; also set as `statement_timeout` on the server. 0 keeps the server's value. Null keeps it too, with
   * 30 seconds where the server has no timeout.
   */
  readonly statementTimeout: number | null;
  readonly planCacheMode: 'force_generic_plan' | 'auto';
  /** The mode of a connection pooler in front of the server. With `transaction`, sessions do not last between calls. */
  readonly pooler: 'session' | 'transaction';
  /** Whether named prepared statements are used. */
  readonly preparedStatements: boolean;
}

export interface DatabaseOptions extends DatabaseSessionOptions {
  /** Null: the pool size of the connection string, else 10. */
  readonly poolSize: number | null;
  /** The number of connections that stay open; null: the minimum of the connection string, else 1. At most the pool size. */
  readonly minPoolSize?: number | null;
  /** Milliseconds until a connection is replaced, 0 for never; null: the lifetime of the connection string, else an hour. */
  readonly connectionLifetime?: number | null;
  /** Milliseconds until an unused connection is closed, 0 for never; null: that of the connection string, else five minutes. */
  readonly connectionIdleLifetime?: number | null;
  /** The maximum number of calls that wait for a connection. Default 10,000. */
  readonly maxWaitingCalls?: number;
  /** The number of processes that share the pool: each opens its share of the connections. Default 1. */
  readonly processes?: number;
  /** Limits the connections of several databases together, except those that listen to channels. */
  readonly connectionLimit?: ConnectionLimit;
  /** Milliseconds. */
  readonly acquireTimeout: number;
  readonly shareConnections: boolean;
  /** Runs before every attempt to open a connection; may change its configuration. */
  readonly beforeOpen?: (configuration: ConnectionConfiguration) => void | Promise<void>;
  readonly onNotice: (notice: Notice) => void;
  readonly onConnectionError: (error: Error) => void;
}

type PoolLimits = Pick<
  ConnectionSettings,
  'poolSize' | 'minPoolSize' | 'connectionLifetime' | 'connectionIdleLifetime'
>;

/** The defaults of Npgsql, except for its pool size of 100, and with a connection that stays open for the next call. */
const defaultLimits = {
  poolSize: 10,
  minPoolSize: 1,
  connectionLifetime: 3_600_000,
  connectionIdleLifetime: 300_000,
} satisfies PoolLimits;
const defaultMaxWaitingCalls = 10_000;
/** Other users of the pool of the host may need the connections. The idle timeout is that of a `pg` pool. */
const dataSourceLimits: PoolLimits = { minPoolSize: 0, connectionIdleLifetime: 10_000 };
/** Less than the five seconds that the standalone server allows for its shutdown. */
const closeGraceMs = 4_000;

/** Creates a database with its own connection pool. The first call opens the first connection. */
export function connectDatabase(connection: ConnectionSettings, options: DatabaseOptions): Database {
  const { beforeOpen = null } = options;
  const base = baseSettings(options, connection);
  if (options.pooler === 'session') {
    const open = createSessionOpener(connection, base, {
      mode: connectionMode(options, null),
      beforeOpen,
      setsDefaultTimeout: options.statementTimeout === null,
    });
    return createPool(reportSharedProcesses(open, options.onConnectionError), options, connection);
  }
  const { options: startupOptions, ...direct } = connection;
  const settingsPerCall = { ...base, ...startupSettings(startupOptions) };
  const open = createSessionOpener(
    direct,
    {},
    {
      mode: connectionMode(options, settingsPerCall),
      beforeOpen,
      setsDefaultTimeout: options.statementTimeout === null,
    },
  );
  return createPool(open, options, connection);
}

/** Creates a database that takes its connections from a `pg` pool of the host. The pool closes each returned connection. */
export function connectDataSource(source: DataSource, options: DatabaseOptions): Database {
  const base = baseSettings(options);
  const pooled = options.pooler === 'transaction';
  const mode = connectionMode(options, pooled ? base : null);
  // `DISCARD ALL` would undo what the host has set up on its connections.
  const setsDefaultTimeout = options.statementTimeout === null;
  const open = createDataSourceOpener(source, pooled ? {} : base, {
    mode: pooled ? mode : { ...mode, reset: 'close' },
    setsDefaultTimeout,
  });
  return createPool(open, options, dataSourceLimits);
}

/** Returns the settings that responses depend on, so that those of the server, role or database have no effect. */
export function baseSettings(options: DatabaseSessionOptions, connection?: ConnectionSettings): Settings {
  const hasTimeZoneOption = connection?.options?.toLowerCase().includes('timezone') === true;
  return {
    DateStyle: 'ISO',
    bytea_output: 'hex',
    client_encoding: 'UTF8',
    ...(hasTimeZoneOption ? {} : { TimeZone: connection?.timeZone ?? 'UTC' }),
    plan_cache_mode: options.planCacheMode,
    ...(options.statementTimeout ? { statement_timeout: String(options.statementTimeout) } : {}),
  };
}

function connectionMode(
  { preparedStatements, statementTimeout }: DatabaseSessionOptions,
  settingsPerCall: Settings | null,
): ConnectionMode {
  const reset = settingsPerCall === null ? 'discard' : 'perCall';
  const setsDefaultTimeout = settingsPerCall !== null && statementTimeout === null;
  return {
    unnamed: !preparedStatements,
    settingsPerCall,
    setsDefaultTimeout,
    isProvided: false,
    reset,
    routines: new KnownRoutines(),
  };
}

function startupSettings(options: string | undefined): Settings {
  const settings = options === undefined ? {} : parseStartupOptions(options);
  if (settings !== null) return settings;
  throw new ConnectionStringError(
    'behind a pooler, "options" in the connection string can hold only settings: -c name=value',
  );
}

/** Returns the number of connections of all processes. */
export function totalPoolSize(option: number | null, ofConnectionString: number | undefined): number {
  return option ?? ofConnectionString ?? defaultLimits.poolSize;
}

/** @param limits of the connection string or data source, which options override */
function createPool(
  open: ReturnType<typeof createSessionOpener>,
  options: DatabaseOptions,
  limits: PoolLimits,
): Database {
  const limit = (name: keyof PoolLimits): number => options[name] ?? limits[name] ?? defaultLimits[name];
  const duration = (name: keyof PoolLimits): number => limit(name) || Number.POSITIVE_INFINITY;
  const { processes = 1 } = options;
  const size = Math.max(1, Math.floor(totalPoolSize(options.poolSize, limits.poolSize) / processes));
  return new Pool({
    open: options.connectionLimit?.share(open) ?? open,
    openListener: open,
    size,
    minSize: Math.min(Math.ceil(limit('minPoolSize') / processes), size),
    acquireTimeout: options.acquireTimeout,
    maxQueueLength: Math.ceil((options.maxWaitingCalls ?? defaultMaxWaitingCalls) / processes),
    lifetimeMs: duration('connectionLifetime'),
    idleTimeoutMs: duration('connectionIdleLifetime'),
    shareConnections: options.shareConnections,
    closeGraceMs,
    onNotice: options.onNotice,
    onConnectionError: options.onConnectionError,
  });
}
