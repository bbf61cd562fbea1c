import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { crudSource, Problem } from '@pgway/core';
import { useDatabase, useGateway } from '@pgway/testing';
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { CallerSubscriptions } from '../src/caller-subscriptions.ts';
import { bearers, bind, openConnection, type OpenConnection } from './connection-support.ts';

const reader = `reader_${randomBytes(4).toString('hex')}`;
const server = useDatabase();
// After the database with its privileges.
afterAll(async () => void (await server.query(`drop role if exists ${reader}`)));

const { scheme, gone } = bearers();
const gateway = useGateway(
  `
  create table a (id int primary key, owner text);
  create table b (id int primary key, owner text);
  create role ${reader};
  alter table a enable row level security;
  alter table b enable row level security;
  create policy own on a to ${reader} using (owner = current_setting('request.jwt.claims')::jsonb ->> 'name');
  create policy own on b to ${reader} using (owner = current_setting('request.jwt.claims')::jsonb ->> 'name');
  grant select on a, b to ${reader};
  comment on table a is 'HTTP
authorize';
  comment on table b is 'HTTP
authorize';
  create publication pgway_changes for table a, b;
  `,
  {
    routineSources: [crudSource()],
    commentsMode: 'parseAll',
    changes: { window: 0 },
    authentication: { schemes: [scheme], databaseRole: { claim: 'database_role', anonymous: reader } },
  },
);

beforeEach(() => gone.clear());

/** Joins; the log may not be read yet. */
async function joined({ messages, send }: OpenConnection, topic: string, ...tables: readonly string[]): Promise<void> {
  await expect
    .poll(async () => {
      const before = messages.length;
      send(topic, 'phx_join', bind(...tables));
      await expect.poll(() => messages.length).toBeGreaterThan(before);
      return messages.at(-1);
    })
    .toMatch(/ system .*"ok"/);
}

const refused =
  'room system {"extension":"postgres_changes","status":"error","message":"Changes of \\"public.a\\" are not available: the table needs an endpoint that you may call, and pgway install changes","channel":"room"}';

describe('a check of the credentials', () => {
  test('is made although joins of the client wait', async () => {
    const opened = await openConnection(gateway.gateway, 'ada');
    const { connection, socket, messages, send } = opened;
    await joined(opened, 'room', 'a');
    gone.add('ada');
    let received = 0;
    // The first join is being answered, and the second one waits.
    socket.on('message', () => {
      if (++received === 2) connection.check();
    });
    send('one', 'phx_join', bind('a'));
    send('two', 'phx_join', bind('a'));
    await expect.poll(() => messages.at(-1)).toBe('room phx_close {}');
    expect(messages.at(-2)).toBe(refused);
  });
});

describe('while a join of the client takes long', () => {
  async function withLongJoin(): Promise<OpenConnection & { readonly refuse: () => void }> {
    let [isSlow, isRefused] = [false, false];
    const [begun, released] = [new AbortController(), new AbortController()];
    onTestFinished(() => released.abort());
    const opened = await openConnection(gateway.gateway, 'ada', (services) => ({
      ...services,
      identify: (request) => {
        if (isRefused) throw new Problem('unauthenticated');
        return services.identify(request);
      },
      tables: Object.assign(Object.create(services.tables) as typeof services.tables, {
        list: async () => {
          if (isSlow) {
            begun.abort();
            await once(released.signal, 'abort');
          }
          return services.tables.list();
        },
      }),
    }));
    await joined(opened, 'room', 'a');
    isSlow = true;
    const isWaiting = once(begun.signal, 'abort');
    opened.send('slow', 'phx_join', bind('b'));
    await isWaiting;
    return { ...opened, refuse: () => (isRefused = true) };
  }

  test('a channel whose token is refused ends', async () => {
    const { connection, messages, refuse } = await withLongJoin();
    refuse();
    connection.check();
    await expect.poll(() => messages.at(-1)).toBe('room phx_close {}');
    expect(messages.at(-2)).toContain('Authentication is required');
  });

  test('a channel whose caller is another one ends at the second check', async () => {
    const { connection, socket, messages } = await withLongJoin();
    gone.add('ada');
    const answered = once(socket, 'pong');
    connection.check();
    await answered;
    connection.check();
    await expect.poll(() => messages.at(-1)).toBe('room phx_close {}');
    expect(messages.at(-2)).toContain('The credentials have changed');
  });
});

describe('a token that the server cannot use yet', () => {
  /** Joins as ada with two tables, and sends the token of bob while the changes of `b` cannot be read. */
  async function withPendingToken(): Promise<OpenConnection & { readonly repair: () => void }> {
    let isBroken = false;
    const opened = await openConnection(gateway.gateway, 'ada', (services) => ({
      ...services,
      feed: () => {
        const feed = services.feed();
        return {
          subscribe: async (request, listener) => {
            if (isBroken && request.query.relation.name === 'b') throw new Problem('changes-unavailable');
            return feed.subscribe(request, listener);
          },
          watchTables: (tables, listener) => feed.watchTables(tables, listener),
          statistics: () => feed.statistics(),
          close: () => feed.close(),
        };
      },
    }));
    await joined(opened, 'room', 'a', 'b');
    isBroken = true;
    opened.messages.length = 0;
    opened.send('room', 'access_token', { access_token: 'bob' });
    await expect
      .poll(() => opened.messages)
      .toEqual([
        'room system {"extension":"postgres_changes","status":"error","message":"Changes of rows cannot be read now","channel":"room"}',
      ]);
    opened.messages.length = 0;
    return { ...opened, repair: () => (isBroken = false) };
  }

  const owners = (messages: readonly string[]): readonly unknown[] =>
    messages
      .map((message) => /"table":"(?<table>.)".*"owner":"(?<owner>\w+)"/.exec(message)?.slice(1).join(' ') ?? message)
      .toSorted();

  test('leaves the subscriptions as they are, and is used by the next check', async () => {
    const { connection, messages, send, repair } = await withPendingToken();
    await gateway.database.query(
      `insert into a values (1, 'ada'), (2, 'bob'); insert into b values (1, 'ada'), (2, 'bob')`,
    );
    await expect.poll(() => owners(messages)).toEqual(['a ada', 'b ada']);
    messages.length = 0;
    repair();
    connection.check();
    // The reply follows the check.
    send('room', 'presence', {});
    await expect.poll(() => messages.at(-1)).toContain('"event\\" of presence is track or untrack');
    messages.length = 0;
    await gateway.database.query(
      `insert into a values (3, 'ada'), (4, 'bob'); insert into b values (3, 'ada'), (4, 'bob')`,
    );
    await expect.poll(() => owners(messages)).toEqual(['a bob', 'b bob']);
    await gateway.database.query(`delete from a; delete from b`);
  });

  test('does not prolong the token before', async () => {
    const { connection, messages } = await withPendingToken();
    gone.add('ada');
    connection.check();
    await expect.poll(() => messages.at(-1)).toBe('room phx_close {}');
    expect(messages.at(-2)).toContain('The credentials have changed');
  });
});

describe('a caller watches a limited number of different tables, filters and columns, on all of its connections', () => {
  const callerSubscriptions = new CallerSubscriptions(2);
  const open = (name: string): Promise<OpenConnection> =>
    openConnection(gateway.gateway, name, (services) => ({ ...services, callerSubscriptions }));
  const reply = async ({ messages, send }: OpenConnection, topic: string, ...filters: readonly string[]) => {
    const changes = filters.map((filter) => ({ event: '*', schema: 'public', table: 'a', filter }));
    send(topic, 'phx_join', { config: { postgres_changes: changes } });
    const isReply = (message: string): boolean => message.startsWith(`${topic} phx_reply `);
    await expect.poll(() => messages.some(isReply)).toBe(true);
    const found = messages.splice(messages.findIndex(isReply), 1)[0]!;
    const { status, response } = JSON.parse(found.slice(found.indexOf('{'))) as {
      readonly status: string;
      readonly response: { readonly reason?: string };
    };
    return response.reason ?? status;
  };

  test('equal ones count once, other callers have their own, and the end of a channel or connection takes them away', async () => {
    const [first, second, other] = [await open('ada'), await open('ada'), await open('bob')];
    await joined(first, 'begin', 'a');
    first.send('begin', 'phx_leave', {});
    const refusal =
      'You watch 2 different combinations of table, filter and columns, which is the maximum; leave a channel, or use fewer filters';
    expect(await reply(first, 'one', 'id=eq.1', 'id=eq.2')).toBe('ok');
    expect(await reply(second, 'two', 'id=eq.1', 'id=eq.2')).toBe('ok');
    expect(await reply(second, 'three', 'id=eq.3')).toBe(refusal);
    expect(await reply(other, 'one', 'id=eq.3', 'id=eq.4')).toBe('ok');
    expect(await reply(other, 'two', 'id=eq.5', 'id=eq.x')).toBe(refusal);
    other.send('one', 'phx_leave', {});
    expect(await reply(other, 'three', 'id=eq.5')).toBe('ok');
    expect(await reply(other, 'four', 'id=eq.x')).toBe('invalid input syntax for type integer: "x"');
    expect(await reply(other, 'five', 'id=eq.6')).toBe('ok');
    first.socket.terminate();
    second.send('two', 'phx_leave', {});
    await expect.poll(() => reply(second, 'six', 'id=eq.7', 'id=eq.8')).toBe('ok');
  });

  test('a channel at the limit continues after its table has another column', async () => {
    const opened = await open('ada');
    const { connection, messages, services } = opened;
    await joined(opened, 'begin', 'a');
    opened.send('begin', 'phx_leave', {});
    expect(await reply(opened, 'one', 'id=eq.1', 'id=eq.2')).toBe('ok');
    await expect.poll(() => messages.at(-1)).toContain('one system {"extension":"postgres_changes","status":"ok"');
    messages.length = 0;
    await gateway.database.query('alter table a add column note text');
    await gateway.gateway.refresh();
    // Tables are known for some seconds.
    services.tables.forget();
    connection.check();
    await expect
      .poll(async () => {
        await gateway.database.query(`delete from a; insert into a values (1, 'ada', 'new')`);
        return messages.join('\n');
      })
      .toContain('"record":{"id":1,"owner":"ada","note":"new"}');
    expect(messages.join('\n')).not.toContain('phx_close');
  });
});
