import type { RealtimeChannel, RealtimeClient } from '@supabase/realtime-js';
import { describe, expect, onTestFinished, test } from 'vitest';
import { enter, send, useRooms } from './room-support.ts';
import { subscribe } from './support.ts';

const { gateway, realtime, roles, tokens, user } = useRooms();

describe.each(['1.0.0', '2.0.0'])('with vsn %s', (vsn) => {
  test('a broadcast reaches the other members of a private channel', async () => {
    const [ada, bob] = await Promise.all([enter(user('ada', vsn), 'room:1'), enter(user('bob', vsn), 'room:1')]);
    expect([ada.status, bob.status]).toEqual(['SUBSCRIBED', 'SUBSCRIBED']);
    const payload = { text: 'Grüße', n: [1, { a: null }] };
    expect(await send(ada, 'cursor', payload)).toBe('ok');
    await expect.poll(() => bob.received).toEqual([{ type: 'broadcast', event: 'cursor', payload }]);
    expect(ada.received).toEqual([]);
  });

  test('"self" and "ack": the sender gets its message, and then the reply', async () => {
    const ada = await enter(user('ada', vsn), 'room:1', { broadcast: { self: true, ack: true } });
    expect(await send(ada, 'cursor', { x: 1 })).toBe('ok');
    expect(ada.received).toEqual([{ type: 'broadcast', event: 'cursor', payload: { x: 1 } }]);
  });

  test('a caller without the right to read is refused, and one without the right to send gets an error', async () => {
    const eve = await enter(user('eve', vsn), 'room:1');
    expect(eve.status).toBe('CHANNEL_ERROR: You may not join the private channel "room:1"');
    await gateway.database.query(
      `create policy silent on realtime.messages as restrictive for insert to ${roles.authenticated} with check (false)`,
    );
    onTestFinished(async () => void (await gateway.database.query('drop policy silent on realtime.messages')));
    const [ada, bob] = await Promise.all([
      enter(user('ada', vsn), 'room:1', { broadcast: { ack: true } }),
      enter(user('bob', vsn), 'room:1'),
    ]);
    expect(await send(ada, 'cursor', {})).toBe('error');
    expect(await ada.channel.track({})).toBe('error');
    expect(bob.received).toEqual([]);
  });

  test('the key of anonymous callers has their role', async () => {
    const { status } = await enter(user('key', vsn), 'room:1');
    expect(status).toBe('CHANNEL_ERROR: You may not join the private channel "room:1"');
  });

  test('a public channel is refused', async () => {
    const { status } = await enter(user('ada', vsn), 'room:1', { private: false });
    expect(status).toBe(
      'CHANNEL_ERROR: Public channels are not available; join with "private": true, or set realtime.publicChannels',
    );
  });

  test('messages of the database', async () => {
    const [bob, other] = await Promise.all([enter(user('bob', vsn), 'room:1'), enter(user('bob', vsn), 'room:2')]);
    // The owner's rights read them: a changed policy loses none.
    await gateway.database.query('create policy other on realtime.messages for select using (false)');
    onTestFinished(async () => void (await gateway.database.query('drop policy other on realtime.messages')));
    await gateway.database.query(`select realtime.send('{"n": 1.50}', 'note', 'room:1')`);
    await gateway.database.query(`select realtime.send('{}', 'public', 'room:1', false)`);
    await gateway.database.query(`select realtime.send('{"n": 2}', 'note', 'room:2')`);
    const message = (payload: unknown): unknown => {
      return { type: 'broadcast', event: 'note', payload, meta: { id: expect.stringMatching(/^[\da-f-]{36}$/) } };
    };
    await expect.poll(() => other.received).toEqual([message({ n: 2 })]);
    expect(bob.received).toEqual([message({ n: 1.5 })]);
  });

  test('"replay": the latest messages of the database since a time, under the policies of now, and then the later ones', async () => {
    const sendNote = (text: string, topic = 'room:1', isPrivate = true): Promise<unknown> =>
      gateway.database.query(`select realtime.send(jsonb_build_object('text', $1::text), $1, $2, $3)`, [
        text,
        topic,
        isPrivate,
      ]);
    const present = await enter(user('bob', vsn), 'room:1');
    const since = Date.now();
    for (const text of ['one', 'two', 'hidden', 'three']) await sendNote(text);
    await expect.poll(() => present.received).toHaveLength(4);
    await sendNote('elsewhere', 'room:2');
    await sendNote('public', 'room:1', false);
    const [few, all] = await Promise.all([
      enter(user('ada', vsn), 'room:1', { broadcast: { replay: { since, limit: 2 } } }),
      enter(user('bob', vsn), 'room:1', { broadcast: { replay: { since } } }),
    ]);
    await sendNote('live');
    const message = (text: string, meta = {}): unknown => {
      return { type: 'broadcast', event: text, payload: { text }, meta: { id: expect.any(String), ...meta } };
    };
    const earlier = ['one', 'two', 'three'].map((text) => message(text, { replayed: true }));
    await expect.poll(() => few.received).toEqual([...earlier.slice(1), message('live')]);
    await expect.poll(() => all.received).toEqual([...earlier, message('live')]);
    const eve = await enter(user('eve', vsn), 'room:1', { broadcast: { replay: { since } } });
    expect([eve.status, eve.received]).toEqual(['CHANNEL_ERROR: You may not join the private channel "room:1"', []]);
  });

  test.each([
    [{}, '"since" of replay is not a time in milliseconds since 1970'],
    [{ since: 1e300 }, '"since" of replay is not a time in milliseconds since 1970'],
    [{ since: 0, limit: 0 }, '"limit" of replay is not a number from 1 to 25'],
    [true, '"replay" is not an object'],
  ])('"replay": %j is refused', async (replay, reason) => {
    const { status } = await enter(user('ada', vsn), 'room:1', { broadcast: { replay } });
    expect(status).toBe(`CHANNEL_ERROR: ${reason}`);
  });

  test('presence: state, changes, several tabs, disconnect', async () => {
    const [first, second] = [user('ada', vsn), user('ada', vsn)];
    const bob = await present(user('bob', vsn), 'room:1', 'bob');
    expect(await bob.channel.track({ mood: 'good' })).toBe('ok');
    await expect.poll(() => bob.names()).toEqual({ bob: [{ mood: 'good' }] });
    const ada = await present(first, 'room:1', 'ada');
    const tab = await present(second, 'room:1', 'ada');
    await expect.poll(() => ada.names()).toEqual({ bob: [{ mood: 'good' }] });
    await ada.channel.track({ tab: 1 });
    await tab.channel.track({ tab: 2 });
    const both = { ada: [{ tab: 1 }, { tab: 2 }], bob: [{ mood: 'good' }] };
    for (const each of [bob, ada, tab]) await expect.poll(() => each.names()).toEqual(both);
    await bob.channel.track({ mood: 'bad' });
    await expect.poll(() => ada.names()).toEqual({ ...both, bob: [{ mood: 'bad' }] });
    await tab.channel.untrack();
    await expect.poll(() => bob.names()).toEqual({ ada: [{ tab: 1 }], bob: [{ mood: 'bad' }] });
    void first.disconnect();
    await expect.poll(() => bob.names()).toEqual({ bob: [{ mood: 'bad' }] });
    expect(new Set(bob.events)).toEqual(new Set(['join bob', 'leave bob', 'join ada', 'leave ada']));
    await bob.channel.untrack();
    await expect.poll(() => bob.names()).toEqual({});
  });
});

interface PresentRoom {
  readonly channel: RealtimeChannel;
  /** What the clients with each key say of themselves. */
  readonly names: () => unknown;
  readonly events: readonly string[];
}

async function present(client: RealtimeClient, name: string, key: string): Promise<PresentRoom> {
  const channel = client.channel(name, { config: { private: true, presence: { key } } });
  const events: string[] = [];
  for (const event of ['join', 'leave'] as const)
    channel.on('presence', { event } as never, (change: { readonly key: string }) => {
      events.push(`${event} ${change.key}`);
    });
  expect(await subscribe(channel)).toBe('SUBSCRIBED');
  const strip = (meta: Record<string, unknown>): unknown =>
    Object.fromEntries(Object.entries(meta).filter(([member]) => member !== 'presence_ref'));
  const names = (): unknown =>
    Object.fromEntries(
      Object.entries(channel.presenceState()).map(([each, metas]) => [each, metas.map((meta) => strip(meta as never))]),
    );
  return { channel, events, names };
}

describe('payloads and names', () => {
  test('bytes reach clients with version 2.0.0; texts reach both', async () => {
    const [ada, bob, old] = await Promise.all([
      enter(user('ada'), 'room:1'),
      enter(user('bob'), 'room:1'),
      enter(user('bob', '1.0.0'), 'room:1'),
    ]);
    await send(ada, 'bytes', Uint8Array.of(0, 255, 1).buffer);
    await send(ada, 'text', 'x');
    const text = { type: 'broadcast', event: 'text', payload: 'x' };
    await expect
      .poll(() => bob.received)
      .toEqual([{ type: 'broadcast', event: 'bytes', payload: Uint8Array.of(0, 255, 1).buffer }, text]);
    await expect.poll(() => old.received).toEqual([text]);
  });

  test.each(['Zürich "1" \\ \n', '東京', "'; drop table member; --"])('a topic %j', async (name) => {
    await gateway.database.query(`insert into member values ($1, 'ada'), ($1, 'bob')`, [name]);
    const [ada, bob, old] = await Promise.all([
      enter(user('ada'), name),
      enter(user('bob'), name),
      enter(user('bob', '1.0.0'), name),
    ]);
    await send(ada, 'x', { n: 1 });
    const messages = [{ type: 'broadcast', event: 'x', payload: { n: 1 } }];
    await expect.poll(() => [bob.received, old.received]).toEqual([messages, messages]);
  });
});

describe('tokens', () => {
  test('a newer token is asked for its rights, and one without them ends the channel', async () => {
    const client = user('ada');
    const { channel } = await enter(client, 'room:1');
    const messages: unknown[] = [];
    channel.on('system', {}, (message: unknown) => messages.push(message));
    await client.setAuth(tokens.bob);
    expect(await channel.track({})).toBe('ok');
    await client.setAuth(tokens.eve);
    await expect.poll(() => channel.state).toBe('closed');
    expect(messages).toEqual([
      {
        extension: 'system',
        status: 'error',
        message: 'You may not join the private channel "room:1"',
        channel: 'room:1',
      },
    ]);
  });
});

describe('broadcasts by HTTP', () => {
  test('with the client: httpSend, and send before subscribe', async () => {
    const bob = await enter(user('bob'), 'room:1');
    const channel = user('ada').channel('room:1', { config: { private: true } });
    expect(await channel.httpSend('note', { n: 1 })).toEqual({ success: true });
    expect(await channel.send({ type: 'broadcast', event: 'note', payload: { n: 2 } })).toBe('ok');
    await expect
      .poll(() => bob.received)
      .toEqual([1, 2].map((n) => ({ type: 'broadcast', event: 'note', payload: { n } })));
    const refused = user('eve').channel('room:1', { config: { private: true } });
    await expect(refused.httpSend('note', {})).rejects.toThrow(
      'You may not send messages in the private channel "room:1".',
    );
  });

  async function post(body: unknown, headers: Readonly<Record<string, string>> = {}, path = ''): Promise<string> {
    const response = await fetch(`${realtime.url.replace('ws:', 'http:')}/realtime/v1/api/broadcast${path}`, {
      method: 'POST',
      body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
      headers: { 'content-type': 'application/json', authorization: `Bearer ${tokens.ada}`, ...headers },
    });
    const text = await response.text();
    const { title = '', detail = '' } = (text === '' ? {} : JSON.parse(text)) as Record<string, string>;
    return `${response.status} ${title}${detail === '' ? '' : `: ${detail}`}`;
  }

  const message = { topic: 'room:1', event: 'x', payload: {}, private: true };

  test.each([
    ['sends', { messages: [message] }, {}, '202 '],
    ['text that is not JSON', '{', {}, '400 The body is not valid JSON'],
    ['another media type', {}, { 'content-type': 'text/plain' }, '415 The body must be application/json'],
    ['no messages', {}, {}, '422 The messages are not valid: The body is not an object with a list "messages".'],
    [
      'a number as topic',
      { messages: [{ ...message, topic: 1 }] },
      {},
      '422 The messages are not valid: "topic" of a message is not a text.',
    ],
    [
      'no event',
      { messages: [{ ...message, event: '' }] },
      {},
      '422 The messages are not valid: "event" of a broadcast is not a text.',
    ],
    [
      'a topic with NUL',
      { messages: [{ ...message, topic: '\0' }] },
      {},
      '422 The messages are not valid: The topic has characters that are not valid in UTF-8 texts of PostgreSQL.',
    ],
    [
      'a long topic',
      { messages: [{ ...message, topic: 'x'.repeat(300) }] },
      {},
      '422 The messages are not valid: The topic has 309 bytes; use at most 255.',
    ],
    [
      'too many',
      { messages: Array.from({ length: 101 }, () => message) },
      {},
      '422 The messages are not valid: The request has 101 messages; send several requests with at most 100 each.',
    ],
    [
      'a large payload',
      { messages: [{ ...message, payload: 'x'.repeat(262_144) }] },
      {},
      '422 The messages are not valid: "payload" of a message has 262146 characters; use at most 262144.',
    ],
    [
      'a large body',
      'x'.repeat(1_048_577),
      {},
      '413 The body is larger than this server accepts: The limit is 1048576 bytes.',
    ],
    [
      'a public topic',
      { messages: [message, { ...message, private: false }] },
      {},
      '403 The messages may not be sent: Public channels are not available; join with "private": true, or set realtime.publicChannels.',
    ],
    [
      'another room',
      { messages: [{ ...message, topic: 'room:2' }] },
      {},
      '403 The messages may not be sent: You may not send messages in the private channel "room:2".',
    ],
    [
      'a refused token',
      { messages: [message] },
      { authorization: 'Bearer x.y.z' },
      '401 The credentials are refused: The token is malformed.',
    ],
    [
      'no token',
      { messages: [message] },
      { authorization: '' },
      '403 The messages may not be sent: You may not send messages in the private channel "room:1".',
    ],
    [
      'a page of another site',
      { messages: [message] },
      { origin: 'https://evil.example.org' },
      '403 Requests from pages of other sites are not allowed: The connection comes from a page of another site. Add its origin to allowedOrigins.',
    ],
  ])('%s', async (_, body, headers, answer) => {
    expect(await post(body, headers as never)).toBe(answer);
  });

  test('the path may name topic and event, and the body is the payload: JSON, or bytes', async () => {
    const bob = await enter(user('bob'), 'room:1');
    const path = '/room%3A1/events/a%2Fb?private=true';
    expect(await post({ n: 1 }, {}, path)).toBe('202 ');
    const bytes = { 'content-type': 'application/octet-stream' };
    expect(await post(new Uint8Array([1, 2]), bytes, path)).toBe('202 ');
    await expect
      .poll(() => bob.received)
      .toEqual([
        { type: 'broadcast', event: 'a/b', payload: { n: 1 } },
        { type: 'broadcast', event: 'a/b', payload: new Uint8Array([1, 2]).buffer },
      ]);
  });

  const broadcast = '/room%3A1/events/x';
  test.each([
    [
      'a public topic',
      broadcast,
      {},
      '403 The messages may not be sent: Public channels are not available; join with "private": true, or set realtime.publicChannels.',
    ],
    [
      'another room',
      '/room%3A2/events/x?private=true',
      {},
      '403 The messages may not be sent: You may not send messages in the private channel "room:2".',
    ],
    [
      'private that is not a boolean',
      `${broadcast}?private=1`,
      {},
      '422 The messages are not valid: "private" is not true or false.',
    ],
    [
      'a long event',
      `/room%3A1/events/${'x'.repeat(256)}?private=true`,
      {},
      '422 The messages are not valid: "event" of a broadcast has more than 255 bytes.',
    ],
    [
      'another media type',
      `${broadcast}?private=true`,
      { 'content-type': 'text/plain' },
      '415 The body must be application/json: The body is application/json or application/octet-stream.',
    ],
    ['no event', '/room%3A1/events', {}, '404 Not found'],
    ['a malformed name', '/%E0%A4/events/x', {}, '404 Not found'],
    ['more names', `${broadcast}/y`, {}, '404 Not found'],
  ])('a path with %s', async (_, path, headers, answer) => {
    expect(await post({}, headers as never, path)).toBe(answer);
  });

  test('too many messages of a caller are refused', async () => {
    const messages = Array.from({ length: 100 }, () => message);
    await post({ messages });
    expect(await post({ messages })).toBe(
      '429 Too many requests: A caller may send 100 messages in a second; wait a second.',
    );
  });
});

test('a trigger sends the change of a row', async () => {
  await gateway.database.query(`
    create table note (id int primary key, room text);
    create function tell() returns trigger language plpgsql as $$ begin
      perform realtime.broadcast_changes(coalesce(new.room, old.room), tg_op, tg_op, tg_table_name, tg_table_schema, new, old);
      return null;
    end $$;
    create trigger tell after insert or update or delete on note for each row execute function tell();
  `);
  const bob = await enter(user('bob'), 'room:2');
  await gateway.database.query(`insert into note values (1, 'room:2')`);
  await gateway.database.query(`delete from note`);
  const change = { schema: 'public', table: 'note' };
  await expect
    .poll(() => bob.received)
    .toMatchObject([
      {
        event: 'INSERT',
        payload: { ...change, operation: 'INSERT', record: { id: 1, room: 'room:2' }, old_record: null },
      },
      {
        event: 'DELETE',
        payload: { ...change, operation: 'DELETE', record: null, old_record: { id: 1, room: 'room:2' } },
      },
    ]);
});
