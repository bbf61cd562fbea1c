import { useGateway } from '@pgway/testing';
import { expect, test } from 'vitest';
import { until } from '../database/support.ts';
import { sendRaw } from '../behaviour/support.ts';

/* Effects of `cached` on responses. A sequence counts the calls. */

const gateway = useGateway(`
  create sequence calls;
  create table book (id int primary key, title text);
  insert into book select n, 'Book ' || n from generate_series(1, 3000) n;

  create function plain() returns int language sql as $$ select nextval('calls')::int $$;
  comment on function plain() is 'HTTP GET';

  create function one(a text default 'none', b text default 'none') returns text language sql as
    $$ select format('%s/%s #%s', coalesce(a, 'NULL'), coalesce(b, 'NULL'), nextval('calls')) $$;
  comment on function one is 'HTTP GET
    cached';

  create function by_a(a text, b text) returns text language sql as $$ select format('%s/%s #%s', a, b, nextval('calls')) $$;
  comment on function by_a is 'HTTP GET
    cached a';

  create function brief() returns text language sql as $$ select '#' || nextval('calls') $$;
  comment on function brief() is 'HTTP GET
    cached
    cache_expires_in 300ms';

  create function minutes() returns text language sql as $$ select '#' || nextval('calls') $$;
  comment on function minutes() is 'HTTP GET
    cached
    cache_expires_in 5 min';

  create function rows(n int, pad int default 0) returns table (id int, call int, filler text) language sql as
    $$ select g, (select nextval('calls')::int), repeat('x', pad) from generate_series(1, n) g $$;
  comment on function rows is 'HTTP GET
    cached';

  create function no_book() returns book language sql as $$ select null::book from nextval('calls') $$;
  comment on function no_book() is 'HTTP GET
    cached';

  create function bytes() returns bytea language sql as $$ select '\\x00ff80' || substr(int8send(nextval('calls')), 8) $$;
  comment on function bytes() is 'HTTP GET
    cached';

  create function fails(a int) returns int language sql as $$ select 1 / a + nextval('calls')::int $$;
  comment on function fails is 'HTTP GET
    cached';

  create function said(a text) returns text language sql as $$ select a || ' #' || nextval('calls') $$;
  comment on function said is 'HTTP GET
    cached
    Cache-Control: public, max-age=9
    X-Said: {a}';

  create function post(a text) returns text language sql as $$ select a || ' #' || nextval('calls') $$;
  comment on function post is 'HTTP POST
    cached';

  create function get_by_body(a text) returns text language sql as $$ select a || ' #' || nextval('calls') $$;
  comment on function get_by_body is 'HTTP GET
    param_type body
    cached
    cache_expires_in 5 min';

  create function get_whole_body(a text) returns text language sql as $$ select a || ' #' || nextval('calls') $$;
  comment on function get_whole_body is 'HTTP GET
    body_parameter_name a
    cached
    cache_expires_in 5 min';

  create function sets_cookie(a text) returns text language sql as $$ select a || ' #' || nextval('calls') $$;
  comment on function sets_cookie is 'HTTP GET
    cached
    Set-Cookie: a={a}';

  create function raw_rows() returns table (a int, b int) language sql as $$ select 1, nextval('calls')::int $$;
  comment on function raw_rows() is 'HTTP GET
    raw
    separator ,
    cached';
`);

const calls = async (): Promise<number> =>
  Number(
    (await gateway.database.query(`select case when is_called then last_value else 0 end as n from calls`))[0]!['n'],
  );

/** Returns how many database calls an action causes. */
async function callsOf(act: () => Promise<unknown>): Promise<number> {
  const before = await calls();
  await act();
  return (await calls()) - before;
}

const bodyOf = async (path: string): Promise<string> => (await gateway.send(`GET ${path}`)).body;

/** An `Age` of some seconds: a busy machine may need more than one between two requests. */
const seconds = /^\d$/;

test('a cached response is complete and has Age and ETag', async () => {
  const first = await gateway.send('GET /api/one?a=x');
  const again = await gateway.send('GET /api/one?a=x');
  expect([again.status, again.type, again.body]).toEqual([200, 'text/plain; charset=utf-8', first.body]);
  expect(first.headers.get('age')).toBe(null);
  expect(again.headers.get('age')).toMatch(seconds);
  expect(first.headers.get('etag')).toMatch(/^"[\w-]{22}"$/);
  expect(again.headers.get('etag')).toBe(first.headers.get('etag'));
  expect(again.headers.get('cache-control')).toBe('public, no-cache');
});

test('an endpoint without cache calls the database each time and sends no cache headers', async () => {
  expect(await callsOf(async () => [await bodyOf('/api/plain'), await bodyOf('/api/plain')])).toBe(2);
  const { headers } = await gateway.send('GET /api/plain');
  expect(['etag', 'age', 'cache-control'].filter((name) => headers.has(name))).toEqual([]);
});

test('NULL, an empty text and an absent parameter have three cache entries', async () => {
  const texts = [await bodyOf('/api/one?b=1'), await bodyOf('/api/one?a=&b=1'), await bodyOf('/api/one?a=null&b=1')];
  expect(texts.map((text) => text.split('#')[0])).toEqual(['none/1 ', '/1 ', 'null/1 ']);
  expect(new Set(texts).size).toBe(3);
});

test('parameters that cached does not name do not vary the key', async () => {
  const first = await bodyOf('/api/by-a?a=1&b=1');
  expect(await bodyOf('/api/by-a?a=1&b=2')).toBe(first);
  expect(await bodyOf('/api/by-a?a=2&b=1')).toMatch(/^2\/1/);
});

test('an expired response is computed again', async () => {
  const first = await bodyOf('/api/brief');
  await until('it has expired', async () => (await bodyOf('/api/brief')) !== first);
  expect(await bodyOf('/api/brief')).not.toBe(first);
});

test('max-age is the remaining time', async () => {
  // The clock may reach the next second between call and response.
  const left = async (): Promise<number> => {
    const { headers } = await gateway.send('GET /api/minutes');
    return Number(/^public, max-age=(\d+)$/.exec(headers.get('cache-control')!)![1]);
  };
  const first = await left();
  expect([first > 290, first <= 300, (await left()) <= first]).toEqual([true, true, true]);
});

test('a conditional request gets 304 without body and content type', async () => {
  const { headers } = await gateway.send('GET /api/one?a=tag');
  const tag = headers.get('etag')!;
  for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
    const answer = await gateway.send('GET /api/one?a=tag', { headers: { 'if-none-match': known } });
    expect([answer.status, answer.type, answer.body, answer.headers.get('etag')]).toEqual([304, null, '', tag]);
  }
  const other = await gateway.send('GET /api/one?a=tag', { headers: { 'if-none-match': '"other"' } });
  expect(other.status).toBe(200);
});

test('HEAD returns the headers of the cached response, and fills the cache', async () => {
  const head = await gateway.send('HEAD /api/one?a=head');
  const got = await gateway.send('GET /api/one?a=head');
  expect(head.headers.get('etag')).toBe(got.headers.get('etag'));
  expect([head.status, head.body, head.headers.get('content-length')]).toEqual([200, '', String(got.body.length)]);
  const again = await gateway.send('HEAD /api/one?a=head', { headers: { 'if-none-match': got.headers.get('etag')! } });
  expect(again.status).toBe(304);
});

test('NULL in a row, and binary data, are cached unchanged', async () => {
  const nulls = await callsOf(async () => {
    expect((await gateway.send('GET /api/no-book')).status).toBe(204);
    const again = await gateway.send('GET /api/no-book');
    expect([again.status, again.body, again.headers.get('age')]).toEqual([204, '', expect.stringMatching(seconds)]);
  });
  expect(nulls).toBe(1);
  const [one, other] = [
    await sendRaw(gateway.url, { path: '/api/bytes' }),
    await sendRaw(gateway.url, { path: '/api/bytes' }),
  ];
  expect(other.body).toEqual(one.body);
  expect(one.body.subarray(0, 3)).toEqual(Buffer.from([0x00, 0xff, 0x80]));
});

test('each content type has its own entry', async () => {
  const forms = ['application/json', 'application/x-ndjson', 'text/csv'];
  const get = async (accept: string): Promise<string> =>
    (await gateway.send('GET /api/rows?n=2', { headers: { accept } })).body;
  const first = await Promise.all(forms.map(get));
  expect(new Set(first).size).toBe(3);
  expect(await Promise.all(forms.map(get))).toEqual(first);
  expect(await bodyOf('/api/raw-rows')).toBe(await bodyOf('/api/raw-rows'));
});

test('results up to the limit are cached, larger ones are not, streamed or whole', async () => {
  expect(
    await callsOf(async () => expect(await bodyOf('/api/rows?n=1000')).toBe(await bodyOf('/api/rows?n=1000'))),
  ).toBe(1);
  for (const n of [1001, 3000]) {
    const [first, again] = [JSON.parse(await bodyOf(`/api/rows?n=${n}`)), JSON.parse(await bodyOf(`/api/rows?n=${n}`))];
    expect([first.length, again.length]).toEqual([n, n]);
    expect(first[0].call).not.toBe(again[0].call);
  }
  // 900 rows of 1 kB are streamed if the response is not cached.
  expect(await bodyOf('/api/rows?n=900&pad=1000')).toBe(await bodyOf('/api/rows?n=900&pad=1000'));
  const large = '/api/rows?n=900&pad=2000';
  const [first, again] = [JSON.parse(await bodyOf(large)), JSON.parse(await bodyOf(large))];
  expect([first.length, again.length]).toEqual([900, 900]);
  expect(first[0].call).not.toBe(again[0].call);
});

test('errors are not cached', async () => {
  const status = async (): Promise<number> => (await gateway.send('GET /api/fails?a=0')).status;
  expect([await status(), await status()]).toEqual([400, 400]);
  expect((await gateway.send('GET /api/fails?a=0')).headers.get('etag')).toBe(null);
});

test('headers of the comment are evaluated per request, and its Cache-Control replaces the built-in one', async () => {
  await gateway.send('GET /api/said?a=1');
  const { headers } = await gateway.send('GET /api/said?a=1');
  expect([headers.get('cache-control'), headers.get('x-said'), headers.get('age')]).toEqual([
    'public, max-age=9',
    '1',
    expect.stringMatching(seconds),
  ]);
});

test('a POST is cached too, without validators', async () => {
  const send = () => gateway.send('POST /api/post', { body: { a: 'x' }, headers: { 'if-none-match': '*' } });
  const [first, again] = [await send(), await send()];
  expect([again.status, again.body]).toEqual([200, first.body]);
  expect([again.headers.get('age'), again.headers.get('etag'), again.headers.get('cache-control')]).toEqual([
    expect.stringMatching(seconds),
    null,
    null,
  ]);
});

test.each(['/api/get-by-body', '/api/get-whole-body'])(
  'a GET that reads its body is cached here only: clients and shared caches would mix the bodies: %s',
  async (path) => {
    const headers = { 'content-type': 'application/json', 'if-none-match': '*' };
    const send = (a: string) => sendRaw(gateway.url, { path, headers, body: JSON.stringify({ a }) });
    const [first, again, other] = [await send('x'), await send('x'), await send('y')];
    expect([again.status, again.body.toString()]).toEqual([200, first.body.toString()]);
    expect(other.body.toString()).not.toBe(first.body.toString());
    for (const { headers: own } of [first, again]) {
      expect([own['cache-control'], own.etag]).toEqual(['no-store', undefined]);
    }
  },
);

test('a response with Set-Cookie is never cached', async () => {
  const get = () => gateway.send('GET /api/sets-cookie?a=1');
  const [first, again] = [await get(), await get()];
  expect(again.body).not.toBe(first.body);
  expect(again.headers.get('set-cookie')).toBe('a=1');
  expect(again.headers.get('etag')).toBe(null);
});
