import { mkdtempSync, rmSync } from 'node:fs';

import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Client } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { until } from '../database/support.ts';
import {
  crossesOver,
  database,
  type Instance,
  refreshCrossesOver,
  signOutCrossesOver,
  start,
  useInstanceDatabase,
} from './instances.ts';
import { people } from './people.ts';
import { openStream } from './support.ts';

useInstanceDatabase();

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

test('behind a pooler, PostgreSQL needs listenConnectionString', async () => {
  await expect(start({ broadcast: 'postgres' }, { pooler: 'transaction' })).rejects.toThrow(
    'events.broadcast behind a pooler needs listenConnectionString',
  );
});
