/** What several gateways share through Redis or Valkey: cached responses, rate limits, and messages about events and refreshes. */
export { redisBroadcast, type RedisBroadcastOptions } from './broadcast.ts';
export { redisCache, type RedisCacheOptions } from './cache.ts';
export { redisRateLimits, type RedisRateLimitsOptions } from './rate-limits.ts';
