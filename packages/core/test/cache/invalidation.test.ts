import {
  type Cache,
  createGateway,
  type Gateway,
  type GatewayOptions,
  memoryCache,
  type Observation,
  redisCache,
} from '@pgway/core';
import { freshDatabase, holdLock, redisVersion, type RedisServer, startRedis, type TestDatabase } from '@pgway/testing';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { until } from '../database/support.ts';

const hasRedis = (await redisVersion()) !== null;
if (!hasRedis) console.warn('SKIPPED: there is no Redis on this machine (apt-get install redis-server)');

let database: TestDatabase;
let observations: Observation[];

beforeEach(async () => {
  observations = [];
  database = await freshDatabase(`
    create table book (id serial primary key, title text);
    create sequence calls;
    create function count_books() returns text language sql as $$ select count(*) || ' #' || nextval('calls') from book $$;
    comment on function count_books() is 'HTTP GET
      cached';
    create function other() returns text language sql as $$ select '#' || nextval('calls') $$;
    comment on function other() is 'HTTP GET
      cached';
    create function slow_count() returns text language sql as
      $$ select (select count(*) from book) || ' #' || nextval('calls') from pg_advisory_xact_lock_shared(1) $$;
    comment on function slow_count is 'HTTP GET
      cached';
    create function add_book(title text) returns int language sql as $$ insert into book (title) values (title) returning id $$;
    comment on function add_book is 'HTTP POST
      invalidates count_books, slow_count';
    create function add_many(n int) returns setof int language sql as
      $$ insert into book (title) select repeat('x', 100) from generate_series(1, n) returning id $$;
    comment on function add_many is 'HTTP POST
      invalidates count_books';
    create function add_in_vain() returns int language plpgsql as $$ begin insert into book (title) values ('x'); raise 'no'; end $$;
    comment on function add_in_vain() is 'HTTP POST
      invalidates public.count_books';
  `);
});
afterEach(() => database.drop());

async function start(options: Partial<GatewayOptions> = {}): Promise<Gateway> {
  const gateway = await createGateway({
    connectionString: database.connectionString,
    observer: (observation) => void observations.push(observation),
    ...options,
  });
  onTestFinished(() => gateway.close());
  return gateway;
}

async function get(gateway: Gateway, path: string): Promise<string> {
  return (await gateway.fetch(new Request(`http://x/api/${path}`)))!.text();
}

async function post(gateway: Gateway, path: string, body: object = {}): Promise<number> {
  const headers = { 'content-type': 'application/json' };
  const request = new Request(`http://x/api/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  const response = await gateway.fetch(request);
  await response!.text();
  return response!.status;
}

const notify = (payload: string): Promise<unknown> =>
  database.query(`select pg_notify('cache_invalidate', $1)`, [payload]);
const listening = async (): Promise<number> =>
  (await database.query(`select from pg_stat_activity where query like 'listen %' and datname = current_database()`))
    .length;

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
    await expect(start({ cacheInvalidateChannel: '' })).rejects.toThrow(
      'cacheInvalidateChannel: the channel name "" must have 1 to 63 bytes',
    );
    await expect(start({ ...channel, pooler: 'transaction' })).rejects.toThrow(
      'cacheInvalidateChannel behind a pooler needs',
    );
  });
});

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
