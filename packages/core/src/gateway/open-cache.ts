import type { Connections } from './connections.ts';
import { arrayLiteral } from '../postgres/literal.ts';
import type { Step } from '../postgres/port.ts';
import type { ResolvedOptions } from './options/options.ts';
import type { ResponseCache } from '../request/cache/cached-execution.ts';
import type { Invalidation } from '../request/execute.ts';
import type { Cache, Observer } from '../ports/ports.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { type RoutineIndex, indexRoutines, findRoutineNames } from '../endpoints/cache-policy.ts';
import { MemoryCache } from '../cache/memory-cache.ts';
import { StartError } from './start-error.ts';

/** Kept answers of one gateway: lives as long as it does, through all readings of the catalog. */
export interface GatewayCache {
  /** Null: nothing is kept. */
  readonly keeping: ResponseCache | null;
  readonly invalidation: Invalidation;
  /** These are the endpoints now. What is kept of any is void: what they do may have changed too, and nobody can see that. */
  published(endpoints: readonly Endpoint[]): Promise<void>;
  close(): Promise<void>;
}

const notifySql =
  'select pg_catalog.pg_notify($1::pg_catalog.text, one) from pg_catalog.unnest($2::pg_catalog.text[]) one';

/**
 * Opens what keeps answers, and listens for what makes them void.
 * @throws StartError for a cache that can never work, or a channel that nobody can listen to
 */
export async function openCache(
  options: ResolvedOptions,
  connections: Connections,
  observe: Observer,
): Promise<GatewayCache> {
  const { cacheInvalidateChannel: channel, maxCacheableRows, maxCacheableSize } = options;
  const cache = options.defaultRoutineCache ?? memoryOf(options);
  await openStore(cache, observe);
  // In memory there are answers of one gateway only.
  const scope = options.defaultRoutineCache === null ? '' : await databaseOf(connections);
  const voiding = new Voiding(cache);
  const stop = channel === null ? (): void => undefined : listen(channel, connections, voiding);
  const usable = options.cacheEnabled && options.connectionProvider === null;
  return {
    keeping: usable
      ? { cache, scope, sizeLimit: { rows: maxCacheableRows, bytes: maxCacheableSize }, inFlight: new Map() }
      : null,
    invalidation: {
      step: ({ connection, invalidates }) =>
        channel === null || connection !== null ? null : notifying(channel, invalidates),
      done: ({ connection, invalidates }) => {
        const local = cache.invalidate(invalidates);
        if (channel === null || connection === null) return local;
        // Another database notifies nobody here.
        const told = tell(connections, channel, invalidates).catch((error: Error) => {
          observe({ kind: 'connection-failed', connection: null, error });
        });
        return Promise.all([local, told]).then(() => undefined);
      },
    },
    published: async (endpoints) => {
      warnOfProvider(endpoints, options, observe);
      await voiding.published(endpoints);
    },
    close: async () => {
      stop();
      await cache.close();
    },
  };
}

function memoryOf({ maxCacheEntries, maxCacheSize, cachePruneIntervalMin }: ResolvedOptions): Cache {
  return new MemoryCache({
    maxEntries: maxCacheEntries,
    maxSize: maxCacheSize,
    // What a timer can wait for.
    pruneInterval: Math.min(2_147_483_647, cachePruneIntervalMin * 60_000),
  });
}

/** Gateways before several databases may by mistake keep their answers in one place. */
async function databaseOf({ main }: Connections): Promise<string> {
  const [row] = await main.query('select pg_catalog.current_database()');
  // Not every server lets everybody ask.
  const [server] = await main
    .query('select system_identifier from pg_catalog.pg_control_system()')
    .catch(() => [] as readonly (readonly (string | null)[])[]);
  return JSON.stringify([row?.[0], server?.[0]]);
}

async function openStore(cache: Cache, observe: Observer): Promise<void> {
  try {
    await cache.open?.(({ unavailable: away }) =>
      observe(away === null ? { kind: 'cache-available' } : { kind: 'cache-unavailable', error: away }),
    );
  } catch (error) {
    throw new StartError(`defaultRoutineCache: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

/** Makes answers void by the names that somebody gives to their routines. */
class Voiding {
  readonly #cache: Cache;
  #known: RoutineIndex = new Map();
  #all: readonly string[] | null = null;
  /** Something may have been made void before anybody knew what there is. */
  #missed = false;

  constructor(cache: Cache) {
    this.#cache = cache;
  }

  /** The first reading makes nothing void: what others have kept may still hold. */
  async published(endpoints: readonly Endpoint[]): Promise<void> {
    const before = this.#all;
    const cached = endpoints.filter(({ cache }) => cache !== null);
    this.#known = indexRoutines(cached);
    this.#all = [...new Set(cached.map(({ schema, name }) => `${schema}.${name}`))];
    if (before !== null || this.#missed) await this.#cache.invalidate([...new Set([...(before ?? []), ...this.#all])]);
  }

  /** What is told of names that mean nothing here is for others. */
  told(payload: string): void {
    if (this.#all === null) this.#missed = true;
    const names =
      payload.trim() === ''
        ? (this.#all ?? [])
        : payload.split(',').flatMap((name) => findRoutineNames(this.#known, name));
    if (names.length > 0) void this.#cache.invalidate(names);
  }
}

/** While nobody listens, anything may have been made void. */
function listen(channel: string, connections: Connections, voiding: Voiding): () => void {
  try {
    return connections.listen(channel, (heard) => voiding.told(heard.kind === 'gap' ? '' : heard.payload));
  } catch (error) {
    throw new StartError(`cacheInvalidateChannel: ${(error as Error).message}`, { cause: error });
  }
}

/** Delivered when the transaction commits, and not at all when it does not. */
function notifying(channel: string, names: readonly string[]): Step {
  return { statement: { name: 'pgway_invalidate', sql: notifySql }, values: [channel, arrayLiteral(names)] };
}

async function tell({ main }: Connections, channel: string, names: readonly string[]): Promise<void> {
  await main.query(notifySql, [channel, arrayLiteral(names)]);
}

/** Which database a connection of the host's leads to, and what is in its transaction, nobody here knows. */
function warnOfProvider(
  endpoints: readonly Endpoint[],
  { connectionProvider }: ResolvedOptions,
  observe: Observer,
): void {
  if (connectionProvider === null || endpoints.every(({ cache }) => cache === null)) return;
  const message = 'with a connectionProvider nothing is cached: each request may be for another database';
  observe({ kind: 'start-warning', code: 'cache-disabled', message });
}
