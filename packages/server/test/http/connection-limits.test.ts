import { once } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseConfiguration } from '../support/parse-configuration.ts';
import type { Handler, HttpServer } from '../../src/http/http-server.ts';
import { openCertificateStore } from '../../src/tls/certificate-store.ts';
import { listenWithTls } from '../../src/tls/listen-with-tls.ts';
import { createCertificate, type PemCertificate } from '../support/certificates.ts';
import { folderWith } from '../support/folder.ts';
import { tcpEntry } from '../support/tcp-table.ts';
import { exchange, openRaw, type RawClient, withoutVaryingHeaders } from '../support/raw-client.ts';

const hello: Handler = (_, response) => void response.end('hello');

interface Served {
  readonly file?: object;
  readonly handler?: Handler;
  readonly pem?: PemCertificate;
}

async function serve(limits: object, { file = {}, handler = hello, pem }: Served = {}): Promise<HttpServer> {
  const tls = pem === undefined ? {} : { tls: { certificate: 'server.crt', key: 'server.key' } };
  const configuration = parseConfiguration({ port: 0, limits, ...tls, ...file });
  const folder = await folderWith(pem === undefined ? {} : { 'server.crt': pem.certificate, 'server.key': pem.key });
  const log = { info: () => undefined, error: () => undefined };
  const certificates = await openCertificateStore(configuration, folder, log);
  const server = await listenWithTls(configuration, handler, { certificates });
  onTestFinished(() => server.stop(0, AbortSignal.abort()));
  return server;
}

const get = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';
const last = 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
const ok = 'HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello';
const lastOk = ok.replace('keep-alive', 'close');
const busy = [
  'HTTP/1.1 503 Service Unavailable',
  'content-type: text/plain; charset=utf-8',
  'content-length: 20',
  'retry-after: 1',
  'x-content-type-options: nosniff',
  'connection: close',
  '',
  'Too many connections',
].join('\r\n');

/** Opens a connection that stays open, on which a request has been answered. */
async function occupy(port: number, from: string, ca?: string): Promise<RawClient> {
  const client = openRaw({ port, from, ...(ca === undefined ? {} : { ca }) });
  client.socket.write(get);
  await expect.poll(client.text).toContain('hello');
  return client;
}

const request = async (bytes: string, options: Parameters<typeof exchange>[1]): Promise<string> =>
  withoutVaryingHeaders(await exchange(bytes, options));

describe('maxConnections', () => {
  test('another connection is answered 503, its request is not served, and a free place is used', async () => {
    let served = 0;
    const { port } = await serve({ maxConnections: 1 }, { handler: (_, response) => void response.end(`${++served}`) });
    const first = openRaw({ port });
    first.socket.write(get);
    await expect.poll(() => served).toBe(1);
    expect(await request(get, { port })).toBe(busy);
    first.socket.destroy();
    await expect.poll(() => request(last, { port })).toMatch(/^HTTP\/1\.1 200 OK[^]*\r\n2$/);
  });

  test('connections that were answered 503 do not hold up a stop', async () => {
    const server = await serve({ maxConnections: 1 });
    await occupy(server.port, '127.0.0.1');
    // Keeps its end open.
    const refused = openRaw({ port: server.port });
    await expect.poll(refused.text).toBe(busy);
    await server.stop(60_000, new AbortController().signal);
  });
});

describe('maxConnectionsPerAddress', () => {
  test('another connection from the address is answered 503', async () => {
    const { port } = await serve({ maxConnectionsPerAddress: 2 });
    const [first] = [await occupy(port, '127.0.0.2'), await occupy(port, '127.0.0.2')];
    expect(await request(get, { port, from: '127.0.0.2' })).toBe(busy);
    expect(await request(last, { port, from: '127.0.0.3' })).toBe(lastOk);
    first.socket.destroy();
    await expect.poll(() => request(last, { port, from: '127.0.0.2' })).toBe(lastOk);
  });

  test('IPv6 counts by network, and IPv4 on a dual-stack listener by address', async () => {
    const { port } = await serve({ maxConnectionsPerAddress: 1 }, { file: { host: '::' } });
    const first = openRaw({ port, host: '::1' });
    first.socket.write(get);
    await expect.poll(first.text).toContain('hello');
    expect(await request(get, { port, host: '::1' })).toBe(busy);
    await occupy(port, '127.0.0.2');
    expect(await request(last, { port, from: '127.0.0.3' })).toBe(lastOk);
    expect(await request(get, { port, from: '127.0.0.2' })).toBe(busy);
  });

  test('not for proxies', async () => {
    const file = { authentication: { trustedProxies: ['127.0.0.2'] } };
    const { port } = await serve({ maxConnectionsPerAddress: 1 }, { file });
    await occupy(port, '127.0.0.2');
    expect(await request(last, { port, from: '127.0.0.2' })).toBe(lastOk);
  });

  test('null: no limit but that of all connections', async () => {
    const { port } = await serve({ maxConnectionsPerAddress: null, maxConnections: 2 });
    await occupy(port, '127.0.0.2');
    expect(await request(last, { port, from: '127.0.0.2' })).toBe(lastOk);
  });

  test('with TLS, the connection is closed before the handshake', async () => {
    const pem = await createCertificate();
    const { port } = await serve({ maxConnectionsPerAddress: 1 }, { pem });
    const ca = pem.certificate;
    const silent = openRaw({ port, from: '127.0.0.2' });
    await once(silent.socket, 'connect');
    await expect.poll(() => request(last, { port, from: '127.0.0.2', ca })).toBe(' ECONNRESET');
    expect(await request(last, { port, from: '127.0.0.3', ca })).toBe(lastOk);
  });
});

describe('maxRequestsPerConnection', () => {
  test('the last response closes the connection, and further requests are not served', async () => {
    const urls: (string | undefined)[] = [];
    const handler: Handler = ({ url }, response) => {
      urls.push(url);
      response.end('hello');
    };
    const { port } = await serve({ maxRequestsPerConnection: 2 }, { handler });
    expect(await request(get + get + get.replace('/', '/third'), { port })).toBe(ok + lastOk);
    expect(urls).toEqual(['/', '/']);
  });
});

describe('maxConcurrentStreams', () => {
  test('a client that pipelines more requests is disconnected', async () => {
    const waiting: (() => void)[] = [];
    const handler: Handler = (_, response) => void waiting.push(() => response.end('hello'));
    const { port } = await serve({ maxConcurrentStreams: 3 }, { handler });
    const client = openRaw({ port });
    client.socket.write(get.repeat(3));
    await expect.poll(() => waiting.length).toBe(3);
    waiting.splice(0).forEach((respond) => respond());
    await expect.poll(client.text).toMatch(/(hello[^]*){3}/);
    expect(await request(get.repeat(4), { port })).toBe('');
  });
});

test.skipIf(process.platform !== 'linux')('TCP keep-alive finds clients that have vanished', async () => {
  const { port } = await serve({});
  const { socket } = await occupy(port, '127.0.0.2');
  const entry = await tcpEntry(port, socket.localPort!, '127.0.0.2');
  // The kind of the timer, 2 for keep-alive, and when it expires, in hundredths of seconds.
  const [kind, expires] = entry!.trim().split(/\s+/)[5]!.split(':');
  expect(kind).toBe('02');
  expect(Number.parseInt(expires!, 16)).toSatisfy((time: number) => time > 4500 && time <= 6000);
});
