import { describe, expect, test } from 'vitest';
import { TokenCache } from '../../src/auth-schemes/token-cache.ts';
import { ExpiringMap } from '../../src/cache/expiring-map.ts';
import { clockAt } from './request.ts';

describe('a bounded map with expiry', () => {
  test('an entry lives until its expiry', () => {
    const clock = clockAt();
    const map = new ExpiringMap<number>(10, clock.now);
    map.set('a', 1, clock.now() + 1000);
    clock.pass(0.999);
    expect(map.get('a')).toBe(1);
    clock.pass(0.001);
    expect([map.get('a'), map.size]).toEqual([undefined, 0]);
  });

  test('a full map evicts the least recently used entry', () => {
    const map = new ExpiringMap<number>(2, () => 0);
    map.set('a', 1, 1);
    map.set('b', 2, 1);
    map.get('a');
    map.set('c', 3, 1);
    expect([map.get('a'), map.get('b'), map.get('c'), map.size]).toEqual([1, undefined, 3, 2]);
    map.set('a', 4, 1);
    expect([map.get('a'), map.get('c'), map.size]).toEqual([4, 3, 2]);
  });

  test('expired entries are removed while others are added', () => {
    const clock = clockAt();
    const map = new ExpiringMap<number>(1_000, clock.now);
    for (let key = 0; key < 100; key++) map.set(`old ${key}`, key, clock.now() + 1_000);
    clock.pass(1);
    for (let key = 0; key < 50; key++) map.set(`new ${key}`, key, clock.now() + 1_000);
    expect(map.size).toBe(50);
  });

  test('an update keeps the place that a read has given to its entry', () => {
    const map = new ExpiringMap<number>(2, () => 0);
    map.set('a', 1, 1);
    map.set('b', 2, 1);
    map.get('a');
    map.update('a', 3, 1);
    map.update('c', 4, 1);
    expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([3, undefined, 4]);
  });

  test('with a bound of 0 it stores nothing', () => {
    const map = new ExpiringMap<number>(0, () => 0);
    map.set('a', 1, 1);
    expect([map.get('a'), map.size]).toEqual([undefined, 0]);
  });
});

describe('cached tokens', () => {
  test('tokens are cached until they expire, and for ten minutes at most', () => {
    const clock = clockAt();
    const cache = new TokenCache<string>(clock.now);
    cache.set('short', 'a', clock.now() / 1000 + 60);
    cache.set('long', 'b', clock.now() / 1000 + 86_400);
    clock.pass(59);
    expect([cache.get('short'), cache.get('long'), cache.get('other')]).toEqual(['a', 'b', undefined]);
    clock.pass(1);
    expect([cache.get('short'), cache.get('long')]).toEqual([undefined, 'b']);
    clock.pass(540);
    expect(cache.get('long')).toBe(undefined);
  });
});
