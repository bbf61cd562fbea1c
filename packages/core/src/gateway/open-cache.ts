import type { Connections } from './connections.ts';
import { arrayLiteral } from '../postgres/literal.ts';
import type { Step } from '../postgres/port.ts';
import type { ResolvedOptions } from './options/options.ts';
import type { CacheCounts, ResponseCache } from '../request/cache/cached-execution.ts';
import type { Invalidation } from '../request/execution.ts';
import type { Cache, CacheState, CacheStatistics, Observer } from '../ports/ports.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { type RoutineIndex, indexRoutines, findRoutineNames } from '../endpoints/cache-policy.ts';
import { GuardedCache } from '../cache/guarded-cache.ts';
import { VersionTimes } from '../request/cache/version-times.ts';
import type { Changes } from './open-changes.ts';
import { TableFollower } from './table-follower.ts';
import { MemoryCache } from '../cache/memory-cache.ts';
import { StartError } from './start-error.ts';
import { toError } from '../to-error.ts';

/** The response cache of a gateway. Refreshes keep it. */
export interface GatewayCache {
  /** The cache, which tenants share. */
  readonly store: Cache;
  /** Null: responses are not cached. */
  readonly responses: ResponseCache | null;
  readonly invalidation: Invalidation;
  /** Takes the endpoints just loaded. A refresh invalidates all their responses, as the body of a routine may have changed. */
  update(endpoints: readonly Endpoint[]): Promise<void>;
  counts(): CacheUse;
  /** Null while the cache works; otherwise the reason why it does not. */
  health(): string | null;
  close(): Promise<void>;
}

/** The use of the response cache since the start, and its size; null: its entries are not in this process. */
export interface CacheUse extends Readonly<CacheCounts> {
  readonly size: CacheStatistics | null;
}

const notifySql =
  'select pg_catalog.pg_notify($1::pg_catalog.text, routine_name) from pg_catalog.unnest($2::pg_catalog.text[]) routine_name';

/**
 * Opens the cache, and listens to the invalidation channel.
 * @throws StartError for a cache that cannot work, or a channel that cannot be listened to
 */
export async function openCache(
  options: ResolvedOptions,
  { connections, changes }: { readonly connections: Connections; readonly changes: Changes },
  observe: Observer,
): Promise<GatewayCache> {
  const { cacheInvalidateChannel: channel, maxCacheableRows, maxCacheableSize } = options;
  const store = options.defaultRoutineCache ?? createMemoryCache(options);
  const cache = options.defaultRoutineCache === null ? store : new GuardedCache(store);
  // The memory cache has the responses of one gateway. The store opens after the query, which may fail and run again.
  const scope = options.defaultRoutineCache === null ? '' : await identifyDatabase(connections);
  let failure: string | null = null;
  await openStore(cache, ({ unavailable: error }) => {
    failure = error === null ? null : error.message;
    observe(error === null ? { kind: 'cache-available' } : { kind: 'cache-unavailable', error });
  });
  const invalidator = new Invalidator(cache);
  const stop = channel === null ? (): void => undefined : listen(channel, connections, invalidator);
  const counts: CacheCounts = { hits: 0, misses: 0, shared: 0 };
  const isEnabled = options.cacheEnabled && options.connectionProvider === null;
  const follower = new TableFollower(changes, cache, observe);
  return {
    store: cache,
    responses: isEnabled
      ? {
          cache,
          scope,
          sizeLimit: { rows: maxCacheableRows, bytes: maxCacheableSize },
          inFlight: new Map(),
          counts,
          isFollowed: (routine, tables) => follower.isCurrent(routine, tables),
          versionTimes: connections.replicas === null ? null : new VersionTimes(),
        }
      : null,
    invalidation: {
      step: ({ connection, invalidates }) =>
        channel === null || connection !== null ? null : notifyStep(channel, invalidates),
      done: ({ connection, invalidates }) => {
        const local = cache.invalidate(invalidates);
        if (channel === null || connection === null) return local;
        // The call ran in a named database; the channel is one of the main database.
        const notified = notify(connections, channel, invalidates).catch((error: Error) => {
          observe({ kind: 'connection-failed', connection: null, error });
        });
        return Promise.all([local, notified]).then(() => undefined);
      },
    },
    update: async (endpoints) => {
      warnOfProvider(endpoints, options, observe);
      // Changes that are reported during the invalidation concern the responses of new endpoints, too.
      if (isEnabled) follower.update(endpoints);
      await invalidator.update(endpoints);
    },
    counts: () => ({ ...counts, size: store.statistics?.() ?? null }),
    health: () => failure,
    close: async () => {
      stop();
      follower.close();
      await cache.close();
    },
  };
}

function createMemoryCache({ maxCacheEntries, maxCacheSize, cachePruneIntervalMin }: ResolvedOptions): Cache {
  return new MemoryCache({
    maxEntries: maxCacheEntries,
    maxSize: maxCacheSize,
    // The longest delay of a timer in Node.js.
    pruneInterval: Math.min(2_147_483_647, cachePruneIntervalMin * 60_000),
  });
}

/** Returns a text that identifies the database, as gateways of different databases may share a cache by mistake. */
async function identifyDatabase({ main }: Connections): Promise<string> {
  const [row] = await main.query('select pg_catalog.current_database()');
  // Some servers restrict this function.
  const [server] = await main
    .query('select system_identifier from pg_catalog.pg_control_system()')
    .catch(() => [] as readonly (readonly (string | null)[])[]);
  return JSON.stringify([row?.[0], server?.[0]]);
}

async function openStore(cache: Cache, report: (state: CacheState) => void): Promise<void> {
  try {
    await cache.open?.(report);
  } catch (error) {
    throw new StartError(`defaultRoutineCache: ${toError(error).message}`, {
      cause: error,
    });
  }
}

/** Invalidates responses by the names of their routines. */
class Invalidator {
  readonly #cache: Cache;
  #index: RoutineIndex = new Map();
  /** The routines with cached responses, as `schema.name`; null until the first load. */
  #routines: readonly string[] | null = null;
  /** Whether a notification arrived before the first load. */
  #missed = false;

  constructor(cache: Cache) {
    this.#cache = cache;
  }

  /** The first load invalidates nothing: responses that other instances have stored may be valid. */
  async update(endpoints: readonly Endpoint[]): Promise<void> {
    const previous = this.#routines;
    const cached = endpoints.filter(({ cache }) => cache !== null);
    this.#index = indexRoutines(cached);
    this.#routines = [...new Set(cached.map(({ schema, name }) => `${schema}.${name}`))];
    if (previous === null && !this.#missed) return;
    await this.#cache.invalidate([...new Set([...(previous ?? []), ...this.#routines])]);
  }

  /** Invalidates the routines that a notification names; all for an empty payload. Unknown names are ignored. */
  receive(payload: string): void {
    if (this.#routines === null) this.#missed = true;
    const names =
      payload.trim() === ''
        ? (this.#routines ?? [])
        : payload.split(',').flatMap((name) => findRoutineNames(this.#index, name));
    if (names.length > 0) void this.#cache.invalidate(names);
  }
}

/** A gap may have lost any notification, so it invalidates everything. */
function listen(channel: string, connections: Connections, invalidator: Invalidator): () => void {
  try {
    return connections.listen(channel, (event) => invalidator.receive(event.kind === 'gap' ? '' : event.payload));
  } catch (error) {
    throw new StartError(`cacheInvalidateChannel: ${(error as Error).message}`, { cause: error });
  }
}

/** PostgreSQL delivers the notification when the transaction commits. */
function notifyStep(channel: string, names: readonly string[]): Step {
  return { statement: { name: 'pgway_invalidate', sql: notifySql }, values: [channel, arrayLiteral(names)] };
}

async function notify({ main }: Connections, channel: string, names: readonly string[]): Promise<void> {
  await main.query(notifySql, [channel, arrayLiteral(names)]);
}

/** A provided connection may lead to any database, and into an uncommitted transaction. */
function warnOfProvider(
  endpoints: readonly Endpoint[],
  { connectionProvider }: ResolvedOptions,
  observe: Observer,
): void {
  if (connectionProvider === null || endpoints.every(({ cache }) => cache === null)) return;
  const message =
    'responses are not cached with a connectionProvider, as each request may use another database; remove the cached annotations or the option';
  observe({ kind: 'start-warning', code: 'cache-disabled', message });
}
