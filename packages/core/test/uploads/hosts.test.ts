import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import compress from '@fastify/compress';
import cors from '@fastify/cors';
import helmet from '@fastify/helmet';
import rateLimit from '@fastify/rate-limit';
import { createAdaptorServer } from '@hono/node-server';
import { createGateway, type Gateway, type UploadHandler } from '@pgway/core';
import { gatewayPlugin } from '@pgway/core/fastify';
import { useDatabase } from '@pgway/testing';
import express, { type RequestHandler } from 'express';
import { fastify, type FastifyInstance } from 'fastify';
import { Hono } from 'hono';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';

const database = useDatabase(`
  create function add_cover(_title text, _metadata json default null) returns json language sql volatile as $$
    select json_build_object('title', _title, 'files', (
      select json_agg(json_build_object('name', file ->> 'fileName', 'size', file -> 'size', 'success', file -> 'success'))
      from json_array_elements(_metadata) file))
  $$;
  comment on function add_cover is 'HTTP POST
  upload for recorder
  param _metadata is upload metadata';
`);

/** The calls of the handler and the failed requests. */
let events: string[];
/** The bytes that the handler has read. */
let bytesRead: number;

const recorder: UploadHandler = {
  async store({ fileName, content }, { onRollback, onCommit }) {
    events.push(`store ${fileName}`);
    onRollback(() => void events.push(`roll back ${fileName}`));
    onCommit(() => void events.push(`commit ${fileName}`));
    try {
      for await (const chunk of content) bytesRead += (chunk as Buffer).length;
    } catch (error) {
      events.push(`failed ${fileName}`);
      throw error;
    }
    return { status: 'Ok' };
  },
};

let gateway: Gateway;

beforeAll(async () => {
  gateway = await createGateway({
    connectionString: database.connectionString,
    observer: (event) => {
      if (event.kind === 'request-failed') events.push(`${event.status}: ${event.error.message}`);
    },
    uploadOptions: {
      uploadHandlers: { recorder: () => recorder },
      defaultUploadHandler: 'recorder',
      maxFileSize: 5_000_000,
    },
  });
});
afterAll(() => gateway.close());
beforeEach(() => {
  events = [];
  bytesRead = 0;
});

interface Host {
  readonly name: string;
  /** Starts the host, and returns its port. */
  readonly start: () => Promise<number>;
}

async function listen(server: Server): Promise<number> {
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

async function listenFastify(register: (app: FastifyInstance) => unknown = () => undefined): Promise<number> {
  const app: FastifyInstance = fastify({ forceCloseConnections: true });
  onTestFinished(() => app.close());
  await register(app);
  await app.register(gatewayPlugin, { gateway });
  return Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port);
}

async function registerPlugins(app: FastifyInstance): Promise<void> {
  await app.register(compress, { threshold: 0 });
  await app.register(cors);
  await app.register(helmet);
  await app.register(rateLimit);
}

const hono = (): Hono => new Hono().use(async (context, next) => (await gateway.fetch(context.req.raw)) ?? next());

const hosts: readonly Host[] = [
  { name: 'node:http', start: () => listen(createServer(gateway.middleware)) },
  { name: 'Express', start: () => listen(createServer(express().use(gateway.middleware))) },
  {
    name: 'Express with parsers of other media types',
    start: () => listen(createServer(express().use(express.json(), express.urlencoded(), gateway.middleware))),
  },
  { name: 'Fastify', start: () => listenFastify() },
  { name: 'Fastify with plugins', start: () => listenFastify(registerPlugins) },
  {
    name: 'Hono',
    start: () => listen(createAdaptorServer({ fetch: hono().fetch, overrideGlobalObjects: false }) as Server),
  },
];

const megabyte = Buffer.alloc(1_000_000, 'abcdefg');
const end = '\r\n--x--\r\n';

/** The head of a request with one file, and the head of the file. */
function head(fileSize: number): string {
  const part =
    '--x\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n';
  const length = part.length + fileSize + end.length;
  return [
    'POST /api/add-cover?title=Emma HTTP/1.1',
    'Host: localhost',
    'Content-Type: multipart/form-data; boundary=x',
    `Content-Length: ${length}`,
    '',
    part,
  ].join('\r\n');
}

async function open(port: number): Promise<{ readonly socket: Socket; readonly response: () => string }> {
  let response = '';
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('data', (data) => (response += data.toString()));
  socket.on('error', () => undefined);
  return { socket, response: () => response };
}

describe.each(hosts)('$name', ({ start }) => {
  test('a form with two files', async () => {
    const port = await start();
    const body = new FormData();
    body.append('file', new Blob([megabyte]), 'a.png');
    body.append('file', new Blob(['abc']), 'b.png');
    const response = await fetch(`http://127.0.0.1:${port}/api/add-cover?title=Emma`, { method: 'POST', body });
    expect([response.status, await response.json()]).toEqual([
      200,
      {
        title: 'Emma',
        files: [
          { name: 'a.png', size: 1_000_000, success: true },
          { name: 'b.png', size: 3, success: true },
        ],
      },
    ]);
    expect(events).toEqual(['store a.png', 'store b.png', 'commit a.png', 'commit b.png']);
  });

  test('the handler reads the file while the client sends it', async () => {
    const { socket, response } = await open(await start());
    socket.write(head(2_000_000));
    socket.write(megabyte);
    await expect.poll(() => bytesRead).toBeGreaterThan(900_000);
    socket.write(megabyte);
    socket.write(end);
    await expect.poll(response).toContain('"size" : 2000000');
    expect(response()).toMatch(/^HTTP\/1\.1 200 OK/);
  });

  test('a client that disconnects cancels the upload', async () => {
    const { socket } = await open(await start());
    socket.write(head(2_000_000));
    socket.write(megabyte);
    await expect.poll(() => bytesRead).toBeGreaterThan(900_000);
    socket.destroy();
    await expect.poll(() => events).toEqual(['store a.png', 'failed a.png', 'roll back a.png']);
  });

  test('a file past the limit is refused before it has arrived', async () => {
    const { socket, response } = await open(await start());
    socket.write(head(9_000_000));
    for (let sent = 0; sent < 6; sent += 1) socket.write(megabyte);
    await expect.poll(response).toContain('413 Payload Too Large');
    expect(events).toEqual([
      'store a.png',
      'failed a.png',
      'roll back a.png',
      '413: The file "a.png" is larger than the limit of 5000000 bytes.',
    ]);
  });
});

test('a form that a parser of the host has read: 500, and the log names the cause', async () => {
  const multer: RequestHandler = (request, _response, next) => {
    request.resume().once('end', () => {
      request.body = { title: 'Emma' };
      next();
    });
  };
  const port = await listen(createServer(express().use(multer, gateway.middleware)));
  const body = new FormData();
  body.append('file', new Blob(['abc']), 'a.png');
  const response = await fetch(`http://127.0.0.1:${port}/api/add-cover?title=Emma`, { method: 'POST', body });
  expect([response.status, await response.json()]).toMatchObject([500, { type: 'urn:pgway:problem:internal' }]);
  expect(events).toEqual(['500: The host has read the body before the gateway; mount the gateway before the parser.']);
});
