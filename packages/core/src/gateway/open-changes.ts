import { ChangeEngine } from '../changes/change-engine.ts';
import { toFailure } from '../changes/group-lookup.ts';
import { explainReaderError } from '../changes/preconditions/explain-reader-error.ts';
import type { TableName } from '../catalog/table-name.ts';
import { publicationName } from '../changes/preconditions/log-facts.ts';
import type { ChangeFeed, ChangeListener, ChangeStatistics } from '../ports/changes.ts';
import type { Observer } from '../ports/ports.ts';
import { connectDatabase } from '../postgres/connect-database.ts';
import { type ConnectionSettings, parseConnectionString } from '../postgres/connection-string.ts';
import type { Database } from '../postgres/port.ts';
import { openChangeReader } from '../postgres/replication/change-reader.ts';
import { ChangesChecks } from './changes-checks.ts';
import { type Connections, openConnections, type TenantDatabase } from './connections.ts';
import { type GatewayOptions, type ResolvedOptions, resolveOptions } from './options/options.ts';
import { OptionsError } from './start-error.ts';

/** The changes of rows in the main database. The log is read as soon as something needs it. */
export interface Changes {
  /**
   * Returns the feed, and starts to read the log; null: nothing needs it. Checks what the tables need.
   * @param tables those whose changes are streamed
   * @throws StartError without a connection string
   */
  feed(tables: readonly TableName[]): ChangeFeed | null;
  /**
   * Returns the feed for other tables than those of endpoints, and starts to read the log.
   * @throws StartError without a connection string
   */
  open(): ChangeFeed;
  /** Sets what is called when a query does not fit the database any more. */
  onStale(reload: () => void): void;
  /** Null while nothing needs the log. */
  statistics(): ChangeStatistics | null;
  close(): Promise<void>;
}

/** Changed keys of a transaction, beyond which its changes are not looked up. */
const maxKeys = 50_000;
/** Milliseconds that a cut may take, and that a snapshot holds back VACUUM. */
const maxAgeMs = 10_000;
const lookupTimeoutMs = 5_000;
/** Bytes of the changes that are kept for clients that reconnect. */
const replayBytes = 16 * 1024 * 1024;
/** Connections for snapshots: those of two cuts, the next one, and more while rows are read slowly. */
const holderCount = 6;

/** Null: there are no tenants. */
type TenantParts = { readonly database: TenantDatabase } | null;

export function openChanges(
  options: ResolvedOptions,
  { main }: Pick<Connections, 'main'>,
  observe: Observer,
  tenant: TenantParts,
): Changes {
  const provided = tenant === null ? options.changes.feed : null;
  if (provided !== null) return shareChanges(provided);
  let opened: OpenedChanges | null = null;
  let reload = (): void => undefined;
  const open = (): OpenedChanges => openEngine(options, { main, tenant, observe, onStale: () => reload() });
  return {
    feed: (tables) => {
      if (opened === null && tables.length > 0) opened = open();
      opened?.checks.update(tables);
      return opened?.engine ?? null;
    },
    open: () => (opened ??= open()).engine,
    onStale: (listener) => {
      reload = listener;
    },
    statistics: () => opened?.engine.statistics() ?? null,
    close: async () => {
      if (opened !== null) await closeEngine(opened);
    },
  };
}

interface OpenedChanges {
  readonly engine: ChangeEngine;
  readonly holders: Database;
  readonly checks: ChangesChecks;
}

interface EngineParts {
  readonly main: Database;
  readonly tenant: TenantParts;
  readonly observe: Observer;
  readonly onStale: () => void;
}

/** Starts to read the log. */
function openEngine(options: ResolvedOptions, { main, tenant, observe, onStale }: EngineParts): OpenedChanges {
  // No synchronous standby has this name: commits never wait for the reader.
  const connection = { ...selectConnection(options, tenant), applicationName: 'pgway changes' };
  const holders = openHolders(connection, observe);
  let serverVersion = 0;
  const checks: ChangesChecks = new ChangesChecks({
    database: holders,
    observe,
    isReading: () => engine.statistics().isOpen,
    isUsed: () => engine.statistics().subscribers > 0,
  });
  const engine: ChangeEngine = new ChangeEngine({
    openReader: async (events, signal) => {
      const [row] = await holders.query(`select pg_catalog.current_setting('server_version_num')`);
      serverVersion = Math.trunc(Number(row![0]) / 10_000);
      return openChangeReader({
        connection,
        publication: publicationName,
        maxKeys,
        signal,
        onTransaction: (transaction) => events.onTransaction(transaction),
        onFailure: (error) => events.onFailure(error),
      });
    },
    publication: publicationName,
    holders,
    lookups: main,
    serverVersion: () => serverVersion,
    windowMs: options.changes.window * 1_000,
    maxAgeMs,
    lookupTimeoutMs,
    maxKeys,
    replay: { ageMs: options.changes.replaySeconds * 1_000, bytes: replayBytes },
    report: ({ unavailable }) => {
      if (unavailable !== null) void checks.check();
      observe(
        unavailable === null
          ? { kind: 'changes-available' }
          : { kind: 'changes-unavailable', error: unavailable, reason: explainReaderError(unavailable) },
      );
    },
    findObstacle: (relation) => checks.find(relation),
    onStale,
  });
  engine.start();
  return { engine, holders, checks };
}

async function closeEngine({ checks, engine, holders }: OpenedChanges): Promise<void> {
  checks.close();
  await engine.close();
  await holders.close();
}

/** Returns the changes that another process reads. */
function shareChanges(feed: ChangeFeed): Changes {
  let reload = (): void => undefined;
  const shared: ChangeFeed = {
    subscribe: async (request, listener) => {
      const receiver: ChangeListener = {
        message: (message) => listener.message(message),
        ended: (reason) => {
          if (reason === 'schema-changed') reload();
          listener.ended(reason);
        },
      };
      try {
        return await feed.subscribe(request, receiver);
      } catch (error) {
        const failure = toFailure(error);
        if (failure.kind === 'end' && failure.reason === 'schema-changed') reload();
        throw error;
      }
    },
    watchTables: (tables, listener) => feed.watchTables(tables, listener),
    statistics: () => feed.statistics(),
    close: () => feed.close(),
  };
  let isUsed = false;
  return {
    feed: (tables) => {
      isUsed ||= tables.length > 0;
      return isUsed ? shared : null;
    },
    open: () => {
      isUsed = true;
      return shared;
    },
    onStale: (listener) => {
      reload = listener;
    },
    statistics: () => (isUsed ? feed.statistics() : null),
    close: () => feed.close(),
  };
}

/**
 * Reads the changes of the main database in a process without a gateway, for the gateways of other processes.
 * @throws OptionsError
 */
export function openChangeFeed(options: GatewayOptions): ChangeFeed {
  const resolved = resolveOptions(options);
  const observe: Observer = (observation) => resolved.observer?.(observation);
  const connections = openConnections(resolved, observe);
  const { main } = connections;
  const opened = openEngine(resolved, { main, tenant: null, observe, onStale: () => undefined });
  return {
    subscribe: (request, listener) => opened.engine.subscribe(request, listener),
    watchTables: (tables, listener) => opened.engine.watchTables(tables, listener),
    statistics: () => opened.engine.statistics(),
    close: async () => {
      await closeEngine(opened);
      await connections.close();
    },
  };
}

/** The log needs a session of the server itself. */
function selectConnection(options: ResolvedOptions, tenant: TenantParts): ConnectionSettings {
  if (tenant !== null) return tenant.database.settings;
  const { changes, listenConnectionString, connectionString } = options;
  const text = changes.connectionString ?? listenConnectionString ?? connectionString;
  if (typeof text === 'string') return parseConnectionString(text);
  throw new OptionsError(
    'the annotation changes needs changes.connectionString; set it to a connection string of the server, as the data source cannot read its log',
  );
}

function openHolders(connection: ConnectionSettings, observe: Observer): Database {
  return connectDatabase(connection, {
    poolSize: holderCount,
    minPoolSize: 0,
    acquireTimeout: maxAgeMs,
    statementTimeout: maxAgeMs,
    shareConnections: false,
    // PostgreSQL prefers custom plans for the array of tables, and would plan the query of their definitions for each snapshot.
    planCacheMode: 'force_generic_plan',
    pooler: 'session',
    preparedStatements: true,
    onNotice: () => undefined,
    onConnectionError: (error) => observe({ kind: 'connection-failed', connection: null, error }),
  });
}
