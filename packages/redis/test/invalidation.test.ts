import type { GatewayOptions } from '@pgway/core';
import { redisCache } from '@pgway/redis';
import { freshDatabase, holdLock, type RedisServer, redisVersion, startRedis } from '@pgway/testing';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { database, get, observations, post, start, useBooks } from '../../core/test/cache/books.ts';
import { until } from '../../core/test/database/support.ts';

useBooks();

const hasRedis = (await redisVersion()) !== null;
if (!hasRedis) console.warn('SKIPPED: there is no Redis on this machine (apt-get install redis-server)');

describe.skipIf(!hasRedis)('two gateways with one Redis', () => {
  let redis: RedisServer;
  beforeEach(async () => {
    redis = await startRedis();
  });
  afterEach(() => redis.stop());

  const withRedis = (): Partial<GatewayOptions> => ({
    defaultRoutineCache: redisCache({ url: redis.url, timeout: 5 }),
  });
  const kinds = (): readonly string[] =>
    observations.map(({ kind }) => kind).filter((kind) => kind.startsWith('cache-'));

  test('gateways share responses and invalidations', async () => {
    const [one, two] = [await start(withRedis()), await start(withRedis())];
    const first = await get(one, 'count-books');
    expect(await get(two, 'count-books')).toBe(first);
    await post(two, 'add-book', { title: 'x' });
    const second = await get(one, 'count-books');
    expect(second).toMatch(/^1 #/);
    expect(await get(two, 'count-books')).toBe(second);
    await one.refresh();
    expect(await get(two, 'count-books')).not.toBe(second);
    const tagged = await two.fetch(new Request('http://x/api/count-books'));
    const again = await one.fetch(
      new Request('http://x/api/count-books', { headers: { 'if-none-match': tagged!.headers.get('etag')! } }),
    );
    expect([again!.status, again!.headers.get('age')]).toEqual([304, expect.stringMatching(/^\d$/)]);
  });

  test('concurrent requests to one gateway make one call', async () => {
    let arrived = 0;
    const gateway = await start({ ...withRedis(), commandCallback: () => void arrived++ });
    const lock = await holdLock(database.connectionString, 1);
    const answers = Promise.all(Array.from({ length: 300 }, () => get(gateway, 'slow-count')));
    await until('all requests have arrived', () => arrived === 300);
    // Redis answers in order: the lookups of all requests are complete.
    await get(gateway, 'other');
    await lock.release();
    expect([...new Set(await answers)]).toEqual([expect.stringMatching(/^0 #\d+$/)]);
  });

  test('another database with the same Redis has its own responses', async () => {
    const other =
      await freshDatabase(`create function count_books() returns text language sql as $$ select 'other database' $$;
      comment on function count_books() is 'HTTP GET
      cached'`);
    onTestFinished(() => other.drop());
    const [one, two] = [
      await start(withRedis()),
      await start({ ...withRedis(), connectionString: other.connectionString }),
    ];
    onTestFinished(() => two.close());
    expect(await get(one, 'count-books')).toMatch(/^0 #/);
    expect(await get(two, 'count-books')).toBe('other database');
  });

  test('Redis is killed and restarted: every request gets a response, no write is missed, and the cache recovers', async () => {
    const [one, two] = [await start(withRedis()), await start(withRedis())];
    let written = 0;
    const round = async (): Promise<void> => {
      await post(one, 'add-book', { title: 'x' });
      written++;
      for (const gateway of [one, two]) {
        const count = Number((await get(gateway, 'count-books')).split(' ')[0]);
        expect(count).toBe(written);
      }
    };
    for (let n = 0; n < 5; n++) await round();
    await redis.kill();
    for (let n = 0; n < 5; n++) await round();
    await until('it is reported', () => kinds().length >= 2);
    await redis.restart();
    await until('both are back', () => kinds().filter((kind) => kind === 'cache-available').length === 2);
    for (let n = 0; n < 5; n++) await round();
    expect(await get(one, 'other')).toBe(await get(two, 'other'));
    expect(kinds().filter((kind) => kind === 'cache-unavailable')).toHaveLength(2);
  });

  test('an unavailable Redis does not fail the start, an invalid address does', async () => {
    await redis.kill();
    const gateway = await start({ defaultRoutineCache: redisCache({ url: redis.url, timeout: 1 }) });
    expect(await get(gateway, 'count-books')).toMatch(/^0 #/);
    expect(kinds()).toEqual(['cache-unavailable']);
    await expect(start({ defaultRoutineCache: redisCache({ url: 'nowhere' }) })).rejects.toThrow(
      'defaultRoutineCache: ',
    );
  });
});
