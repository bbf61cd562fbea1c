import type { Broadcast } from '@pgway/core';
import { redisBroadcast } from '@pgway/redis';
import { redisVersion, startRedis } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { describeBroadcast } from '../../core/test/contracts/broadcast.ts';
import { until } from '../../core/test/database/support.ts';

const withRedis = (await redisVersion()) !== null;
if (!withRedis) console.warn('SKIPPED: there is no redis-server on this machine (apt-get install redis-server)');

async function opened(url: string, report: (error: Error | null) => void = () => undefined): Promise<Broadcast> {
  const broadcast = redisBroadcast({ url });
  await broadcast.open!(report);
  onTestFinished(() => broadcast.close());
  return broadcast;
}

describe.skipIf(!withRedis)('with redis-server', () => {
  describeBroadcast('Redis', async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    return {
      open: () => opened(redis.url),
      interrupt: { away: () => redis.kill(), back: () => redis.restart() },
    };
  });

  test('unavailable at the start: starts without it, reports once, and connects later', async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    await redis.kill();
    const reports: (string | null)[] = [];
    const report = (error: Error | null): void => void reports.push(error === null ? null : 'away');
    const one = await opened(redis.url, report);
    expect([one.health(), reports]).toEqual([expect.stringContaining('ECONNREFUSED'), ['away']]);
    const gaps: string[] = [];
    one.subscribe('news', ({ kind }) => void gaps.push(kind));
    await redis.restart();
    await until('it is connected', () => one.health() === null);
    expect([gaps, reports]).toEqual([['gap'], ['away', null]]);
  });
});

test('an invalid URL is refused when it is opened', async () => {
  await expect(redisBroadcast({ url: 'localhost:1' }).open!(() => undefined)).rejects.toThrow(TypeError);
});
