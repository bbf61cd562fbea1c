/** Raw bytes to two servers, of which one has the fast path: the same responses, in the same order. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { EventEmitter, once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { holdLock, useDatabase } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import type { ByteSink, GatewayResponse } from '@pgway/core';
import { FastConnection, type FastPathServices } from '../../../src/http/fast-path/fast-connection.ts';
import { WaitingBytes } from '../../../src/http/fast-path/waiting-bytes.ts';
import { createCertificate, type PemCertificate } from '../../support/certificates.ts';
import { folderWith } from '../../support/folder.ts';
import { exchange, openRaw } from '../../support/raw-client.ts';
import { type RunningServer, runServer } from '../../support/run-server.ts';

const database = useDatabase(`
  create function hello(_name text default 'you') returns text language sql stable as $$ select 'hello ' || _name $$;
  comment on function hello is 'HTTP GET';
  create function save(_text text) returns text language sql as $$ select _text $$;
  comment on function save is 'HTTP POST';
  create function nothing() returns void language sql as $$ $$;
  comment on function nothing is 'HTTP POST';
  create function page(_name text) returns text language sql stable as $$ select 'page ' || _name $$;
  comment on function page is 'HTTP GET /{_name}';
  create function numbers(_count int) returns setof int language sql stable as $$ select generate_series(1, _count) $$;
  comment on function numbers is 'HTTP GET';
  create function wait(_key int) returns text language sql as $$ select 'waited' from pg_advisory_xact_lock(_key) $$;
  comment on function wait is 'HTTP GET';
  create function tag(_value text) returns void language sql as $$
    select set_config('response.headers', json_build_array(json_build_object('x-tag', _value))::text, true) $$;
  comment on function tag is 'HTTP POST';
`);

async function serve(
  fastPath: boolean,
  { limits = {}, tls }: { readonly limits?: object; readonly tls?: PemCertificate } = {},
): Promise<RunningServer> {
  const { connectionString } = database;
  const configuration = { port: 0, connectionString, log: { format: 'json' }, fastPath, metrics: { path: '/metrics' } };
  if (tls === undefined) return runServer(await folderWith({ 'pgway.json': { ...configuration, limits } }));
  const files = { 'server.crt': tls.certificate, 'server.key': tls.key };
  const names = { certificate: 'server.crt', key: 'server.key' };
  return runServer(await folderWith({ 'pgway.json': { ...configuration, limits, tls: names }, ...files }));
}

/** Leaves out what differs between requests, and the order of headers. */
function normalize(text: string): readonly string[] {
  return text.split(/(?=HTTP\/1\.1 \d{3} )/).map((response) => {
    const end = response.indexOf('\r\n\r\n');
    const body = response.slice(end + 4);
    // Whether a long response has a length depends on when its rows arrive.
    const isChunked = /^transfer-encoding: chunked$/im.test(response.slice(0, end));
    const content = isChunked ? body.replaceAll(/(?:^|\r\n)[\da-f]+\r\n/g, '').trimEnd() : body;
    const [status, ...headers] = response.slice(0, end).split('\r\n');
    const kept = headers
      .filter((line) => !/^(?:date|x-request-id|keep-alive|transfer-encoding|content-length):/i.test(line))
      .map((line) => line.toLowerCase());
    return [status, ...kept.toSorted(), content].join('\n');
  });
}

async function handOvers(fast: RunningServer): Promise<number> {
  const text = await (await fetch(`${fast.url}/metrics`)).text();
  return Number(/^pgway_fast_path_handovers_total (\d+)$/m.exec(text)?.[1]);
}

const host = 'Host: localhost\r\n';
const close = `${host}Connection: close\r\n`;
const get = (path: string, headers = close): string => `GET ${path} HTTP/1.1\r\n${headers}\r\n`;
const post = (path: string, body: string, headers = close): string =>
  `POST ${path} HTTP/1.1\r\n${headers}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

/** Bytes by what they are, with the number of connections that `node:http` gets. */
const exchanges: readonly (readonly [name: string, handOvers: 0 | 1, bytes: string])[] = [
  ['a call', 0, get('/api/hello?name=ada')],
  ['HEAD', 0, get('/api/hello').replace('GET', 'HEAD')],
  ['an error of the request', 0, get('/api/numbers?count=x')],
  ['a body', 0, post('/api/save', '{"text":"a"}')],
  ['a body that is not JSON', 0, post('/api/save', '{')],
  ['no content', 0, post('/api/nothing', '')],
  ['a parameter in the path', 0, get('/some%20one')],
  ['a long response', 0, get('/api/numbers?count=20000')],
  ['a long response to HEAD', 0, get('/api/numbers?count=20000').replace('GET', 'HEAD')],
  [
    'pipelined requests',
    0,
    get('/api/hello', host) + post('/api/save', '{"text":"b"}', host) + get('/api/numbers?count=3'),
  ],
  ['one of node:http behind others', 1, get('/api/hello', host) + get('/health', host) + get('/api/hello')],
  ['a request after the last one', 0, get('/api/hello') + get('/api/hello')],
  ['another path', 1, get('/nothing/here')],
  ['another method', 1, get('/api/hello').replace('GET', 'DELETE')],
  [
    'QUERY between others',
    1,
    get('/api/hello', host) + post('/api/hello', '{"name":"q"}', host).replace('POST', 'QUERY') + get('/api/hello'),
  ],
  ['a path of the server that an endpoint matches', 1, get('/health')],
  ['another host', 1, get('/api/hello').replace('localhost', 'evil.test')],
  ['a chunked body', 1, `POST /api/save HTTP/1.1\r\n${close}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['two lengths', 1, `POST /api/save HTTP/1.1\r\n${close}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}`],
  ['no request', 1, 'hello\r\n\r\n'],
  ['HTTP/1.0', 1, `GET /api/hello HTTP/1.0\r\n${host}\r\n`],
];

test('the same responses with and without the fast path, in the same order', async () => {
  const [fast, plain] = [await serve(true), await serve(false)];
  const received: Record<string, unknown> = {};
  const expected: Record<string, unknown> = {};
  for (const [name, byNode, bytes] of exchanges) {
    const before = await handOvers(fast);
    received[name] = normalize(await exchange(bytes, { port: fast.port }));
    // The client of the scrapes has one connection, which `node:http` has after the first scrape.
    const given = (await handOvers(fast)) - before;
    expected[name] = normalize(await exchange(bytes, { port: plain.port }));
    expect.soft([name, given]).toEqual([name, byNode]);
  }
  expect(received).toEqual(expected);
});

test('with TLS: calls, bodies and long responses, and then a request for node:http', async () => {
  const tls = await createCertificate();
  const fast = await serve(true, { tls });
  const bytes = [
    get('/api/hello', host),
    post('/api/save', '{"text":"saved"}', host),
    get('/api/numbers?count=20000', host),
    get('/metrics'),
  ];
  const text = await exchange(bytes.join(''), { port: fast.port, ca: tls.certificate });

  expect(text).toMatch(/hello you[^]*saved[^]*\b20000\b/);
  expect(text).toMatch(/^pgway_fast_path_requests_total 3$/m);
  expect(text).toMatch(/^pgway_fast_path_handovers_total 1$/m);
});

test('requests in pieces: the head is left to node:http, a body is waited for', async () => {
  const [fast, plain] = [await serve(true), await serve(false)];
  const bytes = post('/api/save', '{"text":"pieces"}');
  const expected = normalize(await exchange(bytes, { port: plain.port }));
  for (const cut of [1, 20, bytes.indexOf('\r\n\r\n') + 2, bytes.length - 17, bytes.length - 1]) {
    const client = openRaw({ port: fast.port });
    client.socket.setNoDelay(true).write(bytes.slice(0, cut));
    await new Promise((resolve) => setImmediate(resolve));
    client.socket.write(bytes.slice(cut));
    expect(normalize(await client.closed)).toEqual(expected);
  }
});

test('a header of a routine cannot end the header', async () => {
  const fast = await serve(true);
  const body = JSON.stringify({ value: 'a\r\nset-cookie: b=c' });
  const text = await exchange(post('/api/tag', body), { port: fast.port });

  expect(text).not.toMatch(/^set-cookie:/im);
});

test('a client that ends its side cancels its call, which is logged as 499', async () => {
  const fast = await serve(true);
  const lock = await holdLock(database.connectionString, 7);
  const client = openRaw({ port: fast.port });
  client.socket.write(get('/api/wait?key=7', host));
  const running = `select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`;
  await expect.poll(() => database.query(running)).toEqual([{ count: 1 }]);
  client.socket.end();

  expect(await client.closed).toBe('');
  await expect.poll(() => database.query(running)).toEqual([{ count: 0 }]);
  await expect.poll(() => fast.streams.text.stdout).toMatch(/"path":"\/api\/wait","status":499/);
  await lock.release();
});

/** Keeps the sockets of the servers of this process until the end of the test. */
function serverSockets(): readonly Socket[] {
  const sockets: Socket[] = [];
  const add = (message: unknown): void => void sockets.push((message as { readonly socket: Socket }).socket);
  subscribe('net.server.socket', add);
  onTestFinished(() => void unsubscribe('net.server.socket', add));
  return sockets;
}

const waitingCalls = `
  select objid::int as key from pg_locks
  where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())`;

test('pipelined requests are read as they are answered', async () => {
  const fast = await serve(true, { limits: { maxRequestsPerConnection: 500 } });
  const locks = [await holdLock(database.connectionString, 11), await holdLock(database.connectionString, 12)];
  const sockets = serverSockets();
  const client = openRaw({ port: fast.port });
  const wait = (key: number): string => get(`/api/wait?key=${key}`, host);
  const hello = get('/api/hello', `${host}X-Filler: ${'x'.repeat(300)}\r\n`);
  client.socket.write(wait(11));
  await expect.poll(() => database.query(waitingCalls)).toEqual([{ key: 11 }]);
  client.socket.write(hello.repeat(100) + wait(12) + hello.repeat(Math.ceil(10e6 / hello.length)));
  await locks[0]!.release();
  await expect.poll(() => database.query(waitingCalls)).toEqual([{ key: 12 }]);

  expect(client.text().match(/hello you/g)).toHaveLength(100);
  expect(sockets[0]!.bytesRead).toBeLessThan(400_000);

  await locks[1]!.release();
  expect((await client.closed).match(/HTTP\/1\.1 200 OK/g)).toHaveLength(500);
});

test('a request whose body has arrived in part when the server stops is answered', async () => {
  const fast = await serve(true);
  const sockets = serverSockets();
  const client = openRaw({ port: fast.port });
  client.socket.write(get('/api/hello', host));
  await expect.poll(client.text).toContain('hello you');
  const bytes = post('/api/save', '{"text":"half"}', host);
  const before = sockets[0]!.bytesRead;
  client.socket.write(bytes.slice(0, -5));
  await expect.poll(() => sockets[0]!.bytesRead).toBe(before + bytes.length - 5);
  const stopped = fast.stop();
  // The server closes idle connections at once, and every 50 ms.
  const other = openRaw({ port: fast.port });
  await other.closed;
  client.socket.write(bytes.slice(-5));

  expect(await client.closed).toMatch(/connection: close[^]*\r\n\r\nhalf$/i);
  expect(await stopped).toBe(0);
});

test('bytes that arrive one by one are moved to other memory a few times, and bytes that were read do not change', () => {
  const waiting = new WaitingBytes();
  const memories = new Set<ArrayBufferLike>();
  const read: Buffer[] = [];
  for (let index = 0; index < 20_000; index += 1) {
    waiting.add(Buffer.from([index % 251]));
    memories.add(waiting.all().buffer);
    if (index % 2 === 1) {
      read.push(waiting.all().subarray(0, 1));
      waiting.skip(1);
    }
  }
  expect(memories.size).toBeLessThan(30);
  const all = Buffer.concat([...read, waiting.all()]);
  expect(all).toEqual(Buffer.from(Array.from({ length: 20_000 }, (_, index) => index % 251)));
  waiting.skip(waiting.length);
  expect(waiting.all()).toHaveLength(0);
});

/** Serves connections with answers of the test, and returns the port. */
async function serveAnswers(services: Pick<FastPathServices, 'answer'> & Partial<FastPathServices>): Promise<number> {
  const others: Omit<FastPathServices, 'answer'> = {
    limits: { maxHeaderSize: 1000, maxHeadersCount: 10, maxBodyBytes: 1000 },
    keepAliveSeconds: 5,
    accepts: () => true,
    begin: () => true,
    onError: () => undefined,
    isStopping: () => false,
    timeOut: () => undefined,
    handOver: (socket) => socket.destroy(),
    closed: () => undefined,
  };
  const server = createServer((socket) => void new FastConnection(socket, { ...others, ...services }));
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

interface TestStream {
  readonly headers?: readonly string[];
  readonly cancel?: () => void;
}

function streamTo(
  pipe: (sink: ByteSink) => void,
  { headers = [], cancel = () => undefined }: TestStream = {},
): GatewayResponse {
  return { kind: 'stream', status: 200, headers, body: { pipe, resume: () => undefined, cancel } };
}

const text = (body: string): GatewayResponse => ({ kind: 'whole', status: 200, headers: [], body });

test('a stream without a length is chunked, whatever the values of its headers are', async () => {
  const answer = (): Promise<GatewayResponse> =>
    Promise.resolve(streamTo((sink) => sink.end(Buffer.from('all')), { headers: ['x-tag', 'content-length'] }));
  const response = await exchange(get('/a'), { port: await serveAnswers({ answer }) });

  expect(response).toMatch(
    /^x-tag: content-length\r\n[^]*^transfer-encoding: chunked\r\n[^]*\r\n\r\n3\r\nall\r\n0\r\n\r\n$/m,
  );
});

test('a disconnect is told to a listener that is added after it', async () => {
  const events = new EventEmitter();
  const told = once(events, 'told');
  const port = await serveAnswers({
    answer: async (request) => {
      // once() of node:events would reject with the error that precedes this event.
      const closed = new Promise((resolve) => request.raw.socket.once('close', resolve));
      // Before the server has read the request, a reset could discard it.
      client.socket.resetAndDestroy();
      await closed;
      request.onDisconnect(() => events.emit('told', 'once'));
      return text('');
    },
  });
  const client = openRaw({ port });
  client.socket.write(get('/a', host));

  expect(await told).toEqual(['once']);
});

test('a stream that fails after its end does not close the connection of the next request', async () => {
  const sinks: ByteSink[] = [];
  const port = await serveAnswers({
    answer: async ({ path }) => {
      if (path === '/second') {
        sinks[0]!.fail(new Error('the client reads too slowly'));
        // The connection would close before the response.
        await new Promise((resolve) => setImmediate(resolve));
        return text('second');
      }
      return streamTo((sink) => {
        sinks.push(sink);
        sink.end(Buffer.from('first'));
      });
    },
  });
  const client = openRaw({ port });
  client.socket.write(get('/first', host) + get('/second'));

  expect(await client.closed).toMatch(/first[^]*second$/);
});

test('exceptions fail one connection, and are reported with its request', async () => {
  const reports: unknown[] = [];
  const throws = (message: string): never => {
    throw new Error(message);
  };
  const onError: FastPathServices['onError'] = (error, { method, url }) =>
    void reports.push([(error as Error).message, method, url]);
  const cancelled: string[] = [];
  const port = await serveAnswers({
    onError,
    accepts: ({ target }) => target !== '/accepts' || throws('accepts'),
    begin: ({ path }) => path !== '/begin' || throws('begin'),
    answer: async ({ path }) => {
      if (path === '/answer') throws('answer');
      if (path === '/stream') return streamTo(() => throws('stream'), { cancel: () => void cancelled.push('stream') });
      // A defect of the gateway.
      if (path === '/send') return { kind: 'whole', status: 200, headers: null as unknown as [], body: '' };
      return text('good');
    },
  });
  const received: Record<string, string | undefined> = {};
  for (const path of ['/accepts', '/begin', '/answer', '/send', '/stream', '/good']) {
    const response = await exchange(get(path), { port });
    received[path] = /^HTTP\/1\.1 \d+/.exec(response)?.[0];
  }

  expect(received).toEqual({
    '/accepts': undefined,
    '/begin': undefined,
    '/answer': 'HTTP/1.1 500',
    '/send': 'HTTP/1.1 500',
    // The head was sent: without its last chunk, the response is incomplete.
    '/stream': 'HTTP/1.1 200',
    '/good': 'HTTP/1.1 200',
  });
  expect(reports).toEqual([
    ['accepts', 'GET', '/accepts'],
    ['begin', 'GET', '/begin'],
    ['answer', 'GET', '/answer'],
    [expect.stringContaining('iterable'), 'GET', '/send'],
    ['stream', 'GET', '/stream'],
  ]);
  expect(cancelled).toEqual(['stream']);
});
