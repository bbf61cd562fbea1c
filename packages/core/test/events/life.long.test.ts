import { setTimeout as sleep } from 'node:timers/promises';
import { type GatewayOptions } from '@pgway/core';
import { holdLock, startGateway, type TestGateway } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { until } from '../database/support.ts';
import { people } from './people.ts';
import { openStream, parseEvents } from './support.ts';

const sql = `
  create function say(_text text default 'hello', _hint text default null) returns void language plpgsql as $$
  begin
    if _hint is null then raise info '%', _text; else raise info '%', _text using hint = _hint; end if;
  end $$;
  comment on function say is 'HTTP POST
info_path
info_scope all';
  create function secret(_text text default 'secret') returns void language plpgsql as $$
  begin raise info '%', _text; end $$;
  comment on function secret is 'HTTP POST
authorize
info_path
info_scope matching';
  create function large(_bytes int) returns void language plpgsql as $$
  begin raise info '%', repeat('x', _bytes); end $$;
  comment on function large is 'HTTP POST
info_path
info_scope all';
  create function slowly() returns setof int language plpgsql as $$
  begin
    for i in 1..3 loop
      raise info 'before %', i;
      perform pg_advisory_xact_lock(i);
      return next i;
    end loop;
  end $$;
  comment on function slowly is 'HTTP POST
info_path
info_scope all';
`;

async function start(
  events: GatewayOptions['events'] = {},
  options: Partial<GatewayOptions> = {},
): Promise<TestGateway> {
  const gateway = await startGateway(sql, { events, ...options });
  onTestFinished(() => gateway.close());
  return gateway;
}

const say = (gateway: TestGateway, ...texts: readonly string[]): Promise<unknown> =>
  texts.reduce<Promise<unknown>>(async (before, text) => {
    await before;
    expect((await gateway.send('POST /api/say', { body: { text } })).status).toBe(204);
  }, Promise.resolve());

const refusal = (text: string): unknown => (JSON.parse(text) as { type: string }).type.split(':').at(-1);

test('each message arrives while its routine still runs', async () => {
  const gateway = await start();
  const stream = await openStream(gateway.url, '/api/slowly/info');
  const locks = [1, 2, 3].map((key) => holdLock(gateway.database.connectionString, key));
  await Promise.all(locks);
  const answer = gateway.send('POST /api/slowly');
  for (const [index, lock] of locks.entries()) {
    // The routine waits for a lock until the test has received its first message.
    expect((await stream.messages(index + 1)).at(-1)).toBe(`before ${index + 1}`);
    await (await lock).release();
  }
  expect((await answer).body).toBe('[1,2,3]');
});

test('an idle stream gets a comment at every heartbeat', async () => {
  const gateway = await start({ heartbeat: 0.1 });
  const stream = await openStream(gateway.url, '/api/say/info');
  await until('there are some', () => stream.text.split('\n\n').length > 4);
  expect(stream.text).toMatch(/^:\nid: \d+\n\n(:\n\n)+$/);
  expect(stream.events).toEqual([]);
});

describe('a subscriber that reconnects', () => {
  const back = async (gateway: TestGateway, id: string, path = '/api/say/info') =>
    openStream(gateway.url, path, { 'last-event-id': id });

  test('gets the missed events, then new ones', async () => {
    const gateway = await start();
    const first = await openStream(gateway.url, '/api/say/info');
    await say(gateway, 'one', 'two');
    await first.messages(2);
    first.close();
    await say(gateway, 'three', 'four');
    const again = await back(gateway, first.events[0]!.id);
    await say(gateway, 'five');
    expect(await again.messages(4)).toEqual(['two', 'three', 'four', 'five']);
    expect(again.text).toMatch(/^:\n\n(id: \d+\ndata: \w+\n\n){4}$/);
  });

  test('resumes without an earlier event, or after events of other subscribers', async () => {
    const gateway = await start({ heartbeat: 0.1 }, { authentication: { schemes: [people().scheme] } });
    const first = await openStream(gateway.url, '/api/say/info');
    const { lastId } = parseEvents(first.text);
    await say(gateway, 'one');
    await gateway.send('POST /api/say', { body: { text: 'two', hint: 'authorize' } });
    await until('it has the last event id', () => parseEvents(first.text).lastId > first.events[0]!.id);
    expect(await (await back(gateway, lastId)).messages(1)).toEqual(['one']);
    const later = await back(gateway, parseEvents(first.text).lastId);
    await say(gateway, 'three');
    expect(await later.messages(1)).toEqual(['three']);
  });

  test('gets replayed events by its current authorization', async () => {
    const { scheme } = people();
    const gateway = await start({}, { authentication: { schemes: [scheme] } });
    const first = await openStream(gateway.url, '/api/say/info', { 'x-user': 'ada admin' });
    const send = (text: string, hint: string): Promise<unknown> =>
      gateway.send('POST /api/say', { body: { text, hint } });
    await send('one', 'all');
    await send('two', 'authorize admin');
    await send('three', 'all');
    expect(await first.messages(3)).toEqual(['one', 'two', 'three']);
    const headers = { 'last-event-id': parseEvents(first.text).events[0]!.id };
    const again = await openStream(gateway.url, '/api/say/info', { ...headers, 'x-user': 'ada' });
    const before = await openStream(gateway.url, '/api/say/info', { ...headers, 'x-user': 'ada admin' });
    expect([await again.messages(1), await before.messages(2)]).toEqual([['three'], ['two', 'three']]);
  });

  test.each([
    ['by count', { replayEvents: 2 }],
    ['by bytes', { replayBytes: 80 }],
  ])('gets a gap after more events than the replay buffer holds: %s', async (_, bound) => {
    const gateway = await start(bound);
    const first = await openStream(gateway.url, '/api/say/info');
    await say(gateway, 'one', 'two', 'three', 'four');
    await first.messages(4);
    const ids = first.events.map(({ id }) => id);
    expect(await (await back(gateway, ids[0]!)).messages(3)).toEqual(['gap: too-long-away', 'three', 'four']);
    expect(await (await back(gateway, ids[1]!)).messages(2)).toEqual(['three', 'four']);
  });

  test('gets a gap after longer than the replay buffer holds events', async () => {
    const gateway = await start({ replaySeconds: 0.05 });
    const first = await openStream(gateway.url, '/api/say/info');
    await say(gateway, 'one', 'two');
    await first.messages(2);
    await sleep(100);
    const [one, two] = first.events.map(({ id }) => id);
    expect(await (await back(gateway, one!)).messages(1)).toEqual(['gap: too-long-away']);
    const none = await back(gateway, two!);
    await say(gateway, 'three');
    expect(await none.messages(1)).toEqual(['three']);
  });

  test.each(['1', 'x', '9999999999999999', '-1', '1e3', '99999999999999999999'])(
    'from a place that is none of this instance is told of a gap: %s',
    async (id) => {
      const gateway = await start();
      await say(gateway, 'before');
      const stream = await back(gateway, id);
      await say(gateway, 'after');
      expect(await stream.messages(2)).toEqual(['gap: too-long-away', 'after']);
    },
  );
});

describe('limits', () => {
  test('replayed events may exceed the queue of a subscriber', async () => {
    const gateway = await start({ maxQueuedBytes: 20_000, replayBytes: 200_000 });
    const first = await openStream(gateway.url, '/api/large/info');
    const send = () => gateway.send('POST /api/large', { body: { bytes: 15_000 } });
    await send();
    await first.messages(1);
    for (let n = 0; n < 10; n++) await send();
    const again = await openStream(gateway.url, '/api/large/info', { 'last-event-id': first.events[0]!.id });
    expect((await again.messages(10)).map(({ length }) => length)).toEqual(Array.from({ length: 10 }, () => 15_000));
  });

  test.each([{ heartbeat: 0 }, { maxStreams: -1 }, { maxQueuedBytes: Number.NaN }])('%j is refused', async (events) => {
    await expect(start(events)).rejects.toThrow(/^events\.\w+: must be a (whole )?number (from 1 to|above 0)/);
  });

  test('of streams per address, per user, and of all', async () => {
    const gateway = await start(
      { maxStreams: 4, maxStreamsPerUser: 2, maxStreamsPerAddress: 1 },
      { authentication: { schemes: [people().scheme] } },
    );
    const open = (user?: string) =>
      openStream(gateway.url, '/api/say/info', user === undefined ? {} : { 'x-user': user });
    const anonymous = await open();
    const refused = [await open(), await open('ada'), await open('ada'), await open('ada')];
    expect(refused.map(({ status }) => status)).toEqual([429, 200, 200, 429]);
    expect([refusal(refused[0]!.text), refused[0]!.headers['retry-after']]).toEqual(['too-many-streams', '5']);
    expect((await open('bob')).status).toBe(200);
    const full = await open('cyd');
    expect([full.status, refusal(full.text), full.headers['retry-after']]).toEqual([503, 'no-free-stream', '5']);
    anonymous.close();
    await until('a stream can be opened again', async () => (await open()).status === 200);
  });

  test('HEAD does not count as a subscriber', async () => {
    const gateway = await start({ maxStreams: 1 });
    for (let n = 0; n < 3; n++) expect((await gateway.send('HEAD /api/say/info')).status).toBe(200);
    expect((await openStream(gateway.url, '/api/say/info')).status).toBe(200);
  });

  test('a client that reads nothing is disconnected, others are not', async () => {
    const gateway = await start({ maxQueuedBytes: 256 * 1024, heartbeat: 60 });
    const slow = await openStream(gateway.url, '/api/large/info');
    const quick = await openStream(gateway.url, '/api/large/info');
    slow.response.pause();
    let sent = 0;
    const dropped = (): boolean => gateway.observations.some(({ kind }) => kind === 'stream-dropped');
    // The kernel buffers an unknown number of bytes.
    while (!dropped() && sent < 400) {
      await gateway.send('POST /api/large', { body: { bytes: 100_000 } });
      sent++;
    }
    expect(dropped()).toBe(true);
    expect((await quick.messages(sent)).length).toBe(sent);
    slow.response.resume();
    await slow.over();
    expect([slow.ended, quick.closed]).toEqual([false, false]);
    expect(gateway.observations.filter(({ kind }) => kind === 'stream-dropped')).toEqual([
      { kind: 'stream-dropped', path: '/api/large/info' },
    ]);
  });

  test('a blocked connection is dropped within two heartbeats', async () => {
    const gateway = await start({ heartbeat: 0.5, maxQueuedBytes: 100_000_000 });
    const stalled = await openStream(gateway.url, '/api/large/info');
    stalled.response.pause();
    const quick = await openStream(gateway.url, '/api/large/info');
    for (let n = 0; n < 60; n++) await gateway.send('POST /api/large', { body: { bytes: 200_000 } });
    // TCP would notice after minutes.
    await until('it is dropped', () => gateway.observations.some(({ kind }) => kind === 'stream-dropped'));
    expect(quick.closed).toBe(false);
  });

  test('a client that disconnects is removed at once', async () => {
    const gateway = await start({ maxStreams: 1, heartbeat: 60 });
    for (let n = 0; n < 5; n++) {
      const stream = await openStream(gateway.url, '/api/say/info');
      expect(stream.status).toBe(200);
      stream.close();
      await until('a stream can be opened', async () => {
        const next = await openStream(gateway.url, '/api/say/info');
        next.close();
        return next.status === 200;
      });
      await sleep(20);
    }
  });

  test('a message that is too large becomes a gap', async () => {
    const gateway = await start({ replayBytes: 10_000 });
    const stream = await openStream(gateway.url, '/api/large/info');
    await gateway.send('POST /api/large', { body: { bytes: 20_000 } });
    expect(await stream.messages(1)).toEqual(['gap: too-large']);
  });
});

describe('a subscriber whose session ends', () => {
  test('is disconnected at the next heartbeat', async () => {
    const who = people();
    const gateway = await start({ heartbeat: 0.1 }, { authentication: { schemes: [who.scheme] } });
    const ada = await openStream(gateway.url, '/api/secret/info', { 'x-user': 'ada' });
    const bob = await openStream(gateway.url, '/api/secret/info', { 'x-user': 'bob' });
    const open = await openStream(gateway.url, '/api/say/info', { 'x-user': 'ada' });
    await sleep(250);
    expect([ada.closed, bob.closed, open.closed]).toEqual([false, false, false]);
    who.gone.add('ada');
    await ada.over();
    await open.over();
    expect([ada.ended, bob.closed]).toEqual([true, false]);
  });

  test('is disconnected when authentication keeps failing', async () => {
    const who = people();
    const gateway = await start({ heartbeat: 0.1 }, { authentication: { schemes: [who.scheme] } });
    const ada = await openStream(gateway.url, '/api/secret/info', { 'x-user': 'ada' });
    who.broken = true;
    await ada.over();
    expect(ada.ended).toBe(true);
  });

  test('is disconnected at once by a logout', async () => {
    const gateway = await startGateway(
      `${sql}
      create function login() returns table (id int) language sql as 'select 7';
      comment on function login is 'HTTP\nlogin';
      create function logout() returns void language sql as '';
      comment on function logout is 'HTTP\nlogout';`,
      { events: { heartbeat: 60 }, authentication: { cookie: true } },
    );
    onTestFinished(() => gateway.close());
    const signIn = async (): Promise<string> =>
      (await gateway.send('POST /api/login')).headers.get('set-cookie')!.split(';')[0]!;
    const [cookie, other] = [await signIn(), await signIn()];
    const stream = await openStream(gateway.url, '/api/secret/info', { cookie });
    const another = await openStream(gateway.url, '/api/secret/info', { cookie: other });
    const headers = { cookie, 'sec-fetch-site': 'same-origin' };
    expect((await gateway.send('POST /api/logout', { headers })).status).toBe(200);
    await stream.over();
    expect([stream.ended, another.closed]).toEqual([true, false]);
    expect((await openStream(gateway.url, '/api/secret/info', { cookie })).status).toBe(401);
  });
});

describe('shutdown and refresh', () => {
  test('close completes all streams', async () => {
    const gateway = await start();
    const streams = [await openStream(gateway.url, '/api/say/info'), await openStream(gateway.url, '/api/large/info')];
    await gateway.gateway.close();
    await Promise.all(streams.map((stream) => stream.over()));
    expect(streams.map(({ ended }) => ended)).toEqual([true, true]);
  });

  test('a server can end streams before it waits for running requests', async () => {
    const gateway = await start();
    const stream = await openStream(gateway.url, '/api/say/info');
    gateway.gateway.endStreams();
    await stream.over();
    const late = await openStream(gateway.url, '/api/say/info');
    expect([stream.ended, late.status, refusal(late.text)]).toEqual([true, 503, 'no-free-stream']);
    expect((await gateway.send('POST /api/say')).status).toBe(204);
  });

  test('a refresh ends the streams of dropped endpoints only', async () => {
    const gateway = await start();
    const gone = await openStream(gateway.url, '/api/large/info');
    const stays = await openStream(gateway.url, '/api/say/info');
    await gateway.database.query('drop function large(int)');
    await gateway.gateway.refresh();
    await gone.over();
    await say(gateway, 'after');
    expect([gone.ended, await stays.messages(1), (await gateway.send('GET /api/large/info')).status]).toEqual([
      true,
      ['after'],
      404,
    ]);
  });

  test('a refresh that adds authorization ends the streams of callers without it', async () => {
    const gateway = await start({ heartbeat: 0.1 }, { authentication: { schemes: [people().scheme] } });
    const [anonymous, ada] = [
      await openStream(gateway.url, '/api/say/info'),
      await openStream(gateway.url, '/api/say/info', { 'x-user': 'ada' }),
    ];
    await gateway.database.query(`comment on function say is 'HTTP POST\nauthorize\ninfo_path\ninfo_scope matching'`);
    await gateway.gateway.refresh();
    await gateway.send('POST /api/say', { body: { text: 'for ada' }, headers: { 'x-user': 'ada' } });
    expect(await ada.messages(1)).toEqual(['for ada']);
    await anonymous.over();
    expect([anonymous.events, ada.closed]).toEqual([[], false]);
  });
});

test('configured headers are added, or replace the defaults', async () => {
  const gateway = await start({
    customServerSentEventsResponseHeaders: {
      'X-Custom': 'a',
      'Cache-Control': 'no-cache',
      'Content-Type': 'text/html',
    },
  });
  const { headers } = await openStream(gateway.url, '/api/say/info');
  expect([
    headers['x-custom'],
    headers['cache-control'],
    headers['content-type'],
    headers['x-accel-buffering'],
  ]).toEqual(['a', 'no-cache', 'text/event-stream', 'no']);
  await expect(start({ customServerSentEventsResponseHeaders: { 'x-a': 'a\r\nb' } })).rejects.toThrow(
    'events.customServerSentEventsResponseHeaders: "x-a" is not a valid header; use a token as its name and printable characters in its value',
  );
});

test('the fetch adapter streams, and its client may disconnect', async () => {
  const gateway = await start({ maxStreams: 1 });
  const open = () => gateway.gateway.fetch(new Request('http://gateway/api/say/info'));
  const response = (await open())!;
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  const reader = response.body!.getReader();
  let text = '';
  const more = async (): Promise<void> => {
    text += new TextDecoder().decode((await reader.read()).value);
  };
  await more();
  await say(gateway, 'one', 'two');
  while (parseEvents(text).events.length < 2) await more();
  expect(text.replaceAll(/\d{16}/g, '<id>')).toBe(':\nid: <id>\n\nid: <id>\ndata: one\n\nid: <id>\ndata: two\n\n');
  expect((await open())!.status).toBe(503);
  await reader.cancel();
  const again = (await open())!;
  expect(again.status).toBe(200);
  await gateway.gateway.close();
  const rest = await again.text();
  expect(parseEvents(rest).events).toEqual([]);
});
