import { redisBroadcast } from '@pgway/redis';
import { type RedisServer, redisVersion, startRedis } from '@pgway/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until } from '../../core/test/database/support.ts';
import {
  crossesOver,
  type Instance,
  refreshCrossesOver,
  signOutCrossesOver,
  start,
  useInstanceDatabase,
} from '../../core/test/events/instances.ts';
import { openStream } from '../../core/test/events/support.ts';

useInstanceDatabase();

const withRedis = (await redisVersion()) !== null;
if (!withRedis) console.warn('SKIPPED: there is no redis-server on this machine (apt-get install redis-server)');

describe.skipIf(!withRedis)('instances that share Redis', () => {
  let redis: RedisServer;
  beforeEach(async () => {
    redis = await startRedis();
  });
  afterEach(() => redis.stop());
  const byRedis = (): Promise<Instance> => start({ broadcast: redisBroadcast({ url: redis.url }) });

  test('events, refreshes and logouts reach other instances', async () => {
    const [one, other] = [await byRedis(), await byRedis()];
    await crossesOver(one, other);
    await refreshCrossesOver(other, one);
    await signOutCrossesOver(one, other);
    expect([one.gateway.health().broadcast, other.gateway.health().broadcast]).toEqual([null, null]);
  });

  test('killed: instances go on alone and report it; restarted: they reconnect, and subscribers get a gap', async () => {
    const [one, other] = [await byRedis(), await byRedis()];
    const stream = await openStream(other.url, '/api/say/info');
    await redis.kill();
    await until(
      'it is noticed',
      () => one.gateway.health().broadcast !== null && other.gateway.health().broadcast !== null,
    );
    expect(await one.call('say', { text: 'lost', hint: 'all' })).toBe(204);
    expect(await other.call('say', { text: 'here', hint: 'all' })).toBe(204);
    expect(await stream.messages(1)).toEqual(['here']);
    await redis.restart();
    await until(
      'it is back',
      () => one.gateway.health().broadcast === null && other.gateway.health().broadcast === null,
    );
    expect((await stream.messages(2)).slice(0, 2)).toEqual(['here', 'gap: connection-lost']);
    await one.call('say', { text: 'after', hint: 'all' });
    await until('it arrives', () => stream.events.at(-1)!.data === 'after');
    for (const { observations } of [one, other]) {
      const states = observations.map(({ kind }) => kind).filter((kind) => /^broadcast-(un)?available$/.test(kind));
      expect(states).toEqual(['broadcast-unavailable', 'broadcast-available']);
    }
  });
});
