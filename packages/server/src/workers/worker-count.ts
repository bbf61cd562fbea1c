import { configuredPoolSize } from '@pgway/core/internal';
import type { Configuration } from '../config/schema.ts';
import { isProduction } from '../authentication-options.ts';

/** Connections of a worker, so that an upload or a long call leaves one for other requests. */
const minPoolSize = 2;

export interface WorkerCount {
  /** 1: the server runs in this process. */
  readonly count: number;
  /** Why there are fewer than configured; null: there are not. */
  readonly warning: string | null;
}

/**
 * Returns the number of worker processes: as configured, but at least two database connections for each.
 * @param cores available to this process
 * @throws StartError for an invalid connection string
 */
export function countWorkers(configuration: Configuration, cores: number): WorkerCount {
  const { connectionString, gateway } = configuration;
  const wanted = wantedWorkers(configuration, cores);
  const poolSize = configuredPoolSize(connectionString ?? embeddedConnection, gateway.poolSize);
  const possible = Math.max(1, Math.floor(poolSize / minPoolSize));
  if (wanted <= possible) return { count: wanted, warning: null };
  const workers = possible === 1 ? '1 worker' : `${possible} workers`;
  return {
    count: possible,
    warning: `${workers} instead of ${wanted}: a pool of ${poolSize} connections has no ${minPoolSize} for each; raise gateway.poolSize to ${wanted * minPoolSize}, or lower workers`,
  };
}

/** Without a pool size. */
const embeddedConnection = 'postgres://localhost/postgres';

function wantedWorkers(configuration: Configuration, cores: number): number {
  const workers = configuration.workers ?? (isProduction(configuration) ? 'auto' : 1);
  return workers === 'auto' ? cores : workers;
}

/** Returns the configuration of one of the workers: its share of the limits that are totals. The pool divides itself. */
export function workerConfiguration(configuration: Configuration, workers: number): Configuration {
  const share = (total: number): number => Math.ceil(total / workers);
  const { limits, gateway } = configuration;
  return {
    ...configuration,
    limits: { ...limits, maxConnections: share(limits.maxConnections) },
    gateway: { ...gateway, maxCacheSize: share(gateway.maxCacheSize) },
  };
}
