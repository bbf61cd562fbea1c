import type { RateLimiter, RateLimitResult } from '../ports/ports.ts';
import { clientNetwork } from '../http/client-network.ts';
import { TokenBucket } from '../rate-limits/token-bucket.ts';
import { withDefaults } from '../validation/option.ts';
import { hashRateLimitOptions, type RateLimitOptions } from './options.ts';

/** A rate limiter in the memory of this process. */
export interface LocalRateLimiter extends RateLimiter {
  consume(address: string | null): RateLimitResult;
}

/**
 * Creates a limiter of the requests of each client address by a token bucket: a burst, then evenly over the window. The addresses of an IPv6 /64
 * share one bucket. Requests from an unknown address are not limited.
 */
export function rateLimiter(options: RateLimitOptions = {}): LocalRateLimiter {
  const {
    perAddress,
    window,
    capacity,
    now = Date.now,
  } = withDefaults<RateLimitOptions, 'now'>(hashRateLimitOptions, options);
  const buckets = new TokenBucket({ limit: perAddress, windowMs: window * 1000, maxKeys: capacity, now });
  return Object.freeze({
    consume: (address: string | null): RateLimitResult => {
      if (address === null) return { ok: true };
      const { allowed, resetMs } = buckets.take(clientNetwork(address));
      return allowed ? { ok: true } : { ok: false, retryAfter: Math.ceil(resetMs / 1000) };
    },
  });
}
