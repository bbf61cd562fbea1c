import { ExpiringMap } from '../cache/expiring-map.ts';
import type { Counter, CounterDecision, CounterOptions } from './counter.ts';

interface Window {
  /** Milliseconds. */
  readonly start: number;
  readonly requests: number;
}

/** Allows `limit` requests of a key in a window that begins with the first one. */
export class FixedWindow implements Counter {
  readonly #options: CounterOptions;
  readonly #windows: ExpiringMap<Window>;

  constructor(options: CounterOptions) {
    this.#options = options;
    this.#windows = new ExpiringMap(options.maxKeys, options.now);
  }

  take(key: string): CounterDecision {
    const { limit, windowMs, now } = this.#options;
    const time = now();
    const found = this.#windows.get(key);
    // A clock that goes back must not extend the window.
    const start = found === undefined ? time : Math.min(found.start, time);
    const requests = found?.requests ?? 0;
    const allowed = requests < limit;
    const end = start + windowMs;
    this.#windows.update(key, { start, requests: allowed ? requests + 1 : requests }, end);
    return { allowed, remaining: Math.max(0, limit - requests - 1), resetMs: end - time, permit: null };
  }
}
