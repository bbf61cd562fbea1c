import type { RateLimiter, RateLimitResult } from '../ports/ports.ts';
import { clientNetwork } from './client-network.ts';

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

interface Bucket {
  readonly tokens: number;
  readonly updatedAt: number;
}

/**
 * Limits the requests of each client address by a token bucket: a burst, then evenly over the window. The addresses of an IPv6 /64
 * share one bucket. Requests from an unknown address are not limited.
 */
export function rateLimiter(options: RateLimitOptions = {}): LocalRateLimiter {
  const { perAddress = 20, window = 60, capacity = 10_000, now = Date.now } = options;
  /** In the order of use, the least recently used first. */
  const buckets = new Map<string, Bucket>();
  const millisecondsPerToken = (window * 1000) / perAddress;
  /** Takes a token, or returns the milliseconds until there is one. */
  const take = (network: string): number => {
    const time = now();
    const { tokens, updatedAt } = buckets.get(network) ?? { tokens: perAddress, updatedAt: time };
    const available = Math.min(perAddress, tokens + Math.max(0, time - updatedAt) / millisecondsPerToken);
    const allowed = available >= 1;
    buckets.delete(network);
    buckets.set(network, { tokens: allowed ? available - 1 : available, updatedAt: time });
    if (buckets.size > capacity) buckets.delete(buckets.keys().next().value!);
    return allowed ? 0 : (1 - available) * millisecondsPerToken;
  };
  return Object.freeze({
    consume: (address: string | null): RateLimitResult => {
      const wait = address === null ? 0 : take(clientNetwork(address));
      return wait === 0 ? { ok: true } : { ok: false, retryAfter: Math.ceil(wait / 1000) };
    },
  });
}
