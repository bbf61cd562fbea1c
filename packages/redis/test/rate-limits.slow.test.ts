import fc from 'fast-check';
import type { RedisRateLimitsOptions } from '../src/options.ts';
import { redisVersion, type RedisServer, startRedis } from '@pgway/testing';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { RateLimitStoreState } from '@pgway/core';
import { MemoryRateLimitStore } from '../../core/src/rate-limits/memory-store.ts';
import { RedisRateLimitStore, redisRateLimits } from '../src/rate-limits.ts';
import {
  concurrencyPolicy,
  describeRateLimitStore,
  sequences,
  startOfClock,
  windowPolicy,
  windowTypes,
} from '../../core/test/contracts/rate-limit-store.ts';
import { until } from '../../core/test/database/support.ts';

const hasRedis = (await redisVersion()) !== null;
if (!hasRedis) console.warn('SKIPPED: there is no Redis on this machine (apt-get install redis-server)');

test('invalid options are reported together', () => {
  expect(() => redisRateLimits({ prefix: 1, timeout: 0, lease: 0 } as never)).toThrow(
    [
      'redisRateLimits: url: is missing; it must be text that is not empty',
      'prefix: must be text, not 1',
      'timeout: must be a number above 0, at most 60, not 0',
      'lease: must be a number from 0.1 to 3600, not 0',
    ].join('\n'),
  );
});

test('an unreachable server is reported once, and no request waits for it', async () => {
  const states: RateLimitStoreState[] = [];
  const store = redisRateLimits({ url: 'redis://127.0.0.1:1', timeout: 60 });
  onTestFinished(() => store.close());
  await store.open!((state) => void states.push(state));
  const policy = concurrencyPolicy(1);
  expect([await store.acquire(policy, 'a'), await store.acquire(policy, 'a')]).toEqual([null, null]);
  store.release(policy, 'a', 'x');
  expect(states).toEqual([{ unavailable: expect.any(Error) }]);
});

describe.skipIf(!hasRedis)('with a server', () => {
  let server: RedisServer;
  let prefixes = 0;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server?.stop());

  async function open(
    options: Partial<RedisRateLimitsOptions> = {},
    { now = null, states = [] }: { now?: (() => number) | null; states?: RateLimitStoreState[] } = {},
  ) {
    const store = new RedisRateLimitStore(
      { url: server.url, prefix: `test ${++prefixes}`, timeout: 5, lease: 60, ...options },
      now,
    );
    await store.open((state) => void states.push(state));
    onTestFinished(() => store.close());
    return store;
  }

  /** The integer reply of a command. */
  const integer = async (command: string): Promise<number> => Number((await server.command(command)).slice(1));

  describeRateLimitStore('Redis', (now) => open({}, { now }));

  test.each(windowTypes)('%s: the decisions are those of the memory store', async (type) => {
    await fc.assert(
      fc.asyncProperty(sequences, async ([limit, seconds, steps]) => {
        const clock = { time: startOfClock };
        const now = (): number => clock.time;
        const redis = await open({}, { now });
        const memory = new MemoryRateLimitStore({ maxKeys: 10, now });
        const policy = windowPolicy(type, limit, seconds * 1_000);
        for (const [key, pause] of steps) {
          clock.time += pause;
          expect(await redis.acquire(policy, key)).toEqual(memory.acquire(policy, key));
        }
        redis.close();
      }),
      { numRuns: 10 },
    );
  });

  test('large limits and windows have no rounding errors', async () => {
    const now = (): number => startOfClock + 123;
    const redis = await open({}, { now });
    const memory = new MemoryRateLimitStore({ maxKeys: 10, now });
    for (const type of windowTypes) {
      const policy = windowPolicy(type, 1_000_000, 86_400_000);
      for (let request = 0; request < 3; request++) {
        expect(await redis.acquire(policy, 'a')).toEqual(memory.acquire(policy, 'a'));
      }
    }
  });

  test('instances with one prefix count together by the clock of the server; another prefix is another store', async () => {
    const [one, two] = [await open({ prefix: 'p' }), await open({ prefix: 'p' })];
    const other = await open({ prefix: 'q' });
    const decisions = windowTypes.map(async (type) => {
      const policy = windowPolicy(type, 1, 86_400_000);
      const all = [await one.acquire(policy, 'a'), await two.acquire(policy, 'a'), await other.acquire(policy, 'a')];
      return all.map((decision) => decision!.allowed);
    });
    expect(await Promise.all(decisions)).toEqual(windowTypes.map(() => [true, false, true]));
  });

  test('simultaneous requests of many instances get no more than the limit', async () => {
    const stores = await Promise.all([1, 2, 3].map(() => open({ prefix: 'crowd' })));
    for (const policy of [...windowTypes.map((type) => windowPolicy(type, 10, 86_400_000)), concurrencyPolicy(10)]) {
      const requests = Array.from({ length: 60 }, (_, index) => stores[index % 3]!.acquire(policy, 'a'));
      const decisions = await Promise.all(requests);
      expect(decisions.filter((decision) => decision!.allowed).length).toBe(10);
    }
  });

  test('every key expires', async () => {
    const store = await open({ lease: 0.1 });
    await server.command('FLUSHALL');
    for (const type of windowTypes) await store.acquire(windowPolicy(type, 5, 100), 'a');
    await store.acquire(concurrencyPolicy(5), 'a');
    // A crash: the permit is not renewed any more.
    store.close();
    await until('all keys have expired', async () => (await integer('DBSIZE')) === 0);
    expect(await integer('DBSIZE')).toBe(0);
  });

  test('a foreign value under a key counts as none', async () => {
    const store = await open({ prefix: 'foreign' }, { now: () => startOfClock });
    for (const type of windowTypes) {
      const policy = windowPolicy(type, 1, 60_000);
      await store.acquire(policy, 'a');
      await server.command(
        `EVAL "for _,k in ipairs(redis.call('KEYS','foreign*')) do redis.call('SET',k,'strange') end return 1" 0`,
      );
      expect(await store.acquire(policy, 'a')).toMatchObject({ allowed: true });
    }
  });

  test('a server that has lost its scripts learns them again', async () => {
    const states: RateLimitStoreState[] = [];
    const store = await open({}, { states });
    const policy = windowPolicy('fixed-window', 5, 60_000);
    await store.acquire(policy, 'a');
    await server.command('SCRIPT FLUSH');
    expect(await store.acquire(policy, 'a')).toMatchObject({ allowed: true, remaining: 3 });
    expect(states).toEqual([]);
  });

  test('permits are renewed while their request runs, and end some time after a crash', async () => {
    const alive = await open({ prefix: 'lease', lease: 2 });
    const crashed = await open({ prefix: 'lease', lease: 2 });
    const policy = concurrencyPolicy(2);
    const held = await alive.acquire(policy, 'a');
    await crashed.acquire(policy, 'a');
    expect((await alive.acquire(policy, 'a'))!.allowed).toBe(false);
    crashed.close();
    await until('the permit of the crashed instance has ended', async () => {
      const decision = (await alive.acquire(policy, 'a'))!;
      if (decision.allowed) alive.release(policy, 'a', decision.permit!);
      return decision.allowed;
    });
    // Its own permit has been renewed meanwhile.
    expect([(await alive.acquire(policy, 'a'))!.allowed, (await alive.acquire(policy, 'a'))!.allowed]).toEqual([
      true,
      false,
    ]);
    alive.release(policy, 'a', held!.permit!);
    expect((await alive.acquire(policy, 'a'))!.allowed).toBe(true);
  });

  test('a server that has lost its data gets the permits of running requests again', async () => {
    const store = await open({ lease: 2 });
    const policy = concurrencyPolicy(1);
    await store.acquire(policy, 'a');
    await server.command('FLUSHALL');
    await until('the permit is renewed', async () => (await integer('DBSIZE')) === 1);
    expect((await store.acquire(policy, 'a'))!.allowed).toBe(false);
  });

  test('a server that hangs counts as unavailable after the timeout, and requests do not wait for it again', async () => {
    const states: RateLimitStoreState[] = [];
    const store = await open({ timeout: 1 }, { states });
    const policy = windowPolicy('fixed-window', 1_000, 60_000);
    await store.acquire(policy, 'a');
    server.pause();
    onTestFinished(() => server.resume());
    // A timeout per request would exceed the time limit of the test.
    for (let request = 0; request < 500; request++) expect(await store.acquire(policy, 'a')).toBe(null);
    server.resume();
    await until('it is available', async () => (await store.acquire(policy, 'a')) !== null);
    expect(states).toEqual([{ unavailable: expect.any(Error) }, { unavailable: null }]);
  });

  test('a busy event loop does not count as a server that hangs', async () => {
    const states: RateLimitStoreState[] = [];
    const store = await open({ timeout: 2 }, { states });
    const policy = windowPolicy('fixed-window', 1_000, 60_000);
    await store.acquire(policy, 'a');
    for (let request = 0; request < 2; request++) {
      const pending = store.acquire(policy, 'a');
      // The client sends its commands in the next turn.
      await new Promise(setImmediate);
      for (const end = performance.now() + 2_500; performance.now() < end;);
      expect(await pending).toMatchObject({ allowed: true });
    }
    expect(states).toEqual([]);
  });

  test('a server that is killed and restarted is used again', async () => {
    const states: RateLimitStoreState[] = [];
    const store = await open({}, { states });
    const policy = concurrencyPolicy(1);
    const decision = (await store.acquire(policy, 'a'))!;
    await server.kill();
    await until('it is away', async () => (await store.acquire(policy, 'a')) === null);
    store.release(policy, 'a', decision.permit!);
    await server.restart();
    await until('it is back', async () => (await store.acquire(policy, 'a')) !== null);
    expect(states).toEqual([{ unavailable: expect.any(Error) }, { unavailable: null }]);
  });
});
