import { randomBytes } from 'node:crypto';
import { type IncomingMessage, request as sendRequest } from 'node:http';
import type { Duplex } from 'node:stream';
import { createGateway } from '@pgway/core';
import { useDatabase } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { gatewayOptions } from '../../src/gateway-options.ts';
import { openApp } from '../../src/http/deferred-app.ts';
import { listen } from '../../src/http/http-server.ts';
import { openRealtime } from '../../src/realtime.ts';
import { parseConfiguration } from '../support/parse-configuration.ts';

const database = useDatabase(`
  create function hello(_name text default 'you') returns text language sql stable as $$ select 'Hello ' || _name $$;
  comment on function hello is 'HTTP GET';
  create publication pgway_changes;
`);

/** Serves with this configuration until the test has ended, and returns the port. */
async function serve(file: object): Promise<number> {
  const configuration = parseConfiguration({ port: 0, ...file });
  const gateway = await createGateway(await gatewayOptions(configuration, database.connectionString, {}));
  onTestFinished(() => gateway.close());
  const changes = await openRealtime(configuration, gateway);
  const app = await openApp(configuration, gateway, {});
  const server = await listen(configuration, app.handle, { upgrade: changes?.upgrade });
  onTestFinished(async () => {
    await changes?.close();
    await server.stop(0, AbortSignal.abort());
    await app.close();
  });
  return server.port;
}

interface Upgraded {
  readonly status: number;
  readonly body: string;
  /** Null unless the protocol has changed. */
  readonly socket: Duplex | null;
}

/** Sends a request with the header `Upgrade`. */
function upgrade(port: number, path: string, headers: Readonly<Record<string, string>> = {}): Promise<Upgraded> {
  return new Promise((resolve, reject) => {
    const key = randomBytes(16).toString('base64');
    const webSocket = { upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': key };
    const request = sendRequest({ port, path, headers: { connection: 'Upgrade', ...webSocket, ...headers } });
    request.on('upgrade', ({ statusCode = 0 }, socket) => {
      onTestFinished(() => void socket.destroy());
      resolve({ status: statusCode, body: '', socket });
    });
    request.on('response', (response: IncomingMessage) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body, socket: null }));
    });
    request.on('error', reject);
    request.end();
  });
}

const path = '/realtime/v1/websocket?vsn=1.0.0';

test('the server answers at the path of the configuration', async () => {
  const port = await serve({ realtime: { path: '/realtime/v1' } });
  const { status, socket } = await upgrade(port, path);
  expect(status).toBe(101);
  const message = JSON.stringify({ topic: 'phoenix', event: 'heartbeat', payload: {}, ref: '1' });
  // A frame with text, masked with zeros (RFC 6455, section 5.2).
  socket!.write(Buffer.concat([Buffer.from([0x81, 0x80 | message.length, 0, 0, 0, 0]), Buffer.from(message)]));
  const answer = await new Promise<string>((resolve) => socket!.once('data', (data: Buffer) => resolve(String(data))));
  expect(answer).toContain('"event":"phx_reply","payload":{"status":"ok","response":{}}');
});

test('other requests to upgrade are answered as without it', async () => {
  const port = await serve({ realtime: { path: '/realtime/v1' } });
  expect(await upgrade(port, '/api/hello', { upgrade: 'h2c' })).toEqual({
    status: 200,
    body: 'Hello you',
    socket: null,
  });
  expect((await upgrade(port, '/other')).status).toBe(404);
  expect((await upgrade(port, path, { host: 'evil.example.org' })).status).toBe(421);
  expect((await upgrade(port, path, { origin: 'https://evil.example.org' })).status).toBe(403);
});

test('a request with a body does not change the protocol: the body is not the first frames', async () => {
  const port = await serve({ realtime: { path: '/realtime/v1' } });
  expect(await upgrade(port, path, { 'content-length': '3' })).toEqual({ status: 400, body: '', socket: null });
  expect(await upgrade(port, path, { 'transfer-encoding': 'chunked' })).toEqual({
    status: 400,
    body: '',
    socket: null,
  });
  expect((await upgrade(port, path, { 'content-length': '0' })).status).toBe(101);
});

test('pages whose origins CORS allows may connect', async () => {
  const port = await serve({ realtime: { path: '/realtime/v1' }, cors: { origins: ['https://app.example.org'] } });
  expect((await upgrade(port, path, { origin: 'https://app.example.org' })).status).toBe(101);
});

test('pages whose origins CORS allows may send broadcasts by HTTP, and those of other sites may not', async () => {
  const cors = { origins: ['https://app.example.org'] };
  const port = await serve({ realtime: { path: '/realtime/v1', publicChannels: true }, cors });
  const url = `http://localhost:${port}/realtime/v1/api/broadcast`;
  const origin = 'https://app.example.org';
  const asked = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'apikey,content-type' };
  const preflight = await fetch(url, { method: 'OPTIONS', headers: { origin, ...asked } });
  expect([preflight.status, preflight.headers.get('access-control-allow-headers')]).toEqual([
    204,
    'apikey,content-type',
  ]);
  const post = async (page: string): Promise<unknown> => {
    const body = JSON.stringify({ messages: [{ topic: 'room', event: 'x' }] });
    const headers = { origin: page, apikey: 'key', 'content-type': 'application/json' };
    const response = await fetch(url, { method: 'POST', body, headers });
    return [response.status, response.headers.get('access-control-allow-origin')];
  };
  expect(await post(origin)).toEqual([202, origin]);
  expect(await post('https://evil.example.org')).toEqual([403, null]);
  expect((await fetch(url)).status).toBe(405);
});

test('without the path, there is none', async () => {
  expect((await upgrade(await serve({}), path)).status).toBe(404);
});

test('tenants are refused', async () => {
  const configuration = parseConfiguration({
    realtime: { path: '/realtime/v1' },
    tenant: { by: 'host', host: '{tenant}.example.org', query: 'select 1' },
  });
  await expect(openRealtime(configuration, null as never)).rejects.toThrow(
    'realtime.path: not with tenant.by; clients of tenants use the streams of changes',
  );
});
