import type { RateLimitDecision, RateLimitPolicy, RateLimitStore, RateLimitStoreState } from '@pgway/core';
import { describeFaults, type Resolved, withDefaults } from '@pgway/core/internal';
import { randomBytes } from 'node:crypto';
import { RedisConnection } from './connection.ts';
import { type RedisRateLimitsOptions, redisRateLimitsOptions } from './options.ts';

import { redisScripts, renewLeases } from './rate-limit-scripts.ts';

/** The version of the values, part of every key. */
const formatVersion = '1';
/** Milliseconds that the start waits for the first connection. */
const openTimeout = 2_000;

/**
 * Creates a store in Redis or Valkey, with which several gateways count together, by the clock of the server. Each decision is one
 * command. All keys expire.
 * @throws RangeError with one line for each invalid option
 */
export function redisRateLimits(options: RedisRateLimitsOptions): RateLimitStore {
  const faults = redisRateLimitsOptions.validate(options, []);
  if (faults.length > 0) throw new RangeError(`redisRateLimits: ${describeFaults(faults)}`);
  return new RedisRateLimitStore(withDefaults(redisRateLimitsOptions, options), null);
}

export class RedisRateLimitStore implements RateLimitStore {
  readonly #options: Resolved<RedisRateLimitsOptions>;
  readonly #prefix: string;
  readonly #leaseMs: number;
  readonly #now: (() => number) | null;
  #connection: RedisConnection | null = null;
  /** The permits of running requests, by key of the server. */
  readonly #permits = new Map<string, Set<string>>();
  readonly #permitPrefix = randomBytes(9).toString('base64url');
  #permitCount = 0;
  #renewTimer: NodeJS.Timeout | null = null;

  /** @param now milliseconds; null: the clock of the server */
  constructor(options: Resolved<RedisRateLimitsOptions>, now: (() => number) | null) {
    this.#options = options;
    this.#prefix = `${options.prefix}:limit:${formatVersion}:`;
    this.#leaseMs = Math.round(options.lease * 1_000);
    this.#now = now;
  }

  async open(report: (state: RateLimitStoreState) => void): Promise<void> {
    const { url, timeout } = this.#options;
    this.#connection = new RedisConnection({
      url,
      timeout: timeout * 1_000,
      openTimeout: Math.max(openTimeout, timeout * 1_000),
      report,
      onConnect: async () => undefined,
    });
    await this.#connection.open();
  }

  async acquire(policy: RateLimitPolicy, key: string): Promise<RateLimitDecision | null> {
    const serverKey = this.#serverKey(policy, key);
    const isConcurrency = policy.type === 'concurrency';
    const permit = isConcurrency ? this.#newPermit() : null;
    const result = await this.#connection!.evaluate(
      redisScripts[policy.type],
      [serverKey],
      [
        this.#time(),
        String(policy.limit),
        String(isConcurrency ? this.#leaseMs : policy.windowMs),
        ...(permit === null ? [] : [permit]),
      ],
    );
    if (result === null) return null;
    const [isAllowed, remaining, resetMs] = result.reply as readonly [number, number, number];
    const allowed = isAllowed === 1;
    if (allowed && permit !== null) this.#addPermit(serverKey, permit);
    return { allowed, remaining, resetMs: isConcurrency ? null : resetMs, permit: allowed ? permit : null };
  }

  /** A permit whose release does not reach the server ends with its lease. */
  release(policy: RateLimitPolicy, key: string, permit: string): void {
    const serverKey = this.#serverKey(policy, key);
    const permits = this.#permits.get(serverKey);
    if (permits?.delete(permit) !== true) return;
    if (permits.size === 0) this.#permits.delete(serverKey);
    if (this.#permits.size === 0) this.#stopRenewing();
    void this.#connection!.send(['ZREM', serverKey, permit]);
  }

  close(): void {
    this.#stopRenewing();
    this.#permits.clear();
    this.#connection?.close();
  }

  /** The limit is part of the key: instances with another configuration count separately. */
  #serverKey(policy: RateLimitPolicy, key: string): string {
    const window = policy.type === 'concurrency' ? '' : policy.windowMs;
    return `${this.#prefix}${policy.name}:${policy.type}:${policy.limit}:${window}:${key}`;
  }

  #time(): string {
    return this.#now === null ? '' : String(this.#now());
  }

  #newPermit(): string {
    return `${this.#permitPrefix}${++this.#permitCount}`;
  }

  #addPermit(serverKey: string, permit: string): void {
    const permits = this.#permits.get(serverKey);
    if (permits === undefined) this.#permits.set(serverKey, new Set([permit]));
    else permits.add(permit);
    this.#renewTimer ??= setInterval(() => this.#renew(), this.#leaseMs / 3).unref();
  }

  #renew(): void {
    for (const [serverKey, permits] of this.#permits) {
      void this.#connection!.evaluate(renewLeases, [serverKey], [this.#time(), String(this.#leaseMs), ...permits]);
    }
  }

  #stopRenewing(): void {
    if (this.#renewTimer !== null) clearInterval(this.#renewTimer);
    this.#renewTimer = null;
  }
}
