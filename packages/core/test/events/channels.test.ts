import { type GatewayOptions } from '@pgway/core';
import { startGateway, type TestGateway } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../database/support.ts';
import { people } from './people.ts';
import { openStream } from './support.ts';

const sql = `
  create function orders() returns int language sql as 'select 1';
  comment on function orders is 'HTTP GET
listen orders';
  create function admin_orders() returns int language sql as 'select 1';
  comment on function admin_orders is 'HTTP GET
authorize admin
listen orders
info_path /live';
  create function staff_news() returns int language sql as 'select 1';
  comment on function staff_news is 'HTTP GET
listen = News
info_scope authorize staff';
`;

async function start(options: Partial<GatewayOptions> = {}, more = ''): Promise<TestGateway> {
  const gateway = await startGateway(sql + more, {
    authentication: { schemes: [people().scheme] },
    events: { heartbeat: 3600 },
    ...options,
  });
  onTestFinished(() => gateway.close());
  return gateway;
}

const notify = ({ database }: TestGateway, channel: string, payload: string): Promise<unknown> =>
  database.query('select pg_notify($1, $2)', [channel, payload]);

const listeners = async ({ database }: TestGateway): Promise<readonly number[]> => {
  const rows = await database.query(
    `select pid from pg_stat_activity where query ~ '^(un)?listen ' and datname = current_database()`,
  );
  return rows.map((row) => row['pid'] as number);
};

test('a notification is an event for the callers of its scope', async () => {
  const gateway = await start();
  const open = (path: string, user?: string) =>
    openStream(gateway.url, path, user === undefined ? {} : { 'x-user': user });
  const streams = [
    await open('/api/orders/info'),
    await open('/api/admin-orders/live', 'bob admin'),
    await open('/api/staff-news/info', 'cyd staff'),
  ];
  const refused = [
    await open('/api/admin-orders/live'),
    await open('/api/admin-orders/live', 'cyd staff'),
    await open('/api/staff-news/info'),
  ];
  expect(refused.map(({ status }) => status)).toEqual([401, 403, 401]);
  await notify(gateway, 'orders', 'order 7\ndata: forged');
  await notify(gateway, 'news', 'in lower case');
  await notify(gateway, 'News', 'news');
  expect(await Promise.all(streams.map((stream) => stream.whole(1)))).toEqual([
    ':\nid: <id>\n\nid: <id>\ndata: order 7\ndata: data: forged\n\n',
    ':\nid: <id>\n\nid: <id>\ndata: order 7\ndata: data: forged\n\n',
    ':\nid: <id>\n\nid: <id>\ndata: news\n\n',
  ]);
  expect(await listeners(gateway)).toHaveLength(1);
});

test('a lost connection is a gap in every stream of its channels', async () => {
  const gateway = await start();
  const streams = [
    await openStream(gateway.url, '/api/orders/info'),
    await openStream(gateway.url, '/api/staff-news/info', { 'x-user': 'cyd staff' }),
  ];
  const [pid] = await listeners(gateway);
  await gateway.database.query('select pg_terminate_backend($1)', [pid]);
  for (const stream of streams)
    expect(await stream.whole(1)).toBe(':\nid: <id>\n\nevent: gap\nid: <id>\ndata: connection-lost\n\n');
  await notify(gateway, 'orders', 'after');
  expect(await streams[0]!.messages(2)).toEqual(['gap: connection-lost', 'after']);
});

test('notifications during a disconnect are replayed', async () => {
  const gateway = await start();
  const first = await openStream(gateway.url, '/api/orders/info');
  await notify(gateway, 'orders', 'one');
  await first.messages(1);
  first.close();
  await notify(gateway, 'orders', 'two');
  const again = await openStream(gateway.url, '/api/orders/info', { 'last-event-id': first.events[0]!.id });
  expect(await again.messages(1)).toEqual(['two']);
});

test('a refresh starts and stops listening', async () => {
  const gateway = await start();
  await gateway.database.query(`
    comment on function orders is 'HTTP GET\nlisten other_orders';
    drop function admin_orders; drop function staff_news;`);
  const stream = await openStream(gateway.url, '/api/orders/info');
  await gateway.gateway.refresh();
  await notify(gateway, 'orders', 'old');
  await notify(gateway, 'other_orders', 'new');
  await until('it has arrived', () => stream.events.some(({ data }) => data === 'new'));
  expect(stream.events.filter(({ type }) => type === 'message').map(({ data }) => data)).toEqual(['new']);
  await gateway.database.query('drop function orders');
  await gateway.gateway.refresh();
  await until('there is no listener', async () => (await listeners(gateway)).length === 0);
});

test('operations on one table share a stream, and each notification is one event', async () => {
  const comment = 'HTTP\ninfo_path\nlisten things\ninfo_scope all';
  const { crudSource, functionsSource } = await import('@pgway/core');
  const gateway = await start(
    { routineSources: [functionsSource(), crudSource({})] },
    `create table thing (id int primary key);
     create function told() returns trigger language plpgsql as $$ begin raise info '%', tg_op; return new; end $$;
     create trigger told before insert or delete on thing for each statement execute function told();
     comment on table thing is '${comment}';`,
  );
  const stream = await openStream(gateway.url, '/api/thing/info');
  expect((await gateway.send('PUT /api/thing', { body: { id: 1 } })).status).toBe(204);
  expect((await gateway.send('DELETE /api/thing?id=1')).status).toBe(204);
  await notify(gateway, 'things', 'once');
  await notify(gateway, 'things', 'last');
  expect(await stream.messages(4)).toEqual(['INSERT', 'DELETE', 'once', 'last']);
});

test('behind a transaction pooler, channels need listenConnectionString', async () => {
  await expect(start({ pooler: 'transaction' })).rejects.toThrow('listen behind a pooler needs listenConnectionString');
});

test('a payload selects its receivers with the words of info_scope', async () => {
  const gateway = await start();
  const open = (path: string, user: string) => openStream(gateway.url, path, { 'x-user': user });
  const ada = await open('/api/orders/info', 'ada');
  const bob = await open('/api/orders/info', 'bob admin');
  const cyd = await open('/api/staff-news/info', 'cyd staff');
  const payloads = [
    '{"info_scope": "authorize user:ada", "id": 12345678901234567890.10}',
    '{"id": 2, "info_scope": "authorize id:id-bob, user:nobody"}',
    '{"info_scope": ["authorize", "user:bob admin", "admin"]}',
    '{"info_scope": ["authorize", "user:bob admin"], "id": "of a user whose name has a space"}',
    // No subscriber may receive these.
    '{"info_scope": "everyone", "id": 3}',
    '{"info_scope": 7}',
    '{"info_scope": "self", "id": 4}',
    '{"info_scope": ["authorize", 7], "id": 5}',
    // Not addressed.
    '["info_scope"]',
    '{"info_scope": ',
    '{"note": {"info_scope": "authorize user:ada"}}',
    '{"info_scope": "all", "id": "last"}',
  ];
  for (const payload of payloads) await notify(gateway, 'orders', payload);
  const unaddressed = ['["info_scope"]', '{"info_scope": ', '{"note": {"info_scope": "authorize user:ada"}}'];
  expect(await ada.messages(5)).toEqual(['{"id":12345678901234567890.10}', ...unaddressed, '{"id":"last"}']);
  expect(await bob.messages(6)).toEqual(['{"id":2}', '{}', ...unaddressed, '{"id":"last"}']);
  // The names of the payload are added to those of the endpoint.
  await notify(gateway, 'News', '{"info_scope": "authorize user:dan", "n": 1}');
  expect(await cyd.messages(1)).toEqual(['{"n":1}']);
  const unknown = gateway.observations.flatMap((seen) => (seen.kind === 'unknown-receivers' ? [seen.scope] : []));
  // Two endpoints listen to the channel.
  expect(unknown).toEqual(['everyone', 'everyone', '7', '7', '["authorize", 7]', '["authorize", 7]']);
});
