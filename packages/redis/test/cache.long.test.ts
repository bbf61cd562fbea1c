import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { redisVersion, type RedisServer, startRedis } from '@pgway/testing';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Cache, CacheState } from '@pgway/core';
import { redisBroadcast, redisCache, type RedisCacheOptions } from '@pgway/redis';
import { describeCache } from '../../core/test/contracts/cache.ts';
import { skipTime, until } from '../../core/test/database/support.ts';

const hasRedis = (await redisVersion()) !== null;
if (!hasRedis) console.warn('SKIPPED: there is no Redis on this machine (apt-get install redis-server)');

test('an invalid address fails the start', async () => {
  const cache = redisCache({ url: 'http://localhost' });
  await expect(cache.open!(() => undefined)).rejects.toThrow('is not a valid Redis protocol');
  await cache.close();
});

test('an unreachable server is reported once, and no call waits for it', async () => {
  const states: CacheState[] = [];
  const cache = redisCache({ url: 'redis://127.0.0.1:1', timeout: 60 });
  onTestFinished(() => cache.close());
  await cache.open!((state) => void states.push(state));
  const key = { routine: 'a.b', text: 'x' };
  const look = await cache.get(key);
  expect(look.response).toBe(null);
  await cache.set(
    key,
    { body: Buffer.from('x'), rows: 1, headers: [], etag: '""', storedAt: Date.now() },
    { version: 'away 0', expires: null },
  );
  await cache.invalidate(['a.b']);
  expect(await cache.get(key)).not.toEqual(look);
  expect(states).toEqual([{ unavailable: expect.any(Error) }]);
});

test('another reason is reported too, but not at once', async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const states: CacheState[] = [];
  const cache = redisCache({ url: `redis://127.0.0.1:${port}`, timeout: 0.1 });
  onTestFinished(() => cache.close());
  await cache.open!((state) => void states.push(state));
  silent.close();
  for (const socket of sockets) socket.destroy();
  skipTime(11_000);
  await until('there are two reports', () => states.length === 2);
  const [first, second] = states.map(({ unavailable }) => unavailable!.message);
  expect(first).toBe('Redis did not respond within 100 ms');
  expect(second).not.toBe(first);
});

describe.skipIf(!hasRedis)('with a server', () => {
  let server: RedisServer;
  let prefixes = 0;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server?.stop());

  async function open(options: Partial<RedisCacheOptions> = {}, states: CacheState[] = []): Promise<Cache> {
    const cache = redisCache({ url: server.url, prefix: `test ${++prefixes}`, timeout: 5, ...options });
    await cache.open!((state) => void states.push(state));
    onTestFinished(() => cache.close());
    return cache;
  }

  const key = { routine: 'library.books', text: 'a' };
  async function keep(cache: Cache, body: string, expires: number | null = null): Promise<void> {
    const look = await cache.get(key);
    if (look.response !== null) return;
    const answer = { body: Buffer.from(body), rows: 1, headers: [], etag: '""', storedAt: Date.now() };
    await cache.set(key, answer, { version: look.version, expires });
  }
  async function bodyOf(cache: Cache): Promise<string | null> {
    const { response: answer } = await cache.get(key);
    return answer === null ? null : Buffer.from(answer.body).toString();
  }

  describeCache('Redis', () => open());

  test('caches with one prefix share entries and invalidations; another prefix is another cache', async () => {
    const [one, two, other] = [await open({ prefix: 'p' }), await open({ prefix: 'p' }), await open({ prefix: 'q' })];
    await keep(one, 'shared');
    expect([await bodyOf(two), await bodyOf(other)]).toEqual(['shared', null]);
    await two.invalidate(['library.books']);
    expect(await bodyOf(one)).toBe(null);
  });

  test('every entry expires, also one without expiry of its own', async () => {
    const cache = await open({ maxAge: 0.1 });
    await keep(cache, 'kept');
    await until('it has expired', async () => (await bodyOf(cache)) === null);
    expect(await bodyOf(cache)).toBe(null);
  });

  test('a server that evicts keys returns no invalidated entry', async () => {
    const cache = await open();
    await keep(cache, 'before');
    await server.command('FLUSHALL');
    expect(await bodyOf(cache)).toBe(null);
    await keep(cache, 'after');
    expect(await bodyOf(cache)).toBe('after');
  });

  test('a foreign value under the key is a miss', async () => {
    const cache = await open({ prefix: 'strange' });
    await keep(cache, 'kept');
    for (const text of ['', 'x', '{}', 'null']) {
      await server.command(
        `EVAL "for _,k in ipairs(redis.call('KEYS','strange*')) do if not k:find('generation') then redis.call('SET',k,ARGV[1]) end end return 1" 0 "${text}"`,
      );
      expect(await bodyOf(cache)).toBe(null);
    }
  });

  test('the server is killed and restarted: misses meanwhile, one report each, then hits', async () => {
    const states: CacheState[] = [];
    const cache = await open({}, states);
    await keep(cache, 'kept');
    await server.kill();
    await until('it is away', async () => (await bodyOf(cache)) === null && states.length > 0);
    await keep(cache, 'while away');
    expect(await bodyOf(cache)).toBe(null);
    await server.restart();
    await until('it is back', () => states.length === 2);
    await keep(cache, 'again');
    expect(await bodyOf(cache)).toBe('again');
    expect(states).toEqual([{ unavailable: expect.any(Error) }, { unavailable: null }]);
  });

  test('a server that restores old data returns no invalidated entry', async () => {
    const states: CacheState[] = [];
    const cache = await open({}, states);
    await keep(cache, 'void by now');
    expect(await server.command('SAVE')).toBe('+OK');
    await cache.invalidate(['library.books']);
    await server.kill();
    await until('it is away', async () => (await bodyOf(cache)) === null && states.length > 0);
    await server.restart();
    await until('it is back', () => states.length === 2);
    expect(Number((await server.command('DBSIZE')).slice(1))).toBeGreaterThan(1);
    expect(await bodyOf(cache)).toBe(null);
  });

  test('a hanging server counts as unavailable after one timeout, and receives pending invalidations before the next lookup', async () => {
    const states: CacheState[] = [];
    const cache = await open({ timeout: 0.3, prefix: 'hang' }, states);
    const other = await open({ prefix: 'hang' });
    await keep(cache, 'kept');
    server.pause();
    onTestFinished(() => server.resume());
    await cache.invalidate(['library.books']);
    for (let n = 0; n < 400; n++) expect(await bodyOf(cache)).toBe(null);
    // A timeout per command would exceed the time limit of the test.
    server.resume();
    await until('it is back', () => states.length === 2);
    expect([await bodyOf(cache), await bodyOf(other)]).toEqual([null, null]);
  });

  test('an invalidation while the connection is made again is sent after it, and the routine has entries again', async () => {
    const states: CacheState[] = [];
    const cache = await open({}, states);
    await keep(cache, 'kept');
    // The server holds back the invalidations of the new connection.
    await server.command('CLIENT PAUSE 60000 WRITE');
    onTestFinished(async () => void (await server.command('CLIENT UNPAUSE')));
    await server.command('CLIENT KILL TYPE normal SKIPME yes');
    await until('they are held back', async () => /blocked_clients:[1-9]/.test(await server.command('INFO clients')));
    await cache.invalidate(['library.books']);
    await server.command('CLIENT UNPAUSE');
    await until('it is back', () => states.length === 2);
    await expect
      .poll(async () => {
        await keep(cache, 'new');
        return bodyOf(cache);
      })
      .toBe('new');
  });
});

test('options are checked', () => {
  expect(() => redisCache({ url: 'redis://localhost', prefx: 'a' } as never)).toThrow(
    'redisCache: prefx: unknown option; did you mean prefix?',
  );
  expect(() => redisCache({} as never)).toThrow('redisCache: url: is missing; it must be text');
  expect(() => redisBroadcast({ url: 'redis://localhost', chanel: 'a' } as never)).toThrow(
    'redisBroadcast: chanel: unknown option; did you mean channel?',
  );
});
