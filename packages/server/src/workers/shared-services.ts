/** What a worker shares with the others through the primary process, as options of the gateway. */
import {
  type Cache,
  type GatewayOptions,
  type KeyStorage,
  type LoginRateLimiter,
  memoryCache,
  type RateLimitDecision,
  type RateLimiter,
  type RateLimitResult,
  type RateLimitStore,
  type SessionStore,
  type StoredKey,
} from '@pgway/core';
import type { Configuration } from '../config/schema.ts';
import { workerBroadcast } from './broadcast.ts';
import { type Channel, ChannelFullError } from './channel.ts';
import {
  answerTimeouts,
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
  /** The number of workers, which share the pools. */
  readonly processes: number;
}

/** Opens the services. */
export async function openSharedServices(
  channel: Channel,
  configuration: Configuration,
  processes: number,
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
  return {
    consume: (attempt) =>
      channel.ask<RateLimitResult>(toPrimary.consumeLogin, attempt, answerTimeouts.primary).catch(() => busy),
    complete: (attempt, outcome) => void channel.tell(toPrimary.completeLogin, { attempt, outcome }),
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
  let released: string[] = [];
  const sendReleased = (): void => {
    if (released.length > 0 && channel.tell(toPrimary.releaseRateLimits, released)) released = [];
  };
  const release = (permit: string): void => {
    released.push(permit);
    sendReleased();
  };
  return {
    acquire: async (policy, key) => {
      // Releases that a full channel has refused.
      sendReleased();
      const use: RateLimitUse = { permit: String(++lastPermit), policy, key };
      try {
        return await channel.ask<RateLimitDecision | null>(toPrimary.acquireRateLimit, use, answerTimeouts.primary);
      } catch (error) {
        // The primary may have counted the request, or may count it later.
        if (policy.type === 'concurrency' && !(error instanceof ChannelFullError)) release(use.permit);
        return null;
      }
    },
    release: (_policy, _key, permit) => release(permit),
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
  let receive = (end: SessionEnd): void => void early.push(end);
  channel.handle<SessionEnd>(toWorker.sessionEnded, (end) => receive(end));
  // Sessions that are stored are checked in the database.
  if (!isStored) early.push(...(await channel.ask<readonly SessionEnd[]>(toPrimary.endedSessions, null, 30_000)));
  return (own) => {
    receive = ({ session, expires }) => {
      if (isStored) own.invalidate(session);
      else void own.end(session, expires);
    };
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
        await channel.ask(toPrimary.endSession, { session, expires }, answerTimeouts.primary);
      },
      useRefreshToken: (session, generation, expires) => {
        if (isStored && refreshCommand !== null) return own.useRefreshToken(session, generation, expires);
        const use: RefreshTokenUse = { session, generation, expires };
        return channel.ask<boolean>(toPrimary.useRefreshToken, use, answerTimeouts.primary);
      },
    };
  };
}

/** Redis and a channel of NOTIFY invalidate the caches of all instances themselves. */
function sharesCache({ gateway, redisCache }: Configuration): boolean {
  return gateway.cacheEnabled && redisCache.url === null && gateway.cacheInvalidateChannel === null;
}

/** Creates a cache of this worker whose invalidations reach all workers before the response of the call. */
function shareCache(channel: Channel, options: Configuration['gateway']): Cache {
  const cache = memoryCache({
    maxEntries: options.maxCacheEntries,
    maxSize: options.maxCacheSize,
    pruneInterval: options.cachePruneIntervalMin * 60_000,
  });
  channel.handle<readonly string[]>(toWorker.invalidateCache, (routines) => cache.invalidate(routines));
  return {
    get: (key) => cache.get(key),
    set: (key, response, how) => cache.set(key, response, how),
    invalidate: async (routines) => {
      await cache.invalidate(routines);
      await channel.ask(toPrimary.invalidateCache, routines, answerTimeouts.primary);
    },
    statistics: () => cache.statistics!(),
    close: () => cache.close(),
  };
}
