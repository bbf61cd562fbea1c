import type { RateLimitPolicyOptions, RateLimitsOptions } from '@pgway/core';
import { redisRateLimits } from '@pgway/redis';
import type { Configuration } from './config/schema.ts';

/** Returns the rate limits, with their store in Redis if it is configured. */
export function rateLimitOptions(configuration: Configuration): Partial<RateLimitsOptions> {
  const { policies, ...options } = configuration.rateLimits;
  const { url, ...redis } = configuration.redisRateLimits;
  const entries = Object.entries(policies);
  return {
    ...options,
    policies: Object.fromEntries(entries.map(([name, policy]) => [name, toPolicyOptions(policy)])),
    ...(url === null || entries.length === 0 ? {} : { store: redisRateLimits({ ...redis, url }) }),
  };
}

type PolicySettings = Configuration['rateLimits']['policies'][string];

function toPolicyOptions({ window, header, ...policy }: PolicySettings): RateLimitPolicyOptions {
  return { ...policy, ...(window === undefined ? {} : { window }), ...(header === undefined ? {} : { header }) };
}
