/** The state of a gateway for health checks and metrics, as plain data. Reading it calls no database. */
import type { PoolStatistics, ReplicaStatistics } from '../postgres/port.ts';
import type { StreamStatistics } from '../events/event-streams.ts';
import type { CacheUse, GatewayCache } from './open-cache.ts';
import type { Connections } from './connections.ts';
import type { Changes } from './open-changes.ts';
import type { Events } from './open-events.ts';
import type { ChangeStatistics } from '../ports/changes.ts';
import type { PlanStatistics } from '../request/plans/plan-statistics.ts';
import type { RateLimits } from './open-rate-limits.ts';
import { toError } from '../to-error.ts';

export type { CacheUse, PlanStatistics, StreamStatistics };

/** The state of the services of a gateway. An error text of null: the service works. */
export interface Health {
  /** The broadcast to other instances of the gateway. */
  readonly broadcast: string | null;
  /** The response cache. Requests continue without it. */
  readonly cache: string | null;
  /** The store of rate limits. */
  readonly rateLimits: string | null;
  /** The connection pools: the main one first, then those of the named connections. */
  readonly pools: readonly PoolHealth[];
  /** The read replicas; empty: there are none. */
  readonly replicas: readonly ReplicaHealth[];
  readonly catalog: CatalogHealth;
  /** Absent without tenants. */
  readonly tenants?: TenantsHealth;
}

/** The tenants of a gateway. */
export interface TenantsHealth {
  /** Tenants of the configuration and of the list. */
  readonly known: number;
  /** Tenants whose databases are connected. */
  readonly open: number;
  /** Tenants whose databases could not be used at the last attempt. */
  readonly unavailable: number;
  /** Versions of the schema among the tenants in use. */
  readonly schemaVersions: number;
}

/** The state of a read replica. */
export type ReplicaHealth = Pick<ReplicaStatistics, 'replica' | 'unusableReason' | 'lagMs'>;

export interface PoolHealth extends Omit<PoolStatistics, 'waits' | 'waitMs'> {
  /** The name of the connection; null for the main one, `tenants` for those of all tenants. */
  readonly connection: string | null;
}

export interface CatalogHealth {
  /** When the endpoints in use were loaded. */
  readonly loadedAt: Date;
  /** The number of endpoints. */
  readonly endpoints: number;
  /** Why the last refresh failed; null when it succeeded. After a failed refresh the old endpoints stay. */
  readonly refreshError: string | null;
}

/** The result of a query on a separate connection. */
export interface DatabaseProbe {
  /** The name of the connection; null for the main one. */
  readonly connection: string | null;
  readonly milliseconds: number;
  /** Why the database did not answer; null when it did. */
  readonly error: string | null;
}

/** Counters since the start, for metrics. */
export interface Statistics {
  readonly pools: readonly (PoolHealth & PoolStatistics)[];
  readonly reads: ReadStatistics;
  readonly cache: CacheUse;
  readonly events: StreamStatistics;
  /** Absent unless an endpoint has changes. */
  readonly changes?: ChangeStatistics;
  readonly rateLimits: readonly RateLimitStatistics[];
  readonly catalog: CatalogStatistics;
  /** Absent unless plans are chosen by measurement (`planCacheMode`). */
  readonly plans?: PlanStatistics;
  /** Absent without tenants. */
  readonly tenants?: TenantsHealth;
}

/** The distribution of reads between the primary and its replicas. */
export interface ReadStatistics {
  readonly replicas: readonly ReplicaStatistics[];
  /** Reads that ran on the primary because no replica was usable or recent enough. */
  readonly readsOnPrimary: number;
}

export interface RateLimitStatistics {
  readonly policy: string;
  /** Requests beyond the limit. */
  readonly refused: number;
}

interface HealthSources {
  readonly connections: Connections;
  readonly cache: GatewayCache;
  readonly events: Events;
  readonly changes: Changes;
  readonly rateLimits: RateLimits;
}

export function readHealth({ connections, cache, events, rateLimits }: HealthSources, catalog: CatalogHealth): Health {
  return {
    broadcast: events.broadcast.health(),
    cache: cache.health(),
    rateLimits: rateLimits.health(),
    pools: poolStatistics(connections).map(({ waits: _waits, waitMs: _waitMs, ...pool }) => pool),
    replicas: replicaStatistics(connections).map(({ replica, unusableReason, lagMs }) => ({
      replica,
      unusableReason,
      lagMs,
    })),
    catalog,
  };
}

export function readStatistics(
  { connections, cache, events, changes, rateLimits }: HealthSources,
  catalog: CatalogState,
): Statistics {
  const changeStatistics = changes.statistics();
  return {
    pools: poolStatistics(connections),
    reads: {
      replicas: replicaStatistics(connections),
      readsOnPrimary: connections.replicas?.readsOnPrimary ?? 0,
    },
    cache: cache.counts(),
    events: events.streams.statistics(),
    ...(changeStatistics === null ? {} : { changes: changeStatistics }),
    rateLimits: [...rateLimits.byName].map(([policy, { counts }]) => ({ policy, refused: counts.refused })),
    catalog: catalog.statistics,
    ...(connections.plans === null ? {} : { plans: connections.plans.statistics() }),
  };
}

function poolStatistics(connections: Connections): Statistics['pools'] {
  const replicas = (connections.replicas?.all ?? []).map(
    ({ name, database }) => [`replica ${name}`, database] as const,
  );
  return [...connections.all(), ...replicas].map(([connection, database]) => ({
    connection,
    ...database.statistics(),
  }));
}

function replicaStatistics({ replicas }: Connections): readonly ReplicaStatistics[] {
  return (replicas?.all ?? []).map((replica) => replica.statistics());
}

/** Queries each database once, on a connection that requests do not use. */
export function probeDatabases(connections: Connections, timeoutMs: number): Promise<readonly DatabaseProbe[]> {
  const probes = [...connections.probes()].map(async ([connection, database]): Promise<DatabaseProbe> => {
    const begin = performance.now();
    const error = await database.query('select 1', [], { timeout: timeoutMs }).then(
      () => null,
      (reason: unknown) => toError(reason).message,
    );
    return { connection, milliseconds: performance.now() - begin, error };
  });
  return Promise.all(probes);
}

/** Loads of the endpoints. */
export interface CatalogStatistics {
  /** Loads that succeeded, the first one included. */
  readonly loads: number;
  readonly failedLoads: number;
  /** Milliseconds that the last load took. */
  readonly lastLoadMs: number;
}

/** Records when endpoints were loaded and why a load failed. */
export class CatalogState {
  #loadedAt = new Date();
  #refreshError: string | null = null;
  #statistics: CatalogStatistics = { loads: 0, failedLoads: 0, lastLoadMs: 0 };

  /** Runs a load of the endpoints, and records its result. */
  async record(load: () => Promise<void>): Promise<void> {
    const begin = performance.now();
    try {
      await load();
      this.#count('loads', begin);
      this.#loadedAt = new Date();
      this.#refreshError = null;
    } catch (error) {
      this.#count('failedLoads', begin);
      this.#refreshError = toError(error).message;
      throw error;
    }
  }

  get statistics(): CatalogStatistics {
    return this.#statistics;
  }

  #count(result: 'loads' | 'failedLoads', begin: number): void {
    const lastLoadMs = performance.now() - begin;
    this.#statistics = { ...this.#statistics, [result]: this.#statistics[result] + 1, lastLoadMs };
  }

  read(endpoints: number): CatalogHealth {
    return { loadedAt: this.#loadedAt, endpoints, refreshError: this.#refreshError };
  }
}
