import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RateLimitDecision, RateLimitPolicy, RateLimitStore } from '../../src/ports/rate-limit-store.ts';

/** An empty, open store that reads the time from `now`, in milliseconds. It is closed after the test. */
export type MakeRateLimitStore = (now: () => number) => Promise<RateLimitStore>;

/** Milliseconds. The clock of no server has reached this time, so no key expires before the clock of a test has passed its end. */
export const startOfClock = 4_000_000_000_000;

export type WindowType = Exclude<RateLimitPolicy['type'], 'concurrency'>;

export const windowTypes: readonly WindowType[] = ['fixed-window', 'sliding-window', 'token-bucket'];

/** Different names, so that the policies of a test share nothing. */
let names = 0;

export function windowPolicy(type: WindowType, limit: number, windowMs: number): RateLimitPolicy {
  return { name: `policy-${++names}`, type, limit, windowMs };
}

export function concurrencyPolicy(limit: number): RateLimitPolicy {
  return { name: `policy-${++names}`, type: 'concurrency', limit };
}

/** A request of a random sequence, some time after the one before it. */
const requests = fc.array(fc.tuple(fc.constantFrom('a', 'b'), fc.integer({ min: 0, max: 3_000 })), {
  minLength: 1,
  maxLength: 60,
});

/** Limit, window and requests: a window of one to five seconds, in which up to some ten requests come. */
export const sequences = fc.tuple(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 5 }), requests);

/** The most requests in any period of the window that begins with one of them. */
function mostInWindow(times: readonly number[], windowMs: number): number {
  return Math.max(0, ...times.map((start) => times.filter((time) => time >= start && time < start + windowMs).length));
}

/** The most requests that each type allows in any period of its window. */
const mostAllowed: Readonly<Record<WindowType, (limit: number) => number>> = {
  'sliding-window': (limit) => limit,
  // The end of one window and the start of the next.
  'fixed-window': (limit) => 2 * limit,
  // A full bucket, and what comes back during the window.
  'token-bucket': (limit) => 2 * limit,
};

/** Defines the contract tests of an implementation of `RateLimitStore`. */
export function describeRateLimitStore(name: string, make: MakeRateLimitStore): void {
  describe(`the contract of RateLimitStore: ${name}`, () => {
    async function open() {
      const clock = { time: startOfClock };
      const store = await make(() => clock.time);
      const take = async (policy: RateLimitPolicy, key = 'a'): Promise<RateLimitDecision> =>
        (await store.acquire(policy, key))!;
      return { clock, store, take };
    }

    describe.each(windowTypes)('%s', (type) => {
      test('allows up to the limit, and tells what is left and when there is more', async () => {
        const { take } = await open();
        const policy = windowPolicy(type, 2, 10_000);
        const resetMs = type === 'token-bucket' ? 5_000 : 10_000;
        expect([await take(policy), await take(policy), await take(policy)]).toEqual([
          { allowed: true, remaining: 1, resetMs, permit: null },
          { allowed: true, remaining: 0, resetMs, permit: null },
          { allowed: false, remaining: 0, resetMs, permit: null },
        ]);
      });

      test('keys and policies do not count together', async () => {
        const { take } = await open();
        const policies = [windowPolicy(type, 1, 1_000), windowPolicy(type, 1, 1_000)];
        const keys = ['a', 'b', '', 'a b', 'é{}:*', 'x'.repeat(200)];
        for (const policy of policies) {
          for (const key of keys) {
            const both = [await take(policy, key), await take(policy, key)];
            expect([key, ...both.map(({ allowed }) => allowed)]).toEqual([key, true, false]);
          }
        }
      });

      test('a refused request is allowed when the reset time has passed, and not before', async () => {
        await fc.assert(
          fc.asyncProperty(sequences, async ([limit, seconds, steps]) => {
            const { clock, take } = await open();
            const policy = windowPolicy(type, limit, seconds * 1_000);
            for (const [key, pause] of steps) {
              clock.time += pause;
              const decision = await take(policy, key);
              expect(decision.resetMs).toBeGreaterThan(0);
              if (decision.allowed) continue;
              clock.time += decision.resetMs! - 1;
              expect(await take(policy, key)).toMatchObject({ allowed: false, resetMs: 1 });
              clock.time += 1;
              expect(await take(policy, key)).toMatchObject({ allowed: true });
            }
          }),
          { numRuns: 20 },
        );
      });

      test('no window has more requests than the type allows, and each key gets its limit', async () => {
        await fc.assert(
          fc.asyncProperty(sequences, async ([limit, seconds, steps]) => {
            const { clock, take } = await open();
            const policy = windowPolicy(type, limit, seconds * 1_000);
            const times: Record<string, number[]> = { a: [], b: [] };
            for (const [key, pause] of steps) {
              clock.time += pause;
              const { allowed, remaining } = await take(policy, key);
              if (allowed) times[key]!.push(clock.time);
              // A request is refused only if the window, and a segment more, has as many as the limit.
              const recent = times[key]!.filter((time) => time > clock.time - seconds * 1_050);
              const isPlausible = allowed || recent.length >= (type === 'token-bucket' ? 1 : limit);
              expect(isPlausible).toBe(true);
              expect(remaining).toBeGreaterThanOrEqual(0);
              expect(remaining).toBeLessThan(limit);
            }
            for (const each of Object.values(times)) {
              expect(mostInWindow(each, seconds * 1_000)).toBeLessThanOrEqual(mostAllowed[type](limit));
            }
          }),
          { numRuns: 30 },
        );
      });

      test('a clock that goes back delays no client by more than a window', async () => {
        const { clock, take } = await open();
        const policy = windowPolicy(type, 1, 1_000);
        await take(policy);
        clock.time -= 500_000;
        expect(await take(policy)).toEqual({ allowed: false, remaining: 0, resetMs: 1_000, permit: null });
        clock.time += 1_000;
        expect(await take(policy)).toMatchObject({ allowed: true });
      });
    });

    test('a fixed window begins with its first request, and ends whatever happens', async () => {
      const { clock, take } = await open();
      const policy = windowPolicy('fixed-window', 2, 10_000);
      await take(policy);
      clock.time += 9_999;
      expect([await take(policy), await take(policy)]).toMatchObject([
        { allowed: true, resetMs: 1 },
        { allowed: false, resetMs: 1 },
      ]);
      clock.time += 1;
      expect(await take(policy)).toEqual({ allowed: true, remaining: 1, resetMs: 10_000, permit: null });
    });

    test('a sliding window forgets requests one by one, those of one segment together', async () => {
      const { clock, take } = await open();
      const policy = windowPolicy('sliding-window', 4, 20_000);
      // The segments are of one second: the second request is in the first one.
      for (const pause of [0, 999, 1, 5_000]) {
        clock.time += pause;
        await take(policy);
      }
      expect(await take(policy)).toMatchObject({ allowed: false, resetMs: 14_999 });
      clock.time += 14_999;
      expect([await take(policy), await take(policy), await take(policy)]).toMatchObject([
        { allowed: true, remaining: 1, resetMs: 1 },
        { allowed: true, remaining: 0 },
        { allowed: false, resetMs: 1 },
      ]);
    });

    test('a token bucket allows a burst, and then an even rate', async () => {
      const { clock, take } = await open();
      const policy = windowPolicy('token-bucket', 3, 10_000);
      for (let request = 0; request < 3; request++) await take(policy);
      expect(await take(policy)).toMatchObject({ allowed: false, resetMs: 3_334 });
      clock.time += 3_334;
      expect([await take(policy), await take(policy)]).toMatchObject([{ allowed: true }, { allowed: false }]);
      // An idle period brings back no more than a full bucket.
      clock.time += 1_000_000;
      expect(await take(policy)).toMatchObject({ allowed: true, remaining: 2 });
    });

    test('concurrency allows as many as the limit at a time', async () => {
      const { store, take } = await open();
      const policy = concurrencyPolicy(2);
      const [one, two, refused] = [await take(policy), await take(policy), await take(policy)];
      expect([one, two, refused]).toEqual([
        { allowed: true, remaining: 1, resetMs: null, permit: expect.any(String) },
        { allowed: true, remaining: 0, resetMs: null, permit: expect.any(String) },
        { allowed: false, remaining: 0, resetMs: null, permit: null },
      ]);
      expect(await take(policy, 'b')).toMatchObject({ allowed: true, remaining: 1 });
      store.release(policy, 'a', one!.permit!);
      expect([await take(policy), await take(policy)]).toMatchObject([{ allowed: true }, { allowed: false }]);
    });

    test('concurrency: never more than the limit, and never less after releases', async () => {
      const steps = fc.array(fc.tuple(fc.constantFrom('a', 'b'), fc.boolean(), fc.nat()), { maxLength: 40 });
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 4 }), steps, async (limit, all) => {
          const { store, take } = await open();
          const policy = concurrencyPolicy(limit);
          const running: Record<string, string[]> = { a: [], b: [] };
          for (const [key, isRelease, choice] of all) {
            const permits = running[key]!;
            if (isRelease && permits.length > 0) {
              store.release(policy, key, permits.splice(choice % permits.length, 1)[0]!);
              continue;
            }
            const { allowed, remaining, permit } = await take(policy, key);
            expect([allowed, remaining]).toEqual([permits.length < limit, Math.max(0, limit - permits.length - 1)]);
            if (permit !== null) permits.push(permit);
          }
        }),
        { numRuns: 20 },
      );
    });
  });
}
