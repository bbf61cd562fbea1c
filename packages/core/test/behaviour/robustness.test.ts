import { once } from 'node:events';
import { connect } from 'node:net';
import { startGateway, useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';

/** Rules that hold for changed types, faulty hosts and hooks, and clients that stop reading. */

const problemType = (body: string): string => (JSON.parse(body) as { type: string }).type;
const stale = 'urn:pgway:problem:stale-endpoint';

describe('a composite type that is altered while the gateway runs', () => {
  const sql = `
    create table thing (thing_id int, secret_code text);
    create function one() returns table (n int, item thing) language sql stable as $$ select 1, row(7, 's')::thing $$;
    comment on function one is 'HTTP GET';
    create function list() returns table (n int, items thing[]) language sql stable as $$ select 1, array[row(7, 's')::thing, null] $$;
    comment on function list is 'HTTP GET';
    create table doing (n int);
    create function done() returns table (n int, item thing) language sql volatile as $$ select 1, null::thing $$;
    comment on function done is 'HTTP POST';
    create function ok() returns text language sql stable as $$ select 'ok' $$;
    comment on function ok is 'HTTP GET';
  `;

  test.each([
    [
      'a column more',
      'alter table thing add column thing_note text',
      '"thingId":null,"secretCode":null,"thingNote":null',
    ],
    ['a column less', 'alter table thing drop column thing_id', '"secretCode":null'],
    [
      'another order',
      'alter table thing drop column thing_id; alter table thing add column thing_id int',
      '"secretCode":null,"thingId":null',
    ],
    ['another name', 'alter table thing rename column thing_id to other_id', '"otherId":null,"secretCode":null'],
  ])('%s: never a value under a wrong key', async (_, change, item) => {
    const gateway = await startGateway(sql, { poolSize: 1 });
    expect((await gateway.send('GET /api/one')).body).toBe('[{"n":1,"item":{"thingId":7,"secretCode":"s"}}]');
    expect((await gateway.send('GET /api/list')).body).toBe('[{"n":1,"items":[{"thingId":7,"secretCode":"s"},null]}]');
    await gateway.database.query(`
      ${change};
      create or replace function one() returns table (n int, item thing) language sql stable as $$ select 1, t from thing t $$;
      create or replace function list() returns table (n int, items thing[]) language sql stable as $$ select 1, array_agg(t) from thing t $$;
      create or replace function done() returns table (n int, item thing) language sql volatile as $$
        insert into doing values (1); select count(*)::int, (select t from thing t) from doing $$;
      insert into thing default values`);
    // The effect of the volatile function is not repeated.
    const { status, body } = await gateway.send('POST /api/done');
    expect([status, problemType(body)]).toEqual([500, stale]);
    expect((await gateway.send('GET /api/one')).body).toBe(`[{"n":1,"item":{${item}}}]`);
    expect((await gateway.send('GET /api/list')).body).toBe(`[{"n":1,"items":[{${item}}]}]`);
    expect((await gateway.send('POST /api/done')).body).toBe(`[{"n":2,"item":{${item}}}]`);
    expect((await gateway.send('GET /api/ok')).body).toBe('ok');
    await gateway.close();
  });
});

const sql = `
  create function echo(_text text) returns text language sql stable as $$ select _text $$;
  comment on function echo is 'HTTP GET';
  create function big() returns table (a text) language sql stable as $$ select repeat('x', 1000) from generate_series(1, 200000) $$;
  comment on function big is 'HTTP GET';
  create function loud() returns text language plpgsql as $$ begin raise notice 'heard'; return 'said'; end $$;
  comment on function loud is 'HTTP POST';
  create function broken() returns int language sql volatile as $$ select 1 / 0 $$;
  comment on function broken is 'HTTP POST';
`;

describe('what a hook answers', () => {
  test.each([
    ['a header that would split the answer', { status: 200, headers: { 'x-a': 'a\r\nSet-Cookie: b=1' } }],
    ['a header beyond Latin-1', { status: 200, headers: { 'x-a': '€' } }],
    ['a name that is none', { status: 200, headers: { 'x a': 'b' } }],
    ['a status that is none', { status: 0 }],
  ])('%s: 500, and the process lives', async (_, answer) => {
    const gateway = await startGateway(sql, {
      commandCallback: ({ values }) => (values[0] === 'bad' ? answer : undefined),
    });
    const { status, headers } = await gateway.send('GET /api/echo?text=bad');
    expect([status, headers.get('set-cookie')]).toEqual([500, null]);
    expect((await gateway.send('GET /api/echo?text=good')).body).toBe('good');
    await gateway.close();
  });
});

test('an observer that throws changes no answer', async () => {
  const gateway = await startGateway(sql, {
    observer: () => {
      throw new Error('the disk is full');
    },
  });
  expect((await gateway.send('POST /api/loud')).body).toBe('said');
  expect((await gateway.send('POST /api/broken')).status).toBe(400);
  expect((await gateway.send('GET /api/echo?text=x')).body).toBe('x');
  await gateway.close();
});

test('a reader that takes nothing is cut off, and its connection serves others', async () => {
  const gateway = await startGateway(sql, { poolSize: 1, slowClientTimeout: 0.5, acquireTimeout: 10 });
  const { hostname, port } = new URL(gateway.url);
  const lazy = connect(Number(port), hostname);
  lazy.on('error', () => undefined);
  lazy.write('GET /api/big HTTP/1.1\r\nHost: x\r\n\r\n');
  // The answer has begun; of what is never read, no more than one buffer arrives.
  await once(lazy, 'readable');
  expect((await gateway.send('GET /api/echo?text=x')).body).toBe('x');
  lazy.destroy();
  await gateway.close();
});

test('a client that leaves while a hook is waited for runs nothing', async () => {
  let entered = (): void => undefined;
  let leave = (): void => undefined;
  const isIn = new Promise<void>((resolve) => (entered = resolve));
  const mayGo = new Promise<void>((resolve) => (leave = resolve));
  let sawItLeave = (): void => undefined;
  const isSeen = new Promise<void>((resolve) => (sawItLeave = resolve));
  const gateway = await startGateway(
    `create table called (n int); ${sql}
     create function note() returns void language sql as $$ insert into called values (1) $$;
     comment on function note is 'HTTP POST';`,
    {
      // One connection: later calls wait for it.
      poolSize: 1,
      commandCallback: async ({ endpoint, request }) => {
        if (endpoint.name !== 'note') return;
        request.onDisconnect(sawItLeave);
        entered();
        await mayGo;
      },
    },
  );
  const controller = new AbortController();
  const request = fetch(`${gateway.url}/api/note`, { method: 'POST', signal: controller.signal }).catch(() => 'left');
  await isIn;
  controller.abort();
  expect(await request).toBe('left');
  await isSeen;
  leave();
  expect((await gateway.send('GET /api/echo?text=x')).body).toBe('x');
  expect(await gateway.database.query('select * from called')).toEqual([]);
  await gateway.close();
});

describe("a host's guard sees the path as it was sent", () => {
  const gateway = useGateway(sql);

  test.each(['/api/%65cho?text=x', '/%61pi/echo?text=x', '/api%2Fecho?text=x', '/api/ech%6F?text=x'])(
    '%s is another path, not a way round',
    async (path) => {
      expect((await gateway.send(`GET ${path}`)).status).toBe(404);
    },
  );
});
