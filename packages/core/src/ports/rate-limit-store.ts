/**
 * A limit of the requests with one key.
 * - `fixed-window`: `limit` requests in a window that begins with the first one
 * - `sliding-window`: `limit` requests in any window
 * - `token-bucket`: `limit` requests at once, which come back evenly over the window
 * - `concurrency`: `limit` requests at a time
 */
export type RateLimitPolicy =
  | {
      readonly name: string;
      readonly type: 'fixed-window' | 'sliding-window' | 'token-bucket';
      readonly limit: number;
      /** A multiple of 1000. */
      readonly windowMs: number;
    }
  | { readonly name: string; readonly type: 'concurrency'; readonly limit: number };

export interface RateLimitDecision {
  readonly allowed: boolean;
  /** The requests that the limit allows after this one. */
  readonly remaining: number;
  /** Milliseconds until `remaining` grows; null: unknown, as the limit is one of concurrent requests. */
  readonly resetMs: number | null;
  /** Identifies the request until its `release`; null for a refused request, and without a limit of concurrent requests. */
  readonly permit: string | null;
}

/** The reason why the store is unavailable, or null when it is available again. */
export type RateLimitStoreState = { readonly unavailable: Error | null };

/**
 * Counts requests by policy and key. Policies have different names. Only `open` may throw or reject. Requests wait for `acquire`, so it
 * must not take long.
 */
export interface RateLimitStore {
  /**
   * Called once, before any other method. `report` receives later failures and recoveries.
   * @throws Error for a store that can never work: a missing package, an invalid address
   */
  open?(report: (state: RateLimitStoreState) => void): Promise<void>;
  /**
   * Counts a request, unless the limit refuses it. Null: the store is unavailable. A synchronous result saves the request a turn of the
   * event loop.
   * @param key at most some hundred characters
   */
  acquire(policy: RateLimitPolicy, key: string): RateLimitDecision | null | Promise<RateLimitDecision | null>;
  /** Ends a concurrent request. Called once for each permit. */
  release(policy: RateLimitPolicy, key: string, permit: string): void;
  close(): void | Promise<void>;
}
