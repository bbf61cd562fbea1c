import type { Broadcast } from '@pgway/core';
import { TopicListeners } from '@pgway/core/internal';
import { expect, test } from 'vitest';
import { callerKey } from '../caller-key.ts';
import { MessageHub } from './message-hub.ts';

test('the clients that are present in a topic are limited, and each can change what it says', () => {
  const hub = new MessageHub(null, () => undefined);
  const topic = { name: 'room', isPrivate: false };
  const presence = (index: number) => ({ ref: `${index}`, key: 'x', meta: `{"phx_ref":"${index}"}` });
  for (let index = 0; index < 1_000; index++) hub.track(topic, presence(index), null, `${index % 10}`);
  expect(() => hub.track(topic, presence(1_000), null, 'x')).toThrow(
    '1000 clients are present in the channel, which is the maximum; try again later, or use several channels',
  );
  hub.track(topic, presence(1_001), '0', '0');
  hub.track({ ...topic, isPrivate: true }, presence(1_002), null, '0');
  expect(hub.presences).toBe(1_001);
  hub.close();
});

test('the presences of a topic are written once until they change', () => {
  const hub = new MessageHub(null, () => undefined);
  const topic = { name: 'room', isPrivate: false };
  hub.track(topic, { ref: '1', key: 'ada', meta: '{"n":1}' }, null, 'x');
  const state = hub.presenceState(topic);
  expect(hub.presenceState(topic)).toBe(state);
  hub.untrack(topic, '1');
  expect(hub.presenceState(topic).in('2.0.0')!.data.toString()).toBe('[null,null,"realtime:room","presence_state",{}]');
  hub.track(topic, { ref: '2', key: 'bob', meta: '{"n":2}' }, null, 'x');
  expect(hub.presenceState(topic).in('2.0.0')!.data.toString()).toBe(
    '[null,null,"realtime:room","presence_state",{"bob":{"metas":[{"n":2}]}}]',
  );
  hub.close();
});

test('the presences of a caller in a topic are limited', () => {
  const hub = new MessageHub(null, () => undefined);
  const topic = { name: 'room', isPrivate: false };
  const presence = (index: number) => ({ ref: `${index}`, key: 'x', meta: '{}' });
  for (let index = 0; index < 100; index++) hub.track(topic, presence(index), null, 'ada');
  const limit = 'You are present in the channel 100 times, which is the maximum; untrack a presence first';
  expect(() => hub.track(topic, presence(100), null, 'ada')).toThrow(limit);
  hub.track(topic, presence(101), null, 'bob');
  hub.track({ ...topic, name: 'other' }, presence(102), null, 'ada');
  // The same client says something else, or has the token of another caller.
  hub.track(topic, presence(103), '0', 'ada');
  expect(() => hub.track(topic, presence(104), '101', 'ada')).toThrow(limit);
  hub.untrack(topic, '103');
  hub.track(topic, presence(105), '101', 'ada');
  expect(() => hub.track(topic, presence(106), null, 'ada')).toThrow(limit);
  expect(hub.presences).toBe(101);
  hub.close();
});

test('limits count callers by identity and network', () => {
  const key = (name: string, remoteAddress?: string): string =>
    callerKey({ role: undefined, settings: [], key: name }, { remoteAddress });
  expect(key('key', '2001:db8::1')).toBe(key('key', '2001:db8:0:0:ffff::2'));
  const others = [key('key', '2001:db8::1'), key('key', '2001:db8:0:1::1'), key('key', '192.0.2.1'), key('key')];
  expect(new Set([...others, key('ada', '192.0.2.1')]).size).toBe(5);
});

const presenceMessage = { kind: 'presence', process: 'p', number: 1, topic: 'public room', joins: [], leaves: [] };
const stateMessage = { kind: 'state', process: 'p', number: 1, presences: [], isFirst: true, isLast: true };
const broadcastMessage = { kind: 'broadcast', topic: { name: 'room', isPrivate: false }, event: 'x', payload: '{}' };

test.each([
  'x',
  null,
  [],
  { kind: 'broadcast' },
  broadcastMessage,
  { ...broadcastMessage, isBinary: false, topic: null },
  { ...broadcastMessage, isBinary: true, payload: 1 },
  { kind: 'presence' },
  { ...presenceMessage, joins: null },
  { ...presenceMessage, joins: [null] },
  { ...presenceMessage, joins: [{ ref: 'r', key: 'k' }] },
  { ...presenceMessage, leaves: 1 },
  { ...presenceMessage, number: '1' },
  { kind: 'state' },
  { ...stateMessage, presences: [null] },
  { ...stateMessage, presences: [['public room', [{ ref: 1 }]]] },
  { ...stateMessage, presences: [['public room']] },
  { kind: 'alive', process: 'p' },
  { kind: 'end' },
  { kind: 'ask', process: 1 },
])('the message %j of another process changes nothing', (message) => {
  const errors: unknown[] = [];
  const listeners = new TopicListeners();
  const broadcast: Broadcast = {
    publish: () => undefined,
    subscribe: (topic, listener) => listeners.subscribe(topic, listener),
    health: () => null,
    close: () => Promise.resolve(),
  };
  const hub = new MessageHub(broadcast, (error) => errors.push(error));
  const tell = (value: unknown): void =>
    listeners.notify({ kind: 'message', topic: 'realtime', payload: JSON.stringify(value) });
  tell(message);
  expect(errors).toEqual([]);
  expect(hub.presences).toBe(0);
  tell({ ...presenceMessage, joins: [{ ref: 'r', key: 'k', meta: '{}' }] });
  expect(hub.presences).toBe(1);
  hub.close();
});
