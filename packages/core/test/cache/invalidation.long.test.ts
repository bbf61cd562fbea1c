import { type Cache, memoryCache } from '@pgway/core';
import { holdLock } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { until } from '../database/support.ts';
import { database, get, listening, notify, observations, post, start, useBooks } from './books.ts';

useBooks();

test('after the response to a write, reads see it; entries that it does not name stay', async () => {
  const gateway = await start();
  for (let n = 0; n < 5; n++) {
    expect(await get(gateway, 'count-books')).toMatch(new RegExp(`^${n} #`));
    expect(await get(gateway, 'count-books')).toMatch(new RegExp(`^${n} #`));
    expect(await post(gateway, 'add-book', { title: 'x' })).toBe(200);
  }
  expect(await get(gateway, 'other')).toBe(await get(gateway, 'other'));
  const other = await get(gateway, 'other');
  await post(gateway, 'add-book', { title: 'x' });
  expect(await get(gateway, 'other')).toBe(other);
});

describe('a cache of the host that fails', () => {
  /** A memory cache whose methods fail while `broken` names them. */
  function failingCache() {
    const cache = memoryCache({ maxEntries: 100, maxSize: 1024 * 1024, pruneInterval: 60_000 });
    const broken = new Set<string>();
    const check = async (method: string): Promise<void> => {
      if (broken.has(method)) throw new Error(`${method} failed`);
    };
    const failing: Cache = {
      get: async (key) => {
        await check('get');
        return cache.get(key);
      },
      set: async (key, response, how) => {
        await check('set');
        await cache.set(key, response, how);
      },
      invalidate: async (routines) => {
        await check('invalidate');
        await cache.invalidate(routines);
      },
      close: () => cache.close(),
    };
    return { broken, failing };
  }
  const cacheStates = () =>
    observations.flatMap((observation) => {
      if (observation.kind === 'cache-unavailable') return [observation.error.message];
      return observation.kind === 'cache-available' ? ['available'] : [];
    });

  test('a write succeeds when its invalidation fails, and reads do not return the old response', async () => {
    const { broken, failing } = failingCache();
    const gateway = await start({ defaultRoutineCache: failing });
    expect(await get(gateway, 'count-books')).toMatch(/^0 #/);
    broken.add('invalidate');
    expect(await post(gateway, 'add-book', { title: 'x' })).toBe(200);
    expect(await get(gateway, 'count-books')).toMatch(/^1 #/);
    expect(await get(gateway, 'other')).toBe(await get(gateway, 'other'));
    expect([cacheStates(), gateway.health().cache]).toEqual([['invalidate failed'], 'invalidate failed']);
    broken.clear();
    await expect
      .poll(async () => (await get(gateway, 'count-books')) === (await get(gateway, 'count-books')))
      .toBe(true);
    expect(await get(gateway, 'count-books')).toMatch(/^1 #/);
    expect([cacheStates(), gateway.health().cache]).toEqual([['invalidate failed', 'available'], null]);
  });

  test('a notification whose invalidation fails does not end the process', async () => {
    const { broken, failing } = failingCache();
    const gateway = await start({ defaultRoutineCache: failing, cacheInvalidateChannel: 'cache_invalidate' });
    await expect.poll(listening).toBe(1);
    expect(await get(gateway, 'count-books')).toMatch(/^0 #/);
    broken.add('invalidate');
    await database.query(`insert into book (title) values ('x')`);
    await notify('count_books');
    await expect.poll(cacheStates).toEqual(['invalidate failed']);
    expect(await get(gateway, 'count-books')).toMatch(/^1 #/);
  });

  test('requests are answered without it', async () => {
    const { broken, failing } = failingCache();
    const gateway = await start({ defaultRoutineCache: failing });
    broken.add('get').add('set');
    expect(await get(gateway, 'count-books')).not.toBe(await get(gateway, 'count-books'));
    broken.delete('get');
    const first = await get(gateway, 'count-books');
    expect(await get(gateway, 'count-books')).not.toBe(first);
    expect(cacheStates()).toContain('get failed');
  });
});

test('a failed write invalidates nothing', async () => {
  const gateway = await start();
  const before = await get(gateway, 'count-books');
  expect(await post(gateway, 'add-in-vain')).toBe(400);
  expect(await get(gateway, 'count-books')).toBe(before);
});

test('a write with a streamed response invalidates at the end of the stream', async () => {
  const gateway = await start();
  expect(await get(gateway, 'count-books')).toMatch(/^0 #/);
  await post(gateway, 'add-many', { n: 50_000 });
  expect(await get(gateway, 'count-books')).toMatch(/^50000 #/);
});

test('a call that started before a write is not cached after it, and later requests do not join it', async () => {
  const gateway = await start();
  const lock = await holdLock(database.connectionString, 1);
  const before = get(gateway, 'slow-count');
  await until('it runs', async () => (await lock.waiting()) === 1);
  await post(gateway, 'add-book', { title: 'x' });
  const after = get(gateway, 'slow-count');
  await until('the later one runs too', async () => (await lock.waiting()) === 2);
  await lock.release();
  expect(await before).toMatch(/^0 #/);
  expect(await after).toMatch(/^1 #/);
  expect(await get(gateway, 'slow-count')).toBe(await after);
});

test('a refresh empties the cache, as routines may have changed', async () => {
  const gateway = await start();
  const before = await get(gateway, 'count-books');
  await database.query(`create or replace function count_books() returns text language sql as $$ select 'changed' $$`);
  expect(await get(gateway, 'count-books')).toBe(before);
  await gateway.refresh();
  expect(await get(gateway, 'count-books')).toBe('changed');
});

describe('by NOTIFY', () => {
  const channel = { cacheInvalidateChannel: 'cache_invalidate' };

  test('a payload names routines with or without schema; an empty one invalidates all', async () => {
    const gateway = await start(channel);
    await until('it listens', async () => (await listening()) === 1);
    for (const payload of ['public.count_books', 'COUNT_BOOKS', 'nothing.else, count_books', '']) {
      const [before, other] = [await get(gateway, 'count-books'), await get(gateway, 'other')];
      await notify(payload);
      await until(`${payload} is invalidated`, async () => (await get(gateway, 'count-books')) !== before);
      expect((await get(gateway, 'other')) === other).toBe(payload !== '');
    }
    const [before, other] = [await get(gateway, 'count-books'), await get(gateway, 'other')];
    await notify('nothing.of_the_kind');
    await notify('public.other');
    await until('the second is invalidated', async () => (await get(gateway, 'other')) !== other);
    expect(await get(gateway, 'count-books')).toBe(before);
  });

  test('a write through one gateway invalidates the cache of another one', async () => {
    const [one, two] = [await start(channel), await start(channel)];
    await until('they listen', async () => (await listening()) === 2);
    expect(await get(two, 'count-books')).toMatch(/^0 #/);
    await post(one, 'add-book', { title: 'x' });
    expect(await get(one, 'count-books')).toMatch(/^1 #/);
    await until('the other has heard', async () => (await get(two, 'count-books')).startsWith('1 #'));
    expect(await get(two, 'count-books')).toMatch(/^1 #/);
  });

  test('a failed write notifies no gateway', async () => {
    const [one, two] = [await start(channel), await start(channel)];
    await until('they listen', async () => (await listening()) === 2);
    const [before, other] = [await get(two, 'count-books'), await get(two, 'other')];
    await post(one, 'add-in-vain');
    await notify('other');
    await until('a later one is heard', async () => (await get(two, 'other')) !== other);
    expect(await get(two, 'count-books')).toBe(before);
  });

  test('a write on a named connection notifies the main database', async () => {
    await database.query(`comment on function add_book is 'HTTP POST
      invalidates count_books
      connection elsewhere'`);
    const named = { ...channel, connectionStrings: { elsewhere: database.connectionString } };
    const [one, two] = [await start(named), await start(named)];
    await until('they listen', async () => (await listening()) === 2);
    expect(await get(two, 'count-books')).toMatch(/^0 #/);
    await post(one, 'add-book', { title: 'x' });
    await until('the other has heard', async () => (await get(two, 'count-books')).startsWith('1 #'));
    expect(await get(two, 'count-books')).toMatch(/^1 #/);
  });

  test('a lost listener connection invalidates everything', async () => {
    const gateway = await start(channel);
    await until('it listens', async () => (await listening()) === 1);
    const [before, other] = [await get(gateway, 'count-books'), await get(gateway, 'other')];
    await database.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen %' and datname = current_database()`,
    );
    await until(
      'both are invalidated',
      async () => (await get(gateway, 'count-books')) !== before && (await get(gateway, 'other')) !== other,
    );
    expect(await get(gateway, 'count-books')).toBe(await get(gateway, 'count-books'));
  });

  test('an invalid channel name, or a transaction pooler, fails the start', async () => {
    await expect(start({ cacheInvalidateChannel: 'n'.repeat(64) })).rejects.toThrow(
      `cacheInvalidateChannel: the channel name "${'n'.repeat(64)}" must have 1 to 63 bytes`,
    );
    await expect(start({ ...channel, pooler: 'transaction' })).rejects.toThrow(
      'cacheInvalidateChannel behind a pooler needs',
    );
  });
});
