import { installRealtimeMessages } from '@pgway/realtime';
import { build, useDatabase } from '@pgway/testing';
import type { RealtimeChannel } from '@supabase/realtime-js';
import { beforeAll, expect, test } from 'vitest';
import { startWorkers } from '../../server/test/workers/support.ts';
import { connect, subscribe } from './support.ts';

beforeAll(build);

const database = useDatabase(installRealtimeMessages([]).join(';\n'));

test('clients of all workers get broadcasts, messages of the database and presences, until a worker is killed', async () => {
  const server = await startWorkers({
    connectionString: database.connectionString,
    realtime: { path: '/realtime/v1', publicChannels: true },
  });
  const received = new Map<string, unknown[]>();
  const channels = new Map<string, RealtimeChannel>();
  for (const key of ['a', 'b', 'c', 'd']) {
    // Workers get connections in turn.
    const client = connect({ url: server.url.replace('http:', 'ws:') });
    const channel = client.channel('room', { config: { presence: { key, enabled: true } } });
    const messages: unknown[] = [];
    channel.on('broadcast', { event: '*' }, ({ payload }: { readonly payload: unknown }) => messages.push(payload));
    expect(await subscribe(channel)).toBe('SUBSCRIBED');
    await channel.track({});
    received.set(key, messages);
    channels.set(key, channel);
  }
  const present = (key: string): readonly string[] => Object.keys(channels.get(key)!.presenceState()).toSorted();
  for (const key of channels.keys()) await expect.poll(() => present(key)).toEqual(['a', 'b', 'c', 'd']);
  await channels.get('a')!.send({ type: 'broadcast', event: 'x', payload: { from: 'a' } });
  for (const key of ['b', 'c', 'd']) await expect.poll(() => received.get(key)).toEqual([{ from: 'a' }]);
  // The log is read as soon as its slot has been made, for which transactions of other tests have to end.
  await expect
    .poll(async () => {
      await database.query(`select realtime.send('{"from": "database"}', 'x', 'room', false)`);
      return [...received.values()].map((messages) => JSON.stringify(messages.at(-1)));
    })
    .toEqual(Array.from({ length: 4 }, () => '{"from":"database"}'));
  const [victim] = await server.workers();
  process.kill(victim!, 'SIGKILL');
  // Clients of the killed worker connect again, and are not present until they track.
  await expect
    .poll(() => [...channels.keys()].map((key) => present(key).length), { timeout: 60_000 })
    .toEqual([2, 2, 2, 2]);
});
