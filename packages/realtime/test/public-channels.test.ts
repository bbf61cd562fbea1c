import { useGateway } from '@pgway/testing';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openRaw, type RawClient } from './raw-support.ts';
import { useRealtime } from './support.ts';

/* Messages of clients that are not those of Supabase. */

const gateway = useGateway('create publication pgway_changes');
const server = useRealtime(() => gateway.gateway, { path: '/live', publicChannels: true });
const topic = 'realtime:room';

async function joinOpen(config: Readonly<Record<string, unknown>> = {}): Promise<RawClient> {
  const client = await openRaw(server);
  client.send(['1', '1', topic, 'phx_join', { config }]);
  await expect.poll(() => client.messages.length).toBeGreaterThan(0);
  client.messages.length = 0;
  return client;
}

const nested = JSON.parse(`${'['.repeat(500)}${']'.repeat(500)}`) as unknown;
const track = (payload: unknown): unknown => ({ type: 'presence', event: 'track', payload });

test.each([
  ['broadcast', 'x', 'The payload of broadcast is not an object'],
  ['broadcast', { payload: {} }, '"event" of a broadcast is not a text'],
  ['broadcast', { event: 7 }, '"event" of a broadcast is not a text'],
  ['broadcast', { event: 'é'.repeat(128) }, '"event" of a broadcast has more than 255 bytes'],
  ['presence', [], '"event" of presence is track or untrack'],
  ['presence', { event: { toLowerCase: 1 } }, '"event" of presence is track or untrack'],
  ['presence', track([]), '"payload" of track is not an object'],
  ['presence', track({ text: 'x'.repeat(4_096) }), '"payload" of track has more than 4096 bytes'],
])('%s %j is refused', async (event, payload, reason) => {
  const client = await joinOpen();
  client.send(['1', '2', topic, event, payload]);
  await expect
    .poll(() => client.messages.at(-1))
    .toEqual(['1', '2', topic, 'phx_reply', { status: 'error', response: { reason } }]);
});

test('a payload of many levels is sent on, or refused, and the connection stays', async () => {
  const client = await joinOpen({ broadcast: { self: true, ack: true } });
  const levels = 100_000;
  const text = `${'['.repeat(levels)}${']'.repeat(levels)}`;
  client.socket.send(`["1","2","${topic}","broadcast",{"event":"x","payload":${text}}]`);
  client.send(['1', '3', topic, 'broadcast', { event: 'y', payload: nested }]);
  await expect.poll(() => client.messages.length).toBe(3);
  expect(client.messages).toEqual([
    [
      '1',
      '2',
      topic,
      'phx_reply',
      { status: 'error', response: { reason: '"payload" has too many levels of objects and lists' } },
    ],
    [null, null, topic, 'broadcast', { type: 'broadcast', event: 'y', payload: nested }],
    ['1', '3', topic, 'phx_reply', { status: 'ok', response: {} }],
  ]);
});

test.each([
  ['a long key', { presence: { key: 'x'.repeat(256) } }, '"key" of presence is not a text of at most 255 bytes'],
  ['a key that is not a text', { presence: { key: 1 } }, '"key" of presence is not a text of at most 255 bytes'],
  ['a key of prototypes', { presence: { key: '__proto__' } }, '"key" of presence is not a text of at most 255 bytes'],
  ['another form', { broadcast: [] }, '"broadcast" is not an object'],
])('a join with %s is refused', async (_, config, reason) => {
  const client = await openRaw(server);
  client.send(['1', '1', topic, 'phx_join', { config }]);
  await expect
    .poll(() => client.messages)
    .toMatchObject([{ 3: 'phx_reply', 4: { status: 'error', response: { reason } } }]);
});

test.each([
  ['x'.repeat(247), 'The topic has 256 bytes; use at most 255'],
  ['a\0b', 'The topic has characters that are not valid in UTF-8 texts of PostgreSQL'],
  ['\ud800', 'The topic has characters that are not valid in UTF-8 texts of PostgreSQL'],
  ['', 'The topic does not begin with "realtime:" and a name'],
])('the topic %j is refused', async (name, reason) => {
  const client = await openRaw(server);
  client.send(['1', '1', `realtime:${name}`, 'phx_join', {}]);
  await expect
    .poll(() => client.messages)
    .toMatchObject([{ 3: 'phx_reply', 4: { status: 'error', response: { reason } } }]);
});

/** A broadcast as bytes: lengths of reference of the join, reference, topic, event and metadata, encoding, texts, payload. */
const binary = (encoding: number, payload: string, extraLength = 0): Buffer => {
  const texts = ['1', '2', topic, 'x', '{"m":1}'];
  const lengths = texts.map((text, index) => text.length + (index === 4 ? extraLength : 0));
  return Buffer.concat([Buffer.from([3, ...lengths, encoding]), Buffer.from(texts.join('') + payload)]);
};

test('bytes are decoded, with the metadata left out', async () => {
  const client = await joinOpen({ broadcast: { self: true } });
  client.socket.send(binary(1, '{"n": 1}'));
  await expect
    .poll(() => client.messages)
    .toEqual([[null, null, topic, 'broadcast', { type: 'broadcast', event: 'x', payload: { n: 1 } }]]);
});

test.each([
  ['a payload that is not JSON', binary(1, '{')],
  ['an unknown encoding', binary(2, '{}')],
  ['lengths beyond the message', binary(1, '{}', 10)],
  ['a head alone', Buffer.from([3, 1, 1])],
])('%s ends the connection', async (_, data) => {
  const client = await joinOpen();
  client.socket.send(data);
  expect(await client.closed).toBe('1008 The message is malformed');
});

test('messages beyond the limit are refused, and the client is told once', async () => {
  const client = await joinOpen();
  for (let index = 0; index < 300; index++) client.send(['1', `${index}`, topic, 'broadcast', { event: 'x' }]);
  client.send(['1', 'last', topic, 'phx_leave', {}]);
  await expect.poll(() => client.messages.at(-1)).toMatchObject({ 3: 'phx_close' });
  const reason = 'Too many messages: a connection may send 100 in a second; wait a second';
  const refused = client.messages.filter((message) => JSON.stringify(message).includes(`"reason":"${reason}"`));
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.length).toBeLessThanOrEqual(200);
  expect(client.messages).toContainEqual([
    '1',
    null,
    topic,
    'system',
    { extension: 'system', status: 'error', message: reason, channel: 'room' },
  ]);
});

test('joins beyond the limit are refused, and tokens beyond it are left to the next check', async () => {
  const client = await joinOpen();
  const reason = 'Too many messages: a connection may send 100 in a second; wait a second';
  for (let index = 0; index < 300; index++) client.send(['1', '2', topic, 'access_token', { access_token: 'a.b.c' }]);
  client.send(['1', 'last', topic, 'x', {}]);
  await expect.poll(() => client.messages.at(-1)).toMatchObject({ 1: 'last' });
  expect(client.messages).toContainEqual([
    '1',
    null,
    topic,
    'system',
    { extension: 'system', status: 'error', message: reason, channel: 'room' },
  ]);
  client.messages.length = 0;
  for (let index = 0; index < 300; index++) client.send(['1', `${index}`, `${topic} ${index}`, 'phx_join', {}]);
  client.send(['1', 'end', topic, 'x', {}]);
  await expect.poll(() => client.messages.at(-1)).toMatchObject({ 1: 'end' });
  const refusals = client.messages.filter((message) => JSON.stringify(message).includes(`"reason":"${reason}"`));
  expect(refusals.length).toBeGreaterThan(0);
});

test('clients that do not mention presence get it, and a payload cannot replace references', async () => {
  const client = await joinOpen();
  client.send(['1', '2', topic, 'presence', track({ phx_ref: 'forged', metas: [], name: 'x' })]);
  await expect.poll(() => client.messages.length).toBe(2);
  const [, diff] = client.messages as [unknown, { 4: { joins: Record<string, { metas: unknown[] }>; leaves: object } }];
  expect(Object.values(diff[4].joins)).toEqual([
    { metas: [{ phx_ref: expect.stringMatching(/^[\da-f-]{36}$/), metas: [], name: 'x' }] },
  ]);
  expect(diff[4].leaves).toEqual({});
});

// The last test, as the clock goes back after it.
test('messages of all connections of a caller are limited', async () => {
  const now = performance.now() + 60_000;
  const clock = vi.spyOn(performance, 'now').mockReturnValue(now);
  onTestFinished(() => clock.mockRestore());
  const clients = await Promise.all(Array.from({ length: 10 }, () => joinOpen()));
  const send = async (client: RawClient, count: number): Promise<readonly unknown[]> => {
    for (let index = 0; index < count; index++) client.send(['1', `${index}`, topic, 'broadcast', { event: 'x' }]);
    client.send(['1', 'last', topic, 'x', {}]);
    await expect.poll(() => client.messages.at(-1)).toMatchObject({ 1: 'last' });
    return client.messages.filter((message) => JSON.stringify(message).includes('Too many messages'));
  };
  for (const client of clients) {
    // The joins of the file count by the address alone.
    expect(await send(client, 99)).toEqual([]);
    client.send(['1', '2', topic, 'phx_leave', {}]);
  }
  const last = await joinOpen();
  expect(await send(last, 11)).toContainEqual([
    '1',
    '10',
    topic,
    'phx_reply',
    {
      status: 'error',
      response: { reason: 'Too many messages: the connections of a caller may send 1000 in a second; wait a second' },
    },
  ]);
});
