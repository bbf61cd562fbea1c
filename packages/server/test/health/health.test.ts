import { request } from 'node:http';
import { holdLock, useDatabase } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { unreachableEndpoints } from '../../src/cli/unreachable-endpoints.ts';
import { DatabaseProbes } from '../../src/health/database-probes.ts';
import { allOk, read, serveDatabase, type Served } from '../support/health.ts';
import { ask } from '../support/postgres.ts';

const lockKey = 15_077;
const database = useDatabase(`
  create function hello() returns text language sql stable as $$ select 'Hello' $$;
  comment on function hello is 'HTTP GET';
  create function wait() returns void language sql as 'select pg_advisory_xact_lock_shared(${lockKey})';
  comment on function wait is 'HTTP POST';
  create function health() returns text language sql stable as $$ select 'of the database' $$;
  comment on function health is 'HTTP GET /health';
`);

const serve = (file: object): Promise<Served> => serveDatabase(database.connectionString, file);

/** Sends a request with these headers, `Host` among them. */
function send(port: number, path: string, headers: Record<string, string>): Promise<readonly [number, string]> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, path, headers, agent: false }, (answer) => {
      let body = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      answer.on('end', () => resolve([answer.statusCode!, body]));
    });
    outgoing.on('error', reject).end();
  });
}

test('the responses of a healthy server', async () => {
  const { url } = await serve({ gateway: { requiresAuthorization: true } });
  expect(await read(`${url}/health`)).toEqual([200, { status: 'ok', checks: allOk }]);
  expect(await read(`${url}/health/ready/?full`)).toEqual([200, { status: 'ok', checks: allOk }]);
  const live = await fetch(`${url}/health/live`);
  expect([live.status, await live.text(), Object.fromEntries(live.headers)]).toEqual([
    200,
    '{"status":"ok"}',
    {
      'cache-control': 'no-store',
      connection: 'keep-alive',
      'content-length': '15',
      'content-type': 'application/json',
      date: expect.any(String),
      'keep-alive': 'timeout=65',
      'x-content-type-options': 'nosniff',
    },
  ]);
  const head = await fetch(`${url}/health`, { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);
  const post = await fetch(`${url}/health`, { method: 'POST' });
  expect([post.status, post.headers.get('allow'), await post.json()]).toEqual([
    405,
    'GET, HEAD',
    { type: 'about:blank', title: 'Method not allowed', status: 405 },
  ]);
  for (const path of ['/healthy', '/health/other', '/health//live']) {
    expect([path, (await fetch(`${url}${path}`)).status]).toEqual([path, 404]);
  }
});

test('health checks win over endpoints of the database, with and without plug-ins, and the start warns', async () => {
  for (const securityHeaders of [{ enabled: false }, { enabled: true }]) {
    const { url, gateway, configuration } = await serve({ securityHeaders });
    expect(await read(`${url}/health`)).toEqual([200, { status: 'ok', checks: allOk }]);
    expect(unreachableEndpoints(gateway.endpoints, configuration)).toEqual([
      'public.health() cannot be reached: health checks are answered at its path, /health; set health.path to another one',
    ]);
  }
  const moved = await serve({ health: { path: '/status' } });
  expect(await (await fetch(`${moved.url}/health`)).text()).toBe('of the database');
  expect((await read(`${moved.url}/status/ready`))[0]).toBe(200);
  expect(unreachableEndpoints(moved.gateway.endpoints, moved.configuration)).toEqual([]);
  const off = await serve({ health: { path: null } });
  expect(await (await fetch(`${off.url}/health`)).text()).toBe('of the database');
});

test('a probe may name the server by an address; endpoints stay protected', async () => {
  const { port } = await serve({ allowedHosts: ['api.example.org'] });
  const host = '10.1.2.3:8080';
  expect(await send(port, '/health/live', { host })).toEqual([200, '{"status":"ok"}']);
  expect((await send(port, '/health/ready', { host }))[0]).toBe(200);
  expect((await send(port, '/api/hello', { host }))[0]).toBe(421);
});

describe('details', () => {
  const detailed = {
    status: 'ok',
    checks: {
      database: { status: 'ok', milliseconds: expect.any(Number) },
      pool: {
        status: 'ok',
        pools: [{ connection: null, size: 3, open: 3, idle: 3, waiting: 0, maxWaiting: 10_000, acquireTimeouts: 0 }],
      },
      catalog: { status: 'ok', loadedAt: expect.any(String), ageSeconds: expect.any(Number), endpoints: 3 },
    },
  };
  const plain = JSON.stringify({ status: 'ok', checks: allOk });
  const gateway = { poolSize: 3 };

  test('always', async () => {
    const { port, url } = await serve({ gateway, health: { details: 'always' } });
    const [status, body] = await send(port, '/health', { host: 'evil.example' });
    expect([status, JSON.parse(body)]).toEqual([200, detailed]);
    expect(await read(`${url}/health/ready`)).toEqual([200, { status: 'ok', checks: allOk }]);
  });

  test('for programs on the same machine, not for pages of other sites and clients of proxies', async () => {
    const { port } = await serve({ gateway, health: { details: 'loopback' } });
    const [status, body] = await send(port, '/health', { host: 'localhost:8080' });
    expect([status, JSON.parse(body)]).toEqual([200, detailed]);
    for (const headers of [
      { host: 'evil.example' },
      { host: '10.0.0.1' },
      { host: 'localhost', 'x-forwarded-for': '127.0.0.1' },
      { host: 'localhost', forwarded: 'for=127.0.0.1' },
      { host: 'localhost', via: '1.1 proxy' },
    ]) {
      expect([headers, ...(await send(port, '/health', headers))]).toEqual([headers, 200, plain]);
    }
  });
});

test('a failed refresh of the endpoints', async () => {
  const { url, gateway } = await serve({ gateway: { strict: true } });
  expect(await read(`${url}/health/ready`)).toEqual([200, { status: 'ok', checks: allOk }]);
  await ask(database.connectionString, `comment on function hello is 'HTTP GET\nautorize staff'`);
  await expect(gateway.refresh()).rejects.toThrow('autorize');
  const checks = { ...allOk, catalog: 'failed' };
  expect(await read(`${url}/health/ready`)).toEqual([200, { status: 'degraded', checks }]);
  expect(gateway.health().catalog.refreshError).toContain('autorize');
  await ask(database.connectionString, `comment on function hello is 'HTTP GET'`);
  await gateway.refresh();
  expect(await read(`${url}/health`)).toEqual([200, { status: 'ok', checks: allOk }]);
});

test('a pool whose queue is full', async () => {
  const { url, gateway } = await serve({ gateway: { poolSize: 1, acquireTimeout: 60, maxWaitingCalls: 3 } });
  const lock = await holdLock(database.connectionString, lockKey);
  const aborts = Array.from({ length: 4 }, () => new AbortController());
  const calls = aborts.map(({ signal }) =>
    gateway.fetch(new Request('http://localhost/api/wait', { method: 'POST', signal })),
  );
  await expect.poll(() => gateway.health().pools[0]!.waiting).toBe(3);
  const response = await fetch(`${url}/health/ready`);
  expect([response.status, response.headers.get('retry-after'), await response.json()]).toEqual([
    503,
    '1',
    { status: 'failed', checks: { ...allOk, pool: 'failed' } },
  ]);
  const refused = await gateway.fetch(new Request('http://localhost/api/wait', { method: 'POST' }));
  expect([refused?.status, gateway.health().pools[0]!.acquireTimeouts]).toEqual([503, 1]);
  for (const abort of aborts) abort.abort();
  await lock.release();
  await Promise.allSettled(calls);
  expect(await read(`${url}/health/ready`)).toEqual([200, { status: 'ok', checks: allOk }]);
});

test('all connections of the pool are busy: the database is still found', async () => {
  const { url, gateway } = await serve({ gateway: { poolSize: 1 } });
  const lock = await holdLock(database.connectionString, lockKey);
  const call = fetch(`${url}/api/wait`, { method: 'POST' });
  await expect.poll(() => gateway.health().pools[0]!.idle).toBe(0);
  expect(await read(`${url}/health/ready`)).toEqual([200, { status: 'ok', checks: allOk }]);
  await lock.release();
  expect((await call).status).toBe(204);
});

test('many callers share a query, and its result for a second', async () => {
  let queries = 0;
  const probes = new DatabaseProbes(() =>
    Promise.resolve([{ connection: null, milliseconds: ++queries, error: null }]),
  );
  const results = await Promise.all(Array.from({ length: 100 }, () => probes.read()));
  results.push(await probes.read());
  expect([queries, results.every((result) => result === results[0])]).toEqual([1, true]);
});

test('readiness ends with the stop signal; the listener serves until shutdownDelay has passed', async () => {
  const { url, lifecycle } = await serve({ shutdownDelay: 3600 });
  lifecycle.requestStop();
  const stopping = lifecycle.stop();
  expect(await read(`${url}/health/ready`)).toEqual([503, { status: 'stopping', checks: allOk }]);
  expect(await read(`${url}/health`)).toEqual([503, { status: 'stopping', checks: allOk }]);
  expect(await read(`${url}/health/live`)).toEqual([200, { status: 'ok' }]);
  expect(await (await fetch(`${url}/api/hello`)).text()).toBe('Hello');
  // A second signal does not wait.
  lifecycle.forceStop();
  expect(await stopping).toEqual([]);
  await expect(fetch(`${url}/health/live`)).rejects.toThrow('fetch failed');
});

test('after the delay the server stops', async () => {
  const { url, lifecycle } = await serve({ shutdownDelay: 0.05 });
  expect(await lifecycle.stop()).toEqual([]);
  await expect(fetch(`${url}/health/live`)).rejects.toThrow('fetch failed');
});

test('without a usable read replica, the server is ready unless the check is required', async () => {
  const { host } = new URL(database.connectionString);
  const file = { readReplicas: { connectionStrings: [database.connectionString] }, health: { details: 'always' } };
  const { url } = await serve(file);
  await expect
    .poll(() => read(`${url}/health`))
    .toEqual([
      200,
      {
        status: 'degraded',
        checks: expect.objectContaining({
          replicas: {
            status: 'failed',
            replicas: [
              {
                replica: host,
                lagMilliseconds: null,
                error: 'it is not a standby: it was promoted, or is the primary itself',
              },
            ],
          },
        }),
      },
    ]);
  expect(await (await fetch(`${url}/api/hello`)).text()).toBe('Hello');
  const strict = await serve({ ...file, health: { required: ['replicas'] } });
  expect((await read(`${strict.url}/health/ready`))[0]).toBe(503);
});
