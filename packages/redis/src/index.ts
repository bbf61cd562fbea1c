/** What several gateways share through Redis or Valkey: cached responses, rate limits, and messages about events and refreshes. */
export { redisBroadcast } from './broadcast.ts';
export { redisCache } from './cache.ts';
export type { RedisBroadcastOptions, RedisCacheOptions, RedisRateLimitsOptions } from './options.ts';
export { redisRateLimits } from './rate-limits.ts';
