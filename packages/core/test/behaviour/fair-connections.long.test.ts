import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import type { GatewayOptions } from '@pgway/core';
import { startGateway, type TestGateway } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';

/** Responses whose clients do not read hold at most a share of the connections while other calls wait. */

const sql = `
  create function all_rows(_count int default 30000) returns table (n int, content text) language sql stable as
    $$ select n, repeat('x', 1000) from generate_series(1, _count) n $$;
  comment on function all_rows is 'HTTP GET';
  create function hello() returns text language sql stable as $$ select 'hello' $$;
  comment on function hello is 'HTTP GET';
  create sequence begun;
  create function counted_rows() returns table (n bigint, content text) language sql as
    $$ select n, repeat('x', 1000) from (select nextval('begun')) s (n), generate_series(1, 30000) $$;
  comment on function counted_rows is 'HTTP GET';
  create function begun_rows() returns bigint language sql stable as $$ select last_value from begun $$;
  comment on function begun_rows is 'HTTP GET';
`;

/** PostgreSQL waits for the gateway to read. */
const waitingForClient = `select from pg_stat_activity
  where datname = current_database() and state = 'active' and wait_event = 'ClientWrite'`;

/** The bytes of `all_rows` are at least so many: more than the buffers of the kernel hold. */
const largeBytes = 30_000_000;

/** Far above the time of a slow machine, on which each of many responses takes long to fill its buffers. */
async function serve(poolSize: number, options: Partial<GatewayOptions> = {}): Promise<TestGateway> {
  const gateway = await startGateway(sql, { poolSize, slowClientTimeout: 600, acquireTimeout: 55, ...options });
  onTestFinished(() => gateway.close());
  return gateway;
}

/** Sends a request for all rows, and reads nothing of the response. */
function ask(gateway: TestGateway, path = '/api/all-rows', { from = '127.0.0.1', header = '' } = {}): Socket {
  const socket = connect({ port: Number(new URL(gateway.url).port), host: '127.0.0.1', localAddress: from });
  socket.on('error', () => undefined).pause();
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${header}\r\n`);
  onTestFinished(() => void socket.destroy());
  return socket;
}

function statistics(gateway: TestGateway): { readonly open: number; readonly idle: number; readonly waiting: number } {
  return gateway.gateway.statistics().pools[0]!;
}

test('60 responses that are not read do not hold all connections while another call waits', async () => {
  const gateway = await serve(10);
  const closed = new Set<Socket>();
  const sockets = Array.from({ length: 60 }, () => ask(gateway));
  for (const socket of sockets) socket.once('close', () => closed.add(socket));
  await expect.poll(() => statistics(gateway)).toMatchObject({ open: 10, idle: 0 });
  expect((await gateway.send('GET /api/hello')).body).toBe('hello');
  // The clients still read nothing: they do not know which responses were ended.
  expect(closed.size).toBe(0);
});

test.each([1, 2])('a pool of %i: responses that are not read end while another call waits', async (poolSize) => {
  const gateway = await serve(poolSize);
  for (let count = 0; count < 2 * poolSize; count++) ask(gateway);
  await expect.poll(() => statistics(gateway)).toMatchObject({ open: poolSize, idle: 0 });
  expect((await gateway.send('GET /api/hello')).body).toBe('hello');
});

test.each([1, 2, 4])('a pool of %i: clients that read receive everything while other calls wait', async (poolSize) => {
  const gateway = await serve(poolSize);
  const responses = Array.from({ length: poolSize + 2 }, () => gateway.send('GET /api/all-rows'));
  expect((await gateway.send('GET /api/hello')).body).toBe('hello');
  for (const { status, body } of await Promise.all(responses)) {
    expect(status).toBe(200);
    expect(body.length).toBeGreaterThan(largeBytes);
  }
});

/** Sends a request in a thread of its own, and reads nothing until the first message. The thread sends the number of bytes when the response has ended. */
const readerInThread = `
  const { parentPort, workerData } = require('node:worker_threads');
  const socket = require('node:net').connect(workerData, '127.0.0.1').pause();
  socket.write('GET /api/all-rows HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n');
  let bytes = 0;
  socket.on('data', (data) => (bytes += data.length));
  socket.on('error', () => undefined);
  socket.on('close', () => parentPort.postMessage(bytes));
  parentPort.once('message', () => socket.resume());
`;

test('a client that has read while the gateway was busy for seconds receives everything while another call waits', async () => {
  const gateway = await serve(1);
  const reader = new Worker(readerInThread, { eval: true, workerData: Number(new URL(gateway.url).port) });
  onTestFinished(async () => void (await reader.terminate()));
  const bytes = once(reader, 'message');
  await expect.poll(() => gateway.database.query(waitingForClient)).toHaveLength(1);
  const hello = gateway.send('GET /api/hello');
  await expect.poll(() => statistics(gateway).waiting).toBe(1);
  // Timers come next, before the events of sockets.
  await new Promise((resolve) => setImmediate(resolve));
  reader.postMessage('read');
  // No event of this process is handled meanwhile.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_500);
  expect((await bytes)[0]).toBeGreaterThan(largeBytes);
  expect((await hello).body).toBe('hello');
});

const forwardedFor = (address: string): { readonly header: string } => ({ header: `X-Forwarded-For: ${address}\r\n` });

test.each([
  { name: 'clients', trustedProxies: [], attacker: { from: '127.0.0.8' }, other: { from: '127.0.0.9' } },
  {
    name: 'clients behind a trusted proxy',
    trustedProxies: ['loopback'],
    attacker: forwardedFor('192.0.2.8'),
    other: forwardedFor('192.0.2.9'),
  },
])(
  '$name: calls of an address that reads nothing wait behind those of others',
  async ({ trustedProxies, ...clients }) => {
    const gateway = await serve(1, { authentication: { trustedProxies } });
    const { attacker, other } = clients;
    for (let count = 0; count < 20; count++) ask(gateway, '/api/counted-rows', attacker);
    await expect.poll(() => statistics(gateway)).toMatchObject({ open: 1, idle: 0, waiting: 19 });
    await expect.poll(() => gateway.database.query(waitingForClient)).toHaveLength(1);
    const response = ask(gateway, '/api/begun-rows', other).setEncoding('utf8').resume();
    const [text] = (await once(response, 'data')) as [string];
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n1$/);
  },
);

test('a response without progress stays while no call waits', async () => {
  const gateway = await serve(2);
  const socket = ask(gateway);
  await expect.poll(() => gateway.database.query(waitingForClient)).toHaveLength(1);
  for (let count = 0; count < 20; count++) {
    // One after the other.
    expect((await gateway.send('GET /api/hello')).body).toBe('hello');
  }
  let bytes = 0;
  socket.on('data', (data) => (bytes += data.length)).resume();
  await expect.poll(() => bytes).toBeGreaterThan(largeBytes);
});

test('a response whose rest fits into the buffer releases its connection at once', async () => {
  const gateway = await serve(1);
  const socket = ask(gateway, '/api/all-rows?count=3000');
  await expect.poll(() => statistics(gateway)).toMatchObject({ open: 1, idle: 1 });
  let bytes = 0;
  socket.on('data', (data) => (bytes += data.length)).resume();
  await expect.poll(() => bytes).toBeGreaterThan(3_000_000);
});
