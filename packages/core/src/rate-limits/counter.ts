import type { RateLimitDecision } from '../ports/rate-limit-store.ts';

export interface CounterOptions {
  readonly limit: number;
  readonly windowMs: number;
  /** Beyond it, the least recently used key is evicted. */
  readonly maxKeys: number;
  /** Milliseconds. */
  readonly now: () => number;
}

export interface CounterDecision extends RateLimitDecision {
  readonly resetMs: number;
}

/** Counts the requests of each key in memory. */
export interface Counter {
  /** Counts a request, unless the limit refuses it. */
  take(key: string): CounterDecision;
}
