import { once } from 'node:events';
import { createGateway, crudSource, functionsSource, Problem } from '@pgway/core';
import { type ChangeIdentity, Limiter, realtimeAccess } from '@pgway/core/internal';
import { installRealtimeMessages } from '@pgway/realtime';
import { expect, onTestFinished, test, vi } from 'vitest';
import { DatabaseMessages } from '../src/messages/database-messages.ts';
import { MessageHistory } from '../src/messages/message-history.ts';
import { MessageHub } from '../src/messages/message-hub.ts';
import { Policies } from '../src/messages/policies.ts';
import { PublishedTables } from '../src/published-tables.ts';
import { openConnection, type OpenConnection } from './connection-support.ts';
import { enter, send, useRooms } from './room-support.ts';
import { connect, serve } from './support.ts';

const { gateway, authentication, suffix, roles, tokens } = useRooms();
const { anon, authenticated } = roles;

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

test('without a role of callers, private channels are refused: the policies do not apply to the owner', async () => {
  const { database } = gateway;
  const own = await createGateway({ connectionString: database.connectionString });
  onTestFinished(() => own.close());
  const other = await serve(own);
  onTestFinished(() => other.close());
  const { status } = await enter(connect(other), 'room:1');
  expect(status).toBe(
    'CHANNEL_ERROR: Private channels need a role of callers that row level security applies to; set authentication.databaseRole',
  );
});

test('the gateway may connect as a role without rights on the table', async () => {
  const { database } = gateway;
  const login = `gateway_${suffix}`;
  await database.query(`create role ${login} login password 'x'; grant ${anon}, ${authenticated} to ${login};
    ${gatewayGrants(login)}`);
  onTestFinished(async () => void (await database.query(`drop owned by ${login}; drop role ${login}`)));
  const url = new URL(database.connectionString);
  Object.assign(url, { username: login, password: 'x' });
  const own = await createGateway({ connectionString: url.href, authentication });
  onTestFinished(() => own.close());
  const other = await serve(own);
  onTestFinished(() => other.close());
  const client = connect(other, { apikey: tokens.ada, token: tokens.ada });
  const room = await enter(client, 'room:1', { broadcast: { self: true, ack: true } });
  expect(room.status).toBe('SUBSCRIBED');
  expect(await send(room, 'x', {})).toBe('ok');
  expect(room.received).toHaveLength(1);
  expect((await enter(client, 'room:2')).status).toContain('You may not join');
});

test('policies are asked again after five minutes', async () => {
  const { database } = gateway;
  await database.query(`insert into member values ('room:3', 'ada')`);
  const { connection, messages, send: sendRaw } = await openReading(gateway.gateway, tokens.ada);
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

test('permissions end ten minutes after the policies were asked for the last time', async () => {
  let isBroken = false;
  const {
    connection,
    socket,
    messages,
    send: sendRaw,
  } = await openReading(gateway.gateway, tokens.ada, (services) => ({
    ...services,
    policies: Object.assign(Object.create(services.policies) as Policies, {
      read: (identity: ChangeIdentity, topic: string) => {
        if (isBroken) throw new Problem('database-unavailable');
        return services.policies.read(identity, topic);
      },
    }),
  }));
  sendRaw('room:1', 'phx_join', { config: { private: true, broadcast: { self: true } } });
  await expect.poll(() => messages.at(-1)).toBe('room:1 presence_state {}');
  sendRaw('room:1', 'presence', { event: 'track' });
  await expect.poll(() => messages.at(-1)).toMatch(/^room:1 presence_diff \{"joins":\{"/);
  isBroken = true;
  const start = performance.now();
  const clock = vi.spyOn(performance, 'now').mockReturnValue(start + 9 * 60_000);
  onTestFinished(() => clock.mockRestore());
  const checked = async (event: string): Promise<readonly string[]> => {
    messages.length = 0;
    const answered = once(socket, 'pong');
    connection.check();
    await answered;
    sendRaw('room:1', 'broadcast', { event, payload: {} });
    sendRaw('room:1', 'x', {});
    await expect.poll(() => messages.at(-1)).toContain('unmatched topic');
    return messages.slice(0, -1);
  };
  const unavailable = expect.stringMatching(/^room:1 system .*"status":"error"/);
  expect(await checked('a')).toEqual([unavailable, expect.stringContaining('"event":"a"')]);
  clock.mockReturnValue(start + 11 * 60_000);
  expect(await checked('b')).toEqual([
    unavailable,
    expect.stringContaining('You may not send messages in the private channel'),
  ]);
  isBroken = false;
  expect(await checked('c')).toEqual(['room:1 presence_state {}', expect.stringContaining('"event":"c"')]);
});

test('policies are asked once for joins of one caller and topic that wait, and with a part of the connections', async () => {
  const { database } = realtimeAccess(gateway.gateway)!;
  const counts = { asked: 0, now: 0, most: 0 };
  const counted: typeof database = {
    ...database,
    size: 4,
    begin: async (options) => {
      counts.asked++;
      counts.most = Math.max(counts.most, ++counts.now);
      const transaction = await database.begin(options);
      const rollback = async (): Promise<void> => {
        await transaction.rollback();
        counts.now--;
      };
      return { ...transaction, run: (steps) => transaction.run(steps), rollback };
    },
  };
  const policies = new Policies(counted, new Limiter(2));
  const identity = (sub: string): ChangeIdentity => ({
    role: authenticated,
    settings: [
      ['role', authenticated],
      ['request.jwt.claims', JSON.stringify({ sub })],
    ],
    key: sub,
  });
  const answers = await Promise.all(Array.from({ length: 20 }, () => policies.read(identity('ada'), 'room:1')));
  expect(new Set(answers)).toEqual(
    new Set([{ receivesBroadcasts: true, receivesPresence: true, sendsBroadcasts: true, sendsPresence: true }]),
  );
  expect(counts.asked).toBe(1);
  await Promise.all(Array.from({ length: 20 }, (_, index) => policies.read(identity('ada'), `other:${index}`)));
  expect(counts).toEqual({ asked: 21, now: 0, most: 2 });
  expect(await policies.read(identity('eve'), 'room:1')).toMatchObject({ receivesBroadcasts: false });
  // A join gets the policies of its time.
  await policies.read(identity('ada'), 'room:1');
  expect(counts.asked).toBe(23);
});

test('a caller reads earlier messages of one channel at a time, so that others do not wait for all of its reads', async () => {
  const { database } = realtimeAccess(gateway.gateway)!;
  const began: string[] = [];
  const running = new Set<string>();
  let bobHasBegun = (): void => {};
  const bobBegan = new Promise<void>((resolve) => (bobHasBegun = resolve));
  const observed: typeof database = {
    ...database,
    begin: async (options) => {
      const transaction = await database.begin(options);
      let caller = '';
      return {
        ...transaction,
        run: async (steps) => {
          caller = String(steps[0]!.values.at(-3));
          expect(running).not.toContain(caller);
          running.add(caller);
          began.push(caller);
          if (caller === '"bob"') bobHasBegun();
          // The first read of ada ends after bob's has begun, which takes the second place of the limiter.
          await bobBegan;
          return transaction.run(steps);
        },
        rollback: async () => {
          running.delete(caller);
          await transaction.rollback();
        },
      };
    },
  };
  const history = new MessageHistory(observed, new Limiter(2));
  const read = (sub: string): Promise<unknown> => {
    const settings = [['request.jwt.claims', sub]] as const;
    return history.read(sub, { role: authenticated, settings, key: sub }, 'room:1', { since: 0, limit: 1 });
  };
  const reads = ['"ada"', '"ada"', '"ada"', '"bob"'].map(read);
  await Promise.all(reads);
  expect(began.toSorted()).toEqual(['"ada"', '"ada"', '"ada"', '"bob"']);
});

test.each([
  { earlier: 25, shown: 0 },
  { earlier: 8, shown: 8 },
])(
  'a join with $earlier large earlier messages keeps its connection, and gets $shown of those that arrive meanwhile',
  async ({ earlier, shown }) => {
    const topic = { name: `room:${earlier}`, isPrivate: true };
    const payload = JSON.stringify({ text: 'x'.repeat(250_000) });
    await gateway.database.query(`insert into member values ($1, 'ada')`, [topic.name]);
    await gateway.database.query(
      `insert into realtime.messages (topic, event, payload, extension, private)
      select $1, 'earlier', $2::jsonb, 'broadcast', true from generate_series(1, $3::int)`,
      [topic.name, payload, earlier],
    );
    const {
      messages,
      send: sendRaw,
      services,
    } = await openReading(gateway.gateway, tokens.ada, (own) => ({
      ...own,
      history: Object.assign(Object.create(own.history) as MessageHistory, {
        read: async (...request: Parameters<MessageHistory['read']>) => {
          const found = await own.history.read(...request);
          for (let index = 0; index < 32; index++)
            own.hub.deliver(topic, { event: 'held', payload, id: `held ${index}` });
          return found;
        },
      }),
    }));
    sendRaw(topic.name, 'phx_join', { config: { private: true, broadcast: { replay: { since: 0, limit: 25 } } } });
    await expect.poll(() => messages.at(-1)).toContain('Messages may be missing');
    const count = (event: string): number => messages.filter((text) => text.includes(`"event":"${event}"`)).length;
    expect([count('earlier'), count('held'), services.counts.slowClients]).toEqual([earlier, shown, 0]);
    services.hub.deliver(topic, { event: 'live', payload: '{}', id: null });
    await expect.poll(() => messages.at(-1)).toContain('"event":"live"');
  },
);

test('a channel that was opened before messages of the database could be read is told that some may be missing', async () => {
  const { database } = gateway;
  let read: () => void = () => undefined;
  const isReadable = new Promise<void>((resolve) => (read = resolve));
  const { messages, send: sendRaw } = await openConnection(gateway.gateway, tokens.bob, (own) => {
    const feed = own.feed();
    const later: typeof feed = Object.assign(Object.create(feed) as typeof feed, {
      subscribe: (...request: Parameters<typeof feed.subscribe>) => isReadable.then(() => feed.subscribe(...request)),
    });
    const databaseMessages = new DatabaseMessages({ ...own, feed: () => later }, own.tables, own.hub);
    onTestFinished(() => databaseMessages.close());
    return { ...own, databaseMessages };
  });
  const joinAs = (room: string): void => sendRaw(room, 'phx_join', { config: { private: true } });
  joinAs('room:1');
  await expect.poll(() => messages.at(-1)).toBe('room:1 presence_state {}');
  await database.query(`select realtime.send('{}', 'missed', 'room:1')`);
  read();
  const system = { extension: 'system', status: 'error', message: 'Messages of the database may be missing' };
  await expect.poll(() => messages.at(-1)).toBe(`room:1 system ${JSON.stringify({ ...system, channel: 'room:1' })}`);
  // This one has missed none.
  joinAs('room:2');
  await expect.poll(() => messages.at(-1)).toBe('room:2 presence_state {}');
  await database.query(`select realtime.send('{}', 'note', 'room:2')`);
  await expect.poll(() => messages.at(-1)).toContain('room:2 broadcast {"type":"broadcast","event":"note"');
  expect(messages.filter((text) => /missed|missing/.test(text))).toHaveLength(1);
});

test('messages of the database are deleted after an hour', async () => {
  const { database } = gateway;
  const access = realtimeAccess(gateway.gateway)!;
  const messages = new DatabaseMessages(
    access,
    new PublishedTables(access.database),
    new MessageHub(null, () => undefined),
  );
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

test('messages are deleted although no channel was joined, also those that no channel receives', async () => {
  const { database } = gateway;
  const access = realtimeAccess(gateway.gateway)!;
  const messages = new DatabaseMessages(
    access,
    new PublishedTables(access.database),
    new MessageHub(null, () => undefined),
  );
  onTestFinished(() => messages.close());
  await database.query(`insert into realtime.messages (topic, extension, event, inserted_at) values
    ('1', 'other', null, now() - interval '61 minutes'), ('2', 'broadcast', null, now() + interval '61 minutes'),
    ('3', 'broadcast', 'x', 'infinity'), ('4', 'broadcast', 'x', now() + interval '59 minutes')`);
  const now = performance.now();
  const clock = vi.spyOn(performance, 'now').mockReturnValue(now + 60_001);
  onTestFinished(() => clock.mockRestore());
  messages.check();
  const kept = (): Promise<unknown> =>
    database.query(`select topic from realtime.messages where topic in ('1', '2', '3', '4')`);
  await expect.poll(kept).toEqual([{ topic: '4' }]);
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

/** Connects when messages of the database are read. A join waits for half a second at most, and its channel is then told that some may be missing. */
async function openReading(...connection: Parameters<typeof openConnection>): Promise<OpenConnection> {
  const opened = await openConnection(...connection);
  await opened.services.databaseMessages.open();
  return opened;
}

/** The statements of `pgway install realtime <role>` that grant. */
function gatewayGrants(role: string): string {
  return installRealtimeMessages([role])
    .filter((statement) => statement.startsWith('grant execute'))
    .join(';\n');
}
