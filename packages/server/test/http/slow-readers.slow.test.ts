/** Clients that do not read their response. */
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createGateway } from '@pgway/core';
import { holdLock, useDatabase } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { parseConfiguration } from '../support/parse-configuration.ts';
import { gatewayOptions } from '../../src/gateway-options.ts';
import { createApp } from '../../src/http/app.ts';
import { type Handler, type HttpServer, listen } from '../../src/http/http-server.ts';
import { folderWith } from '../support/folder.ts';
import { openRaw } from '../support/raw-client.ts';

const database = useDatabase(`
  create function letters(_length int) returns text language sql stable as $$ select repeat('a', _length) $$;
  comment on function letters is 'HTTP GET';
  create function wait() returns text language sql as $$ select 'waited' from pg_advisory_xact_lock(1) $$;
  comment on function wait is 'HTTP GET';
`);

/** More than the kernel buffers. */
const size = 32 * 1024 * 1024;

interface Observed {
  readonly server: HttpServer;
  /** The begun responses, and how the ended ones ended. */
  readonly begun: string[];
  readonly ended: string[];
}

/** Observes the responses of a handler. */
async function serve(handler: Handler, file: object): Promise<Observed> {
  const begun: string[] = [];
  const ended: string[] = [];
  const server = await listen(parseConfiguration({ port: 0, ...file }), (request, response) => {
    begun.push(request.url!);
    response.once('close', () => ended.push(`${request.url} ${response.writableFinished ? 'sent' : 'cut off'}`));
    handler(request, response);
  });
  onTestFinished(() => server.stop(0, AbortSignal.abort()));
  return { server, begun, ended };
}

/** Serves endpoints and the file `/large.bin`. */
async function serveApp(file: object, fileSize = size): Promise<Observed> {
  const folder = await folderWith();
  await writeFile(join(folder, 'large.bin'), Buffer.alloc(fileSize));
  const configuration = parseConfiguration({ ...file, staticFiles: { root: folder } });
  const gateway = await createGateway(await gatewayOptions(configuration, database.connectionString, {}));
  const app = await createApp(configuration, gateway);
  onTestFinished(async () => {
    await app.close();
    await gateway.close();
  });
  return serve(app.handle, file);
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const timeout = { gateway: { slowClientTimeout: 0.2 } };

test.each(['/large.bin', '/api/letters?length=5000000'])('%s: the connection is closed', async (path) => {
  const { server, ended } = await serveApp(timeout);
  openRaw({ port: server.port }).socket.pause().write(get(path));
  await expect.poll(() => ended).toEqual([`${path} cut off`]);
});

test('bytes of further requests do not extend the time', async () => {
  const { server, ended } = await serveApp(timeout);
  const { socket } = openRaw({ port: server.port });
  socket.pause().write(get('/large.bin'));
  const ticker = setInterval(() => socket.write('G'), 20);
  onTestFinished(() => clearInterval(ticker));
  await expect.poll(() => ended).toEqual(['/large.bin cut off']);
});

test('pipelined requests whose responses are not read are aborted', async () => {
  const { server, ended, begun } = await serve((_, response) => void response.end(Buffer.alloc(200_000)), timeout);
  const { socket } = openRaw({ port: server.port });
  socket.pause().write(get('/').repeat(90));
  await expect.poll(() => begun.length).toBe(90);
  await expect.poll(() => ended.length).toBe(90);
  expect(ended).toContain('/ cut off');
});

test('the calls of pipelined requests are cancelled when the client disconnects', async () => {
  const { server } = await serveApp({ gateway: { commandTimeout: 600 } });
  const lock = await holdLock(database.connectionString, 1);
  onTestFinished(() => lock.release());
  const { socket } = openRaw({ port: server.port });
  socket.write(get('/api/wait').repeat(3));
  await expect.poll(() => lock.waiting()).toBe(3);
  socket.destroy();
  await expect.poll(() => lock.waiting()).toBe(0);
});

test('a client that reads slowly receives everything', async () => {
  // Less than the time of the whole response, and more than a busy machine needs to take what the buffers of the kernel hold.
  const large = 4 * size;
  const { server, ended } = await serveApp({ gateway: { slowClientTimeout: 4 } }, large);
  const { socket } = openRaw({ port: server.port });
  let received = 0;
  socket.removeAllListeners('data').on('data', (data: string) => {
    received += data.length;
    socket.pause();
    setTimeout(() => socket.resume(), 5);
  });
  socket.write(get('/large.bin'));
  await expect.poll(() => ended).toEqual(['/large.bin sent']);
  await expect.poll(() => received).toBeGreaterThan(large);
});

test('a stop waits for a response that has been written but not sent', async () => {
  const { server, begun, ended } = await serve((_, response) => void response.end(Buffer.alloc(size)), {});
  const { socket, closed } = openRaw({ port: server.port });
  socket.pause().write(get('/'));
  await expect.poll(() => begun).toEqual(['/']);
  const stopped = server.stop(60_000, new AbortController().signal);
  // More than one interval of the checks for idle connections.
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(ended).toEqual([]);
  socket.resume();
  await stopped;
  expect((await closed).length).toBeGreaterThan(size);
  expect(ended).toEqual(['/ sent']);
});

test('a stop answers all pipelined requests', async () => {
  const waiting: (() => void)[] = [];
  const { server } = await serve(({ url }, response) => void waiting.push(() => response.end(url)), {});
  const { socket, closed } = openRaw({ port: server.port });
  socket.write(get('/a') + get('/b') + get('/c'));
  await expect.poll(() => waiting.length).toBe(3);
  const stopped = server.stop(60_000, new AbortController().signal);
  for (const respond of waiting) respond();
  await stopped;
  expect(
    [...(await closed).matchAll(/Connection: (.*)|(\/.)(?=HTTP|$)/g)].map(([, head, body]) => head ?? body),
  ).toEqual(['keep-alive', '/a', 'keep-alive', '/b', 'close', '/c']);
});

test('a stop closes connections without a request', async () => {
  const { server, ended } = await serve((_, response) => void response.end('a'), {});
  const [silent, idle] = [openRaw({ port: server.port }), openRaw({ port: server.port })];
  idle.socket.write(get('/'));
  await once(silent.socket, 'connect');
  await expect.poll(() => ended).toEqual(['/ sent']);
  await server.stop(60_000, new AbortController().signal);
  expect(await silent.closed).toBe('');
});
