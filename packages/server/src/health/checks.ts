/** The health checks of the server: which parts work, and whether requests can be served. */
import type { DatabaseProbe, Gateway, Health, PoolHealth, ReplicaHealth } from '@pgway/core';
import type { Configuration } from '../config/schema.ts';
import type { healthChecks } from '../config/schema/health.ts';
import { redactText } from '../log/redact.ts';
import { DatabaseProbes } from './database-probes.ts';

export type CheckName = (typeof healthChecks)[number];

export interface Check {
  readonly name: CheckName;
  readonly isOk: boolean;
  /** For callers that may see internals. Contains no secrets. */
  readonly details: Readonly<Record<string, unknown>>;
}

export interface HealthReport {
  /** `degraded`: a check fails that is not required; `failed`: a required one. */
  readonly status: 'ok' | 'degraded' | 'failed' | 'stopping';
  readonly checks: readonly Check[];
}

/** The processes that serve requests. */
export interface WorkerCounts {
  readonly running: number;
  readonly configured: number;
}

/** The time that the database has to answer `select 1`, which fits into the default second of probes of Kubernetes. */
const probeTimeoutMs = 1000;

/** Runs the checks. The database is queried at most once a second. */
export class HealthChecks {
  readonly #configuration: Configuration;
  readonly #gateway: Gateway;
  readonly #probes: DatabaseProbes;
  readonly #workers: (() => WorkerCounts) | null;

  /** @param workers null: there is one process */
  constructor(configuration: Configuration, gateway: Gateway, workers: (() => WorkerCounts) | null) {
    this.#workers = workers;
    this.#configuration = configuration;
    this.#gateway = gateway;
    this.#probes = new DatabaseProbes(() => gateway.probeDatabases(probeTimeoutMs));
  }

  /** @param isStopping whether the shutdown has begun */
  async run(isStopping: boolean): Promise<HealthReport> {
    const probes = await this.#probes.read();
    const health = this.#gateway.health();
    const checks = [
      ...databaseChecks(probes),
      ...replicasCheck(health.replicas),
      poolCheck(health.pools),
      catalogCheck(health),
      ...sharedServices(health, this.#configuration),
      ...(this.#workers === null ? [] : [workersCheck(this.#workers())]),
    ];
    return { status: isStopping ? 'stopping' : this.#status(checks), checks };
  }

  #status(checks: readonly Check[]): HealthReport['status'] {
    const failed = checks.filter(({ isOk }) => !isOk);
    if (failed.length === 0) return 'ok';
    const { required } = this.#configuration.health;
    return failed.some(({ name }) => required.includes(name)) ? 'failed' : 'degraded';
  }
}

function databaseChecks(probes: readonly DatabaseProbe[]): readonly Check[] {
  const named = probes.filter(({ connection }) => connection !== null);
  return [
    ...probes.filter(({ connection }) => connection === null).map((probe) => toCheck('database', [probe])),
    ...(named.length === 0 ? [] : [toCheck('connections', named)]),
  ];
}

function toCheck(name: CheckName, probes: readonly DatabaseProbe[]): Check {
  const results = probes.map(({ connection, milliseconds, error }) => ({
    ...(connection === null ? {} : { connection }),
    milliseconds: Math.round(milliseconds * 10) / 10,
    ...reason(error),
  }));
  const isOk = probes.every(({ error }) => error === null);
  return { name, isOk, details: name === 'database' ? results[0]! : { connections: results } };
}

/** Without a usable replica, reads run on the primary. */
function replicasCheck(replicas: readonly ReplicaHealth[]): readonly Check[] {
  if (replicas.length === 0) return [];
  const results = replicas.map(({ replica, unusableReason, lagMs }) => ({
    replica,
    lagMilliseconds: lagMs === null ? null : Math.round(lagMs),
    ...reason(unusableReason),
  }));
  const isOk = replicas.some(({ unusableReason }) => unusableReason === null);
  return [{ name: 'replicas', isOk, details: { replicas: results } }];
}

/** A pool is saturated when no further call may wait for a connection. */
function poolCheck(pools: readonly PoolHealth[]): Check {
  return { name: 'pool', isOk: pools.every(({ waiting, maxWaiting }) => waiting < maxWaiting), details: { pools } };
}

function catalogCheck({ catalog }: Health): Check {
  const { loadedAt, endpoints, refreshError } = catalog;
  return {
    name: 'catalog',
    isOk: refreshError === null,
    details: {
      loadedAt: loadedAt.toISOString(),
      ageSeconds: Math.round((Date.now() - loadedAt.getTime()) / 1000),
      endpoints,
      ...reason(refreshError),
    },
  };
}

/** A worker that has exited is replaced; meanwhile the others serve. */
function workersCheck({ running, configured }: WorkerCounts): Check {
  return { name: 'workers', isOk: running >= configured, details: { running, configured } };
}

/** Only services that the configuration shares with other instances can be lost. */
function sharedServices(
  health: Health,
  { gateway, redisCache, events, rateLimits, redisRateLimits }: Configuration,
): readonly Check[] {
  const check = (name: CheckName, error: string | null): Check => ({
    name,
    isOk: error === null,
    details: reason(error),
  });
  return [
    ...(gateway.cacheEnabled && redisCache.url !== null ? [check('cache', health.cache)] : []),
    ...(events.broadcast === 'local' ? [] : [check('broadcast', health.broadcast)]),
    ...(redisRateLimits.url === null || Object.keys(rateLimits.policies).length === 0
      ? []
      : [check('rateLimits', health.rateLimits)]),
  ];
}

function reason(error: string | null): { readonly error?: string } {
  return error === null ? {} : { error: redactText(error) };
}
