import { createGateway, type Gateway, type GatewayOptions, type Observation, redisCache } from '@pgway/core';
import { freshDatabase, redisVersion, type RedisServer, startRedis, type TestDatabase } from '@pgway/testing';
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
    create function slow_count(pause float) returns text language sql as
      $$ select (select count(*) from book) || ' #' || nextval('calls') from pg_sleep(pause) $$;
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
  const before = get(gateway, 'slow-count?pause=0.5');
  await until(
    'it runs',
    async () =>
      (
        await database.query(
          `select from pg_stat_activity where query like '%slow_count%' and state = 'active' and pid <> pg_backend_pid()`,
        )
      ).length === 1,
  );
  await post(gateway, 'add-book', { title: 'x' });
  const after = get(gateway, 'slow-count?pause=0.5');
  expect(await before).toMatch(/^0 #/);
  expect(await after).toMatch(/^1 #/);
  expect(await get(gateway, 'slow-count?pause=0.5')).toBe(await after);
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
    expect([again!.status, again!.headers.get('age')]).toEqual([304, '0']);
  });

  test('concurrent requests to one gateway make one call', async () => {
    const gateway = await start(withRedis());
    const answers = await Promise.all(Array.from({ length: 300 }, () => get(gateway, 'slow-count?pause=0.3')));
    expect(new Set(answers).size).toBe(1);
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
