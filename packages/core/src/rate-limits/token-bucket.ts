import { ExpiringMap } from '../cache/expiring-map.ts';
import type { Counter, CounterDecision, CounterOptions } from './counter.ts';

interface Bucket {
  /** In parts of a token: a token has `windowMs` of them, and each millisecond adds `limit`. Whole numbers have no rounding errors. */
  readonly level: number;
  /** Milliseconds. */
  readonly updatedAt: number;
}

/** Allows `limit` requests of a key at once. They come back evenly over the window. */
export class TokenBucket implements Counter {
  readonly #options: CounterOptions;
  readonly #buckets: ExpiringMap<Bucket>;

  constructor(options: CounterOptions) {
    this.#options = options;
    this.#buckets = new ExpiringMap(options.maxKeys, options.now);
  }

  take(key: string): CounterDecision {
    const { limit, windowMs, now } = this.#options;
    const time = now();
    const capacity = limit * windowMs;
    const { level, updatedAt } = this.#buckets.get(key) ?? { level: capacity, updatedAt: time };
    // A clock that goes back adds nothing.
    const available = Math.min(capacity, level + Math.max(0, time - updatedAt) * limit);
    const allowed = available >= windowMs;
    const rest = allowed ? available - windowMs : available;
    this.#buckets.update(key, { level: rest, updatedAt: time }, time + (capacity - rest) / limit);
    return {
      allowed,
      remaining: Math.floor(rest / windowMs),
      resetMs: Math.ceil((windowMs - (rest % windowMs)) / limit),
      permit: null,
    };
  }
}
