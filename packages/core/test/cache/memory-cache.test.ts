import { expect, onTestFinished, test } from 'vitest';
import type { CachedResponse } from '../../src/ports/ports.ts';
import { MemoryCache, type MemoryCacheOptions } from '../../src/cache/memory-cache.ts';
import { describeCache } from '../contracts/cache.ts';

function open(options: Partial<MemoryCacheOptions> = {}): MemoryCache {
  const cache = new MemoryCache({ maxEntries: 1_000, maxSize: 1_000_000, pruneInterval: 60_000, ...options });
  onTestFinished(() => cache.close());
  return cache;
}

describeCache('memory', async () => open());

const answer = (size: number): CachedResponse => ({
  body: Buffer.alloc(size),
  rows: 1,
  headers: [],
  etag: '""',
  storedAt: Date.now(),
});
const keep = (cache: MemoryCache, text: string, size = 10, expires: number | null = null): void =>
  cache.set({ routine: 'r', text }, answer(size), { version: '0', expires });
const has = (cache: MemoryCache, text: string): boolean => cache.get({ routine: 'r', text }).response !== null;

test('beyond the maximum number of entries, the oldest one that was not used is evicted', () => {
  const cache = open({ maxEntries: 3 });
  for (const text of ['a', 'b', 'c']) keep(cache, text);
  expect(has(cache, 'a')).toBe(true);
  keep(cache, 'd');
  expect(['a', 'b', 'c', 'd'].filter((text) => has(cache, text))).toEqual(['a', 'c', 'd']);
  expect(cache.entries).toBe(3);
});

test('a new entry finds its place among entries that are all used', () => {
  const cache = open({ maxEntries: 3 });
  for (const text of ['a', 'b', 'c']) keep(cache, text);
  for (const text of ['a', 'b', 'c']) has(cache, text);
  keep(cache, 'd');
  expect(['a', 'b', 'c', 'd'].filter((text) => has(cache, text))).toEqual(['b', 'c', 'd']);
});

test('beyond the maximum size, with keys, entries are evicted; an entry larger than that is not stored', () => {
  const cache = open({ maxSize: 10_000 });
  for (let n = 0; n < 100; n++) keep(cache, `key ${n}`, 1_000);
  expect(cache.size).toBeLessThanOrEqual(10_000);
  expect(cache.entries).toBeGreaterThan(4);
  keep(cache, 'too large', 10_000);
  keep(cache, 'k'.repeat(6_000), 1);
  expect([has(cache, 'too large'), has(cache, 'k'.repeat(6_000)), has(cache, 'key 99')]).toEqual([false, false, true]);
});

test('expired and invalidated entries are removed periodically, with their size', () => {
  let now = Date.now();
  const cache = open({ now: () => now });
  keep(cache, 'short', 10, 1_000);
  keep(cache, 'long', 10, 5_000);
  now += 2_000;
  cache.prune();
  expect(cache.entries).toBe(1);
  cache.invalidate(['r']);
  cache.prune();
  expect([cache.entries, cache.size]).toEqual([0, 0]);
});
