import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGateway, type EventsOptions, type Gateway, type GatewayOptions, type Observation } from '@pgway/core';
import { freshDatabase, type RedisServer, redisVersion, startRedis, type TestDatabase } from '@pgway/testing';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { until } from '../database/support.ts';
import { people } from './people.ts';
import { executionId, openStream } from './support.ts';

const withRedis = (await redisVersion()) !== null;
if (!withRedis) console.warn('SKIPPED: there is no redis-server on this machine (apt-get install redis-server)');

let database: TestDatabase;

beforeEach(async () => {
  database = await freshDatabase(`
    create function say(_text text, _hint text default 'self') returns void language plpgsql as $$
    begin raise info '%', _text using hint = _hint; end $$;
    comment on function say is 'HTTP POST
    info_path';
    create function secret(_text text) returns void language plpgsql as $$ begin raise info '%', _text; end $$;
    comment on function secret is 'HTTP POST
    authorize admin
    info_path
    info_scope matching';
  `);
});
afterEach(() => database.drop());

interface Instance {
  readonly gateway: Gateway;
  readonly url: string;
  readonly observations: readonly Observation[];
  call(name: string, body: object, headers?: Readonly<Record<string, string>>): Promise<number>;
}

async function start(events: Partial<EventsOptions>, options: Partial<GatewayOptions> = {}): Promise<Instance> {
  const observations: Observation[] = [];
  const gateway = await createGateway({
    connectionString: database.connectionString,
    authentication: { schemes: [people().scheme] },
    observer: (observation) => void observations.push(observation),
    events,
    ...options,
  });
  const server = createServer(gateway.middleware).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await gateway.close();
  });
  const call: Instance['call'] = async (name, body, headers = {}) => {
    const sent = {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    };
    return (await fetch(`${url}/api/${name}`, sent)).status;
  };
  return { gateway, url, observations, call };
}

/** Asserts that events of one instance reach the subscribers of the other. */
async function crossesOver(one: Instance, other: Instance): Promise<void> {
  const id = executionId();
  const own = await openStream(other.url, `/api/say/info?${id}`, { 'x-user': 'ada' });
  const thief = await openStream(other.url, `/api/say/info?${id}`, { 'x-user': 'eve' });
  const admin = await openStream(other.url, '/api/secret/info', { 'x-user': 'bob admin' });
  const here = await openStream(one.url, '/api/say/info');
  expect(await one.call('say', { text: 'for ada' }, { 'x-user': 'ada', 'x-gateway-id': id })).toBe(204);
  expect(await one.call('say', { text: 'for staff', hint: 'authorize staff' })).toBe(204);
  expect(await one.call('say', { text: 'for all', hint: 'all' })).toBe(204);
  expect(await one.call('secret', { text: 'for admins' }, { 'x-user': 'cyd admin' })).toBe(204);
  expect(await own.messages(2)).toEqual(['for ada', 'for all']);
  expect(await thief.messages(1)).toEqual(['for all']);
  expect(await here.messages(1)).toEqual(['for all']);
  expect(await admin.messages(1)).toEqual(['for admins']);
  for (const stream of [own, thief, admin, here]) stream.close();
}

async function refreshCrossesOver(one: Instance, other: Instance): Promise<void> {
  await database.query(
    `create function news() returns int language sql as 'select 1'; comment on function news() is 'HTTP GET'`,
  );
  await one.gateway.refresh();
  await until('the other instance has it', () => other.gateway.endpoints.some(({ path }) => path === '/api/news'));
}

async function signOutCrossesOver(one: Instance, other: Instance): Promise<void> {
  await database.query(
    `create function logout() returns void language sql as ''; comment on function logout is 'HTTP\nlogout'`,
  );
  await one.gateway.refresh();
  const ada = await openStream(other.url, '/api/say/info', { 'x-user': 'ada' });
  const bob = await openStream(other.url, '/api/say/info', { 'x-user': 'bob' });
  expect(await one.call('logout', {}, { 'x-user': 'ada' })).toBe(200);
  await ada.over();
  expect([ada.ended, bob.closed]).toEqual([true, false]);
}

test('local instances do not share events', async () => {
  const [one, other] = [await start({}), await start({})];
  const stream = await openStream(other.url, '/api/say/info');
  await one.call('say', { text: 'there', hint: 'all' });
  await other.call('say', { text: 'here', hint: 'all' });
  expect([await stream.messages(1), one.gateway.health().broadcast]).toEqual([['here'], null]);
});

describe('PostgreSQL', () => {
  test('events, refreshes and logouts reach other instances', async () => {
    const [one, other] = [await start({ broadcast: 'postgres' }), await start({ broadcast: 'postgres' })];
    await crossesOver(one, other);
    await crossesOver(other, one);
    await refreshCrossesOver(one, other);
    await signOutCrossesOver(one, other);
    expect([one.gateway.health().broadcast, other.gateway.health().broadcast]).toEqual([null, null]);
  });

  test('messages longer than a NOTIFY payload arrive', async () => {
    const [one, other] = [await start({ broadcast: 'postgres' }), await start({ broadcast: 'postgres' })];
    const stream = await openStream(other.url, '/api/say/info');
    const text = 'żółw 🐢\n'.repeat(10_000);
    expect(await one.call('say', { text, hint: 'all' })).toBe(204);
    expect((await stream.messages(1))[0] === text).toBe(true);
  });

  test('gateways on another channel receive nothing', async () => {
    const one = await start({ broadcast: 'postgres' });
    const other = await start({ broadcast: 'postgres', broadcastChannel: 'other' });
    const stream = await openStream(other.url, '/api/say/info');
    await one.call('say', { text: 'there', hint: 'all' });
    await other.call('say', { text: 'here', hint: 'all' });
    expect(await stream.messages(1)).toEqual(['here']);
  });

  test('a lost connection is a gap', async () => {
    const [one, other] = [await start({ broadcast: 'postgres' }), await start({ broadcast: 'postgres' })];
    const stream = await openStream(other.url, '/api/say/info');
    await database.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen %' and datname = current_database()`,
    );
    expect(await stream.messages(1)).toEqual(['gap: connection-lost']);
    await one.call('say', { text: 'after', hint: 'all' });
    expect(await stream.messages(2)).toEqual(['gap: connection-lost', 'after']);
  });

  test('foreign notifications on the channel are ignored', async () => {
    const one = await start({ broadcast: 'postgres' });
    const stream = await openStream(one.url, '/api/say/info');
    const none = ['{}', '[1,2,3,4,5,6]', '["/api/say/info","x","all",[],null]', 'null', '"'];
    const wrong = ['', 'x', ...none.map((text, n) => `${'a'.repeat(16)}.${n}.0.1.${JSON.stringify(['events', text])}`)];
    for (const payload of wrong) await database.query('select pg_notify($1, $2)', ['pgway', payload]);
    await one.call('say', { text: 'fine', hint: 'all' });
    expect(await stream.messages(1)).toEqual(['fine']);
  });
});

describe('encrypted with shared keys', () => {
  const folder = (): string => {
    const made = mkdtempSync(join(tmpdir(), 'pgway-keys-'));
    onTestFinished(() => rmSync(made, { recursive: true }));
    return made;
  };
  const sealed = (keys: string): Promise<Instance> =>
    start(
      { broadcast: 'postgres' },
      {
        authentication: {
          schemes: [people().scheme],
          dataProtection: { folder: keys, secret: 'a secret of the tests' },
        },
      },
    );

  /** The payloads on the channel, as any role that may connect to the database receives them. */
  async function listener(): Promise<readonly string[]> {
    const heard: string[] = [];
    const client = new Client({ connectionString: database.connectionString });
    await client.connect();
    // The database is dropped before the test ends.
    client.on('error', () => undefined);
    onTestFinished(() => client.end());
    client.on('notification', ({ payload }) => heard.push(payload!));
    await client.query('listen pgway');
    return heard;
  }

  test('events, refreshes and logouts reach other instances, and a listener on the channel cannot read them', async () => {
    const keys = folder();
    const [one, other] = [await sealed(keys), await sealed(keys)];
    const heard = await listener();
    await crossesOver(one, other);
    await refreshCrossesOver(one, other);
    await signOutCrossesOver(one, other);
    const text = heard.join('');
    expect([text.includes('/api/say/info'), text.includes('for all'), heard.length > 4]).toEqual([false, false, true]);
    expect(
      [...one.observations, ...other.observations].filter(({ kind }) => kind === 'broadcast-messages-rejected'),
    ).toEqual([]);
  });

  test('a long message arrives complete', async () => {
    const keys = folder();
    const [one, other] = [await sealed(keys), await sealed(keys)];
    const stream = await openStream(other.url, '/api/say/info');
    const text = 'żółw 🐢\n'.repeat(10_000);
    expect(await one.call('say', { text, hint: 'all' })).toBe(204);
    expect((await stream.messages(1))[0] === text).toBe(true);
  });

  test('forged, foreign and replayed messages are dropped and reported', async () => {
    const keys = folder();
    const [one, other] = [await sealed(keys), await sealed(keys)];
    const heard = await listener();
    const stream = await openStream(other.url, '/api/say/info');
    await one.call('say', { text: 'once', hint: 'all' });
    expect(await stream.messages(1)).toEqual(['once']);
    await until('it was received', () => heard.length > 0);
    const event = [
      '/api/say/info',
      other.gateway.endpoints.find(({ name }) => name === 'say')!.id,
      'all',
      [],
      null,
      'forged',
    ];
    const forged = `${'a'.repeat(16)}.1.0.1.${JSON.stringify(['events', JSON.stringify(event)])}`;
    const again = heard.map((payload, index) => payload.replace(/^[^.]+\.\d+/, `${'b'.repeat(16)}.${index + 1}`));
    for (const payload of [forged, ...again]) await database.query('select pg_notify($1, $2)', ['pgway', payload]);
    const stranger = await sealed(folder());
    await stranger.call('say', { text: 'of other keys', hint: 'all' });
    await one.call('say', { text: 'last', hint: 'all' });
    expect(await stream.messages(2)).toEqual(['once', 'last']);
    await until('it is reported', () => other.observations.some(({ kind }) => kind === 'broadcast-messages-rejected'));
  });

  test('keys in memory are not shared: messages are not encrypted', async () => {
    const unsealed = (): Promise<Instance> =>
      start({ broadcast: 'postgres' }, { authentication: { schemes: [people().scheme], cookie: true } });
    const [one, other] = [await unsealed(), await unsealed()];
    const heard = await listener();
    await crossesOver(one, other);
    await until('it was received', () => heard.some((payload) => payload.includes('/api/say/info')));
    expect(other.observations.filter(({ kind }) => kind === 'broadcast-messages-rejected')).toEqual([]);
  });
});

describe.skipIf(!withRedis)('Redis', () => {
  let redis: RedisServer;
  beforeEach(async () => {
    redis = await startRedis();
  });
  afterEach(() => redis.stop());
  const byRedis = (): Promise<Instance> => start({ broadcast: 'redis', redisUrl: redis.url });

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

  test('without redisUrl the start fails', async () => {
    await expect(start({ broadcast: 'redis' })).rejects.toThrow('events.broadcast redis: redisUrl is missing');
  });
});

test('behind a pooler, PostgreSQL needs listenConnectionString', async () => {
  await expect(start({ broadcast: 'postgres' }, { pooler: 'transaction' })).rejects.toThrow(
    'events.broadcast behind a pooler needs listenConnectionString',
  );
});
