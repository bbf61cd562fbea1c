import { addPlanStatistics, noPlanStatistics, type PlanStatistics } from '../../request/plans/plan-statistics.ts';
import type { Health, Statistics, TenantsHealth } from '../health.ts';

/** The pools, caches and streams of several tenants together. */
export type TenantCounters = Pick<Statistics, 'events'> & {
  readonly cache: Omit<Statistics['cache'], 'size'>;
  readonly plans: PlanStatistics;
  readonly pool: Omit<Statistics['pools'][number], 'connection'>;
};

/** The state of all tenants. */
export interface TenantStatistics {
  readonly counters: TenantCounters;
  /** Tenants of the configuration and of the list. */
  readonly known: number;
  /** Tenants whose databases are connected. */
  readonly open: number;
  /** Tenants whose databases could not be used, until the next attempt. */
  readonly unavailable: number;
  /** Versions of the schema among the tenants in use. */
  readonly schemaVersions: number;
  readonly maxConnections: number;
}

export const noStatistics: TenantCounters = Object.freeze({
  pool: { size: 0, open: 0, idle: 0, waiting: 0, maxWaiting: 0, acquireTimeouts: 0, waits: 0, waitMs: 0 },
  cache: { hits: 0, misses: 0, shared: 0 },
  events: { open: 0, opened: 0, messages: 0, dropped: 0 },
  plans: noPlanStatistics,
});

/** @param isClosed adds the counters since the start only, not what is open now */
export function addStatistics(
  sum: TenantCounters,
  { pools: [pool], cache, events, plans = noPlanStatistics }: Statistics,
  isClosed = false,
): TenantCounters {
  const { size, open, idle, waiting, maxWaiting, acquireTimeouts, waits, waitMs } = pool!;
  const counters = { acquireTimeouts, waits, waitMs };
  const added = isClosed ? counters : { size, open, idle, waiting, maxWaiting, ...counters };
  return {
    pool: add(sum.pool, added),
    cache: add(sum.cache, { hits: cache.hits, misses: cache.misses, shared: cache.shared }),
    events: add(sum.events, isClosed ? { ...events, open: 0 } : events),
    plans: addPlanStatistics(sum.plans, isClosed ? { ...plans, endpoints: [] } : plans),
  };
}

function add<Sums extends Readonly<Record<keyof Sums, number>>>(sums: Sums, added: Partial<Sums>): Sums {
  const names = Object.keys(sums) as (keyof Sums)[];
  return Object.fromEntries(names.map((name) => [name, sums[name] + (added[name] ?? 0)])) as Sums;
}

/** Adds the tenants to the state of the gateway's own database. The pools of all tenants are one, with the name `tenants`. */
export function withTenantHealth(health: Health, tenants: TenantStatistics | null): Health {
  if (tenants === null) return health;
  const { waits: _waits, waitMs: _waitMs, ...pool } = toPool(tenants);
  return { ...health, pools: [...health.pools, pool], tenants: toTenantsHealth(tenants) };
}

/** Adds the counters of all tenants to those of the gateway's own database. */
export function withTenantStatistics(statistics: Statistics, tenants: TenantStatistics | null): Statistics {
  if (tenants === null) return statistics;
  const { cache, events, plans } = tenants.counters;
  return {
    ...statistics,
    pools: [...statistics.pools, toPool(tenants)],
    cache: { ...add(cache, statistics.cache), size: statistics.cache.size },
    events: add(events, statistics.events),
    ...(statistics.plans === undefined ? {} : { plans: addPlanStatistics(plans, statistics.plans) }),
    tenants: toTenantsHealth(tenants),
  };
}

function toPool({ counters: { pool }, maxConnections }: TenantStatistics): Statistics['pools'][number] {
  return { connection: 'tenants', ...pool, size: maxConnections };
}

function toTenantsHealth({ known, open, unavailable, schemaVersions }: TenantStatistics): TenantsHealth {
  return { known, open, unavailable, schemaVersions };
}
