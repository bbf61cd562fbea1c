// Generated from the groups of options in this folder by `npm run options`. Do not edit.

/** The broadcast through Redis or Valkey. */
export interface RedisBroadcastOptions {
  /**
   * The server of the broadcast: `redis://user:password@host:6379/0`, `rediss://…` for TLS, or
   * `redis-sentinel://host:26379,host:26379/name` for Sentinel.
   */
  readonly url: string;
  /** The channel that the instances of a gateway share. Default `pgway`. */
  readonly channel?: string;
}

/** The response cache in Redis or Valkey. */
export interface RedisCacheOptions {
  /**
   * The server of the cache, which several instances share: `redis://user:password@host:6379/0`, `rediss://…` for TLS,
   * or `redis-sentinel://host:26379,host:26379/name` for Sentinel.
   */
  readonly url: string;
  /**
   * Prefix of every key; instances with the same prefix share their cache, so they must serve the same database.
   * Default `pgway`.
   */
  readonly prefix?: string;
  /** Seconds before a Redis command times out and the request continues without the cache. Default 0.5. */
  readonly timeout?: number;
  /** Maximum seconds that a response stays in Redis, whatever its endpoint says. Default 86,400. */
  readonly maxAge?: number;
}

/** The rate limits in Redis or Valkey. */
export interface RedisRateLimitsOptions {
  /**
   * The server that counts requests, so that several instances count together: `redis://user:password@host:6379/0`,
   * `rediss://…` for TLS, or `redis-sentinel://host:26379,host:26379/name` for Sentinel.
   */
  readonly url: string;
  /** Prefix of every key; instances with the same prefix count together. Default `pgway`. */
  readonly prefix?: string;
  /** Seconds that a request waits for Redis before Redis counts as unavailable. Default 0.1. */
  readonly timeout?: number;
  /** Seconds after which concurrent requests of an instance that has crashed no longer count. Default 15. */
  readonly lease?: number;
}
