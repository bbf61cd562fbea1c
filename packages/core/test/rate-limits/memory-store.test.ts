import { expect, test } from 'vitest';
import type { RateLimitPolicy } from '../../src/ports/rate-limit-store.ts';
import { MemoryRateLimitStore } from '../../src/rate-limits/memory-store.ts';
import { concurrencyPolicy, describeRateLimitStore, windowPolicy, windowTypes } from '../contracts/rate-limit-store.ts';

describeRateLimitStore('memory', async (now) => new MemoryRateLimitStore({ maxKeys: 1_000, now }));

test('decisions are synchronous', () => {
  const store = new MemoryRateLimitStore({ maxKeys: 10 });
  expect(store.acquire(windowPolicy('fixed-window', 1, 1_000), 'a')).toMatchObject({ allowed: true });
});

test.each(windowTypes)('%s: the keys of a policy are bounded, and do not evict those of another', (type) => {
  const store = new MemoryRateLimitStore({ maxKeys: 2, now: () => 0 });
  const [policy, other] = [windowPolicy(type, 1, 1_000), windowPolicy(type, 1, 1_000)];
  const allows = (key: string): boolean => store.acquire(policy, key).allowed;
  store.acquire(other, 'a');
  expect(['a', 'b', 'a', 'c'].map(allows)).toEqual([true, true, false, true]);
  // "b" was used least recently.
  expect([allows('a'), allows('c'), allows('b')]).toEqual([false, false, true]);
  for (let key = 0; key < 5_000; key++) allows(`key ${key}`);
  expect(store.acquire(other, 'a').allowed).toBe(false);
});

test('policies of one name with different limits count separately, as in a rolling restart', () => {
  const store = new MemoryRateLimitStore({ maxKeys: 10, now: () => 0 });
  const policy = windowPolicy('fixed-window', 1, 1_000);
  const changed = { ...policy, limit: 2 };
  const allows = (one: RateLimitPolicy): boolean => store.acquire(one, 'a').allowed;
  // Copies come from other processes.
  expect([policy, changed, { ...policy }, { ...changed }, policy, changed].map(allows)).toEqual([
    true,
    true,
    false,
    true,
    false,
    false,
  ]);
  const concurrency = concurrencyPolicy(1);
  const { permit } = store.acquire(concurrency, 'a');
  store.acquire({ ...concurrency, limit: 2 }, 'a');
  expect(allows(concurrency)).toBe(false);
  expect(permit).not.toBe(null);
  store.release({ ...concurrency }, 'a');
  expect(allows(concurrency)).toBe(true);
});

test('few versions of a policy are kept', () => {
  const store = new MemoryRateLimitStore({ maxKeys: 10, now: () => 0 });
  const policy = windowPolicy('fixed-window', 1, 1_000);
  store.acquire(policy, 'a');
  for (let limit = 2; limit < 10; limit++) store.acquire({ ...policy, limit }, 'a');
  expect(store.acquire(policy, 'a').allowed).toBe(true);
});
