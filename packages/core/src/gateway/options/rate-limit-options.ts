import type { RateLimitPolicy, RateLimitStore } from '../../ports/rate-limit-store.ts';

/** A limit of the requests of endpoints. */
export interface RateLimitPolicyOptions {
  /**
   * - `fixed-window`: `limit` requests in a window that begins with the first one
   * - `sliding-window`: `limit` requests in any window
   * - `token-bucket`: `limit` requests at once, which come back evenly over the window
   * - `concurrency`: `limit` requests at a time
   */
  readonly type: RateLimitPolicy['type'];
  readonly limit: number;
  /** Whole seconds, at most 86,400. Default 60. Not for `concurrency`. */
  readonly window?: number;
  /**
   * The property that requests are counted by. An IPv6 address counts by its /64; list proxies in `trustedProxies`. Anonymous callers count by their
   * address, and so do requests without the header. Default `address`.
   */
  readonly partitionBy?: 'address' | 'user' | 'header' | 'none';
  /** The request header, with `partitionBy` `header`. Clients can send any value. */
  readonly header?: string | null;
}

/** Rate limits of endpoints. */
export interface RateLimitsOptions {
  /** The policies, by the names that comments select with `rate_limit <policy>`. Endpoints with one policy count together. */
  readonly policies: Readonly<Record<string, RateLimitPolicyOptions>>;
  /** The policy of endpoints whose comment has no `rate_limit`; null: none. */
  readonly defaultPolicy: string | null;
  /** Counts the requests. The gateway opens and closes it. Null: memory of this process. */
  readonly store: RateLimitStore | null;
  /** The maximum number of keys (addresses, users, header values) of each policy in memory. Default 100,000. */
  readonly maxKeys: number;
  /** Whether requests pass or get a 503 while the store is unavailable. Default `allow`. */
  readonly whenUnavailable: 'allow' | 'refuse';
}

export const rateLimitsDefaults: RateLimitsOptions = Object.freeze({
  policies: {},
  defaultPolicy: null,
  store: null,
  maxKeys: 100_000,
  whenUnavailable: 'allow',
});

/** Seconds. */
export const defaultWindow = 60;
