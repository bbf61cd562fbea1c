import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { createGunzip, gzipSync } from 'node:zlib';
import { gatewayPlugin } from '@pgway/core/fastify';
import express from 'express';
import { fastify, type preParsingHookHandler } from 'fastify';
import { describe, expect, onTestFinished, test } from 'vitest';
import { fetchHandler } from '../../src/adapters/fetch.ts';
import { nodeMiddleware } from '../../src/adapters/node.ts';
import { Problem } from '../../src/http/problem.ts';
import type { GatewayRequest } from '../../src/http/request.ts';
import type { GatewayResponse, Handle } from '../../src/http/response.ts';

const text = (body: string): GatewayResponse => ({ kind: 'whole', status: 200, headers: [], body });
const megabyte = Buffer.alloc(1_000_000, 'abcdefg');

async function collect(request: GatewayRequest): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request.chunks()) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Responds with the body, or with the problem of the attempt to read it. */
const readOrExplain: Handle = async (request) => {
  try {
    return text(`read ${(await collect(request)).toString()}`);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return text(`${error.code}: ${error.detail}`);
  }
};

async function listen(server: Server): Promise<number> {
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

interface Host {
  readonly name: string;
  readonly listen: (handle: Handle) => Promise<number>;
}

/** Decompresses the body without `stream.pipeline`. */
const gunzip: preParsingHookHandler = (_request, _reply, payload, done) =>
  done(null, (payload as IncomingMessage).pipe(createGunzip()));

async function listenFastify(handle: Handle, preParsing?: preParsingHookHandler): Promise<number> {
  const app = fastify({ forceCloseConnections: true });
  onTestFinished(() => app.close());
  if (preParsing !== undefined) app.addHook('preParsing', preParsing);
  await app.register(gatewayPlugin, { gateway: { handle, endStreams: () => undefined } });
  return Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port);
}

const hosts: readonly Host[] = [
  { name: 'node:http', listen: (handle) => listen(createServer(nodeMiddleware(handle))) },
  { name: 'Express', listen: (handle) => listen(createServer(express().use(nodeMiddleware(handle)))) },
  { name: 'Fastify', listen: (handle) => listenFastify(handle) },
];

describe.each(hosts)('$name', (host) => {
  test('a body in chunks', async () => {
    const port = await host.listen(async (request) => text((await collect(request)).toString()));
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: megabyte });
    expect(Buffer.from(await response.arrayBuffer()).equals(megabyte)).toBe(true);
  });

  test('an early end: the response is sent, the rest is not read', async () => {
    const port = await host.listen(async (request) => {
      let size = 0;
      for await (const chunk of request.chunks()) {
        size = chunk.length;
        break;
      }
      return text(`read ${size} of ${request.remoteAddress}`);
    });
    const socket = connect(port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n12345');
    const response = await new Promise<string>((resolve) =>
      socket.on('data', (data) => data.includes('read') && resolve(data.toString())),
    );
    expect(response.split('\r\n\r\n')[1]).toBe('read 5 of 127.0.0.1');
  });

  test('an end while the sender is waited for: the response is sent', async () => {
    const port = await host.listen(async (request) => {
      const chunks = request.chunks()[Symbol.asyncIterator]();
      await chunks.next();
      const pending = chunks.next();
      await chunks.return!();
      return text(JSON.stringify([await pending, await chunks.next()]));
    });
    const socket = connect(port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n12345');
    const response = await new Promise<string>((resolve) =>
      socket.on('data', (data) => data.includes('done') && resolve(data.toString())),
    );
    expect(response.split('\r\n\r\n')[1]).toBe('[{"done":true},{"done":true}]');
  });

  test('the rest is discarded after the response, so that the connection serves the next request', async () => {
    const port = await host.listen(async (request) => {
      for await (const _ of request.chunks()) break;
      return text(`responded to ${request.method};`);
    });
    const socket = connect(port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${megabyte.length}\r\n\r\n`);
    socket.write(megabyte);
    socket.write('DELETE / HTTP/1.1\r\nHost: x\r\n\r\n');
    const responses = await new Promise<string>((resolve) => {
      let received = '';
      socket.on('data', (data) => {
        received += data.toString();
        if (received.includes('DELETE')) resolve(received);
      });
    });
    expect(responses.match(/responded to \w+;/g)).toEqual(['responded to POST;', 'responded to DELETE;']);
  });

  test('a client that disconnects: malformed-body', async () => {
    const socket = new Socket();
    const problem = new Promise<unknown>((resolve) => {
      void host
        .listen(async (request) => {
          try {
            for await (const _ of request.chunks()) socket.destroy();
            resolve('complete');
          } catch (error) {
            resolve(error);
          }
          return text('');
        })
        .then((port) => {
          socket.connect(port, '127.0.0.1');
          socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n12345');
        });
    });
    expect(await problem).toMatchObject({ code: 'malformed-body', detail: 'The body ended before it was complete.' });
  });
});

describe('a body that the host has replaced', () => {
  test('is the one that the gateway reads', async () => {
    const port = await listenFastify(async (request) => text((await collect(request)).toString()), gunzip);
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: gzipSync(megabyte) });
    expect(Buffer.from(await response.arrayBuffer()).equals(megabyte)).toBe(true);
  });

  test.each(['chunks', 'body'] as const)('fails when the client disconnects: %s()', async (member) => {
    const socket = new Socket();
    const failed = new Promise<unknown>((resolve) => {
      const handle: Handle = async (request) => {
        socket.destroy();
        await (member === 'body' ? request.body(1000) : collect(request)).then(() => resolve('read'), resolve);
        return text('');
      };
      void listenFastify(handle, gunzip).then((port) => {
        socket.connect(port, '127.0.0.1');
        socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n');
      });
    });
    expect(await failed).toMatchObject({ code: 'malformed-body' });
  });
});

describe('a body that a parser of the host has read', () => {
  const hint = 'The host has read the body before the gateway; mount the gateway before the parser.';

  test.each([
    ['express.json()', express.json(), `internal: ${hint}`],
    ['express.raw()', express.raw({ type: '*/*' }), 'read {"a":1}'],
  ])('%s', async (_, parser, expected) => {
    const port = await listen(createServer(express().use(parser, nodeMiddleware(readOrExplain))));
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body: '{"a":1}' });
    expect(await response.text()).toBe(expected);
  });

  test('fetch', async () => {
    const request = new Request('http://x/', { method: 'POST', body: 'abc' });
    await request.text();
    const response = await fetchHandler(readOrExplain)(request);
    expect(await response?.text()).toBe(`internal: ${hint}`);
  });
});

describe('fetch', () => {
  test('a body in chunks; none without a body', async () => {
    const handler = fetchHandler(readOrExplain);
    const request = new Request('http://x/', { method: 'POST', body: 'abc' });
    expect(await (await handler(request))?.text()).toBe('read abc');
    expect(await (await handler(new Request('http://x/')))?.text()).toBe('read ');
  });

  test('an early end cancels the body', async () => {
    let cancelled = false;
    const body = new ReadableStream({
      pull: (controller) => controller.enqueue(Buffer.from('abc')),
      cancel: () => {
        cancelled = true;
      },
    });
    const handler = fetchHandler(async (request) => {
      for await (const chunk of request.chunks()) return text(`read ${chunk.length}`);
      return text('no chunk');
    });
    const response = await handler(new Request('http://x/', { method: 'POST', body, duplex: 'half' }));
    expect([await response?.text(), cancelled]).toEqual(['read 3', true]);
  });

  test('an end while the sender is waited for cancels the body', async () => {
    let cancelled = false;
    const body = new ReadableStream({
      cancel: () => {
        cancelled = true;
      },
    });
    const handler = fetchHandler(async (request) => {
      const chunks = request.chunks()[Symbol.asyncIterator]();
      const pending = chunks.next();
      await chunks.return!();
      return text(JSON.stringify(await pending));
    });
    const response = await handler(new Request('http://x/', { method: 'POST', body, duplex: 'half' }));
    expect([await response?.text(), cancelled]).toEqual(['{"done":true}', true]);
  });

  test.each(['chunks', 'body'] as const)('a client that disconnects: malformed-body from %s()', async (member) => {
    const body = new ReadableStream({
      start: (controller) => controller.error(new Error('aborted')),
    });
    const failed = new Promise<unknown>((resolve) => {
      const handler = fetchHandler(async (request) => {
        await (member === 'body' ? request.body(1000) : collect(request)).then(() => resolve('read'), resolve);
        return text('');
      });
      void handler(new Request('http://x/', { method: 'POST', body, duplex: 'half' }));
    });
    expect(await failed).toMatchObject({ code: 'malformed-body' });
  });
});
