import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { createGateway, type Gateway } from '@pgway/core';
import { useDatabase } from '@pgway/testing';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { nodeMiddleware } from '../../../core/src/adapters/node.ts';
import type { GatewayResponse } from '../../../core/src/http/response.ts';
import { parseConfiguration } from '../support/parse-configuration.ts';
import { type Handler, type HttpServer, listen } from '../../src/http/http-server.ts';

const database = useDatabase(`
  create function save(_a int) returns text language sql volatile as $$ select 'saved ' || _a $$;
  comment on function save(int) is 'HTTP';
  create function keep(_a int) returns text language sql volatile as $$ select 'kept ' || _a $$;
  comment on function keep(int) is E'HTTP\\nauthorize';
  create function add_file(_files json) returns text language sql volatile as $$ select 'added ' || (_files -> 0 ->> 'size') $$;
  comment on function add_file(json) is E'HTTP POST\\nupload for large_object\\nparam _files is upload metadata';
  create function keep_file(_files json) returns text language sql volatile as $$ select 'kept' $$;
  comment on function keep_file(json) is E'HTTP POST\\nauthorize\\nupload for large_object\\nparam _files is upload metadata';
  create function add_text(_text text) returns text language sql volatile as $$ select 'added' $$;
  comment on function add_text(text) is E'HTTP POST\\nbody_parameter_name _text';
`);

let gateway: Gateway;

beforeAll(async () => {
  gateway = await createGateway({ connectionString: database.connectionString, maxBodySize: 1000 });
});
afterAll(() => gateway.close());

const handlerOfGateway: Handler = (request, response) => gateway.middleware(request, response);

const plain = (status: number, body: string): GatewayResponse => ({ kind: 'whole', status, headers: [], body });

/** Reads the body as the stage of uploads does, up to a size, and responds with its size. */
function uploadHandler(maxSize = Infinity): Handler {
  return nodeMiddleware(async (request) => {
    let size = 0;
    for await (const chunk of request.chunks()) {
      size += chunk.length;
      if (size > maxSize) return plain(413, `more than ${maxSize}`);
    }
    return plain(200, `read ${size}`);
  });
}

async function serve(handler: Handler, limits: object = {}): Promise<HttpServer> {
  const server = await listen(parseConfiguration({ port: 0, limits }), handler);
  onTestFinished(() => server.stop(0, AbortSignal.abort()));
  return server;
}

interface RawClient {
  readonly socket: Socket;
  /** Waits until the server has sent this text, and returns everything that it has sent. */
  readonly received: (text: string) => Promise<string>;
  /** Waits until the server closes the connection, and returns everything that it has sent. Fails when it resets the connection. */
  readonly ended: () => Promise<string>;
}

function open({ port }: HttpServer): RawClient {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  let text = '';
  let end: Error | 'ended' | null = null;
  socket.setEncoding('latin1').on('data', (data: string) => (text += data));
  socket.once('error', (error) => (end ??= error)).once('end', () => (end ??= 'ended'));
  return {
    socket,
    received: async (part) => {
      await expect.poll(() => text).toContain(part);
      return text;
    },
    ended: async () => {
      await expect.poll(() => end).toBe('ended');
      return text;
    },
  };
}

const head = (path: string, headers: readonly string[]): string =>
  [`POST ${path} HTTP/1.1`, 'Host: localhost', ...headers, '', ''].join('\r\n');
const json = 'Content-Type: application/json';
const waits = 'Expect: 100-continue';
const form = 'Content-Type: multipart/form-data; boundary=x';
const file = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nabcdef\r\n--x--\r\n';

/** The status lines and the last body of everything that a server has sent. */
function summary(text: string): readonly string[] {
  return [...text.matchAll(/HTTP\/1\.1 (.*)\r\n/g)].map(([, status]) => status!);
}

describe('a request without a body, between others on a connection', () => {
  const size = nodeMiddleware(async (request) => plain(200, `whole ${(await request.body(1000)).length}`));

  test.each([
    ['whole', size],
    ['read', uploadHandler()],
  ] as const)('%s', async (name, handler) => {
    const { socket, received } = open(await serve(handler));
    const withBody = `${head('/', ['Content-Length: 2'])}ab`;
    socket.write(head('/', []) + withBody + head('/', []).replace('POST', 'GET') + head('/', [waits]));
    const sizes = async (): Promise<unknown> =>
      [...(await received(name)).matchAll(/(?:whole|read) (\d)/g)].map(([, size]) => size);
    await expect.poll(sizes).toEqual(['0', '2', '0', '0']);
  });
});

describe('Expect: 100-continue', () => {
  test('the server sends 100 when it reads the body', async () => {
    const { socket, received } = open(await serve(handlerOfGateway));
    socket.write(head('/api/save', [json, waits, 'Content-Length: 7']));
    expect(await received('\r\n\r\n')).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write('{"a":1}');
    expect(summary(await received('saved 1'))).toEqual(['100 Continue', '200 OK']);
  });

  test('the connection stays open after it', async () => {
    const { socket, received } = open(await serve(handlerOfGateway));
    socket.write(head('/api/save', [json, waits, 'Content-Length: 7']));
    await received('100 Continue');
    socket.write('{"a":1}');
    await received('saved 1');
    socket.write(`${head('/api/save', [json, 'Content-Length: 7'])}{"a":2}`);
    expect(summary(await received('saved 2'))).toEqual(['100 Continue', '200 OK', '200 OK']);
  });

  test('an upload is read after it', async () => {
    const { socket, received } = open(await serve(handlerOfGateway));
    socket.write(head('/api/add-file', [form, waits, `Content-Length: ${file.length}`]));
    expect(await received('\r\n\r\n')).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write(file);
    expect(summary(await received('added 6'))).toEqual(['100 Continue', '200 OK']);
  });

  test.each([
    ['401 Unauthorized', head('/api/keep', [json, waits, 'Content-Length: 7'])],
    [
      '403 Forbidden',
      head('/api/save', [
        json,
        waits,
        'Origin: http://evil.example',
        'Sec-Fetch-Site: cross-site',
        'Cookie: a=b',
        'Content-Length: 7',
      ]),
    ],
    ['404 Not Found', head('/api/other', [json, waits, 'Content-Length: 7'])],
    ['405 Method Not Allowed', head('/api/save', [json, waits, 'Content-Length: 7']).replace('POST', 'PUT')],
    ['401 Unauthorized', head('/api/keep-file', [form, waits, `Content-Length: ${file.length}`])],
    ['413 Payload Too Large', head('/api/add-file', [form, waits, 'Content-Length: 1000000000000'])],
    ['415 Unsupported Media Type', head('/api/add-file', [json, waits, 'Content-Length: 7'])],
    ['413 Payload Too Large', head('/api/save', [json, waits, 'Content-Length: 1000000'])],
    ['415 Unsupported Media Type', head('/api/save', [form, waits, 'Content-Length: 7'])],
    [
      '421 Misdirected Request',
      head('/api/save', [json, waits, 'Content-Length: 7']).replace('localhost', 'evil.example'),
    ],
  ])('a request that is refused without its body gets no 100: %s', async (status, request) => {
    const { socket, ended } = open(await serve(handlerOfGateway));
    socket.write(request);
    const text = await ended();
    expect(summary(text)).toEqual([status]);
    expect(text).toMatch(/^connection: close\r$/im);
  });

  test('curl sends no byte of a refused body', async () => {
    const { port } = await serve(handlerOfGateway);
    const body = JSON.stringify({ a: 'x'.repeat(100_000) });
    const report = ['-s', '-o', '/dev/null', '-w', '%{http_code} %{size_upload}'];
    const request = ['-H', waits, '-H', json, '--data-binary', body, `http://127.0.0.1:${port}/api/keep`];
    const { stdout } = await promisify(execFile)('curl', [...report, ...request]);
    expect(stdout).toBe('401 0');
  });
});

describe('limits.requestTimeout', () => {
  test.each([
    ['a length', ['Content-Length: 7'], '{"a"'],
    ['chunks', ['Transfer-Encoding: chunked'], '4\r\n{"a"\r\n'],
  ])('a body with %s that does not arrive in time: 408', async (_, headers, part) => {
    const { socket, ended } = open(await serve(handlerOfGateway, { requestTimeout: 0.1 }));
    socket.write(head('/api/save', [json, ...headers]) + part);
    const text = await ended();
    expect(summary(text)).toEqual(['408 Request Timeout']);
    expect(JSON.parse(text.split('\r\n\r\n')[1]!)).toEqual({
      type: 'urn:pgway:problem:request-timeout',
      title: 'The body did not arrive in time',
      status: 408,
      detail: 'The limit is 0.1 seconds.',
    });
  });

  test('a form for an endpoint that takes it as text: 408', async () => {
    const { socket, ended } = open(await serve(handlerOfGateway, { requestTimeout: 0.1 }));
    socket.write(head('/api/add-text', [form, 'Content-Length: 100']) + file.slice(0, -10));
    expect(summary(await ended())).toEqual(['408 Request Timeout']);
  });

  test('headers that do not arrive in time: 408', async () => {
    const { socket, ended } = open(await serve(handlerOfGateway, { headersTimeout: 0.1, requestTimeout: 60 }));
    socket.write('POST /api/save HTTP/1.1\r\nHost: localh');
    expect(summary(await ended())).toEqual(['408 Request Timeout']);
  });

  test('a connection without a request is closed', async () => {
    const { ended } = open(await serve(handlerOfGateway, { headersTimeout: 0.1 }));
    expect(summary(await ended())).toEqual(['408 Request Timeout']);
  });

  test('neither a call nor an upload is limited', async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const call = nodeMiddleware(async (request) => {
      await request.body(1000);
      await released;
      return plain(200, 'called');
    });
    const server = await serve(
      (request, response) => (request.url === '/call' ? call : handlerOfGateway)(request, response),
      {
        headersTimeout: 0.05,
        requestTimeout: 0.05,
      },
    );
    const [calling, uploading, late] = [open(server), open(server), open(server)];
    calling.socket.write(head('/call', ['Content-Length: 3']));
    uploading.socket.write(head('/api/add-file', [form, `Content-Length: ${file.length}`]) + file.slice(0, -10));
    calling.socket.write('abc');
    // Its limit passes after that of the others would have passed.
    late.socket.write(head('/api/save', [json, 'Content-Length: 7']));
    expect(summary(await late.ended())).toEqual(['408 Request Timeout']);
    // So does the check of Node, which ends a connection without a request.
    expect(summary(await open(server).ended())).toEqual(['408 Request Timeout']);
    uploading.socket.write(file.slice(-10));
    release();
    expect(summary(await uploading.received('added 6'))).toEqual(['200 OK']);
    expect(summary(await calling.received('called'))).toEqual(['200 OK']);
  });
});

describe('shutdown', () => {
  test('a running upload is finished', async () => {
    const server = await serve(uploadHandler());
    const { socket, received, ended } = open(server);
    socket.write(`${head('/', [waits, 'Content-Length: 6'])}`);
    await received('100 Continue');
    const stopped = server.stop(60_000, new AbortController().signal);
    socket.write('abcdef');
    expect(summary(await ended())).toEqual(['100 Continue', '200 OK']);
    await stopped;
  });

  test('an upload is ended after the grace period', async () => {
    const server = await serve(uploadHandler());
    const { socket, received, ended } = open(server);
    socket.write(`${head('/', [waits, 'Content-Length: 6'])}`);
    await received('100 Continue');
    await server.stop(50, new AbortController().signal);
    expect(summary(await ended())).toEqual(['100 Continue']);
  });
});

describe('a response before the end of the body', () => {
  /** Writes without end, as fast as the server reads, until the server closes the connection. */
  function flood(socket: Socket): void {
    const chunk = Buffer.alloc(65_536);
    const write = (): void => {
      while (socket.writable && socket.write(chunk));
    };
    socket.on('drain', write);
    write();
  }

  test('reaches a client that writes on', async () => {
    const { socket, ended } = open(await serve(uploadHandler(1_000_000)));
    socket.write(head('/', ['Content-Length: 1000000000000']));
    flood(socket);
    const text = await ended();
    expect(summary(text)).toEqual(['413 Payload Too Large']);
    expect(text).toMatch(/^connection: close\r$/im);
    expect(text).toMatch(/more than 1000000$/);
  });

  test('the connection is not reset while the client sends the rest', async () => {
    const { socket, ended } = open(await serve(uploadHandler(1_000_000)));
    const errors: Error[] = [];
    socket.on('error', (error) => errors.push(error));
    const closed = once(socket, 'close');
    socket.write(head('/', ['Content-Length: 20000000']));
    socket.end(Buffer.alloc(20_000_000));
    expect(summary(await ended())).toEqual(['413 Payload Too Large']);
    await closed;
    expect(errors).toEqual([]);
  });

  test('reaches fetch', async () => {
    const { port } = await serve(uploadHandler(1_000_000));
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: Buffer.alloc(50_000_000) });
    expect([response.status, await response.text()]).toEqual([413, 'more than 1000000']);
  });

  test('further requests on the connection are not taken', async () => {
    const taken: (string | undefined)[] = [];
    const server = await serve((request, response) => {
      taken.push(request.url);
      handlerOfGateway(request, response);
    });
    const { socket, ended } = open(server);
    socket.write(head('/api/keep', [json, 'Content-Length: 7']));
    expect(summary(await ended())).toEqual(['401 Unauthorized']);
    const closed = once(socket, 'close');
    socket.end(`{"a":1}${head('/api/save', [json, 'Content-Length: 7'])}{"a":1}`);
    await closed;
    // The server has then read everything that the client sent.
    await server.stop(60_000, new AbortController().signal);
    expect(taken).toEqual(['/api/keep']);
  });
});
