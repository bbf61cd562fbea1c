import { expect, test } from 'vitest';
import { MemoryRateLimitStore } from '../../src/rate-limits/memory-store.ts';
import { describeRateLimitStore, windowPolicy, windowTypes } from '../contracts/rate-limit-store.ts';

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

test('a policy of the same name with another limit starts anew', () => {
  const store = new MemoryRateLimitStore({ maxKeys: 10, now: () => 0 });
  const policy = windowPolicy('fixed-window', 1, 1_000);
  store.acquire(policy, 'a');
  expect(store.acquire({ ...policy }, 'a').allowed).toBe(false);
  expect(store.acquire({ ...policy, limit: 2 }, 'a').remaining).toBe(1);
});
