import { crudSource } from '@pgway/core';
import { realtime } from '@pgway/realtime';
import { useGateway } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { openRaw, type RawClient } from './raw-support.ts';
import { serve, type TestRealtime, useRealtime } from './support.ts';

const gateway = useGateway(
  `
  create table film (id integer primary key, title text);
  create table member (id integer primary key);
  comment on table member is 'HTTP
authorize';
  create publication pgway_changes for table film, member;
  `,
  {
    routineSources: [crudSource()],
    commentsMode: 'parseAll',
    changes: { window: 0 },
    events: { maxStreamsPerAddress: 10 },
    authentication: {
      jwt: {
        keys: [{ secret: 'super-secret-jwt-token-with-at-least-32-characters-long' }],
        issuer: null,
        audience: null,
      },
    },
  },
);
const server = useRealtime(() => gateway.gateway, { path: 'live/', allowedOrigins: ['https://app.example.org'] });

const open = (
  query?: string,
  headers?: Readonly<Record<string, string>>,
  service: Pick<TestRealtime, 'url'> = server,
): Promise<RawClient> => openRaw(service, query, headers);

const topic = 'realtime:room';
const binding = { event: 'INSERT', schema: 'public', table: 'film', filter: 'id=gt.0', more: [1] };
const joinMessage = ['1', '1', topic, 'phx_join', { config: { postgres_changes: [binding] } }];

/** Whether a message is the last one that answers a join: a later one would replace the channel. */
function isLastOfJoin(message: unknown): boolean {
  const [, , , event, payload] = message as readonly [unknown, unknown, unknown, string, { readonly status?: string }];
  return event === 'system' || (event === 'phx_reply' && payload.status === 'error');
}

/** Joins; the log may not be read yet. */
async function joined(client: RawClient): Promise<void> {
  await expect
    .poll(async () => {
      const before = client.messages.length;
      client.send(joinMessage);
      const last = (): unknown => client.messages.slice(before).find(isLastOfJoin);
      await expect.poll(last).toBeDefined();
      return last();
    })
    .toMatchObject({ 3: 'system' });
}

describe('messages', () => {
  test('of a channel, from its join to its end', async () => {
    const client = await open();
    await joined(client);
    client.messages.length = 0;
    client.send(joinMessage);
    await expect
      .poll(() => client.messages)
      .toEqual([
        ['1', null, topic, 'phx_close', {}],
        [
          '1',
          '1',
          topic,
          'phx_reply',
          { status: 'ok', response: { postgres_changes: [{ ...binding, id: expect.any(Number) }] } },
        ],
        [
          '1',
          null,
          topic,
          'system',
          { extension: 'postgres_changes', status: 'ok', message: 'Subscribed to PostgreSQL', channel: 'room' },
        ],
      ]);
    const reply = client.messages[1] as { 4: { response: { postgres_changes: readonly { id: number }[] } } };
    const { id } = reply[4].response.postgres_changes[0]!;
    client.messages.length = 0;
    await gateway.database.query(`insert into film values (1, 'One')`);
    await expect
      .poll(() => client.messages)
      .toEqual([
        [
          '1',
          null,
          topic,
          'postgres_changes',
          {
            ids: [id],
            data: {
              schema: 'public',
              table: 'film',
              commit_timestamp: expect.any(String),
              type: 'INSERT',
              columns: [
                { name: 'id', type: 'int4' },
                { name: 'title', type: 'text' },
              ],
              record: { id: 1, title: 'One' },
              errors: null,
            },
          },
        ],
      ]);
    client.messages.length = 0;
    client.send(['1', '2', topic, 'phx_leave', {}]);
    client.send(['1', '3', topic, 'phx_leave', {}]);
    await expect
      .poll(() => client.messages)
      .toEqual([
        ['1', '2', topic, 'phx_reply', { status: 'ok', response: {} }],
        ['1', null, topic, 'phx_close', {}],
        ['1', '3', topic, 'phx_reply', { status: 'error', response: { reason: 'unmatched topic' } }],
      ]);
    await gateway.database.query(`delete from film`);
  });

  test('of version 1.0.0 are objects, and heartbeats are answered', async () => {
    const client = await open('');
    client.send({ topic: 'phoenix', event: 'heartbeat', payload: {}, ref: '7' });
    await expect
      .poll(() => client.messages)
      .toEqual([
        { join_ref: null, ref: '7', topic: 'phoenix', event: 'phx_reply', payload: { status: 'ok', response: {} } },
      ]);
  });

  test('broadcasts of public channels are refused, binary ones too', async () => {
    const client = await open();
    await joined(client);
    client.messages.length = 0;
    client.send(['1', '5', topic, 'broadcast', { event: 'x' }]);
    const texts = ['1', '6', topic, 'x', ''];
    client.socket.send(
      Buffer.concat([Buffer.from([3, ...texts.map((text) => text.length), 1]), Buffer.from(`${texts.join('')}{}`)]),
    );
    const reason = 'Public channels are not available; join with "private": true, or set realtime.publicChannels';
    const response = { status: 'error', response: { reason } };
    await expect
      .poll(() => client.messages)
      .toEqual([
        ['1', '5', topic, 'phx_reply', response],
        ['1', '6', topic, 'phx_reply', response],
      ]);
  });

  test.each([
    [
      'a topic without the prefix',
      ['1', '1', 'room', 'phx_join', {}],
      'The topic does not begin with "realtime:" and a name',
    ],
    ['a payload of another form', ['1', '1', topic, 'phx_join', 'x'], 'The payload of phx_join is not an object'],
    [
      'bindings of another form',
      ['1', '1', topic, 'phx_join', { config: { postgres_changes: {} } }],
      '"postgres_changes" is not a list',
    ],
    [
      'a token with other characters',
      ['1', '1', topic, 'phx_join', { access_token: 'a\r\nb' }],
      '"access_token" is not a token',
    ],
    [
      'a table whose endpoint the caller may not call',
      ['1', '1', topic, 'phx_join', { config: { postgres_changes: [{ schema: 'public', table: 'member' }] } }],
      'Changes of "public.member" are not available: the table needs an endpoint that you may call, and pgway install changes',
    ],
    [
      'replay in a public channel',
      ['1', '1', topic, 'phx_join', { config: { broadcast: { replay: { since: 0 } } } }],
      '"replay" needs a private channel; join with "private": true',
    ],
    ['an unknown event', ['1', '1', topic, 'x', {}], 'unmatched topic'],
  ])('%s is refused', async (_, message, reason) => {
    const client = await open();
    client.send(message);
    await expect
      .poll(() => client.messages)
      .toMatchObject([{ 3: 'phx_reply', 4: { status: 'error', response: { reason } } }]);
  });

  test.each([
    ['text', 'x'],
    ['JSON of another form', '{"topic": "x"}'],
    ['an unknown binary message', Buffer.from([1, 2, 3])],
  ])('%s ends the connection', async (_, data) => {
    const client = await open();
    client.socket.send(data);
    expect(await client.closed).toBe('1008 The message is malformed');
  });

  test('a large message ends the connection', async () => {
    const client = await open();
    client.socket.on('error', () => undefined);
    client.socket.send('x'.repeat(256 * 1024 + 1));
    expect(await client.closed).toMatch(/^1009 /);
  });
});

test('a join whose bindings have too many levels leaves no channel', async () => {
  const client = await open();
  const levels = 100_000;
  const nested = `${'['.repeat(levels)}${']'.repeat(levels)}`;
  client.socket.send(
    `["1","1","${topic}","phx_join",{"config":{"postgres_changes":[{"event":"*","table":"film","more":${nested}}]}}]`,
  );
  client.send(['1', '2', topic, 'phx_leave', {}]);
  const reply = (ref: string, reason: string): unknown => [
    '1',
    ref,
    topic,
    'phx_reply',
    { status: 'error', response: { reason } },
  ];
  await expect
    .poll(() => client.messages)
    .toEqual([
      reply('1', '"postgres_changes" has too many levels of objects and lists'),
      reply('2', 'unmatched topic'),
    ]);
});

describe('a handshake', () => {
  test('of a page of another site is refused, unless its origin is allowed', async () => {
    await expect(open('', { origin: 'https://evil.example.org' })).rejects.toThrow(
      '403 {"type":"urn:pgway:problem:cross-site-request","title":"Requests from pages of other sites are not allowed","status":403,"detail":"The connection comes from a page of another site. Add its origin to allowedOrigins."}',
    );
    await open('', { origin: 'https://app.example.org' });
    await open('', { origin: server.url.replace('ws:', 'http:') });
  });

  test('with an unknown version, a refused key or another path is refused', async () => {
    await expect(open('vsn=3.0.0')).rejects.toThrow(/^400 .*"detail":"vsn must be 1\.0\.0 or 2\.0\.0\."/);
    await expect(open('apikey=a.b.c')).rejects.toThrow(/^401 .*"title":"The credentials are refused"/);
    await expect(open('apikey=%0a')).rejects.toThrow(/^400 .*"detail":"apikey must be a token\."/);
  });

  test('beyond the limit of connections is refused', async () => {
    const limited = await serve(gateway.gateway, { path: '/live', maxConnections: 1 });
    onTestFinished(() => limited.close());
    const client = await open('', {}, limited);
    await expect(open('', {}, limited)).rejects.toThrow(/^503 .*"title":"The server has too many connections"/);
    client.socket.close();
    await client.closed;
    await expect.poll(() => open('', {}, limited).then(() => 'open', String)).toBe('open');
  });
});

test('a handshake beyond the limit of connections of an address is refused', async () => {
  const limited = await serve(gateway.gateway, { path: '/live' });
  onTestFinished(() => limited.close());
  const clients = await Promise.all(Array.from({ length: 10 }, () => open('', {}, limited)));
  await expect(open('', {}, limited)).rejects.toThrow(/^429 .*"title":"Your address has too many connections"/);
  await expect(open('vsn=3.0.0', {}, limited)).rejects.toThrow(/^400 /);
  clients[0]!.socket.close();
  await clients[0]!.closed;
  await expect.poll(() => open('', {}, limited).then(() => 'open', String)).toBe('open');
});

describe('a connection', () => {
  test('is closed when the service is', async () => {
    const other = await serve(gateway.gateway, { path: '/live' });
    const client = await open('', {}, other);
    await other.close();
    expect(await client.closed).toBe('1001 The server stops');
  });

  test('of a client that does not read ends', async () => {
    const client = await open();
    await joined(client);
    client.socket.on('error', () => undefined);
    client.socket.pause();
    let isClosed = false;
    void client.closed.then(() => (isClosed = true));
    const other = await open();
    await joined(other);
    const before = other.messages.length;
    // The kernel buffers an amount that depends on its settings.
    for (let round = 0; server.statistics().slowClients === 0; round++) {
      expect(round).toBeLessThan(100);
      await gateway.database.query(
        `insert into film select ${round} * 100 + n, repeat('x', 50000) from generate_series(1, 100) n`,
      );
      await expect.poll(() => other.messages.length).toBeGreaterThanOrEqual(before + (round + 1) * 100);
    }
    client.socket.resume();
    await expect.poll(() => isClosed).toBe(true);
    expect(await client.closed).toBe('1006 ');
    expect(other.socket.readyState).toBe(WebSocket.OPEN);
    await gateway.database.query(`delete from film`);
  });
});

test('options are checked', () => {
  expect(() => realtime(gateway.gateway, { maxConnections: 0 })).toThrow(/^realtime: maxConnections: /);
});
