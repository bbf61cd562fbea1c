import type { Pipeline } from '../request/pipeline.ts';
import type { Observer } from '../ports/ports.ts';
import type { Heal } from '../request/stale-endpoint.ts';

/** Milliseconds between two refreshes that stale endpoints cause; doubled each time that one did not help. */
const shortestWait = 5_000;
const longestWait = 60_000;

/** Reads the catalog again when an endpoint is stale: once for all who ask at a time, and no more often than clients may make it. */
export function healing(published: () => Pipeline, refresh: () => Promise<void>, observe: Observer): Heal {
  let running: Promise<void> | null = null;
  let wait = shortestWait;
  let notBefore = 0;
  /** What the last such refresh gave. */
  let healed: Pipeline | null = null;
  const begin = async (): Promise<void> => {
    try {
      await refresh();
      healed = published();
    } catch (error) {
      observe({ kind: 'refresh-failed', error: error instanceof Error ? error : new Error(String(error)) });
    } finally {
      running = null;
      notBefore = performance.now() + wait;
    }
  };
  return async (stale, endpoint, error) => {
    const now = published();
    // Another refresh has come between.
    if (now !== stale) return now;
    if (running === null) {
      if (performance.now() < notBefore) return null;
      wait = stale === healed ? Math.min(wait * 2, longestWait) : shortestWait;
      observe({ kind: 'endpoint-stale', endpoint, error });
      running = begin();
    }
    await running;
    return published() === stale ? null : published();
  };
}
