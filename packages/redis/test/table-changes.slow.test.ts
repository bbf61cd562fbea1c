/** Responses in Redis that changes of tables invalidate, with read replicas and with tenants. */
import { createGateway, type Gateway } from '@pgway/core';
import { redisCache } from '@pgway/redis';
import { type RedisServer, redisVersion, startPrimary, startRedis } from '@pgway/testing';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { startTenants } from '../../core/test/tenants/support.ts';

const hasRedis = (await redisVersion()) !== null;
if (!hasRedis) console.warn('SKIPPED: there is no Redis on this machine (apt-get install redis-server)');

const schema = `
  create table film (id integer primary key);
  create function count_films() returns text language sql stable as $$
    select count(*) || case when pg_is_in_recovery() then ' replica ' else ' primary ' end || clock_timestamp() from film $$;
  comment on function count_films() is 'HTTP GET
    cached until changes of film';
  create publication pgway_changes for table film;
`;

/** Waits until responses come from the cache. Returns the cached one. */
async function untilCached(get: () => Promise<string>): Promise<string> {
  let last = '';
  const isCached = async (): Promise<boolean> => {
    const first = await get();
    last = await get();
    return first === last;
  };
  await expect.poll(isCached).toBe(true);
  return last;
}

describe.skipIf(!hasRedis)('cached until changes of a table, in Redis', () => {
  let redis: RedisServer;
  beforeEach(async () => {
    redis = await startRedis();
  });
  afterEach(() => redis.stop());

  test('two gateways share responses, and none of a replica that does not have the change', async () => {
    const primary = await startPrimary({ wal_level: 'logical', synchronous_commit: 'on' });
    onTestFinished(() => primary.stop());
    await primary.query(schema);
    const replica = await primary.startReplica();
    const start = async (): Promise<() => Promise<string>> => {
      const gateway: Gateway = await createGateway({
        connectionString: primary.connectionString,
        readReplicas: { connectionStrings: [replica.connectionString], maxLagSeconds: 600 },
        defaultRoutineCache: redisCache({ url: redis.url, timeout: 5 }),
        changes: { window: 0 },
      });
      onTestFinished(() => gateway.close());
      return async () => (await gateway.fetch(new Request('http://x/api/count-films')))!.text();
    };
    const [one, two] = [await start(), await start()];
    // A change while both read the log, so that a replica answers the next call.
    await untilCached(one);
    await untilCached(two);
    await primary.query('insert into film values (1)');
    for (const get of [one, two]) await expect.poll(get).toMatch(/^1 /);
    expect(await untilCached(one)).toBe(await untilCached(two));

    await replica.query('select pg_wal_replay_pause()');
    await primary.query('insert into film values (2)');
    for (const get of [one, two]) await expect.poll(get).toMatch(/^2 primary /);
    for (let count = 0; count < 10; count++) for (const get of [one, two]) expect(await get()).toMatch(/^2 primary /);
    expect(await untilCached(one)).toBe(await untilCached(two));

    await replica.query('select pg_wal_replay_resume()');
    await primary.query('delete from film');
    for (const get of [one, two]) await expect.poll(get).toMatch(/^0 /);
    for (let count = 0; count < 10; count++) for (const get of [one, two]) expect(await get()).toMatch(/^0 /);
  });

  test('a change in the database of a tenant invalidates its responses alone', async () => {
    const tenants = await startTenants(['acme', 'globex'], schema, {
      defaultRoutineCache: redisCache({ url: redis.url, timeout: 5 }),
      changes: { window: 0 },
    });
    onTestFinished(() => tenants.close());
    const countOf = (tenant: string) => async (): Promise<string> =>
      (await tenants.send(tenant, 'GET /api/count-films')).text();
    const [acme, globex] = [countOf('acme'), countOf('globex')];
    expect(await untilCached(acme)).toMatch(/^0 /);
    const before = await untilCached(globex);

    await tenants.databases['acme']!.query('insert into film values (1)');
    await expect.poll(acme).toMatch(/^1 /);
    expect(await untilCached(acme)).toMatch(/^1 /);
    expect(await globex()).toBe(before);
  });
});
