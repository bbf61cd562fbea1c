import { ExpiringMap } from '../cache/expiring-map.ts';
import type { Counter, CounterDecision, CounterOptions } from './counter.ts';

/** Requests within this part of the window are counted together, so that a key takes bounded memory. */
export const segmentsPerWindow = 20;

/** Times in milliseconds. */
interface Segments {
  /** The first request of the newest segment. */
  newestStart: number;
  /** The last request of each segment, the oldest first. */
  readonly ends: number[];
  readonly requests: number[];
}

/**
 * Allows `limit` requests of a key in any window. Requests are counted in segments, which are forgotten one window after their last
 * request: a request counts for the window, and for at most a segment longer.
 */
export class SlidingWindow implements Counter {
  readonly #options: CounterOptions;
  readonly #segments: ExpiringMap<Segments>;

  constructor(options: CounterOptions) {
    this.#options = options;
    this.#segments = new ExpiringMap(options.maxKeys, options.now);
  }

  take(key: string): CounterDecision {
    const { limit, windowMs, now } = this.#options;
    const time = now();
    const segments = this.#segments.get(key) ?? { newestStart: time, ends: [], requests: [] };
    removeOld(segments, time, windowMs);
    const requests = segments.requests.reduce((sum, count) => sum + count, 0);
    const allowed = requests < limit;
    if (allowed) {
      count(segments, time, windowMs / segmentsPerWindow);
      this.#segments.update(key, segments, time + windowMs);
    }
    const remaining = Math.max(0, limit - requests - 1);
    return { allowed, remaining, resetMs: segments.ends[0]! + windowMs - time, permit: null };
  }
}

function removeOld({ ends, requests }: Segments, time: number, windowMs: number): void {
  while (ends.length > 0 && ends[0]! <= time - windowMs) {
    ends.shift();
    requests.shift();
  }
  // A clock that goes back must not extend the window.
  for (let index = ends.length - 1; index >= 0 && ends[index]! > time; index--) ends[index] = time;
}

function count(segments: Segments, time: number, segmentMs: number): void {
  const { ends, requests } = segments;
  segments.newestStart = Math.min(segments.newestStart, time);
  const newest = ends.length - 1;
  if (newest >= 0 && time - segments.newestStart < segmentMs) {
    ends[newest] = time;
    requests[newest]!++;
    return;
  }
  segments.newestStart = time;
  ends.push(time);
  requests.push(1);
}
