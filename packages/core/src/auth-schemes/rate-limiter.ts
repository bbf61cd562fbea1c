import type { RateLimiter, RateLimitResult } from '../ports/ports.ts';
import { clientNetwork } from '../http/client-network.ts';
import { TokenBucket } from '../rate-limits/token-bucket.ts';

export interface RateLimitOptions {
  /** Requests of an address in a window. Default 20. */
  readonly perAddress?: number;
  /** Seconds. Default 60. */
  readonly window?: number;
  /** The maximum number of addresses; beyond it the least recently used one is evicted. Default 10,000. */
  readonly capacity?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** A rate limiter in the memory of this process. */
export interface LocalRateLimiter extends RateLimiter {
  consume(address: string | null): RateLimitResult;
}

/**
 * Limits the requests of each client address by a token bucket: a burst, then evenly over the window. The addresses of an IPv6 /64
 * share one bucket. Requests from an unknown address are not limited.
 */
export function rateLimiter(options: RateLimitOptions = {}): LocalRateLimiter {
  const { perAddress = 20, window = 60, capacity = 10_000, now = Date.now } = options;
  const buckets = new TokenBucket({ limit: perAddress, windowMs: window * 1000, maxKeys: capacity, now });
  return Object.freeze({
    consume: (address: string | null): RateLimitResult => {
      if (address === null) return { ok: true };
      const { allowed, resetMs } = buckets.take(clientNetwork(address));
      return allowed ? { ok: true } : { ok: false, retryAfter: Math.ceil(resetMs / 1000) };
    },
  });
}
