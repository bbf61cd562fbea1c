import { holdLock, startGateway } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { openStream } from '../events/support.ts';

const lockKey = 15_201;
const sql = `
  create function cached_one(_key int) returns int language sql stable as $$ select _key $$;
  comment on function cached_one is 'HTTP GET
  cached';
  create function slow_one(_key int) returns int language sql stable as
    $$ select _key from pg_advisory_xact_lock_shared(${lockKey}) $$;
  comment on function slow_one is 'HTTP GET
  cached';
  create function limited() returns int language sql as $$ select 1 $$;
  comment on function limited is 'HTTP GET
  rate_limit one';
  create function say(_text text) returns void language plpgsql as
    $$ begin raise info '%', _text using hint = 'all'; end $$;
  comment on function say is 'HTTP POST
  info_path';
`;

test('counters of a gateway: cache, pool, event streams, catalog', async () => {
  let mayLoad = true;
  const started = await startGateway(sql, {
    poolSize: 1,
    maxCacheEntries: 2,
    rateLimits: { policies: { one: { type: 'fixed-window', limit: 1, window: 3600 } } },
    endpointsCreated: () => {
      if (!mayLoad) throw new Error('not now');
    },
  });
  onTestFinished(() => started.close());
  const { gateway, url, send, database } = started;
  const { pools, ...first } = gateway.statistics();
  expect(first).toEqual({
    cache: { hits: 0, misses: 0, shared: 0, size: { entries: 0, bytes: 0, evictions: 0 } },
    events: { open: 0, opened: 0, messages: 0, dropped: 0 },
    reads: { replicas: [], readsOnPrimary: 0 },
    rateLimits: [{ policy: 'one', refused: 0 }],
    plans: { endpoints: [], comparisons: { auto: 0, generic: 0, undecided: 0, exceeded: 0 }, fallbacks: 0 },
    catalog: { loads: 1, failedLoads: 0, lastLoadMs: expect.any(Number) as number },
  });
  expect(pools).toMatchObject([{ connection: null, size: 1, acquireTimeouts: 0 }]);

  // Two calls, a hit, and two evictions.
  for (const key of [1, 1, 2, 3, 4]) await send(`GET /api/cached-one?key=${key}`);
  const lock = await holdLock(database.connectionString, lockKey);
  const shared = [send('GET /api/slow-one?key=1'), send('GET /api/slow-one?key=1'), send('GET /api/slow-one?key=1')];
  await expect.poll(() => lock.waiting()).toBe(1);
  // The others join the first one.
  await send('GET /nothing');
  const waiting = send('GET /api/cached-one?key=5');
  await expect.poll(() => gateway.statistics().pools[0]!.waiting).toBe(1);
  const waits = gateway.statistics().pools[0]!;
  await lock.release();
  expect((await Promise.all([...shared, waiting])).map(({ body }) => body)).toEqual(['1', '1', '1', '5']);
  const streams = [await openStream(url, '/api/say/info'), await openStream(url, '/api/say/info')];
  await send('POST /api/say', { body: { text: 'hello' } });
  for (const stream of streams) expect(await stream.messages(1)).toEqual(['hello']);
  streams[0]!.close();
  await expect.poll(() => gateway.statistics().events.open).toBe(1);
  for (const expected of [200, 429, 429]) expect((await send('GET /api/limited')).status).toBe(expected);
  await gateway.refresh();
  mayLoad = false;
  await expect(gateway.refresh()).rejects.toThrow('endpointsCreated failed: not now');

  const last = gateway.statistics();
  expect(last.cache).toEqual({
    hits: 1,
    misses: 6,
    shared: 2,
    size: { entries: 2, bytes: expect.any(Number) as number, evictions: 4 },
  });
  expect(last.cache.size!.bytes).toBeGreaterThan(0);
  expect(last.rateLimits).toEqual([{ policy: 'one', refused: 2 }]);
  expect(last.events).toEqual({ open: 1, opened: 2, messages: 2, dropped: 0 });
  expect(last.catalog).toMatchObject({ loads: 2, failedLoads: 1 });
  expect(last.pools[0]!.waits).toBeGreaterThan(waits.waits);
  expect(last.pools[0]!.waitMs).toBeGreaterThan(waits.waitMs);
});
