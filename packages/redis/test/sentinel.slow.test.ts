/** Two gateways with cache, rate limits and events in a Redis with Sentinel, while its primary fails. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGateway, type Gateway } from '@pgway/core';
import { redisBroadcast, redisCache, redisRateLimits } from '@pgway/redis';
import {
  redisVersion,
  type RedisSentinelGroup,
  type RedisServer,
  startRedisSentinelGroup,
  useDatabase,
} from '@pgway/testing';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import * as support from '../../core/test/database/support.ts';
import { openStream } from '../../core/test/events/support.ts';

const hasRedis = (await redisVersion()) !== null;
if (!hasRedis) console.warn('SKIPPED: there is no Redis on this machine (apt-get install redis-server)');

const database = useDatabase(`
  create table book (title text);
  create sequence calls;
  create function count_books() returns text language sql as $$ select count(*) || ' #' || nextval('calls') from book $$;
  comment on function count_books() is 'HTTP GET
    cached';
  create function add_book(title text) returns void language sql as $$ insert into book values (title) $$;
  comment on function add_book is 'HTTP POST
    invalidates count_books';
  create function limited() returns int language sql as 'select 1';
  comment on function limited is 'HTTP GET
    rate_limit many';
  create function say(_text text) returns void language plpgsql as
    $$ begin raise info '%', _text using hint = 'all'; end $$;
  comment on function say is 'HTTP POST
    info_path';
`);

/** A failover takes some seconds, and longer on a busy machine. */
const until = (what: string, condition: () => boolean | Promise<boolean>): Promise<void> =>
  support.until(what, condition, 90_000);

interface Instance {
  readonly gateway: Gateway;
  readonly url: string;
}

async function start(url: string): Promise<Instance> {
  const gateway = await createGateway({
    connectionString: database.connectionString,
    defaultRoutineCache: redisCache({ url }),
    rateLimits: {
      policies: { many: { type: 'fixed-window', limit: 1_000_000, window: 3600 } },
      store: redisRateLimits({ url }),
    },
    events: { broadcast: redisBroadcast({ url }) },
  });
  const server = createServer(gateway.middleware).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await gateway.close();
  });
  return { gateway, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function post({ url }: Instance, name: string, body: object): Promise<number> {
  const headers = { 'content-type': 'application/json' };
  return (await fetch(`${url}/api/${name}`, { method: 'POST', headers, body: JSON.stringify(body) })).status;
}

const books = async ({ url }: Instance): Promise<string> => (await fetch(`${url}/api/count-books`)).text();
/** Returns the remaining requests; null while nothing is counted. */
const remaining = async ({ url }: Instance): Promise<number | null> => {
  const header = (await fetch(`${url}/api/limited`)).headers.get('ratelimit');
  return header === null ? null : Number(/r=(\d+)/.exec(header)![1]);
};
/** Sentinel closes the connections of a server that becomes a replica. */
const command = (server: RedisServer, line: string): Promise<string> => server.command(line).catch(() => '');
const isHealthy = ({ gateway }: Instance): boolean => {
  const { broadcast, cache, rateLimits } = gateway.health();
  return broadcast === null && cache === null && rateLimits === null;
};

describe.skipIf(!hasRedis)('Redis Sentinel', () => {
  let group: RedisSentinelGroup;
  let instances: readonly [Instance, Instance];

  beforeEach(async () => {
    group = await startRedisSentinelGroup();
    await database.query('truncate book');
    return () => group.stop();
  });

  /** Both gateways share cache, limits and events. */
  async function isShared([one, other]: readonly [Instance, Instance]): Promise<void> {
    // A response is stored after it was sent.
    await until('the cache is shared', async () => (await books(one)) === (await books(other)));
    const text = await books(other);
    expect(await post(one, 'add-book', { title: 'x' })).toBe(204);
    expect(await books(other)).not.toBe(text);
    // On a busy machine, a request may not be counted.
    await until('the limits are shared', async () => {
      const [first, second] = [await remaining(one), await remaining(other)];
      return first !== null && second !== null && first - second === 1;
    });
    const stream = await openStream(other.url, '/api/say/info');
    expect(await post(one, 'say', { text: 'hello' })).toBe(204);
    expect(await stream.messages(1)).toEqual(['hello']);
    stream.close();
  }

  /** Sends requests to both gateways until `stop`; each must be correct and quick. */
  function load(): { stop(): Promise<number> } {
    let [count, isDone] = [0, false];
    const client = async (instance: Instance): Promise<void> => {
      while (!isDone) {
        const responses = await Promise.all(
          ['count-books', 'limited'].map((name) =>
            fetch(`${instance.url}/api/${name}`, { signal: AbortSignal.timeout(60_000) }),
          ),
        );
        for (const response of responses) expect(response.status).toBe(200);
        count++;
      }
    };
    const clients = Promise.all(instances.map(client));
    clients.catch(() => undefined);
    return {
      stop: async () => {
        isDone = true;
        await clients;
        return count;
      },
    };
  }

  async function open(url: string): Promise<void> {
    instances = [await start(url), await start(url)];
    await until('all connections are open', () => instances.every(isHealthy));
  }

  test.each(['killed', 'paused'] as const)(
    'the primary is %s: requests go on, and all is shared again after the failover',
    async (how) => {
      await open(group.url);
      await isShared(instances);
      const [primary, replica] = group.servers;
      const stream = await openStream(instances[1].url, '/api/say/info');
      const running = load();
      onTestFinished(async () => void (await running.stop()));
      if (how === 'killed') await primary.kill();
      else primary.pause();
      const unaware = new Set(instances);
      await until('the failure is noticed', () => {
        for (const instance of unaware) if (!isHealthy(instance)) unaware.delete(instance);
        return unaware.size === 0;
      });
      // An invalidation without a server is not forgotten.
      const before = await books(instances[1]);
      expect(await post(instances[0], 'add-book', { title: 'y' })).toBe(204);
      await group.failover();
      await until('the replica is the primary', async () => (await command(replica, 'SET probe 1')) === '+OK');
      await until('all connections are open', () => instances.every(isHealthy));
      expect(await running.stop()).toBeGreaterThan(0);
      expect(await books(instances[1])).not.toBe(before);
      expect(await stream.messages(1)).toEqual(['gap: connection-lost']);
      await isShared(instances);

      // The former primary becomes a replica; the gateways stay with the new one.
      if (how === 'killed') await primary.restart();
      else primary.resume();
      await until('it is a replica', async () => (await command(primary, 'SET probe 2')).startsWith('-READONLY'));
      await isShared(instances);
    },
  );

  test('an invalidation that the new primary does not have is effective', async () => {
    await open(group.url);
    const [primary, replica] = group.servers;
    const old = await books(instances[1]);
    await until('the replica has the entry', async () => (await primary.command('WAIT 1 1000')) === ':1');
    // From here on nothing is replicated: the replica cannot log in again.
    await replica.command('CONFIG SET masteruser stranger');
    await replica.command('CONFIG SET masterauth wrong');
    await primary.command('CLIENT KILL TYPE replica');
    expect(await post(instances[0], 'add-book', { title: 'z' })).toBe(204);
    expect(await books(instances[1])).not.toBe(old);
    await primary.kill();
    await group.failover();
    const seen = new Set<string>();
    await until('all connections are open', async () => {
      for (const instance of instances) seen.add(await books(instance));
      return instances.every(isHealthy);
    });
    seen.add(await books(instances[0])).add(await books(instances[1]));
    expect(seen).not.toContain(old);
  });

  test('without a Sentinel that names the primary, the gateway starts, says why, and connects later', async () => {
    const unknown = await start(group.url.replace('pgway-test', 'other'));
    const reason = /^no Sentinel names the primary: (127\.0\.0\.1:\d+ knows no primary "other"(; |$)){3}/;
    // On a busy machine the first reason is that of a timeout; that of the Sentinels follows.
    await expect
      .poll(() => {
        const { cache, broadcast } = unknown.gateway.health();
        return [cache, broadcast];
      })
      .toEqual([expect.stringMatching(reason), expect.stringMatching(reason)]);
    expect(await books(unknown)).toMatch(/^0 #/);

    await Promise.all(group.sentinels.slice(0, 2).map((sentinel) => sentinel.kill()));
    await open(group.url);
    await Promise.all(group.sentinels.slice(2).map((sentinel) => sentinel.kill()));
    // Open connections need no Sentinel.
    await isShared(instances);
  });

  test('a user or password that the servers refuse is an error of the connection, without the password', async () => {
    // On a busy machine the first report is that of a timeout; the reason of the servers follows.
    for (const secret of ['secret@', 'sentinel-secret']) {
      const wrong = secret.replace(/[a-z-]+/, 'wrong-password');
      const { gateway } = await start(group.url.replace(secret, wrong));
      const texts: string[] = [];
      await until('the servers refuse it', () => {
        texts.push(JSON.stringify(gateway.health()));
        return texts.at(-1)!.includes('WRONGPASS');
      });
      expect(texts.filter((text) => text.includes('wrong-password'))).toEqual([]);
    }
  });
});
