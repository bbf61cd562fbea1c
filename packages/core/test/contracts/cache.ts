import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Cache, CachedResponse, CacheKey, CacheLookup } from '../../src/ports/ports.ts';
import { until } from '../database/support.ts';

/** Returns an open, empty cache, which is closed after the test. */
export type MakeCache = () => Promise<Cache>;

const key = (text: string, routine = 'library.books'): CacheKey => ({ routine, text });

function answer(body: string | Buffer, more: Partial<CachedResponse> = {}): CachedResponse {
  return { body: Buffer.from(body), rows: 1, headers: [], etag: '"tag"', storedAt: Date.now(), ...more };
}

async function versionOf(cache: Cache, at: CacheKey): Promise<string> {
  const look = await cache.get(at);
  if (look.response !== null) throw new Error('there is an entry already');
  return look.version;
}

async function keep(cache: Cache, at: CacheKey, kept: CachedResponse, expires: number | null = null): Promise<void> {
  await cache.set(at, kept, { version: await versionOf(cache, at), expires });
}

/** The result of a lookup, in a comparable form. */
async function found(cache: Cache, at: CacheKey): Promise<unknown> {
  const look: CacheLookup = await cache.get(at);
  return look.response === null ? null : { ...look.response, body: Buffer.from(look.response.body).toString('latin1') };
}

/** Defines the contract tests of an implementation of `Cache`. */
export function describeCache(name: string, make: MakeCache): void {
  describe(`the contract of Cache: ${name}`, () => {
    test('a stored response is found unchanged, under its key only', async () => {
      const cache = await make();
      const kept = answer(Buffer.from([0, 255, 10, 13, 128]), { rows: 0, headers: ['x-a', 'b\u00e9'], etag: '"é"' });
      await keep(cache, key('a'), kept);
      expect(await found(cache, key('a'))).toEqual({ ...kept, body: '\x00\xff\n\r\x80' });
      expect(await found(cache, key('b'))).toBe(null);
    });

    test('no keys or bodies are confused', async () => {
      const cache = await make();
      const text = fc.string({ unit: 'grapheme', maxLength: 20 });
      const entries = fc.uniqueArray(fc.tuple(text, fc.uint8Array({ maxLength: 40 })), {
        selector: ([at]) => at,
        maxLength: 5,
      });
      let run = 0;
      await fc.assert(
        fc.asyncProperty(entries, async (all) => {
          const before = `${++run} `;
          for (const [at, body] of all) await keep(cache, key(before + at), answer(Buffer.from(body)));
          for (const [at, body] of all) {
            const look = await cache.get(key(before + at));
            expect(Buffer.from(look.response!.body)).toEqual(Buffer.from(body));
          }
        }),
        { numRuns: 50 },
      );
    });

    test('all misses have one version until the routine is invalidated', async () => {
      const cache = await make();
      const [first, second] = await Promise.all([versionOf(cache, key('a')), versionOf(cache, key('b'))]);
      expect(second).toBe(first);
      await cache.invalidate(['library.books']);
      expect(await versionOf(cache, key('a'))).not.toBe(first);
    });

    test('an expired entry is a miss', async () => {
      const cache = await make();
      await keep(cache, key('a'), answer('short'), 150);
      await keep(cache, key('b'), answer('long'), 60_000);
      await keep(cache, key('c'), answer('old', { storedAt: Date.now() - 1_000 }), 500);
      expect(await found(cache, key('c'))).toBe(null);
      await until('it has expired', async () => (await found(cache, key('a'))) === null);
      expect(await found(cache, key('b'))).toMatchObject({ body: 'long' });
    });

    test('an invalidated entry is a miss; other routines stay', async () => {
      const cache = await make();
      await keep(cache, key('a'), answer('1'));
      await keep(cache, key('b'), answer('2'));
      await keep(cache, key('c', 'library.authors'), answer('3'));
      await keep(cache, key('d', 'library.{x}:generation'), answer('4'));
      await cache.invalidate(['library.books', 'nothing.of_the_kind']);
      expect(await Promise.all(['a', 'b'].map((text) => found(cache, key(text))))).toEqual([null, null]);
      expect(await found(cache, key('c', 'library.authors'))).toMatchObject({ body: '3' });
      expect(await found(cache, key('d', 'library.{x}:generation'))).toMatchObject({ body: '4' });
      await cache.invalidate([]);
      expect(await found(cache, key('c', 'library.authors'))).toMatchObject({ body: '3' });
    });

    test('a response with a version from before an invalidation is not stored', async () => {
      const cache = await make();
      const version = await versionOf(cache, key('a'));
      await cache.invalidate(['library.books']);
      await cache.set(key('a'), answer('old'), { version, expires: null });
      expect(await found(cache, key('a'))).toBe(null);
      await keep(cache, key('a'), answer('new'));
      expect(await found(cache, key('a'))).toMatchObject({ body: 'new' });
    });

    test('a later response replaces the earlier one', async () => {
      const cache = await make();
      const version = await versionOf(cache, key('a'));
      await cache.set(key('a'), answer('1'), { version, expires: null });
      await cache.set(key('a'), answer('2'), { version, expires: null });
      expect(await found(cache, key('a'))).toMatchObject({ body: '2' });
    });

    test('after close every lookup is a miss, and no method throws', async () => {
      const cache = await make();
      const version = await versionOf(cache, key('a'));
      await keep(cache, key('b'), answer('1'));
      await cache.close();
      await cache.set(key('a'), answer('1'), { version, expires: null });
      await cache.invalidate(['library.books']);
      expect([await found(cache, key('a')), await found(cache, key('b'))]).toEqual([null, null]);
      await cache.close();
    });
  });
}
