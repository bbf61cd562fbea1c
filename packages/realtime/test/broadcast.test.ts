import { randomBytes } from 'node:crypto';
import { createGateway, crudSource, functionsSource } from '@pgway/core';
import { realtimeAccess } from '@pgway/core/internal';
import { installRealtimeMessages } from '@pgway/realtime';
import { useDatabase, useGateway } from '@pgway/testing';
import type { RealtimeChannel, RealtimeClient } from '@supabase/realtime-js';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { DatabaseMessages } from '../src/messages/database-messages.ts';
import { MessageHub } from '../src/messages/message-hub.ts';
import { PublishedTables } from '../src/published-tables.ts';
import { openConnection } from './connection-support.ts';
import { connect, serve, subscribe, useRealtime } from './support.ts';

/* Two members of one room, and a user outside of it. */

const suffix = randomBytes(4).toString('hex');
const [anon, authenticated] = ['anon', 'authenticated'].map((role) => `${role}_${suffix}`) as [string, string];
const secret = 'super-secret-jwt-token-with-at-least-32-characters-long';

const server = useDatabase();
// After the database with its privileges.
afterAll(async () => void (await server.query(`drop role if exists ${anon}; drop role if exists ${authenticated}`)));

const gateway = useGateway(
  `
  create role ${anon}; create role ${authenticated};
  grant ${anon}, ${authenticated} to current_user;
  create table member (room text, name text);
  grant select on member to ${authenticated};
  insert into member values ('room:1', 'ada'), ('room:1', 'bob'), ('room:2', 'bob');
  ${installRealtimeMessages([]).join(';\n')};
  create function own_room() returns boolean language sql stable as $$
    select exists (select from public.member where room = realtime.topic()
      and name = current_setting('request.jwt.claims')::jsonb ->> 'sub') $$;
  create policy receive on realtime.messages for select to ${authenticated} using (own_room());
  create policy send on realtime.messages for insert to ${authenticated}
    with check (own_room() and (extension = 'broadcast' or realtime.topic() <> 'room:2'));
  `,
  {
    changes: { window: 0 },
    authentication: {
      jwt: { keys: [{ secret }], issuer: null, audience: null },
      databaseRole: { claim: 'role', anonymous: anon },
    },
  },
);
const realtime = useRealtime(() => gateway.gateway);

let tokens: Readonly<Record<'ada' | 'bob' | 'eve' | 'key', string>>;
beforeAll(async () => {
  const sign = (sub: string): Promise<string> =>
    new SignJWT({ sub, role: sub === 'key' ? anon : authenticated, exp: 4_000_000_000 })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .sign(new TextEncoder().encode(secret));
  const [ada, bob, eve, key] = await Promise.all(['ada', 'bob', 'eve', 'key'].map(sign));
  tokens = { ada: ada!, bob: bob!, eve: eve!, key: key! };
});

interface Room {
  readonly channel: RealtimeChannel;
  readonly status: string;
  readonly received: unknown[];
}

async function enter(
  client: RealtimeClient,
  name: string,
  config: Readonly<Record<string, unknown>> = {},
): Promise<Room> {
  const channel = client.channel(name, { config: { private: true, ...config } });
  const received: unknown[] = [];
  channel.on('broadcast', { event: '*' }, (message) => received.push(message));
  return { channel, received, status: await subscribe(channel) };
}

const user = (name: keyof typeof tokens, vsn?: string): RealtimeClient =>
  connect(realtime, { apikey: tokens[name], token: tokens[name], ...(vsn === undefined ? {} : { vsn }) });

const send = (room: Room, event: string, payload: unknown): Promise<unknown> =>
  room.channel.send({ type: 'broadcast', event, payload } as never);

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
    expect(eve.status).toBe('CHANNEL_ERROR: "You may not join the private channel \\"room:1\\""');
    await gateway.database.query(
      `create policy silent on realtime.messages as restrictive for insert to ${authenticated} with check (false)`,
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
    const { status } = await enter(connect(realtime, { apikey: tokens.key, vsn }), 'room:1');
    expect(status).toBe('CHANNEL_ERROR: "You may not join the private channel \\"room:1\\""');
  });

  test('a public channel is refused', async () => {
    const { status } = await enter(user('ada', vsn), 'room:1', { private: false });
    expect(status).toBe(
      'CHANNEL_ERROR: "Public channels are not available; join with \\"private\\": true, or set realtime.publicChannels"',
    );
  });

  test('messages of the database', async () => {
    const [bob, other] = await Promise.all([enter(user('bob', vsn), 'room:1'), enter(user('bob', vsn), 'room:2')]);
    await gateway.database.query(`select realtime.send('{"n": 1.50}', 'note', 'room:1')`);
    await gateway.database.query(`select realtime.send('{}', 'public', 'room:1', false)`);
    await gateway.database.query(`select realtime.send('{"n": 2}', 'note', 'room:2')`);
    const message = (payload: unknown): unknown => {
      return { type: 'broadcast', event: 'note', payload, meta: { id: expect.stringMatching(/^[\da-f-]{36}$/) } };
    };
    await expect.poll(() => other.received).toEqual([message({ n: 2 })]);
    expect(bob.received).toEqual([message({ n: 1.5 })]);
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
    first.disconnect();
    await expect.poll(() => bob.names()).toEqual({ bob: [{ mood: 'bad' }] });
    expect(new Set(bob.events)).toEqual(new Set(['join bob', 'leave bob', 'join ada', 'leave ada']));
    await bob.channel.untrack();
    await expect.poll(() => bob.names()).toEqual({});
  });
});

interface PresentRoom extends Pick<Room, 'channel'> {
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

test('policies are asked again after five minutes', async () => {
  const { database } = gateway;
  await database.query(`insert into member values ('room:3', 'ada')`);
  const { connection, messages, send: sendRaw } = await openConnection(gateway.gateway, tokens.ada);
  sendRaw('room:3', 'phx_join', { config: { private: true } });
  await expect.poll(() => messages.at(-1)).toMatch(/^room:3 presence_state /);
  await database.query(`delete from member where room = 'room:3'`);
  connection.check();
  sendRaw('room:3', 'presence', {});
  // The reply follows the check.
  await expect.poll(() => messages.at(-1)).toContain('of presence is track or untrack');
  const now = performance.now();
  const clock = vi.spyOn(performance, 'now').mockReturnValue(now + 5 * 60_000 + 1);
  onTestFinished(() => clock.mockRestore());
  connection.check();
  await expect.poll(() => messages.at(-1)).toBe('room:3 phx_close {}');
});

test('messages of the database are deleted after an hour', async () => {
  const { database } = gateway;
  const access = realtimeAccess(gateway.gateway)!;
  const messages = new DatabaseMessages(access, new PublishedTables(access.database), new MessageHub(null));
  onTestFinished(() => messages.close());
  await messages.open();
  await database.query(`insert into realtime.messages (topic, event, payload, inserted_at)
    values ('old', 'x', '{}', now() - interval '61 minutes'), ('new', 'x', '{}', now() - interval '59 minutes')`);
  await expect.poll(() => messages.count).toBe(2);
  const now = performance.now();
  const clock = vi.spyOn(performance, 'now').mockReturnValue(now + 60_001);
  onTestFinished(() => clock.mockRestore());
  messages.check();
  const kept = (): Promise<unknown> =>
    database.query(`select topic from realtime.messages where topic in ('old', 'new') order by 1`);
  await expect.poll(kept).toEqual([{ topic: 'new' }]);
});

test('neither the table nor its functions are endpoints', async () => {
  const { database } = gateway;
  const other = await createGateway({
    connectionString: database.connectionString,
    commentsMode: 'parseAll',
    routineSources: [functionsSource(), crudSource()],
  });
  onTestFinished(() => other.close());
  expect(other.endpoints.filter(({ schema }) => schema === 'realtime')).toEqual([]);
  expect(other.endpoints.some(({ name }) => name === 'member')).toBe(true);
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

  async function post(body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<string> {
    const response = await fetch(`${realtime.url.replace('ws:', 'http:')}/realtime/v1/api/broadcast`, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
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
      '422 The messages are not valid: The topic has 309 bytes; 255 is the limit.',
    ],
    [
      'too many',
      { messages: Array.from({ length: 101 }, () => message) },
      {},
      '422 The messages are not valid: The request has 101 messages; 100 is the limit.',
    ],
    [
      'a large payload',
      { messages: [{ ...message, payload: 'x'.repeat(262_144) }] },
      {},
      '422 The messages are not valid: "payload" of a message has more than 262144 characters.',
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

  test('too many messages of a caller are refused', async () => {
    const messages = Array.from({ length: 100 }, () => message);
    await post({ messages });
    expect(await post({ messages })).toBe('429 Too many requests: 100 messages in a second are the limit of a caller.');
  });
});

test('messages of the database: limits, identity and refusals', async () => {
  const { database } = gateway;
  // A failure is a warning, so that a trigger that sends does not make the write fail.
  await database.query(`select realtime.send(to_jsonb(repeat('x', 262144)), 'large', 'room:1')`);
  await database.query(`set local role ${authenticated}; set local request.jwt.claims = '{"sub": "eve"}';
    select realtime.send('{}', 'forged', 'room:1')`);
  await expect(
    database.query(`set local role ${authenticated}; select realtime.insert_probes(null, null, 'x')`),
  ).rejects.toThrow('permission denied for function insert_probes');
  const rows = await database.query(`select count(*) from realtime.messages where event in ('large', 'forged')`);
  expect(rows).toEqual([{ count: '0' }]);
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

test('without a role of callers, private channels are refused: the policies do not apply to the owner', async () => {
  const { database } = gateway;
  const own = await createGateway({ connectionString: database.connectionString });
  onTestFinished(() => own.close());
  const other = await serve(own);
  onTestFinished(() => other.close());
  const { status } = await enter(connect(other), 'room:1');
  expect(status).toBe(
    'CHANNEL_ERROR: "Private channels need a role of callers that row level security applies to; set authentication.databaseRole"',
  );
});
