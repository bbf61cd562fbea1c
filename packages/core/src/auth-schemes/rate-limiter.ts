import type { RateLimiter } from '../ports/ports.ts';
import { networkOf } from './client-network.ts';

export interface RateLimitOptions {
  /** Requests of an address in a window. Default 20. */
  readonly perAddress?: number;
  /** Seconds. Default 60. */
  readonly window?: number;
  /** How many addresses are remembered; the longest untouched are forgotten first. Default 10,000. */
  readonly capacity?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

interface Bucket {
  /** Requests that are left. */
  readonly tokens: number;
  /** When that was so. */
  readonly at: number;
}

/**
 * Limits the requests of each client address by a token bucket: so many at once, and then evenly over the window. Addresses of one
 * IPv6 network are one. A request whose address is not known is not limited.
 */
export function rateLimiter(options: RateLimitOptions = {}): RateLimiter {
  const { perAddress = 20, window = 60, capacity = 10_000, now = Date.now } = options;
  const buckets = new Map<string, Bucket>();
  /** Milliseconds for one request. */
  const interval = (window * 1000) / perAddress;
  const take = (network: string): number => {
    const time = now();
    const { tokens, at } = buckets.get(network) ?? { tokens: perAddress, at: time };
    const left = Math.min(perAddress, tokens + Math.max(0, time - at) / interval);
    const allowed = left >= 1;
    // The order of the map is the order of use: the first is the one that makes room.
    buckets.delete(network);
    buckets.set(network, { tokens: allowed ? left - 1 : left, at: time });
    if (buckets.size > capacity) buckets.delete(buckets.keys().next().value!);
    return allowed ? 0 : (1 - left) * interval;
  };
  return Object.freeze({
    take: (address: string | null): ReturnType<RateLimiter['take']> => {
      const wait = address === null ? 0 : take(networkOf(address));
      return wait === 0 ? { ok: true } : { ok: false, retryAfter: Math.ceil(wait / 1000) };
    },
  });
}
