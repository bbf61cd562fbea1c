import { createServer as createHttp2Server, connect as connectHttp2, type ServerHttp2Stream } from 'node:http2';
import { createServer, IncomingMessage, ServerResponse, type RequestListener } from 'node:http';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { once } from 'node:events';
import { gatewayPlugin } from '@pgway/core/fastify';
import { useGateway } from '@pgway/testing';
import { fastify } from 'fastify';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { responseBuffers } from '../../src/response/buffer-pool.ts';

/**
 * Buffers of responses are used again, but never before their bytes have left the process. A buffer that is given back is overwritten here
 * with a byte that is not part of UTF-8, and the next response writes other letters into it.
 */

const gateway = useGateway(
  `
  create function letters(_letter text, _rows int) returns setof text language sql stable
    as $$ select repeat(_letter, 1100) from generate_series(1, _rows) $$;
  comment on function letters is 'HTTP GET';
  create function streamed(_letter text, _rows int) returns setof text language sql stable
    as $$ select repeat(_letter, 1100) from generate_series(1, _rows) $$;
  comment on function streamed is E'HTTP GET\\nbuffer_rows 0';
  create function whole(_letter text, _rows int) returns setof text language sql stable
    as $$ select repeat(_letter, 1100) from generate_series(1, _rows) $$;
  comment on function whole is E'HTTP GET\\nbuffer_rows 1';
  create function kept(_letter text, _rows int) returns setof text language sql stable
    as $$ select repeat(_letter, 1100) from generate_series(1, _rows) $$;
  comment on function kept is E'HTTP GET\\ncached';
`,
  // Streams that wait for the responses before them on the same client connection hold a connection of the pool.
  { poolSize: 20, acquireTimeout: 30 },
);

beforeAll(() => {
  responseBuffers.freeByte = 0xfe;
});
afterAll(() => {
  responseBuffers.freeByte = null;
});

/** Bodies that are small enough to be copied, that are sent whole, and that are streamed. */
const sizes = [0, 3, 20, 60, 100, 250];
const pathOf = (letter: string, rows: number, name = 'letters'): string => `/api/${name}?letter=${letter}&rows=${rows}`;
const bodyOf = (letter: string, rows: number): string =>
  `[${Array.from({ length: rows }, () => `"${letter.repeat(1100)}"`).join(',')}]`;

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  onTestFinished(() => server.closeAllConnections());
  return `http://127.0.0.1:${await listen(server)}`;
}

/** Empties the pool: a buffer in it has come back since. */
function emptyPool(): void {
  for (let size = 512; size <= 256 * 1024; size *= 2) {
    for (let before = -1; before !== responseBuffers.freeBytes;) {
      before = responseBuffers.freeBytes;
      responseBuffers.acquire(size);
    }
  }
}

const reuses = [
  ['letters', 0],
  ['letters', 3],
  ['letters', 20],
  ['letters', 40],
  ['streamed', 5],
  // Sent as a stream, because it is large.
  ['whole', 160],
] as const;

/** Returns which of the requests gave their buffers back. */
async function comesBack(run: (path: string) => Promise<string>): Promise<boolean[]> {
  const results: boolean[] = [];
  for (const [name, rows] of reuses) {
    const path = pathOf('b', rows, name);
    // The gateway learns the size of the response. A buffer that is too small comes back when it is replaced.
    for (let call = 0; call < 10; call++) {
      emptyPool();
      // One request at a time.
      expect(await run(path)).toBe(bodyOf('b', rows));
    }
    // A client may have the response before the server has the callback of its write.
    await new Promise((resolve) => setImmediate(resolve));
    results.push(responseBuffers.freeBytes > 0);
  }
  return results;
}

const fetchText = async (url: string): Promise<string> => (await fetch(url)).text();
const always = [true, true, true, true, true, true];
/** Small bodies become part of the text of their headers. */
const copied = [true, true, false, false, false, false];
const never = [false, false, false, false, false, false];

describe('buffers come back', () => {
  test('from node:http', async () => {
    expect(await comesBack((path) => fetchText(gateway.url + path))).toEqual(always);
  });

  test('only if they were copied, when the methods of the response keep chunks', async () => {
    const chunks: Uint8Array[] = [];
    const url = await serve((request, response) => {
      for (const method of ['write', 'end'] as const) {
        const original = response[method].bind(response) as (...parameters: unknown[]) => never;
        response[method] = (...parameters: unknown[]) => {
          if (parameters[0] instanceof Uint8Array) chunks.push(parameters[0]);
          return original(...parameters);
        };
      }
      gateway.gateway.middleware(request, response);
    });
    expect(await comesBack((path) => fetchText(url + path))).toEqual(copied);
    await fetchText(gateway.url + pathOf('c', 100));
    const bodies = [20, 40, 5, 160].map((rows) => bodyOf('b', rows).repeat(10));
    expect(Buffer.concat(chunks).toString()).toBe(bodies.join(''));
  });

  test('only if they were copied, when a class of responses or a socket may keep chunks', async () => {
    class Recorded extends ServerResponse {
      override end(...parameters: unknown[]): this {
        return super.end(...(parameters as Parameters<ServerResponse['end']>)) as this;
      }
    }
    const subclassed = createServer({ ServerResponse: Recorded as never }, gateway.gateway.middleware);
    onTestFinished(() => subclassed.closeAllConnections());
    const port = await listen(subclassed);
    expect(await comesBack((path) => fetchText(`http://127.0.0.1:${port}${path}`))).toEqual(copied);
    const url = await serve((request, response) => {
      const write = request.socket.write.bind(request.socket) as (...parameters: unknown[]) => boolean;
      request.socket.write = (...parameters: unknown[]) => write(...parameters);
      gateway.gateway.middleware(request, response);
    });
    expect(await comesBack((path) => fetchText(url + path))).toEqual(copied);
  });

  test('only if they were copied, from a request without a network socket', async () => {
    const simulate = async (path: string): Promise<string> => {
      const sent: Buffer[] = [];
      const socket = new Duplex({
        read: () => undefined,
        write: (chunk: Buffer, _, callback) => {
          sent.push(chunk);
          callback();
        },
      });
      const request = Object.assign(new IncomingMessage(socket as Socket), {
        method: 'GET',
        url: path,
        httpVersionMajor: 1,
        httpVersionMinor: 1,
      });
      const response = new ServerResponse(request);
      response.assignSocket(socket as Socket);
      socket.on('drain', () => response.emit('drain'));
      gateway.gateway.middleware(request, response);
      await once(response, 'finish');
      const text = Buffer.concat(sent).toString();
      const body = text.slice(text.indexOf('\r\n\r\n') + 4);
      return text.includes('Transfer-Encoding: chunked') ? unchunk(body).body : body;
    };
    expect(await comesBack(simulate)).toEqual(copied);
  });

  test('never from Fastify, fetch and HTTP/2, which may keep chunks', async () => {
    const app = fastify();
    onTestFinished(() => app.close());
    const payloads: unknown[] = [];
    app.addHook('onSend', (_request, _reply, payload, done) => {
      payloads.push(payload);
      done(null, payload);
    });
    await app.register(gatewayPlugin, { gateway: gateway.gateway });
    const url = await app.listen({ host: '127.0.0.1', port: 0 });
    expect(await comesBack((path) => fetchText(url + path))).toEqual(never);
    await fetchText(gateway.url + pathOf('c', 40));
    const wholeBodies = [0, 3, 20, 40].flatMap((rows) => Array.from({ length: 10 }, () => bodyOf('b', rows)));
    expect(payloads.filter((payload) => payload instanceof Buffer).map(String)).toEqual(wholeBodies);

    const kept: Response[] = [];
    const handle = async (path: string): Promise<string> => {
      const response = (await gateway.gateway.fetch(new Request(`http://localhost${path}`)))!;
      kept.push(response.clone());
      return response.text();
    };
    expect(await comesBack(handle)).toEqual(never);
    await fetchText(gateway.url + pathOf('c', 40));
    const bodies = await Promise.all(kept.map((response) => response.text()));
    const streamed = [5, 160].flatMap((rows) => Array.from({ length: 10 }, () => bodyOf('b', rows)));
    expect(bodies).toEqual([...wholeBodies, ...streamed]);
  });

  test('never while a cache holds the body', async () => {
    const get = (): Promise<string> => fetchText(`${gateway.url}/api/kept?letter=k&rows=60`);
    for (let round = 0; round < 3; round++) {
      expect(await get()).toBe(bodyOf('k', 60));
      expect(await fetchText(gateway.url + pathOf('d', 60))).toBe(bodyOf('d', 60));
    }
  });
});

test('HTTP/2 gets whole bodies', async () => {
  const server = createHttp2Server();
  server.on('request', gateway.gateway.middleware as never);
  const port = await listen(server);
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  onTestFinished(() => session.destroy());
  const get = async (path: string): Promise<string> => {
    const stream = session.request({ ':path': path }) as unknown as ServerHttp2Stream;
    let text = '';
    stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    await once(stream, 'end');
    return text;
  };
  const letters = Array.from('abcdefgh');
  const bodies = await Promise.all(letters.flatMap((letter) => sizes.map((rows) => get(pathOf(letter, rows)))));
  expect(bodies).toEqual(letters.flatMap((letter) => sizes.map((rows) => bodyOf(letter, rows))));
});

/** Decodes a chunked body, and returns it with the rest of the text. */
function unchunk(text: string): { readonly body: string; readonly rest: string } {
  let [body, position] = ['', 0];
  for (;;) {
    const lineEnd = text.indexOf('\r\n', position);
    const size = Number.parseInt(text.slice(position, lineEnd), 16);
    body += text.slice(lineEnd + 2, lineEnd + 2 + size);
    position = lineEnd + 4 + size;
    if (size === 0) return { body, rest: text.slice(position) };
  }
}

/** Reads the bodies of pipelined responses to GET and HEAD requests. */
function readBodies(text: string, methods: readonly string[]): readonly string[] {
  let rest = text;
  return methods.map((method) => {
    const end = rest.indexOf('\r\n\r\n') + 4;
    const head = rest.slice(0, end);
    rest = rest.slice(end);
    expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    if (method === 'HEAD') return '';
    const length = /\r\ncontent-length: (\d+)\r\n/.exec(head)?.[1];
    if (length === undefined) {
      const { body, rest: next } = unchunk(rest);
      rest = next;
      return body;
    }
    const body = rest.slice(0, Number(length));
    rest = rest.slice(Number(length));
    return body;
  });
}

interface PipelinedRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/** A client that pipelines requests on one connection. It does not read before `read`. */
class PipeliningClient {
  readonly #socket: Socket;
  readonly #methods: readonly string[];

  constructor(url: string, list: readonly PipelinedRequest[]) {
    this.#socket = connect(Number(new URL(url).port), '127.0.0.1').pause();
    this.#socket.on('error', () => undefined);
    this.#methods = list.map(({ method }) => method);
    const last = list.length - 1;
    const lines = list.map(
      ({ method, path }, index) =>
        `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${index === last ? 'Connection: close\r\n' : ''}\r\n`,
    );
    this.#socket.write(lines.join(''));
  }

  async read(): Promise<readonly string[]> {
    const chunks: Buffer[] = [];
    this.#socket.on('data', (chunk: Buffer) => chunks.push(chunk)).resume();
    await once(this.#socket, 'close');
    return readBodies(Buffer.concat(chunks).toString('latin1'), this.#methods);
  }

  /** Disconnects after some bytes of a body. */
  async breakOff(): Promise<void> {
    await once(this.#socket, 'readable');
    this.#socket.read();
    this.#socket.destroy();
  }
}

/** Alternates between rows of these sizes, with some HEAD requests. */
function requests(letter: string, times: number, rows: readonly number[], name?: string): readonly PipelinedRequest[] {
  return Array.from({ length: times }, (_, index) => {
    const count = rows[index % rows.length]!;
    const method = index % 7 === 3 ? 'HEAD' : 'GET';
    return { method, path: pathOf(letter, count, name), body: method === 'HEAD' ? '' : bodyOf(letter, count) };
  });
}

test('clients that read slowly, pipeline, send HEAD or disconnect within a response get no byte of another one', async () => {
  // Larger than what the operating system takes for a client that does not read. Stalled streams would hold all connections.
  const slow = ['A', 'B', 'C'].map((letter) => requests(letter, 100, [3, 100, 60, 100], 'whole'));
  slow.push(requests('S', 1, [5000]));
  const slowClients = slow.map((list) => new PipeliningClient(gateway.url, list));
  for (const letter of 'defgh') {
    const list = requests(letter, 18, sizes);
    const leaving = new PipeliningClient(gateway.url, requests('x', 12, sizes));
    const [bodies] = await Promise.all([new PipeliningClient(gateway.url, list).read(), leaving.breakOff()]);
    expect(bodies).toEqual(list.map(({ body }) => body));
  }
  const bodies = await Promise.all(slowClients.map((client) => client.read()));
  expect(bodies).toEqual(slow.map((list) => list.map(({ body }) => body)));
  expect(responseBuffers.freeBytes).toBeGreaterThan(0);
});
