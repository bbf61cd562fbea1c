import type { RateLimitDecision, RateLimitPolicy, RateLimitStore } from '../ports/rate-limit-store.ts';
import { Concurrency } from './concurrency.ts';
import type { Counter } from './counter.ts';
import { FixedWindow } from './fixed-window.ts';
import { SlidingWindow } from './sliding-window.ts';
import { TokenBucket } from './token-bucket.ts';

export interface MemoryRateLimitOptions {
  /** The maximum number of keys of each policy; beyond it the least recently used one is evicted. Default 100,000. */
  readonly maxKeys: number;
  /** Milliseconds. Default: a clock that never goes back. */
  readonly now?: () => number;
}

/** Creates a store that counts the requests of one process. */
export function memoryRateLimits(options: Partial<MemoryRateLimitOptions> = {}): RateLimitStore {
  return new MemoryRateLimitStore({ maxKeys: 100_000, ...options });
}

const counters = {
  'fixed-window': FixedWindow,
  'sliding-window': SlidingWindow,
  'token-bucket': TokenBucket,
} as const;

/** The counter of one version of a policy. */
interface PolicyCounter {
  readonly policy: RateLimitPolicy;
  readonly counter: Counter | Concurrency;
}

/** Versions of a policy that count at the same time; beyond it the oldest one is forgotten. */
const maxVersions = 4;

/**
 * Counts requests in memory. Each policy has its own keys: many keys of one cannot evict those of another. Policies of one name with
 * different limits count separately, as processes have both while a new configuration takes effect.
 */
export class MemoryRateLimitStore implements RateLimitStore {
  readonly #options: Required<MemoryRateLimitOptions>;
  /** The versions of each policy by its name, the oldest one first. */
  readonly #counters = new Map<string, PolicyCounter[]>();

  constructor({ maxKeys, now = monotonicNow }: MemoryRateLimitOptions) {
    this.#options = { maxKeys, now };
  }

  acquire(policy: RateLimitPolicy, key: string): RateLimitDecision {
    return this.#counterFor(policy).take(key);
  }

  release(policy: RateLimitPolicy, key: string): void {
    const counter = this.#counterFor(policy);
    if (counter instanceof Concurrency) counter.release(key);
  }

  close(): void {
    this.#counters.clear();
  }

  #counterFor(policy: RateLimitPolicy): Counter | Concurrency {
    const versions = this.#counters.get(policy.name) ?? [];
    for (const version of versions) if (isSame(version.policy, policy)) return version.counter;
    const counter =
      policy.type === 'concurrency'
        ? new Concurrency(policy.limit)
        : new counters[policy.type]({ ...this.#options, limit: policy.limit, windowMs: policy.windowMs });
    versions.push({ policy, counter });
    if (versions.length > maxVersions) versions.shift();
    this.#counters.set(policy.name, versions);
    return counter;
  }
}

function isSame(one: RateLimitPolicy, other: RateLimitPolicy): boolean {
  if (one === other) return true;
  if (one.type !== other.type || one.limit !== other.limit) return false;
  return one.type === 'concurrency' || other.type === 'concurrency' || one.windowMs === other.windowMs;
}

function monotonicNow(): number {
  return Math.floor(performance.now());
}
