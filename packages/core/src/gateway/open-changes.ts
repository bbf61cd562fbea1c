import { ChangeEngine } from '../changes/change-engine.ts';
import type { ChangeFeed, ChangeStatistics } from '../ports/changes.ts';
import type { Observer } from '../ports/ports.ts';
import { connectDatabase } from '../postgres/connect-database.ts';
import { type ConnectionSettings, parseConnectionString } from '../postgres/connection-string.ts';
import type { Database } from '../postgres/port.ts';
import { openChangeReader } from '../postgres/replication/change-reader.ts';
import type { Connections, TenantDatabase } from './connections.ts';
import type { ResolvedOptions } from './options/options.ts';
import { OptionsError } from './start-error.ts';

/** The changes of rows in the main database. The log is read as soon as something needs it. */
export interface Changes {
  /**
   * Returns the feed, and starts to read the log; null: nothing needs it.
   * @throws StartError without a connection string
   */
  feed(isNeeded: boolean): ChangeFeed | null;
  /** Sets what is called when a query does not fit the database any more. */
  onStale(reload: () => void): void;
  /** Null while nothing needs the log. */
  statistics(): ChangeStatistics | null;
  close(): Promise<void>;
}

/** The publication that `pgway install changes` creates. */
export const publication = 'pgway_changes';

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
  let opened: { readonly engine: ChangeEngine; readonly holders: Database } | null = null;
  let reload = (): void => undefined;
  const open = (): NonNullable<typeof opened> => {
    const connection = selectConnection(options, tenant);
    const holders = openHolders(connection, observe);
    let serverVersion = 0;
    const engine = new ChangeEngine({
      openReader: async (events, signal) => {
        const [row] = await holders.query(`select pg_catalog.current_setting('server_version_num')`);
        serverVersion = Math.trunc(Number(row![0]) / 10_000);
        return openChangeReader({
          connection,
          publication,
          maxKeys,
          signal,
          onTransaction: (transaction) => events.onTransaction(transaction),
          onFailure: (error) => events.onFailure(error),
        });
      },
      publication,
      holders,
      lookups: main,
      serverVersion: () => serverVersion,
      windowMs: options.changes.window * 1_000,
      maxAgeMs,
      lookupTimeoutMs,
      maxKeys,
      replay: { ageMs: options.changes.replaySeconds * 1_000, bytes: replayBytes },
      report: ({ unavailable }) =>
        observe(
          unavailable === null ? { kind: 'changes-available' } : { kind: 'changes-unavailable', error: unavailable },
        ),
      onStale: () => reload(),
    });
    engine.start();
    return { engine, holders };
  };
  return {
    feed: (isNeeded) => {
      if (opened === null && isNeeded) opened = open();
      return opened?.engine ?? null;
    },
    onStale: (listener) => {
      reload = listener;
    },
    statistics: () => opened?.engine.statistics() ?? null,
    close: async () => {
      await opened?.engine.close();
      await opened?.holders.close();
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
  return connectDatabase(
    { ...connection, applicationName: 'pgway changes' },
    {
      poolSize: holderCount,
      minPoolSize: 0,
      acquireTimeout: maxAgeMs,
      statementTimeout: maxAgeMs,
      shareConnections: false,
      planCacheMode: 'auto',
      pooler: 'session',
      preparedStatements: true,
      onNotice: () => undefined,
      onConnectionError: (error) => observe({ kind: 'connection-failed', connection: null, error }),
    },
  );
}
