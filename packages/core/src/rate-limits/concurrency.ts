import type { RateLimitDecision } from '../ports/rate-limit-store.ts';

/** Every permit of a key is the same: the number of them counts. */
const permit = 'memory';

/** Allows `limit` requests of a key at a time. Takes memory for running requests only. */
export class Concurrency {
  readonly #limit: number;
  readonly #running = new Map<string, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  take(key: string): RateLimitDecision {
    const running = this.#running.get(key) ?? 0;
    const remaining = Math.max(0, this.#limit - running - 1);
    if (running >= this.#limit) return { allowed: false, remaining, resetMs: null, permit: null };
    this.#running.set(key, running + 1);
    return { allowed: true, remaining, resetMs: null, permit };
  }

  release(key: string): void {
    const running = this.#running.get(key) ?? 0;
    if (running > 1) this.#running.set(key, running - 1);
    else this.#running.delete(key);
  }

  /** The number of keys in memory. */
  get size(): number {
    return this.#running.size;
  }
}
