import { expect, test } from 'vitest';
import { MessageHub } from './message-hub.ts';

test('the clients that are present in a topic are limited, and each can change what it says', () => {
  const hub = new MessageHub(null);
  const topic = { name: 'room', isPrivate: false };
  const presence = (index: number) => ({ ref: `${index}`, key: 'x', meta: `{"phx_ref":"${index}"}` });
  for (let index = 0; index < 1_000; index++) hub.track(topic, presence(index), null);
  expect(() => hub.track(topic, presence(1_000), null)).toThrow(
    '1000 clients are present in the channel, which is the limit',
  );
  hub.track(topic, presence(1_001), '0');
  hub.track({ ...topic, isPrivate: true }, presence(1_002), null);
  expect(hub.presences).toBe(1_001);
  hub.close();
});

test('the presences of a topic are written once until they change', () => {
  const hub = new MessageHub(null);
  const topic = { name: 'room', isPrivate: false };
  hub.track(topic, { ref: '1', key: 'ada', meta: '{"n":1}' }, null);
  const state = hub.presenceState(topic);
  expect(hub.presenceState(topic)).toBe(state);
  hub.untrack(topic, '1');
  expect(hub.presenceState(topic).in('2.0.0')!.data.toString()).toBe('[null,null,"realtime:room","presence_state",{}]');
  hub.track(topic, { ref: '2', key: 'bob', meta: '{"n":2}' }, null);
  expect(hub.presenceState(topic).in('2.0.0')!.data.toString()).toBe(
    '[null,null,"realtime:room","presence_state",{"bob":{"metas":[{"n":2}]}}]',
  );
  hub.close();
});
