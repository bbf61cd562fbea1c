import { type GatewayOptions, redisCache } from '@pgway/core';
import type { Configuration } from './config/schema.ts';

/** The section `cache` as options of the gateway. */
export function cacheOptions({ cache }: Configuration): Partial<GatewayOptions> {
  const { redisUrl: url, redisPrefix: prefix, redisTimeout: timeout, redisMaxAge: maxAge } = cache;
  return {
    cacheEnabled: cache.enabled,
    maxCacheableRows: cache.maxRows,
    maxCacheableSize: cache.maxAnswerSize,
    maxCacheEntries: cache.maxEntries,
    maxCacheSize: cache.maxSize,
    cachePruneIntervalMin: cache.pruneIntervalMin,
    cacheInvalidateChannel: cache.invalidateChannel,
    ...(url === null || !cache.enabled ? {} : { defaultRoutineCache: redisCache({ url, prefix, timeout, maxAge }) }),
  };
}
