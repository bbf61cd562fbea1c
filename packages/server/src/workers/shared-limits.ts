/** The counters of rate limits of all workers, in the primary process. */
import { isDeepStrictEqual } from 'node:util';
import {
  type LocalLoginRateLimiter,
  type LocalRateLimiter,
  type LoginAttempt,
  loginRateLimiter,
  memoryRateLimits,
  type RateLimitDecision,
  type RateLimitPolicy,
  rateLimiter,
  type RateLimitStore,
} from '@pgway/core';
import type { Configuration } from '../config/schema.ts';
import type { Channel } from './channel.ts';
import { type CompletedLogin, type RateLimitUse, toPrimary } from './topics.ts';

type Settings = Pick<Configuration['authentication'], 'loginRateLimit' | 'hashRateLimit'>;

/** A permit that a worker has. */
interface HeldPermit {
  readonly policy: RateLimitPolicy;
  readonly key: string;
  /** The permit of the store. */
  readonly permit: string;
}

export class SharedLimits {
  #settings!: Settings;
  #logins!: LocalLoginRateLimiter;
  #hashes!: LocalRateLimiter;
  readonly #store: RateLimitStore = memoryRateLimits();
  /** The permits of concurrent requests that each worker has, by the permit of the worker. */
  readonly #permits = new Map<Channel, Map<string, HeldPermit>>();

  constructor(configuration: Configuration) {
    this.configure(configuration);
  }

  /** Counters of limits that have changed start anew. */
  configure({ authentication }: Configuration): void {
    const { loginRateLimit, hashRateLimit } = authentication;
    const settings: Settings = { loginRateLimit, hashRateLimit };
    const isSame = (name: keyof Settings): boolean => isDeepStrictEqual(settings[name], this.#settings?.[name]);
    if (!isSame('loginRateLimit')) this.#logins = loginRateLimiter(loginRateLimit);
    if (!isSame('hashRateLimit')) this.#hashes = rateLimiter(hashRateLimit);
    this.#settings = settings;
  }

  add(channel: Channel): void {
    const permits = new Map<string, HeldPermit>();
    this.#permits.set(channel, permits);
    channel.handle<LoginAttempt>(toPrimary.consumeLogin, (attempt) => this.#logins.consume(attempt));
    channel.handle<readonly CompletedLogin[]>(toPrimary.completeLogins, (completed) => {
      for (const { attempt, outcome } of completed) this.#logins.complete(attempt, outcome);
    });
    channel.handle<string | null>(toPrimary.consumeHash, (address) => this.#hashes.consume(address));
    channel.handle<RateLimitUse>(toPrimary.acquireRateLimit, (use) => this.#acquire(use, permits));
    channel.handle<readonly string[]>(toPrimary.releaseRateLimits, (released) => {
      for (const permit of released) this.#release(permits, permit);
    });
  }

  /** Ends the requests of a worker that has exited. */
  remove(channel: Channel): void {
    const permits = this.#permits.get(channel) ?? new Map<string, HeldPermit>();
    this.#permits.delete(channel);
    for (const permit of permits.keys()) this.#release(permits, permit);
  }

  async #acquire(
    { permit, policy, key }: RateLimitUse,
    permits: Map<string, HeldPermit>,
  ): Promise<RateLimitDecision | null> {
    const made = this.#store.acquire(policy, key);
    // Recorded at once for a store in memory: the next message may release it.
    const decision = made instanceof Promise ? await made : made;
    if (decision === null || decision.permit === null) return decision;
    permits.set(permit, { policy, key, permit: decision.permit });
    return { ...decision, permit };
  }

  /** A request that was refused has no permit: the worker does not know it when the answer was late. */
  #release(permits: Map<string, HeldPermit>, permit: string): void {
    const held = permits.get(permit);
    if (held === undefined) return;
    permits.delete(permit);
    this.#store.release(held.policy, held.key, held.permit);
  }
}
