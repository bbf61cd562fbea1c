import type { RateLimitsOptions } from '@pgway/core';
import { redisRateLimits } from '@pgway/redis';
import type { Configuration } from './config/schema.ts';

/** Returns the rate limits, with their store in Redis if it is configured. */
export function rateLimitOptions({
  name,
  rateLimits,
  redisRateLimits: { url },
}: Configuration): Partial<RateLimitsOptions> {
  const isUsed = url !== null && Object.keys(rateLimits.policies).length > 0;
  return { ...rateLimits, ...(isUsed ? { store: redisRateLimits({ prefix: name, url }) } : {}) };
}
