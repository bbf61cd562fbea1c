import { request } from 'node:http';
import { connect } from 'node:net';
import { type GatewayOptions, Problem } from '@pgway/core';
import { startGateway, type TestGateway, useGateway } from '@pgway/testing';
import fc from 'fast-check';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { openStream } from '../events/support.ts';
import { form } from '../uploads/forms.ts';
import { RecordingStore, userByHeader } from './support.ts';

/** A concurrent request counts until its response has ended, whatever its end is. */

const parallel = 'rate_limit parallel';
const sql = `
  create function quick(_text text default 'hello') returns text language sql stable as $$ select _text $$;
  comment on function quick is 'HTTP GET
${parallel}';
  create function cached(_text text) returns text language sql stable as $$ select _text $$;
  comment on function cached is 'HTTP GET
cached
${parallel}';
  create function waits() returns text language sql volatile as $$ select pg_sleep(600)::text $$;
  comment on function waits is 'HTTP GET
${parallel}';
  create function times_out() returns text language sql volatile as $$ select pg_sleep(60)::text $$;
  comment on function times_out is 'HTTP GET
command_timeout 10 ms
${parallel}';
  create function breaks(_good int) returns setof int language sql stable
    as $$ select 1 / (_good + 1 - i) from generate_series(1, _good + 1) i $$;
  comment on function breaks is 'HTTP GET
${parallel}';
  create function numbers(_count int) returns setof text language sql stable
    as $$ select repeat('x', 1000) from (select generate_series(1, _count)) as i $$;
  comment on function numbers is 'HTTP GET
${parallel}';
  create function secret() returns text language sql stable as $$ select 'secret' $$;
  comment on function secret is 'HTTP GET
authorize admin
${parallel}';
  create function personal() returns text language sql stable as $$ select 'hello' $$;
  comment on function personal is 'HTTP GET
authorize
rate_limit personal';
  create function body(_text text) returns text language sql as $$ select _text $$;
  comment on function body is 'HTTP POST
${parallel}';
  create function upload(_meta json default null) returns json language sql as $$ select _meta $$;
  comment on function upload is 'HTTP
upload _meta as metadata
${parallel}';
  create function told() returns void language plpgsql as $$ begin raise info 'hello'; end $$;
  comment on function told is 'HTTP POST
info_path
info_scope all
${parallel}';
  create function changing() returns text language sql stable as $$ select 'before' $$;
  comment on function changing is 'HTTP GET
${parallel}';
`;

const store = new RecordingStore();
beforeEach(() => store.reset());

const options: Partial<GatewayOptions> = {
  rateLimits: {
    store,
    policies: {
      parallel: { type: 'concurrency', limit: 3 },
      personal: { type: 'concurrency', limit: 3, partitionBy: 'user' },
    },
  },
  authentication: { schemes: [userByHeader] },
  poolSize: 5,
  commandTimeout: 600,
  maxBodySize: 100,
  uploadOptions: { maxFileSize: 1_000 },
  validateParameters: ({ value }) => {
    if (value === 'refused') throw new Problem('sold-out', { status: 409, title: 'Sold out' });
    if (value === 'failed') throw new Error('the hook has failed');
    return value === 'answered' ? { status: 202, body: 'later' } : undefined;
  },
};

describe('the permit of a request', () => {
  const gateway = useGateway(sql, options);

  async function released(): Promise<void> {
    await expect.poll(() => store.permits).toBe(0);
  }

  test.each<readonly [string, Parameters<TestGateway['send']>, number]>([
    ['a response', ['GET /api/quick'], 200],
    ['a response to HEAD', ['HEAD /api/quick'], 200],
    ['a streamed response', ['GET /api/numbers?count=3000'], 200],
    ['a streamed response to HEAD', ['HEAD /api/numbers?count=3000'], 200],
    ['an error of the database', ['GET /api/breaks?good=0'], 400],
    ['a timeout', ['GET /api/times-out'], 504],
    ['an unknown parameter', ['GET /api/quick?unknown=1'], 400],
    ['a problem of a hook', ['GET /api/quick?text=refused'], 409],
    ['an error of a hook', ['GET /api/quick?text=failed'], 500],
    ['a response of a hook', ['GET /api/quick?text=answered'], 202],
    ['a missing role', ['GET /api/secret', { headers: { 'x-user': 'ada' } }], 403],
    ['a missing user', ['GET /api/secret'], 401],
    ['a response to a user', ['GET /api/personal', { headers: { 'x-user': 'ada' } }], 200],
    ['a missing user, counted by user', ['GET /api/personal'], 401],
    ['a malformed body', ['POST /api/body', { body: '{', headers: { 'content-type': 'application/json' } }], 400],
    ['a large body', ['POST /api/body', { body: { text: 'x'.repeat(200) } }], 413],
    ['an upload', ['POST /api/upload', { body: form(['a.txt', 'hello']) }], 200],
    ['a refused upload', ['POST /api/upload', { body: form(['a.txt', 'x'.repeat(2_000)]) }], 413],
    ['a stream for HEAD', ['HEAD /api/told/info'], 200],
    ['a stream with an invalid id', ['GET /api/told/info?1'], 400],
  ])('is released after %s', async (_, line, status) => {
    expect((await gateway.send(...line)).status).toBe(status);
    await released();
    // Each request has had one permit, and none is left.
    const { headers } = await gateway.send('GET /api/quick');
    expect(headers.get('ratelimit')).toBe('"parallel";r=2');
  });

  test('is released after cached responses and 304', async () => {
    const { headers } = await gateway.send('GET /api/cached?text=x');
    await gateway.send('GET /api/cached?text=x');
    await gateway.send('GET /api/cached?text=x', { headers: { 'if-none-match': headers.get('etag')! } });
    await released();
    expect(store.keys).toHaveLength(3);
  });

  test('is held while the call runs, and released when the client disconnects', async () => {
    const leaving = new AbortController();
    const calls = [1, 2, 3].map(() =>
      fetch(`${gateway.url}/api/waits`, { signal: leaving.signal }).catch((error: Error) => error.name),
    );
    await expect.poll(() => store.permits).toBe(3);
    const refused = await gateway.send('GET /api/quick');
    expect([
      refused.status,
      refused.headers.get('retry-after'),
      refused.headers.get('ratelimit'),
      JSON.parse(refused.body),
    ]).toEqual([
      429,
      '1',
      '"parallel";r=0',
      {
        type: 'urn:pgway:problem:quota-exceeded',
        title: 'Too many requests',
        status: 429,
        detail: 'The rate limit "parallel" allows 3 concurrent requests; try again when one has ended.',
        'violated-policies': ['parallel'],
      },
    ]);
    leaving.abort();
    expect(await Promise.all(calls)).toEqual(['AbortError', 'AbortError', 'AbortError']);
    await released();
  });

  test('is released when the client disconnects while it reads', async () => {
    const outgoing = request(`${gateway.url}/api/numbers?count=100000000`);
    outgoing.on('error', () => undefined).end();
    await new Promise<void>((resolve) => {
      outgoing.on('response', (incoming) => incoming.on('error', () => undefined).once('data', () => resolve()));
    });
    expect(store.permits).toBe(1);
    outgoing.destroy();
    await released();
  });

  test('is released when the client reads nothing', async () => {
    // A client on a busy machine, as in the other tests, reads nothing for a moment.
    const impatient = await startGateway(sql, { ...options, slowClientTimeout: 0.2 });
    onTestFinished(() => impatient.close());
    const socket = connect(Number(new URL(impatient.url).port), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => undefined).pause();
    socket.write('GET /api/numbers?count=1000000 HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await expect.poll(() => store.keys).toHaveLength(1);
    await released();
  });

  test('is released when a stream breaks in the middle', async () => {
    const response = await fetch(`${gateway.url}/api/breaks?good=500000`);
    await expect(response.text()).rejects.toThrow('terminated');
    await released();
  });

  test('is released when the client disconnects during its upload', async () => {
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(
      'POST /api/upload HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 900\r\n\r\n' +
        '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhello',
    );
    await expect.poll(() => store.permits).toBe(1);
    socket.destroy();
    await released();
  });

  test('is released when the client disconnects during its body', async () => {
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(
      'POST /api/body HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{',
    );
    await expect.poll(() => store.permits).toBe(1);
    socket.destroy();
    await released();
  });

  test('of an event stream is held until the stream ends', async () => {
    const streams = await Promise.all([1, 2, 3].map(() => openStream(gateway.url, '/api/told/info')));
    expect(streams.map(({ headers }) => headers['ratelimit-policy'])).toEqual(
      [1, 2, 3].map(() => '"parallel";q=3;qu="concurrent-requests"'),
    );
    expect((await gateway.send('GET /api/quick')).status).toBe(429);
    const refused = await openStream(gateway.url, '/api/told/info');
    expect(refused.status).toBe(429);
    streams[0]!.close();
    await expect.poll(() => store.permits).toBe(2);
    expect((await gateway.send('GET /api/quick')).status).toBe(200);
    for (const stream of streams) stream.close();
    await released();
  });

  test('of a WHATWG response is held until its body has been read or cancelled', async () => {
    const { fetch: handle } = gateway.gateway;
    const [read, cancelled] = [
      await handle(new Request('http://localhost/api/numbers?count=3000')),
      await handle(new Request('http://localhost/api/numbers?count=3000')),
    ];
    expect(store.permits).toBe(2);
    await read!.text();
    await cancelled!.body!.cancel();
    await released();
  });

  test('is one when a stale endpoint is called a second time', async () => {
    await gateway.send('GET /api/changing');
    await gateway.database.query('drop function changing');
    store.reset();
    expect((await gateway.send('GET /api/changing')).status).toBe(404);
    await released();
    expect(store.keys).toHaveLength(1);
  });

  test('no mixture of requests and disconnects leaves permits, or has more than the limit', async () => {
    const kinds = ['quick', 'numbers?count=3000', 'breaks?good=0', 'waits', 'secret', 'quick?text=failed'];
    const requests = fc.array(fc.tuple(fc.constantFrom(...kinds), fc.nat({ max: 20 })), {
      minLength: 5,
      maxLength: 25,
    });
    await fc.assert(
      fc.asyncProperty(requests, async (all) => {
        const sent = all.map(async ([path, delay]) => {
          const signal = AbortSignal.timeout(path === 'waits' ? 10 + delay : delay);
          await fetch(`${gateway.url}/api/${path}`, { signal }).then(
            (response) => response.text(),
            () => undefined,
          );
        });
        await Promise.allSettled(sent);
        expect(store.mostPermits).toBeLessThanOrEqual(3);
        await released();
      }),
      { numRuns: 8 },
    );
  });
});

test('the shutdown of a server ends event streams and their permits', async () => {
  const gateway = await startGateway(sql, options);
  onTestFinished(() => gateway.close());
  await openStream(gateway.url, '/api/told/info');
  expect(store.permits).toBe(1);
  gateway.gateway.endStreams();
  await expect.poll(() => store.permits).toBe(0);
});
