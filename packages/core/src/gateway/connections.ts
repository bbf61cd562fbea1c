import { createClientRunner } from '../postgres/client-runner.ts';
import {
  baseSettings,
  connectDataSource,
  connectDatabase,
  type DatabaseOptions,
  totalPoolSize,
} from '../postgres/connect-database.ts';
import { type ConnectionSettings, parseConnectionString } from '../postgres/connection-string.ts';
import { defaultStatementTimeoutMs } from '../postgres/settings.ts';
import type { ConnectionLimit } from '../postgres/connection-limit.ts';
import { beginOnClient } from '../postgres/client-transaction.ts';
import {
  type Call,
  type ChannelEvent,
  ConnectionLost,
  type Database,
  type ExclusiveRunner,
  type ProvidedRunner,
  type Replicas,
  type Runner,
} from '../postgres/port.ts';
import type { ResolvedOptions } from './options/options.ts';
import { PlanChoices } from '../request/plans/plan-choices.ts';
import { openReadReplicas, type ReadReplicas } from './open-read-replicas.ts';
import type { ConnectionProvider, Observer } from '../ports/ports.ts';
import { OptionsError, type StartError, toStartError } from './start-error.ts';
import { toError } from '../to-error.ts';

/** The main database and the named ones. Each has its own pool. */
export interface Connections {
  readonly main: Database;
  readonly named: ReadonlyMap<string, Database>;
  /** The plans of statements by measurement; null: all calls have the same plan mode. */
  readonly plans: PlanChoices | null;
  /** The replicas of the main database that serve reads; null: none. */
  readonly replicas: Replicas | null;
  /** Returns the connection that the host program provides for a request, if any; null: without a `connectionProvider`. */
  readonly provide: ((...input: Parameters<ConnectionProvider>) => Promise<ProvidedRunner | null>) | null;
  /** Settings that a call on a provided connection sets itself. */
  readonly providedSettings: readonly (readonly [name: string, value: string])[];
  /**
   * Listens to a channel of the main database, or of a named one. Returns a function that ends it.
   * @throws StartError behind a pooler without `listenConnectionString`
   */
  readonly listen: (channel: string, receive: (event: ChannelEvent) => void, connection?: string | null) => () => void;
  /** Returns the main database with a separate connection, for statements that must not wait behind requests. */
  readonly notifyDatabase: () => Database;
  /** Returns the main database (null) and the named ones. */
  readonly all: () => ReadonlyMap<string | null, Database>;
  /** Returns the same databases with a separate connection each, for probes that must not wait behind requests. */
  readonly probes: () => ReadonlyMap<string | null, Database>;
  close(): Promise<void>;
}

/** Returns the timeout of calls on provided connections in milliseconds, as their `statement_timeout` is unknown. */
export function commandTimeoutMs({ commandTimeout: seconds }: ResolvedOptions): number {
  return seconds === null ? defaultStatementTimeoutMs : seconds * 1_000;
}

/**
 * Returns the number of connections in the main pool, of all processes together.
 * @throws StartError for an invalid connection string
 */
export function configuredPoolSize(connectionString: string, poolSize: number | null): number {
  try {
    return totalPoolSize(poolSize, parseConnectionString(connectionString).poolSize);
  } catch (error) {
    throw new OptionsError(toStartError(error).message, { cause: error });
  }
}

/** The database of a tenant, in place of that of the connection string. */
export interface TenantDatabase {
  readonly settings: ConnectionSettings;
  readonly limit: ConnectionLimit;
}

/**
 * Creates the pools. Connections open on first use.
 * @param tenant null: the database of the connection string
 * @throws StartError for an invalid connection string
 */
export function openConnections(
  options: ResolvedOptions,
  observe: Observer,
  tenant: TenantDatabase | null = null,
): Connections {
  const main = tenant === null ? openMain(options, observe) : openTenant(tenant, options, observe);
  const named = new Map(
    Object.entries(options.connectionStrings).map(([name, text]) => {
      return [name, open({ text, name, options, observe })] as const;
    }),
  );
  const listener = openListener(options, observe);
  const reads = openReads(options, observe);
  const opened = [main, ...named.values(), ...(listener === null ? [] : [listener]), ...(reads?.databases ?? [])];
  const notifyDatabase = once(() => {
    if (tenant !== null) return main;
    const database = openMain({ ...options, ...singleConnection }, observe);
    opened.push(database);
    return database;
  });
  const probes = once(() => {
    const databases = openProbes(options);
    opened.push(...databases.values());
    return databases;
  });
  const selectListener = (connection: string | null): Database => {
    if (connection === null && listener !== null) return listener;
    if (options.pooler !== 'session') throw listenConnectionError(['listen']);
    return connection === null ? main : named.get(connection)!;
  };
  const { connectionProvider } = options;
  return {
    main,
    named,
    plans: choosesPlans(options) ? new PlanChoices() : null,
    replicas: reads?.replicas ?? null,
    provide: connectionProvider === null ? null : createProvide(connectionProvider, options),
    providedSettings:
      connectionProvider === null ? [] : Object.entries(baseSettings(databaseOptions(options, observe))),
    listen: (channel, receive, connection = null) => selectListener(connection).listen(channel, receive),
    notifyDatabase,
    all: () => new Map<string | null, Database>([[null, main], ...named]),
    probes,
    close: async () => {
      reads?.replicas.close();
      await Promise.all(opened.map((database) => database.close()));
    },
  };
}

/** A pooler gives each transaction another session, so that a session cannot keep its plan mode. */
function choosesPlans({ planCacheMode, pooler, preparedStatements }: ResolvedOptions): boolean {
  return planCacheMode === 'measured' && pooler === 'session' && preparedStatements;
}

function once<Result>(create: () => Result): () => Result {
  let result: Result | undefined;
  return () => (result ??= create());
}

function openMain(options: ResolvedOptions, observe: Observer): Database {
  if (options.dataSource !== null) return connectDataSource(options.dataSource, databaseOptions(options, observe));
  if (typeof options.connectionString === 'string') return open({ text: options.connectionString, options, observe });
  throw new OptionsError('no connection string; pass one such as postgres://user:password@localhost:5432/database');
}

/** The pool keeps no connection open that is not used: other tenants may need it. */
function openTenant({ settings, limit }: TenantDatabase, options: ResolvedOptions, observe: Observer): Database {
  const { minPoolSize: _, ...unused } = settings;
  return connectDatabase(unused, {
    ...databaseOptions({ ...options, minPoolSize: 0 }, observe),
    connectionLimit: limit,
  });
}

/** The limits of pools besides those of the requests. They keep no connection open that is not used. */
const singleConnection = { poolSize: 1, minPoolSize: 0, processes: 1 } as const;

/** A failure is the result of a probe, so it is not observed as well. */
function openProbes(options: ResolvedOptions): ReadonlyMap<string | null, Database> {
  const single = { ...options, ...singleConnection };
  const ignore = (): void => undefined;
  const named = Object.entries(options.connectionStrings).map(([name, text]) => {
    return [name, open({ text, name, options: single, observe: ignore })] as const;
  });
  return new Map<string | null, Database>([[null, openMain(single, ignore)], ...named]);
}

/** Opens the read replicas. Failures of checks are states of their replicas, so they are not observed as well. */
function openReads(options: ResolvedOptions, observe: Observer): ReadReplicas | null {
  const single = { ...options, ...singleConnection };
  return openReadReplicas({
    options,
    observe,
    openPrimary: () => openMain(single, () => undefined),
    open: (settings, limits, onConnectionError) =>
      connectDatabase(settings, {
        ...databaseOptions(limits === 'single' ? single : options, observe),
        onConnectionError,
      }),
  });
}

/** LISTEN needs a session, which a pooler in transaction mode does not provide. */
function openListener(options: ResolvedOptions, observe: Observer): Database | null {
  const { listenConnectionString, refreshOnNotify, cacheInvalidateChannel, pooler, authentication, events } = options;
  if (listenConnectionString !== null) {
    return open({ text: listenConnectionString, options: { ...options, minPoolSize: 0, pooler: 'session' }, observe });
  }
  if (pooler === 'session') return null;
  const consumers = [
    ...(refreshOnNotify === null ? [] : ['refreshOnNotify']),
    ...(cacheInvalidateChannel === null ? [] : ['cacheInvalidateChannel']),
    ...((authentication.sessions?.channel ?? null) === null ? [] : ['authentication.sessions.channel']),
    ...(events.broadcast === 'postgres' ? ['events.broadcast'] : []),
  ];
  if (consumers.length === 0) return null;
  throw listenConnectionError(consumers);
}

function listenConnectionError(consumers: readonly string[]): StartError {
  return new OptionsError(
    `${consumers.join(' and ')} behind a pooler needs listenConnectionString; set it to a connection string of the server itself`,
  );
}

interface DatabaseInput {
  readonly text: string;
  readonly name?: string;
  readonly options: ResolvedOptions;
  readonly observe: Observer;
}

function open({ text, name, options, observe }: DatabaseInput): Database {
  try {
    return connectDatabase(connectionSettings(text, name), databaseOptions(options, observe, name));
  } catch (error) {
    const { message } = toStartError(error);
    throw new OptionsError(name === undefined ? message : `connection "${name}": ${message}`, { cause: error });
  }
}

/** The application name of a named connection is its name, as shown in `pg_stat_activity`. */
function connectionSettings(text: string, name: string | undefined): ConnectionSettings {
  const settings = parseConnectionString(text);
  return name === undefined ? settings : { ...settings, applicationName: settings.applicationName ?? name };
}

function databaseOptions(options: ResolvedOptions, observe: Observer, name: string | null = null): DatabaseOptions {
  const { beforeConnectionOpen } = options;
  return {
    ...options,
    connectionLifetime: milliseconds(options.connectionLifetime),
    connectionIdleLifetime: milliseconds(options.connectionIdleLifetime),
    acquireTimeout: options.acquireTimeout * 1_000,
    planCacheMode: options.planCacheMode === 'measured' ? 'auto' : options.planCacheMode,
    statementTimeout: milliseconds(options.commandTimeout),
    ...(beforeConnectionOpen === null
      ? {}
      : { beforeOpen: (configuration) => beforeConnectionOpen(configuration, name) }),
    onNotice: () => undefined,
    onConnectionError: (error) => observe({ kind: 'connection-failed', connection: name, error }),
  };
}

function milliseconds(seconds: number | null): number | null {
  return seconds === null ? null : seconds * 1_000;
}

function createProvide(
  provider: ConnectionProvider,
  { acquireTimeout }: ResolvedOptions,
): NonNullable<Connections['provide']> {
  return async (request, endpoint) => {
    const provided = await provider(request, endpoint);
    if (provided === null || provided === undefined) return null;
    const release = (error?: Error): void => provided.release?.(error instanceof ConnectionLost ? error : undefined);
    try {
      const { client } = provided;
      const runner = createClientRunner(client, acquireTimeout * 1_000);
      return {
        ...releaseAfterCall(runner, release),
        begin: (transaction) =>
          beginOnClient({ client, runner, release: (error) => void catchError(() => release(error)) }, transaction),
      };
    } catch (error) {
      release(error as Error);
      throw error;
    }
  };
}

/** Releases the provided connection after a call. An error of `release` fails the request. */
function releaseAfterCall(runner: Runner, release: (error?: Error) => void): ExclusiveRunner {
  const releaseOnFailure = (call: Call): Call => ({
    ...call,
    failed: (error) => call.failed(catchError(() => release(error)) ?? error),
  });
  return {
    withoutRelease: { run: (call) => runner.run(releaseOnFailure(call)) },
    run: (call) =>
      runner.run({
        ...releaseOnFailure(call),
        done: (elapsed, left) => {
          const failure = catchError(release);
          if (failure === null) call.done(elapsed, left);
          else call.failed(failure);
        },
      }),
  };
}

function catchError(act: () => void): Error | null {
  try {
    act();
    return null;
  } catch (error) {
    return toError(error);
  }
}
