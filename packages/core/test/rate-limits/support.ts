import type { AuthScheme, RateLimitDecision, RateLimitPolicy } from '@pgway/core';
import { MemoryRateLimitStore } from '../../src/rate-limits/memory-store.ts';

/** A store in memory that records keys and open permits, with a clock that tests move. */
export class RecordingStore extends MemoryRateLimitStore {
  readonly clock: { time: number };
  readonly keys: string[] = [];
  permits = 0;
  /** The maximum of `permits`. */
  mostPermits = 0;

  constructor(maxKeys = 1_000) {
    const clock = { time: 1_000_000 };
    super({ maxKeys, now: () => clock.time });
    this.clock = clock;
  }

  override acquire(policy: RateLimitPolicy, key: string): RateLimitDecision {
    this.keys.push(key);
    const decision = super.acquire(policy, key);
    if (decision.permit !== null) this.permits++;
    this.mostPermits = Math.max(this.mostPermits, this.permits);
    return decision;
  }

  override release(policy: RateLimitPolicy, key: string): void {
    this.permits--;
    super.release(policy, key);
  }

  /** Forgets all requests, for the next test. */
  reset(): void {
    this.close();
    this.keys.length = 0;
  }
}

/** A scheme that authenticates the user of the request header `x-user`, and refuses the tokens `bad…`. */
export const userByHeader: AuthScheme = {
  name: 'header',
  authenticate: (request) => {
    const user = request.header('x-user');
    return user === undefined || user.startsWith('bad')
      ? null
      : {
          scheme: 'header',
          claims: [
            ['id', user],
            ['roles', 'user'],
          ],
          session: null,
          sentByBrowser: false,
        };
  },
  refusal: (request) => (request.header('x-user')?.startsWith('bad') === true ? 'The token is bad' : null),
  challenge: () => null,
  signIn: null,
  signOut: null,
  routes: [],
};
