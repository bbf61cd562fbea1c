import { once } from 'node:events';
import { request } from 'node:https';
import * as http2 from 'node:http2';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { createGateway } from '@pgway/core';
import { holdLock, useDatabase } from '@pgway/testing';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { nodeMiddleware } from '../../../core/src/adapters/node.ts';
import type { GatewayRequest } from '../../../core/src/http/request.ts';
import type { GatewayResponse } from '../../../core/src/http/response.ts';
import { parseConfiguration } from '../support/parse-configuration.ts';
import { gatewayOptions } from '../../src/gateway-options.ts';
import { createApp } from '../../src/http/app.ts';
import type { Handler, HttpServer } from '../../src/http/http-server.ts';
import { openCertificateStore } from '../../src/tls/certificate-store.ts';
import { listenWithTls } from '../../src/tls/listen-with-tls.ts';
import { createCertificate, type PemCertificate } from '../support/certificates.ts';
import { folderWith } from '../support/folder.ts';
import { endHeaders, endStream, frame, openRawHttp2, preface, requestHead, reset } from '../support/http2-frames.ts';

const { NGHTTP2_CANCEL, NGHTTP2_INTERNAL_ERROR, NGHTTP2_NO_ERROR, NGHTTP2_ENHANCE_YOUR_CALM } = http2.constants;

const database = useDatabase(`
  create function hello(_name text default 'you') returns text language sql stable as $$ select 'Hello ' || _name $$;
  comment on function hello is 'HTTP GET';
  create function save(_a int) returns text language sql volatile as $$ select 'saved ' || _a $$;
  comment on function save is 'HTTP';
  create function enter() returns table (id text) language sql as $$ select '7' $$;
  comment on function enter is E'HTTP\\nlogin';
  create function numbers(_count int, _divisor int default -1) returns setof int language sql stable as
    'select i / (i - _divisor) * 0 + i from generate_series(1, _count) i';
  comment on function numbers is 'HTTP GET';
  create function seen(_headers text default null) returns text language sql stable as $$ select _headers $$;
  comment on function seen is E'HTTP GET\\nrequest_headers parameter\\nrequest_headers_parameter_name = _headers';
  create function wait(_key int) returns text language sql as $$ select 'waited' from pg_advisory_xact_lock(_key) $$;
  comment on function wait is 'HTTP GET';
  create function add_file(_files json) returns text language sql volatile as $$ select 'added ' || (_files -> 0 ->> 'size') $$;
  comment on function add_file(json) is E'HTTP POST\\nupload for large_object\\nparam _files is upload metadata';
  create function tell() returns void language plpgsql as $$ begin raise info 'told'; end $$;
  comment on function tell is E'HTTP POST\\ninfo_path /info\\ninfo_scope all';
`);

let certificate: PemCertificate;
const base = { port: 0, cookie: { enabled: true }, tls: { certificate: 'server.crt', key: 'server.key' } };

beforeAll(async () => {
  certificate = await createCertificate();
});

/** Serves the gateway, or another handler, until the test has ended. */
async function serve(file: object = {}, handler?: Handler): Promise<HttpServer> {
  const configuration = parseConfiguration({ ...base, ...file });
  const folder = await folderWith({ 'server.crt': certificate.certificate, 'server.key': certificate.key });
  const gateway = await createGateway(await gatewayOptions(configuration, database.connectionString, {}));
  const app = await createApp(configuration, gateway);
  const store = await openCertificateStore(configuration, folder, { info: () => undefined, error: () => undefined });
  const server = await listenWithTls(configuration, handler ?? app.handle, { certificates: store });
  onTestFinished(async () => {
    gateway.endStreams();
    await server.stop(0, AbortSignal.abort());
    await app.close();
    await gateway.close();
  });
  return server;
}

function open({ port }: HttpServer): http2.ClientHttp2Session {
  const session = http2.connect(`https://localhost:${port}`, { ca: certificate.certificate });
  session.on('error', () => undefined);
  onTestFinished(() => session.destroy());
  return session;
}

interface Exchange {
  readonly stream: http2.ClientHttp2Stream;
  readonly headers: Promise<http2.IncomingHttpHeaders>;
  /** The body so far. */
  readonly text: () => string;
  /** Status, body and error code once the stream has closed. */
  readonly closed: Promise<readonly [number | undefined, string, number]>;
}

function begin(session: http2.ClientHttp2Session, headers: http2.OutgoingHttpHeaders, body?: string): Exchange {
  const stream = session.request(headers, { endStream: false });
  let text = '';
  let status: number | undefined;
  stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  stream.on('error', () => undefined);
  const received = new Promise<http2.IncomingHttpHeaders>((resolve) => {
    stream.once('response', (fields) => {
      status = fields[':status'];
      resolve(fields);
    });
  });
  const closed = new Promise<readonly [number | undefined, string, number]>((resolve) => {
    stream.once('close', () => resolve([status, text, stream.rstCode]));
  });
  if (body !== undefined) stream.end(body);
  return { stream, headers: received, text: () => text, closed };
}

const get = (session: http2.ClientHttp2Session, path: string, headers: http2.OutgoingHttpHeaders = {}): Exchange =>
  begin(session, { ':path': path, ...headers }, '');
const post = (path: string, headers: http2.OutgoingHttpHeaders = {}): http2.OutgoingHttpHeaders => ({
  ':method': 'POST',
  ':path': path,
  ...headers,
});
const json = { 'content-type': 'application/json' };
const plain = (status: number, body: string): GatewayResponse => ({ kind: 'whole', status, headers: [], body });

const postHead = requestHead('POST', '/');

/** A connection for frames that the client of Node does not send, such as RST_STREAM in the middle of a body. */
async function openRaw({ port }: HttpServer): Promise<TLSSocket> {
  const { socket } = await openRawHttp2(port, certificate.certificate);
  socket.write(preface());
  return socket;
}

describe.each([
  ['without additions to responses', {}],
  ['with plug-ins', { securityHeaders: { enabled: true }, compression: { enabled: true } }],
])('%s', (_, file) => {
  test('a call, a body without content-length, and HTTP/1.1 on the same port', async () => {
    const server = await serve(file);
    const session = open(server);
    const hello = get(session, '/api/hello?name=Ada');
    expect(await hello.closed).toEqual([200, 'Hello Ada', NGHTTP2_NO_ERROR]);
    expect(Object.keys(await hello.headers)).not.toContain('connection');
    expect((await get(session, '/nothing').closed)[0]).toBe(404);
    expect(await begin(session, post('/api/save', json), '{"a":1}').closed).toEqual([200, 'saved 1', NGHTTP2_NO_ERROR]);
    expect((await begin(session, post('/api/save', { 'content-type': 'text/csv' }), 'a').closed)[0]).toBe(415);
    expect((await begin(session, { ':method': 'HEAD', ':path': '/api/hello' }, '').closed).slice(0, 2)).toEqual([
      200,
      '',
    ]);
    const old = request({
      host: '127.0.0.1',
      port: server.port,
      path: '/api/hello',
      ca: certificate.certificate,
      agent: false,
    });
    const [response] = await once(old.end(), 'response');
    expect([response.statusCode, response.httpVersion]).toEqual([200, '1.1']);
    response.resume();
  });

  test('concurrent large responses', async () => {
    const session = open(await serve(file));
    const expected = JSON.stringify(Array.from({ length: 100_000 }, (_value, index) => index + 1));
    const answers = await Promise.all([1, 2, 3, 4].map(() => get(session, '/api/numbers?count=100000').closed));
    expect(answers.map(([status, text, code]) => [status, text === expected, code])).toEqual(
      answers.map(() => [200, true, NGHTTP2_NO_ERROR]),
    );
  });

  test('a response that fails after its begin is reset with an error code', async () => {
    const session = open(await serve(file));
    const [status, text, code] = await get(session, '/api/numbers?count=300000&divisor=299999').closed;
    expect([status, code]).toEqual([200, NGHTTP2_INTERNAL_ERROR]);
    expect(text).not.toBe('');
  });

  test('a disconnect cancels the call', async () => {
    const session = open(await serve(file));
    const lock = await holdLock(database.connectionString, 1);
    onTestFinished(() => lock.release());
    const waiting = get(session, '/api/wait?key=1');
    await expect.poll(() => lock.waiting()).toBe(1);
    waiting.stream.close(NGHTTP2_CANCEL);
    await expect.poll(() => lock.waiting()).toBe(0);
    const other = get(session, '/api/wait?key=1');
    await expect.poll(() => lock.waiting()).toBe(1);
    session.destroy();
    await other.closed;
    await expect.poll(() => lock.waiting()).toBe(0);
  });

  test('events', async () => {
    const session = open(await serve(file));
    const stream = get(session, '/api/tell/info', { accept: 'text/event-stream' });
    expect((await stream.headers)['content-type']).toBe('text/event-stream');
    expect((await begin(session, post('/api/tell'), '').closed)[0]).toBe(204);
    await expect.poll(() => stream.text()).toContain('data: told');
    stream.stream.close(NGHTTP2_CANCEL);
    expect((await get(session, '/api/hello').closed)[0]).toBe(200);
  });

  test('an upload of several megabytes', async () => {
    const session = open(await serve(file));
    const head = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n';
    const upload = post('/api/add-file', { 'content-type': 'multipart/form-data; boundary=x' });
    const answer = begin(session, upload, `${head}${'a'.repeat(5_000_000)}\r\n--x--\r\n`);
    expect(await answer.closed).toEqual([200, 'added 5000000', NGHTTP2_NO_ERROR]);
  });

  test('cookies are Secure', async () => {
    const login = begin(open(await serve(file)), post('/api/enter'), '');
    expect((await login.headers)['set-cookie']?.[0]).toMatch(/; Secure/i);
  });
});

describe('requests', () => {
  test('routines see the fields of the client, and Host instead of pseudo-header fields', async () => {
    const server = await serve();
    const [, text] = await get(open(server), '/api/seen', { 'x-a': 'b', cookie: ['c=1', 'd=2'] }).closed;
    expect(JSON.parse(text)).toEqual({ 'x-a': 'b', cookie: 'c=1; d=2', host: `localhost:${server.port}` });
  });

  test('for unknown hosts are answered 421, and with two hosts 400', async () => {
    const session = open(await serve());
    expect((await get(session, '/api/hello', { ':authority': 'evil.example' }).closed)[0]).toBe(421);
    const conflicting = get(session, '/api/hello', { ':authority': 'localhost', host: 'evil.example' });
    expect((await conflicting.closed)[0]).toBe(400);
    expect((await get(session, '/api/hello').closed)[0]).toBe(200);
  });

  test('of another site are refused with cookies', async () => {
    const headers = { ...json, cookie: 'a=b', origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    expect((await begin(open(await serve()), post('/api/save', headers), '{"a":1}').closed)[0]).toBe(403);
  });

  test.each([
    ['body', (message: GatewayRequest) => message.body(1_000_000)],
    [
      'chunks',
      async (message: GatewayRequest) => {
        for await (const chunk of message.chunks()) expect(chunk.length).toBeGreaterThan(0);
      },
    ],
  ])('a body that is cut off is not complete: %s', async (_, read) => {
    const outcomes: string[] = [];
    let begun = 0;
    const server = await serve(
      {},
      nodeMiddleware(async (message) => {
        begun += 1;
        await read(message).then(
          () => outcomes.push('complete'),
          () => outcomes.push('cut off'),
        );
        return plain(200, '');
      }),
    );
    const cuts: readonly ((socket: TLSSocket) => unknown)[] = [
      (socket) => socket.write(reset(1, NGHTTP2_CANCEL)),
      (socket) => socket.write(reset(1, NGHTTP2_NO_ERROR)),
      (socket) => socket.destroy(),
      (socket) => socket.end(),
      (socket) => socket.write(frame('data', endStream, 1, Buffer.from('3,4\n'))),
    ];
    for (const [index, cut] of cuts.entries()) {
      // One at a time.
      const socket = await openRaw(server);
      socket.write(frame('headers', endHeaders, 1, postHead));
      socket.write(frame('data', 0, 1, Buffer.from('a,b\n1,2\n')));
      await expect.poll(() => begun).toBe(index + 1);
      cut(socket);
      await expect.poll(() => outcomes.length).toBe(index + 1);
    }
    expect(outcomes).toEqual(['cut off', 'cut off', 'cut off', 'cut off', 'complete']);
  });

  test('a response before the end of the body reaches the client, which is told to stop', async () => {
    let closed = 0;
    const refuse = nodeMiddleware(async (message) => {
      const body = await message.body(1000).catch(() => null);
      return plain(body === null ? 413 : 200, 'done');
    });
    const session = open(
      await serve({}, (incoming, outgoing) => {
        outgoing.once('close', () => (closed += 1));
        refuse(incoming, outgoing);
      }),
    );
    const large = begin(session, post('/'));
    large.stream.write(Buffer.alloc(1_000_000));
    expect(await large.closed).toEqual([413, 'done', NGHTTP2_NO_ERROR]);
    expect((await begin(session, post('/'), 'a').closed).slice(0, 2)).toEqual([200, 'done']);
    await expect.poll(() => closed).toBe(2);
  });

  test('a body that is not read holds back the client, but no other request', async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const session = open(
      await serve(
        {},
        nodeMiddleware(async (message) => {
          if (message.path === '/other') return plain(200, 'other');
          await released;
          return plain(200, `${(await message.body(10_000_000)).length}`);
        }),
      ),
    );
    const held = begin(session, post('/'), 'a'.repeat(2_000_000));
    expect((await get(session, '/other').closed)[1]).toBe('other');
    expect(session.state.outboundQueueSize! > 0 || held.stream.writableLength > 0).toBe(true);
    expect(held.stream.writableFinished).toBe(false);
    release();
    expect((await held.closed).slice(0, 2)).toEqual([200, '2000000']);
  });

  test('Expect: 100-continue', async () => {
    const session = open(await serve());
    const call = begin(session, post('/api/save', { ...json, expect: '100-continue' }));
    await once(call.stream, 'continue');
    call.stream.end('{"a":1}');
    expect((await call.closed).slice(0, 2)).toEqual([200, 'saved 1']);
  });
});

describe('limits', () => {
  test('a body that does not arrive in time: 408', async () => {
    const session = open(await serve({ limits: { requestTimeout: 0.1 } }));
    const call = begin(session, post('/api/save', json));
    call.stream.write('{"a"');
    expect((await call.closed)[0]).toBe(408);
  });

  test('the size of headers, and the number of requests at a time', async () => {
    const session = open(await serve({ limits: { maxHeaderSize: 2000, maxConcurrentStreams: 7 } }));
    expect((await get(session, '/api/hello').closed)[0]).toBe(200);
    expect([session.remoteSettings.maxHeaderListSize, session.remoteSettings.maxConcurrentStreams]).toEqual([2000, 7]);
    const [status, , code] = await get(session, '/api/hello', { 'x-large': 'a'.repeat(4000) }).closed;
    expect([status, code]).toEqual([undefined, NGHTTP2_ENHANCE_YOUR_CALM]);
    expect((await get(session, '/api/hello').closed)[0]).toBe(200);
  });

  test('requests on a connection beyond the limit are answered 503', async () => {
    const server = await serve({ limits: { maxConnections: 1 } });
    const first = open(server);
    expect((await get(first, '/api/hello').closed)[0]).toBe(200);
    const second = open(server);
    const refused = get(second, '/api/hello');
    expect([(await refused.closed)[0], (await refused.headers)['retry-after']]).toEqual([503, '1']);
    expect((await get(first, '/api/hello').closed)[0]).toBe(200);
  });

  test('the number of requests on a connection: it is closed after them', async () => {
    const server = await serve({ limits: { maxRequestsPerConnection: 2 } });
    const session = open(server);
    const codes: number[] = [];
    session.on('goaway', (code) => codes.push(code));
    const answers = [get(session, '/api/hello'), get(session, '/api/hello')];
    expect((await Promise.all(answers.map(({ closed }) => closed))).map(([status]) => status)).toEqual([200, 200]);
    await expect.poll(() => session.destroyed).toBe(true);
    expect(codes).toEqual([NGHTTP2_NO_ERROR]);
    expect((await get(open(server), '/api/hello').closed)[0]).toBe(200);
  });

  test('the number of headers', async () => {
    const session = open(await serve());
    const fields = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`x-${index}`, 'a']));
    expect((await get(session, '/api/hello', fields(100)).closed)[0]).toBe(200);
    expect((await get(session, '/api/hello', fields(101)).closed).slice(0, 1)).toEqual([undefined]);
    expect((await get(session, '/api/hello').closed)[0]).toBe(200);
  });

  test('a client that gives no window: its streams are reset', async () => {
    const server = await serve({ gateway: { slowClientTimeout: 0.05 } });
    const client = await openRawHttp2(server.port, certificate.certificate);
    // SETTINGS_INITIAL_WINDOW_SIZE.
    client.socket.write(preface(Buffer.from([0, 4, 0, 0, 0, 0])));
    client.socket.write(frame('headers', endHeaders + endStream, 1, requestHead('GET', '/api/hello')));
    await expect.poll(() => [...client.resets]).toEqual([[1, NGHTTP2_INTERNAL_ERROR]]);
  });

  test.each([
    ['without a request', { headersTimeout: 0.1 }, []],
    ['after its last request', { keepAliveTimeout: 0.1 }, ['/api/hello']],
  ])('an idle connection is closed: %s', async (_, limits, paths) => {
    const session = open(await serve({ limits }));
    const answers = await Promise.all(paths.map((path) => get(session, path).closed));
    expect(answers.map(([status]) => status)).toEqual(paths.map(() => 200));
    await once(session, 'close');
    expect(session.destroyed).toBe(true);
  });

  test('a connection that sends no HTTP/2 is closed', async () => {
    const { port } = await serve();
    const socket = connectTls({ port, host: '127.0.0.1', ca: certificate.certificate, ALPNProtocols: ['h2'] });
    socket.on('error', () => undefined).resume();
    await once(socket, 'secureConnect');
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(socket, 'close');
    expect(socket.destroyed).toBe(true);
  });

  test('rapid reset: the connection is closed, and others are served', async () => {
    let begun = 0;
    const app = nodeMiddleware(async () => plain(200, 'served'));
    const server = await serve({ limits: { keepAliveTimeout: 0.1 } }, (incoming, outgoing) => {
      begun += 1;
      app(incoming, outgoing);
    });
    const [attacker, other] = [await openRaw(server), open(server)];
    const requests = Array.from({ length: 5000 }, (_, index) => 2 * index + 1).flatMap((stream) => [
      frame('headers', endHeaders + endStream, stream, postHead),
      reset(stream, NGHTTP2_CANCEL),
    ]);
    attacker.write(Buffer.concat(requests));
    await once(attacker, 'close');
    expect(begun).toBeLessThan(requests.length / 2);
    expect((await get(other, '/').closed)[1]).toBe('served');
  });
});

describe('a stop', () => {
  test('finishes running requests, and takes no others', async () => {
    const server = await serve();
    const [session, idle] = [open(server), open(server)];
    expect((await get(idle, '/api/hello').closed)[0]).toBe(200);
    const lock = await holdLock(database.connectionString, 2);
    const running = get(session, '/api/wait?key=2');
    await expect.poll(() => lock.waiting()).toBe(1);
    const stopped = server.stop(60_000, new AbortController().signal);
    await once(idle, 'close');
    await lock.release();
    expect(await running.closed).toEqual([200, 'waited', NGHTTP2_NO_ERROR]);
    await stopped;
  });

  test('aborts running requests when it is forced', async () => {
    const server = await serve();
    const session = open(server);
    const lock = await holdLock(database.connectionString, 3);
    onTestFinished(() => lock.release());
    const running = get(session, '/api/wait?key=3');
    await expect.poll(() => lock.waiting()).toBe(1);
    await server.stop(60_000, AbortSignal.abort());
    expect((await running.closed)[0]).toBeUndefined();
  });
});

test('tls.http2=false: HTTP/1.1 only', async () => {
  const { port } = await serve({ tls: { ...base.tls, http2: false } });
  const socket = connectTls({
    port,
    host: '127.0.0.1',
    ca: certificate.certificate,
    ALPNProtocols: ['h2', 'http/1.1'],
  });
  await once(socket, 'secureConnect');
  expect(socket.alpnProtocol).toBe('http/1.1');
  socket.destroy();
});

test('the access log has the bytes of a response', async () => {
  const sizes: unknown[] = [];
  const server = await serve({}, (_request, response) => {
    response.once('close', () => sizes.push((response as { readonly bodySize?: number }).bodySize));
    response.write('héllo ');
    response.end(Buffer.from('you'));
  });
  const { closed } = begin(open(server), { ':path': '/' });
  expect(await closed).toEqual([200, 'héllo you', NGHTTP2_NO_ERROR]);
  await expect.poll(() => sizes).toEqual([10]);
});
