/** The services that the workers share through the primary process, as options of the gateway. */
import type { ChangeFeed } from '@pgway/core/internal';
import {
  type Cache,
  type CacheState,
  type GatewayOptions,
  type KeyStorage,
  type LoginRateLimiter,
  memoryCache,
  Problem,
  type RateLimitDecision,
  type RateLimiter,
  type RateLimitResult,
  type RateLimitStore,
  type SessionStore,
  type StoredKey,
} from '@pgway/core';
import type { Configuration } from '../config/schema.ts';
import { maxCacheEntries } from '../cache-limits.ts';
import { workerBroadcast } from './broadcast.ts';
import { workerChanges } from './worker-changes.ts';
import { type Channel, type ChannelError, ChannelFullError } from './channel.ts';
import { MessageQueue } from './message-queue.ts';
import {
  answerTimeouts,
  type CompletedLogin,
  type RateLimitUse,
  type RefreshTokenUse,
  type SessionEnd,
  toPrimary,
  toWorker,
} from './topics.ts';

type Authentication = NonNullable<GatewayOptions['authentication']>;

export interface SharedServices {
  readonly authentication: Pick<Authentication, 'loginRateLimit' | 'hashRateLimit' | 'wrapSessions'>;
  /** Null: the configuration has its own storage. */
  readonly keys: KeyStorage | null;
  /** Null: the configuration shares the cache, or has none. */
  readonly cache: Cache | null;
  /** Null: the configuration has its own store. */
  readonly rateLimits: RateLimitStore | null;
  /** Null: the configuration has its own broadcast. */
  readonly broadcast: NonNullable<NonNullable<GatewayOptions['events']>['broadcast']> | null;
  readonly changes: ChangeFeed;
  /** The number of workers, which share the pools. */
  readonly processes: number;
}

/** Opens the services. */
export async function openSharedServices(
  channel: Channel,
  configuration: Configuration,
  { processes, leads }: { readonly processes: number; readonly leads: () => boolean },
): Promise<SharedServices> {
  const { dataProtection, events, redisRateLimits } = configuration;
  const storesKeys = dataProtection.folder !== null || dataProtection.readCommand !== null;
  return {
    authentication: {
      loginRateLimit: sharedLoginRateLimiter(channel),
      hashRateLimit: sharedHashRateLimiter(channel),
      wrapSessions: await shareSessions(channel, configuration.sessions),
    },
    keys: storesKeys ? null : sharedKeys(channel),
    cache: sharesCache(configuration) ? shareCache(channel, configuration.gateway) : null,
    rateLimits: redisRateLimits.url === null ? sharedRateLimits(channel) : null,
    broadcast: events.broadcast === 'local' ? workerBroadcast(channel) : null,
    changes: workerChanges(channel, leads),
    processes,
  };
}

function sharedKeys(channel: Channel): KeyStorage {
  return {
    read: () => channel.ask<readonly StoredKey[]>(toPrimary.readKeys, null, answerTimeouts.primary),
    write: (id, text) => channel.ask<void>(toPrimary.writeKey, { id, text }, answerTimeouts.primary),
    warning: () => channel.ask<string | null>(toPrimary.keyWarning, null, answerTimeouts.primary),
  };
}

/** Refuses the attempt when the primary is too busy to count it. */
const busy: RateLimitResult = { ok: false, retryAfter: 1 };

function sharedLoginRateLimiter(channel: Channel): LoginRateLimiter {
  const completed = new MessageQueue<CompletedLogin>(channel, toPrimary.completeLogins);
  let last = 0;
  return {
    consume: (attempt) =>
      channel.ask<RateLimitResult>(toPrimary.consumeLogin, attempt, answerTimeouts.primary).catch(() => busy),
    complete: (attempt, outcome) => completed.push(String(++last), { attempt, outcome }),
  };
}

function sharedHashRateLimiter(channel: Channel): RateLimiter {
  return {
    consume: (address) =>
      channel.ask<RateLimitResult>(toPrimary.consumeHash, address, answerTimeouts.primary).catch(() => busy),
  };
}

function sharedRateLimits(channel: Channel): RateLimitStore {
  let lastPermit = 0;
  const released = new MessageQueue<string>(channel, toPrimary.releaseRateLimits);
  return {
    acquire: async (policy, key) => {
      const use: RateLimitUse = { permit: String(++lastPermit), policy, key };
      try {
        return await channel.ask<RateLimitDecision | null>(toPrimary.acquireRateLimit, use, answerTimeouts.primary);
      } catch (error) {
        // The primary may have counted the request, or may count it later.
        if (policy.type === 'concurrency' && !(error instanceof ChannelFullError))
          released.push(use.permit, use.permit);
        return null;
      }
    },
    release: (_policy, _key, permit) => released.push(permit, permit),
    close: () => undefined,
  };
}

/** Returns a function that lets a session store know which sessions other workers have ended, those before its start included. */
async function shareSessions(
  channel: Channel,
  { checkCommand, refreshCommand }: Configuration['sessions'],
): Promise<(own: SessionStore) => SessionStore> {
  const isStored = checkCommand !== null;
  let early: SessionEnd[] = [];
  // Each tenant has a store for the sessions of its database.
  const stores: SessionStore[] = [];
  const receive = (end: SessionEnd): void => {
    if (stores.length === 0) early.push(end);
    for (const store of stores) {
      if (isStored) store.invalidate(end.session);
      else void store.end(end.session, end.expires);
    }
  };
  channel.handle<readonly SessionEnd[]>(toWorker.sessionsEnded, (ends) => ends.forEach(receive));
  const ends = new MessageQueue<SessionEnd>(channel, toPrimary.endSessions);
  // Sessions that are stored are checked in the database.
  if (!isStored) early.push(...(await channel.ask<readonly SessionEnd[]>(toPrimary.endedSessions, null, 30_000)));
  return (own) => {
    stores.push(own);
    early.forEach(receive);
    early = [];
    return {
      warnings: own.warnings,
      begin: (session) => own.begin(session),
      isAlive: (session) => own.isAlive(session),
      invalidate: (session) => own.invalidate(session),
      invalidateAll: () => own.invalidateAll(),
      end: async (session, expires) => {
        await own.end(session, expires);
        const end: SessionEnd = { session, expires };
        try {
          await channel.ask(toPrimary.endSessions, [end], answerTimeouts.primary);
        } catch (error) {
          // A repeated logout has no caller: the session has ended in this worker.
          if (error instanceof ChannelFullError) ends.push(session, end);
          throw sessionsUnavailable(error, 'The session has ended, but not yet in each process of this server.');
        }
      },
      useRefreshToken: (session, generation, expires) => {
        if (isStored && refreshCommand !== null) return own.useRefreshToken(session, generation, expires);
        const use: RefreshTokenUse = { session, generation, expires };
        return channel.ask<boolean>(toPrimary.useRefreshToken, use, answerTimeouts.primary).catch((error: unknown) => {
          throw sessionsUnavailable(
            error,
            'Repeat the request. If the refresh token is refused then, it was used by this request: log in again.',
          );
        });
      },
    };
  };
}

/** The primary process is too busy to answer. */
function sessionsUnavailable(cause: unknown, detail: string): Problem {
  return new Problem('sessions-unavailable', {
    status: 503,
    title: 'The sessions of this server cannot be reached now',
    detail,
    headers: ['retry-after', '1'],
    cause,
  });
}

/** Redis and a channel of NOTIFY invalidate the caches of all instances themselves. */
function sharesCache({ gateway, redisCache }: Configuration): boolean {
  return gateway.cacheEnabled && redisCache.url === null && gateway.cacheInvalidateChannel === null;
}

/** Creates a cache of this worker whose invalidations reach all workers before the response of the call. */
function shareCache(channel: Channel, options: Configuration['gateway']): Cache {
  const cache = memoryCache({
    maxEntries: maxCacheEntries(options),
    maxSize: options.maxCacheSize,
    pruneInterval: options.cachePruneIntervalMin * 60_000,
  });
  channel.handle<readonly string[]>(toWorker.invalidateCache, (routines) => cache.invalidate(routines));
  const unsent = new MessageQueue<string>(channel, toPrimary.invalidateCache);
  let report: (state: CacheState) => void = () => undefined;
  let isUnavailable = false;
  const reportFailure = (unavailable: Error | null): void => {
    if (isUnavailable === (unavailable !== null)) return;
    isUnavailable = unavailable !== null;
    report({ unavailable } as CacheState);
  };
  return {
    open: (listener) => {
      report = listener;
      return Promise.resolve();
    },
    get: (key) => cache.get(key),
    set: (key, response, how) => cache.set(key, response, how),
    invalidate: async (routines, scope) => {
      await cache.invalidate(routines);
      if (scope === 'process') return;
      try {
        await channel.ask(toPrimary.invalidateCache, routines, answerTimeouts.primary);
        reportFailure(null);
      } catch (error) {
        // The primary process receives a question that it did not answer in time later.
        if (error instanceof ChannelFullError) for (const routine of routines) unsent.push(routine, routine);
        reportFailure(error as ChannelError);
      }
    },
    statistics: () => cache.statistics!(),
    close: () => cache.close(),
  };
}
