import { expect, test } from 'vitest';
import { BoundedCache } from './bounded-cache.ts';

function use(cache: BoundedCache<string>, keys: readonly string[]): void {
  for (const key of keys) if (cache.get(key) === undefined) cache.add(key, key.toUpperCase(), key.length);
}

function kept(cache: BoundedCache<string>, keys: readonly string[]): readonly string[] {
  return keys.filter((key) => cache.get(key) !== undefined);
}

function numbered(count: number, prefix = ''): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index}`);
}

test('the least recently used entry is evicted first', () => {
  const cache = new BoundedCache<string>({ entries: 3, size: 100 });
  use(cache, ['a', 'b', 'c', 'd']);
  expect(kept(cache, ['a', 'b', 'c', 'd'])).toEqual(['b', 'c', 'd']);
  expect(cache.get('b')).toBe('B');
});

test('thousands of keys that are used once do not evict those that are used in between', () => {
  const cache = new BoundedCache<string>({ entries: 20, size: 1_000 });
  const frequent = numbered(12, 'frequent ');
  use(cache, [...frequent, ...frequent]);
  for (let round = 0; round < 1_000; round++) {
    use(cache, numbered(5, `round ${round} `));
    expect(kept(cache, frequent)).toEqual(frequent);
  }
  expect(cache.entries).toBe(20);
});

test('an entry that was used last and evicted is not found', () => {
  const cache = new BoundedCache<string>({ entries: 1, size: 100 });
  use(cache, ['a', 'a', 'b']);
  expect(cache.get('a')).toBeUndefined();
  expect(cache.get('b')).toBe('B');
  expect(cache.get('b')).toBe('B');
});

test('new keys take the place of those that are not used any more', () => {
  const cache = new BoundedCache<string>({ entries: 20, size: 1_000 });
  const before = numbered(20, 'before ');
  const now = numbered(15, 'now ');
  use(cache, [...before, ...before]);
  for (let round = 0; round < 50; round++) use(cache, now);
  expect(kept(cache, now)).toEqual(now);
  expect(cache.entries).toBe(20);
});

test('the sum of the sizes is limited, and an entry that is larger is not kept', () => {
  const cache = new BoundedCache<string>({ entries: 100, size: 10 });
  use(cache, ['aaaa', 'bbbb', 'cccc']);
  expect(cache.size).toBe(8);
  use(cache, ['longer than ten']);
  expect(kept(cache, ['aaaa', 'bbbb', 'cccc', 'longer than ten'])).toEqual(['bbbb', 'cccc']);
  // Larger than what is left beside entries that were used again.
  use(cache, ['dddddd']);
  expect(cache.get('dddddd')).toBe('DDDDDD');
  expect(cache.size).toBeLessThanOrEqual(10);
});
