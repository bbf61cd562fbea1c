/** The state of a gateway for health checks, as plain data. Reading it calls no database. */
import type { PoolStatistics } from '../postgres/port.ts';
import type { GatewayCache } from './open-cache.ts';
import type { Connections } from './connections.ts';
import type { Events } from './open-events.ts';

/** The state of the services of a gateway. An error text of null: the service works. */
export interface Health {
  /** The broadcast to other instances of the gateway. */
  readonly broadcast: string | null;
  /** The response cache. Requests continue without it. */
  readonly cache: string | null;
  /** The connection pools: the main one first, then those of the named connections. */
  readonly pools: readonly PoolHealth[];
  readonly catalog: CatalogHealth;
}

export interface PoolHealth extends PoolStatistics {
  /** The name of the connection; null for the main one. */
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

interface HealthSources {
  readonly connections: Connections;
  readonly cache: GatewayCache;
  readonly events: Events;
}

export function readHealth({ connections, cache, events }: HealthSources, catalog: CatalogHealth): Health {
  return {
    broadcast: events.broadcast.health(),
    cache: cache.health(),
    pools: [...connections.all()].map(([connection, database]) => ({ connection, ...database.statistics() })),
    catalog,
  };
}

/** Queries each database once, on a connection that requests do not use. */
export function probeDatabases(connections: Connections, timeoutMs: number): Promise<readonly DatabaseProbe[]> {
  const probes = [...connections.probes()].map(async ([connection, database]): Promise<DatabaseProbe> => {
    const begin = performance.now();
    const error = await database.query('select 1', [], { timeout: timeoutMs }).then(
      () => null,
      (reason: unknown) => (reason instanceof Error ? reason.message : String(reason)),
    );
    return { connection, milliseconds: performance.now() - begin, error };
  });
  return Promise.all(probes);
}

/** Records when endpoints were loaded and why a load failed. */
export class CatalogState {
  #loadedAt = new Date();
  #refreshError: string | null = null;

  /** Runs a load of the endpoints, and records its result. */
  async record(load: () => Promise<void>): Promise<void> {
    try {
      await load();
      this.#loadedAt = new Date();
      this.#refreshError = null;
    } catch (error) {
      this.#refreshError = error instanceof Error ? error.message : String(error);
      throw error;
    }
  }

  read(endpoints: number): CatalogHealth {
    return { loadedAt: this.#loadedAt, endpoints, refreshError: this.#refreshError };
  }
}
