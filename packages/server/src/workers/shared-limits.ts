/** The counters of rate limits of all workers, in the primary process. */
import { isDeepStrictEqual } from 'node:util';
import {
  type LocalLoginRateLimiter,
  type LocalRateLimiter,
  type LoginAttempt,
  loginRateLimiter,
  type LoginOutcome,
  memoryRateLimits,
  type RateLimitDecision,
  rateLimiter,
  type RateLimitStore,
} from '@pgway/core';
import type { Configuration } from '../config/schema.ts';
import type { Channel } from './channel.ts';
import { type RateLimitRelease, type RateLimitUse, toPrimary } from './topics.ts';

interface CompletedLogin {
  readonly attempt: LoginAttempt;
  readonly outcome: LoginOutcome;
}

type Settings = Pick<Configuration['authentication'], 'loginRateLimit' | 'hashRateLimit'> &
  Pick<Configuration['rateLimits'], 'maxKeys'>;

export class SharedLimits {
  #settings!: Settings;
  #logins!: LocalLoginRateLimiter;
  #hashes!: LocalRateLimiter;
  #store!: RateLimitStore;
  /** The permits of concurrent requests that each worker has. */
  readonly #permits = new Map<Channel, Map<string, RateLimitRelease[]>>();

  constructor(configuration: Configuration) {
    this.configure(configuration);
  }

  /** Counters of limits that have changed start anew. */
  configure({ authentication, rateLimits }: Configuration): void {
    const { loginRateLimit, hashRateLimit } = authentication;
    const settings: Settings = { loginRateLimit, hashRateLimit, maxKeys: rateLimits.maxKeys };
    const isSame = (name: keyof Settings): boolean => isDeepStrictEqual(settings[name], this.#settings?.[name]);
    if (!isSame('loginRateLimit')) this.#logins = loginRateLimiter(loginRateLimit);
    if (!isSame('hashRateLimit')) this.#hashes = rateLimiter(hashRateLimit);
    if (!isSame('maxKeys')) this.#store = memoryRateLimits({ maxKeys: settings.maxKeys });
    this.#settings = settings;
  }

  add(channel: Channel): void {
    const permits = new Map<string, RateLimitRelease[]>();
    this.#permits.set(channel, permits);
    channel.handle<LoginAttempt>(toPrimary.consumeLogin, (attempt) => this.#logins.consume(attempt));
    channel.handle<CompletedLogin>(toPrimary.completeLogin, ({ attempt, outcome }) => {
      this.#logins.complete(attempt, outcome);
    });
    channel.handle<string | null>(toPrimary.consumeHash, (address) => this.#hashes.consume(address));
    channel.handle<RateLimitUse>(toPrimary.acquireRateLimit, (use) => this.#acquire(use, permits));
    channel.handle<RateLimitRelease>(toPrimary.releaseRateLimit, (release) => {
      const id = idOf(release);
      const held = permits.get(id)?.length ?? 0;
      if (held > 1) permits.get(id)!.pop();
      else permits.delete(id);
      if (held > 0) this.#store.release(release.policy, release.key, release.permit);
    });
  }

  /** Ends the requests of a worker that has exited. */
  remove(channel: Channel): void {
    const held = [...(this.#permits.get(channel)?.values() ?? [])].flat();
    this.#permits.delete(channel);
    for (const { policy, key, permit } of held) this.#store.release(policy, key, permit);
  }

  async #acquire(
    { policy, key }: RateLimitUse,
    permits: Map<string, RateLimitRelease[]>,
  ): Promise<RateLimitDecision | null> {
    const decision = await this.#store.acquire(policy, key);
    const permit = decision?.permit ?? null;
    if (permit !== null) {
      const release: RateLimitRelease = { policy, key, permit };
      const held = permits.get(idOf(release)) ?? [];
      held.push(release);
      permits.set(idOf(release), held);
    }
    return decision;
  }
}

/** Permits with one id are the same. */
function idOf({ policy, key, permit }: RateLimitRelease): string {
  return JSON.stringify([policy.name, key, permit]);
}
