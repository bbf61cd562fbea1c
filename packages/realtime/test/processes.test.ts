import { type Broadcast, createGateway } from '@pgway/core';
import { useDatabase } from '@pgway/testing';
import type { RealtimeChannel } from '@supabase/realtime-js';
import { describe, expect, onTestFinished, test } from 'vitest';
import { BroadcastRelay, workerBroadcast } from '../../server/src/workers/broadcast.ts';
import { EventLogs } from '../../server/src/workers/event-logs.ts';
import { channelPair } from '../../server/test/workers/channels.ts';
import { connect, serve, subscribe, type TestRealtime } from './support.ts';

const database = useDatabase();

async function startProcess(broadcast: Broadcast | 'postgres'): Promise<TestRealtime> {
  const { connectionString } = database;
  const gateway = await createGateway({ connectionString, events: { broadcast } });
  onTestFinished(() => gateway.close());
  const service = await serve(gateway, { publicChannels: true });
  onTestFinished(() => service.close());
  return service;
}

interface Client {
  readonly channel: RealtimeChannel;
  readonly received: unknown[];
  readonly present: () => readonly string[];
  readonly disconnect: () => void;
}

async function enter(process: TestRealtime, key: string): Promise<Client> {
  const client = connect(process);
  const channel = client.channel('room', { config: { presence: { key, enabled: true } } });
  const received: unknown[] = [];
  channel.on('broadcast', { event: '*' }, ({ payload }: { readonly payload: unknown }) => received.push(payload));
  expect(await subscribe(channel)).toBe('SUBSCRIBED');
  const present = (): readonly string[] => Object.keys(channel.presenceState()).toSorted();
  return { channel, received, present, disconnect: () => void client.disconnect() };
}

describe.each(['workers', 'servers'])('%s', (kind) => {
  function start(relay: BroadcastRelay): Promise<TestRealtime> {
    if (kind === 'servers') return startProcess('postgres');
    const { primary, worker } = channelPair();
    relay.add(primary);
    new EventLogs().add(primary);
    return startProcess(workerBroadcast(worker));
  }

  test('share broadcasts and presence', async () => {
    const relay = new BroadcastRelay();
    const [first, second] = await Promise.all([start(relay), start(relay)]);
    const [ada, bob] = await Promise.all([enter(first, 'ada'), enter(second, 'bob')]);
    await ada.channel.send({ type: 'broadcast', event: 'x', payload: { text: 'Grüße' } });
    const bytes = Uint8Array.of(0, 255).buffer;
    await ada.channel.send({ type: 'broadcast', event: 'x', payload: bytes } as never);
    await expect.poll(() => bob.received).toEqual([{ text: 'Grüße' }, bytes]);
    expect(ada.received).toEqual([]);
    await Promise.all([ada.channel.track({}), bob.channel.track({})]);
    for (const { present } of [ada, bob]) await expect.poll(present).toEqual(['ada', 'bob']);
    // A process that starts later asks the others.
    const eve = await enter(await start(relay), 'eve');
    await expect.poll(eve.present).toEqual(['ada', 'bob']);
    bob.disconnect();
    for (const { present } of [ada, eve]) await expect.poll(present).toEqual(['ada']);
    await first.close();
    await expect.poll(eve.present).toEqual([]);
  });
});

test('a process that has missed messages gets the presences of the others', async () => {
  const relay = new BroadcastRelay();
  const channels = [channelPair(), channelPair()] as const;
  for (const { primary } of channels) {
    relay.add(primary);
    new EventLogs().add(primary);
  }
  const [first, second] = await Promise.all(channels.map(({ worker }) => startProcess(workerBroadcast(worker))));
  const [ada, bob, eve] = await Promise.all([enter(first!, 'ada'), enter(second!, 'bob'), enter(first!, 'eve')]);
  await ada.channel.track({});
  await expect.poll(bob.present).toEqual(['ada']);
  relay.remove(channels[1].primary);
  await ada.channel.untrack();
  await eve.channel.track({});
  await expect.poll(eve.present).toEqual(['eve']);
  relay.add(channels[1].primary);
  // The number of this message tells that others were lost.
  await ada.channel.track({});
  await expect.poll(bob.present).toEqual(['ada', 'eve']);
  await ada.channel.untrack();
  await expect.poll(bob.present).toEqual(['eve']);
});
