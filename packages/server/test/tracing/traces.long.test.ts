import { request } from 'node:http';
import { connect } from 'node:http2';
import { join } from 'node:path';
import { holdLock, useDatabase } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createCertificate } from '../support/certificates.ts';
import { load, issuesOf } from '../support/configuration.ts';
import { folderWith } from '../support/folder.ts';
import { type RunningServer, runServer } from '../support/run-server.ts';
import { type CollectedSpan, type Collector, startCollector } from './collector.ts';

/** Traces of a running server, as a collector receives them. */

const lockKey = 15_202;
const sql = `
  create function shown(_text text default '') returns text language sql volatile as
    $$ select current_setting('application_name') $$;
  comment on function shown is 'HTTP GET';
  create function cached_one() returns int language sql stable as $$ select 1 $$;
  comment on function cached_one is 'HTTP GET
  cached';
  create procedure fill() language sql as $$ select 1 $$;
  comment on procedure fill is 'HTTP POST';
  create function refuse(_code text) returns void language plpgsql as
    $$ begin raise 'geheim' using errcode = _code; end $$;
  comment on function refuse is 'HTTP GET';
  create function reset(_token text) returns text language sql as $$ select 'done' $$;
  comment on function reset is 'HTTP GET /reset/{_token}';
  create function wait() returns void language sql as 'select pg_advisory_xact_lock_shared(${lockKey})';
  comment on function wait is 'HTTP GET';
  create table book (id int primary key, title text);
  insert into book values (1, 'one'), (2, 'two');
  comment on table book is 'HTTP';
`;
const database = useDatabase(sql);

const traceId = '0af7651916cd43dd8448eb211c80319c';
const parentId = 'b7ad6b7169203331';
const sampled = `00-${traceId}-${parentId}-01`;
const unsampled = `00-${traceId}-${parentId}-00`;

async function serve(
  collector: Pick<Collector, 'url'>,
  tracing: object = {},
  settings: object = {},
): Promise<RunningServer> {
  const configuration = {
    port: 0,
    connectionString: database.connectionString,
    crud: { enabled: true },
    log: { format: 'json' },
    tracing: { endpoint: collector.url, protocol: 'http/json', ...tracing },
    ...settings,
  };
  return runServer(await folderWith({ 'pgway.json': configuration }));
}

async function send(url: string, path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<string> {
  return (await fetch(url + path, { method, headers: { 'user-agent': 'test', ...headers } })).text();
}

/** Returns the spans in short, calls below their requests, ids left out. Asserts that times of calls are within those of requests. */
function readable(spans: readonly CollectedSpan[]): readonly object[] {
  return spans
    .filter(({ kind }) => kind === 'server')
    .map((span) => {
      const calls = spans.filter(({ parentSpanId }) => parentSpanId === span.spanId);
      for (const call of calls) {
        expect([call.traceId, call.kind]).toEqual([span.traceId, 'client']);
        expect(call.begin).toBeGreaterThanOrEqual(span.begin);
        expect(call.end).toBeLessThanOrEqual(span.end);
        expect(call.end).toBeGreaterThanOrEqual(call.begin);
      }
      const short = ({ name, isError, attributes }: CollectedSpan) => ({
        name,
        ...(isError ? { isError } : {}),
        ...attributes,
      });
      const { 'pgway.request_id': _id, ...request } = short(span) as Record<string, unknown>;
      return calls.length === 0 ? request : { ...request, calls: calls.map(short) };
    });
}

test('a batch is one request with a call for each of its items, in traces, metrics and the access log', async () => {
  const collector = await startCollector();
  const settings = { gateway: { batchPath: '/batch' }, metrics: { path: '/metrics' } };
  const { url, stop, streams } = await serve(collector, {}, settings);
  const item = (path: string): object => ({ method: 'GET', path });
  const post = (items: readonly object[]): Promise<Response> =>
    fetch(`${url}/batch`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(items),
    });
  const response = await post([item('/api/shown?text=geheim'), item('/api/book'), item('/api/shown')]);
  const results = (await response.json()) as readonly { readonly body: string }[];
  expect((await post([item('/api/shown'), item('/api/refuse?code=XX000')])).status).toBe(500);
  const metrics = async (): Promise<string> => (await fetch(`${url}/metrics`)).text();
  await expect.poll(metrics).toMatch(/_count\{[^}]*route="\/batch"[^}]*\} 1\n/);
  expect(await stop()).toBe(0);

  const spans = collector.spans();
  const [request, failed] = spans.filter(({ kind }) => kind === 'server');
  const calls = spans.filter(({ parentSpanId }) => parentSpanId === request!.spanId);
  expect([request!.name, request!.attributes['http.route'], request!.isError]).toEqual([
    'POST /batch',
    '/batch',
    false,
  ]);
  expect(calls.map(({ name }) => name)).toEqual(['SELECT public.shown', 'SELECT public.book', 'SELECT public.shown']);
  // PostgreSQL has seen the span of each call.
  const [first, , third] = calls.map(({ spanId }) => `00-${request!.traceId}-${spanId}-01`);
  expect([results[0]!.body, results[2]!.body]).toEqual([first, third]);
  expect([failed!.name, failed!.isError]).toEqual(['POST /batch', true]);
  const lines = streams.text.stdout
    .split('\n')
    .flatMap((line) => (line.includes('"source":"access"') ? [JSON.parse(line) as { readonly path: string }] : []))
    .filter(({ path }) => path === '/batch');
  expect(lines).toEqual([
    expect.objectContaining({ path: '/batch', status: 200, rows: 4 }),
    expect.objectContaining({ path: '/batch', status: 500 }),
  ]);
});

test('spans of requests and their calls', async () => {
  const collector = await startCollector();
  const { url, port, stop } = await serve(collector, { resourceAttributes: { 'deployment.environment.name': 'test' } });
  const shown = await send(url, '/api/shown?text=geheim', { traceparent: sampled, tracestate: 'vendor=1' });
  await send(url, '/api/book?id=2');
  await send(url, '/api/fill', {}, 'POST');
  await send(url, '/api/cached-one');
  await send(url, '/api/cached-one');
  // Its length is that of a generated one, which grows with their number.
  await send(url, '/api/refuse?code=XX000', { 'x-request-id': 'a-request-id-1' });
  await send(url, '/api/refuse?code=22000');
  await send(url, '/reset/geheim');
  await send(url, '/none?x=geheim');
  await new Promise((resolve) =>
    request({ port, host: '127.0.0.1', path: '/x', method: 'M-SEARCH', agent: false }, resolve).end(),
  );
  expect(await stop()).toBe(0);

  const spans = collector.spans();
  const [first] = spans.filter(({ kind }) => kind === 'server');
  const [call] = spans.filter(({ kind }) => kind === 'client');
  expect([first!.traceId, first!.parentSpanId]).toEqual([traceId, parentId]);
  // PostgreSQL has seen the span of the call.
  expect(shown).toBe(`00-${traceId}-${call!.spanId}-01`);
  expect(new Set(spans.map((span) => span.traceId)).size).toBe(10);
  expect(collector.requests.map(({ body }) => body.toString()).join()).not.toContain('geheim');
  expect(collector.resource()).toMatchObject({ 'service.name': 'pgway', 'deployment.environment.name': 'test' });
  expect(collector.requests[0]).toMatchObject({ path: '/v1/traces', headers: { 'content-type': 'application/json' } });
  expect(readable(spans)).toMatchInlineSnapshot(`
    [
      {
        "calls": [
          {
            "db.operation.name": "SELECT",
            "db.response.returned_rows": 1,
            "db.stored_procedure.name": "public.shown",
            "db.system.name": "postgresql",
            "name": "SELECT public.shown",
          },
        ],
        "client.address": "127.0.0.1",
        "http.request.method": "GET",
        "http.response.body.size": 55,
        "http.response.status_code": 200,
        "http.route": "/api/shown",
        "name": "GET /api/shown",
        "network.protocol.version": "1.1",
        "pgway.endpoint": "public.shown(_text text)",
        "url.path": "/api/shown",
        "url.scheme": "http",
        "user_agent.original": "test",
      },
      {
        "calls": [
          {
            "db.collection.name": "public.book",
            "db.operation.name": "SELECT",
            "db.response.returned_rows": 1,
            "db.system.name": "postgresql",
            "name": "SELECT public.book",
          },
        ],
        "client.address": "127.0.0.1",
        "http.request.method": "GET",
        "http.response.body.size": 24,
        "http.response.status_code": 200,
        "http.route": "/api/book",
        "name": "GET /api/book",
        "network.protocol.version": "1.1",
        "pgway.endpoint": "select public.book",
        "url.path": "/api/book",
        "url.scheme": "http",
        "user_agent.original": "test",
      },
      {
        "calls": [
          {
            "db.operation.name": "CALL",
            "db.response.returned_rows": 0,
            "db.stored_procedure.name": "public.fill",
            "db.system.name": "postgresql",
            "name": "CALL public.fill",
          },
        ],
        "client.address": "127.0.0.1",
        "http.request.method": "POST",
        "http.response.body.size": 0,
        "http.response.status_code": 204,
        "http.route": "/api/fill",
        "name": "POST /api/fill",
        "network.protocol.version": "1.1",
        "pgway.endpoint": "public.fill()",
        "url.path": "/api/fill",
        "url.scheme": "http",
        "user_agent.original": "test",
      },
      {
        "calls": [
          {
            "db.operation.name": "SELECT",
            "db.response.returned_rows": 1,
            "db.stored_procedure.name": "public.cached_one",
            "db.system.name": "postgresql",
            "name": "SELECT public.cached_one",
          },
        ],
        "client.address": "127.0.0.1",
        "http.request.method": "GET",
        "http.response.body.size": 1,
        "http.response.status_code": 200,
        "http.route": "/api/cached-one",
        "name": "GET /api/cached-one",
        "network.protocol.version": "1.1",
        "pgway.endpoint": "public.cached_one()",
        "url.path": "/api/cached-one",
        "url.scheme": "http",
        "user_agent.original": "test",
      },
      {
        "client.address": "127.0.0.1",
        "http.request.method": "GET",
        "http.response.body.size": 1,
        "http.response.status_code": 200,
        "http.route": "/api/cached-one",
        "name": "GET /api/cached-one",
        "network.protocol.version": "1.1",
        "pgway.endpoint": "public.cached_one()",
        "url.path": "/api/cached-one",
        "url.scheme": "http",
        "user_agent.original": "test",
      },
      {
        "calls": [
          {
            "db.operation.name": "SELECT",
            "db.response.status_code": "XX000",
            "db.stored_procedure.name": "public.refuse",
            "db.system.name": "postgresql",
            "error.type": "XX000",
            "isError": true,
            "name": "SELECT public.refuse",
          },
        ],
        "client.address": "127.0.0.1",
        "error.type": "XX000",
        "http.request.method": "GET",
        "http.response.body.size": 121,
        "http.response.status_code": 500,
        "http.route": "/api/refuse",
        "isError": true,
        "name": "GET /api/refuse",
        "network.protocol.version": "1.1",
        "pgway.endpoint": "public.refuse(_code text)",
        "url.path": "/api/refuse",
        "url.scheme": "http",
        "user_agent.original": "test",
      },
      {
        "calls": [
          {
            "db.operation.name": "SELECT",
            "db.response.status_code": "22000",
            "db.stored_procedure.name": "public.refuse",
            "db.system.name": "postgresql",
            "error.type": "22000",
            "isError": true,
            "name": "SELECT public.refuse",
          },
        ],
        "client.address": "127.0.0.1",
        "http.request.method": "GET",
        "http.response.body.size": 88,
        "http.response.status_code": 400,
        "http.route": "/api/refuse",
        "name": "GET /api/refuse",
        "network.protocol.version": "1.1",
        "pgway.endpoint": "public.refuse(_code text)",
        "url.path": "/api/refuse",
        "url.scheme": "http",
        "user_agent.original": "test",
      },
      {
        "calls": [
          {
            "db.operation.name": "SELECT",
            "db.response.returned_rows": 1,
            "db.stored_procedure.name": "public.reset",
            "db.system.name": "postgresql",
            "name": "SELECT public.reset",
          },
        ],
        "client.address": "127.0.0.1",
        "http.request.method": "GET",
        "http.response.body.size": 4,
        "http.response.status_code": 200,
        "http.route": "/reset/{_token}",
        "name": "GET /reset/{_token}",
        "network.protocol.version": "1.1",
        "pgway.endpoint": "public.reset(_token text)",
        "url.path": "/reset/{_token}",
        "url.scheme": "http",
        "user_agent.original": "test",
      },
      {
        "client.address": "127.0.0.1",
        "http.request.method": "GET",
        "http.response.body.size": 55,
        "http.response.status_code": 404,
        "name": "GET",
        "network.protocol.version": "1.1",
        "url.path": "/none",
        "url.scheme": "http",
        "user_agent.original": "test",
      },
      {
        "client.address": "127.0.0.1",
        "http.request.method": "_OTHER",
        "http.request.method_original": "M-SEARCH",
        "http.response.body.size": 55,
        "http.response.status_code": 404,
        "name": "HTTP",
        "network.protocol.version": "1.1",
        "url.path": "/x",
        "url.scheme": "http",
      },
    ]
  `);
});

test('a request that is not sampled has no spans, and PostgreSQL receives nothing', async () => {
  const collector = await startCollector();
  const { url, stop } = await serve(collector, { sampleRatio: 0 });
  expect(await send(url, '/api/shown', { traceparent: unsampled })).toBe('pgway');
  expect(await send(url, '/api/shown')).toBe('pgway');
  expect(await send(url, '/api/shown', { traceparent: sampled })).toContain(traceId);
  await stop();
  expect(collector.spans().map(({ name, traceId: id }) => [name, id])).toEqual([
    ['SELECT public.shown', traceId],
    ['GET /api/shown', traceId],
  ]);
});

test('trustParent: false begins a trace for each request', async () => {
  const collector = await startCollector();
  const { url, stop } = await serve(collector, { trustParent: false });
  for (const traceparent of [sampled, unsampled]) {
    expect(await send(url, '/api/shown', { traceparent })).toMatch(/^00-(?!0af765)[\da-f]{32}-[\da-f]{16}-01$/);
  }
  await stop();
  expect(collector.spans().map(({ parentSpanId, kind }) => kind === 'server' && parentSpanId)).toEqual([
    false,
    undefined,
    false,
    undefined,
  ]);
});

test('a malformed traceparent begins a trace', async () => {
  const collector = await startCollector();
  const { url, stop } = await serve(collector);
  const noTrace = `00-${'0'.repeat(32)}-${parentId}-01`;
  const malformed = ['', 'x', `${sampled}-y`, sampled.toUpperCase(), noTrace, `${sampled}, ${sampled}`];
  const shown = await Promise.all(malformed.map((traceparent) => send(url, '/api/shown', { traceparent })));
  expect(shown.filter((text) => !/^00-(?!0af765)[\da-f]{32}-[\da-f]{16}-01$/.test(text))).toEqual([]);
  await stop();
  const traces = collector.spans().map((span) => [span.traceId, span.kind === 'server' && span.parentSpanId]);
  expect(new Set(traces.map(([id]) => id)).size).toBe(malformed.length);
  expect(traces.filter(([, parent]) => typeof parent === 'string')).toEqual([]);
});

test('traceContext: off keeps application_name; the call has its span', async () => {
  const collector = await startCollector();
  const { url, stop } = await serve(collector, {}, { gateway: { traceContext: 'off' } });
  expect(await send(url, '/api/shown', { traceparent: sampled })).toBe('pgway');
  await stop();
  expect(collector.spans().map(({ name }) => name)).toEqual(['SELECT public.shown', 'GET /api/shown']);
});

test('a call that its client leaves', async () => {
  const collector = await startCollector();
  const { port, url, stop } = await serve(collector);
  const lock = await holdLock(database.connectionString, lockKey);
  onTestFinished(() => lock.release());
  const outgoing = request({ port, host: '127.0.0.1', path: '/api/wait', agent: false }).on('error', () => undefined);
  outgoing.end();
  await expect.poll(() => lock.waiting()).toBe(1);
  outgoing.destroy();
  await expect.poll(() => lock.waiting()).toBe(0);
  await send(url, '/none');
  await stop();
  expect(readable(collector.spans())[0]).toMatchObject({
    name: 'GET',
    'http.response.status_code': 499,
    calls: [{ name: 'postgresql', isError: true, 'error.type': 'cancelled' }],
  });
});

test('HTTP/2, also when the client closes its connection during a call', async () => {
  const collector = await startCollector();
  const { certificate, key } = await createCertificate();
  const folder = await folderWith({ 'server.crt': certificate, 'server.key': key });
  const tls = { certificate: join(folder, 'server.crt'), key: join(folder, 'server.key') };
  const { url, stop, streams } = await serve(collector, {}, { tls, metrics: { path: '/metrics' } });
  const lock = await holdLock(database.connectionString, lockKey);
  onTestFinished(() => lock.release());
  const session = connect(url, { rejectUnauthorized: false }).on('error', () => undefined);
  session.request({ ':path': '/api/wait' }).on('error', () => undefined);
  await expect.poll(() => lock.waiting()).toBe(1);
  session.destroy();
  await expect.poll(() => lock.waiting()).toBe(0);
  const next = connect(url, { rejectUnauthorized: false });
  const response = next.request({ ':path': '/api/shown', traceparent: sampled });
  expect((await response.toArray()).join('')).toContain(traceId);
  await new Promise<void>((resolve) => next.close(resolve));
  expect([await stop(), streams.text.stderr]).toEqual([0, '']);
  const [left, served] = readable(collector.spans());
  expect(left).toMatchObject({ 'http.response.status_code': 499, calls: [{ 'error.type': 'cancelled' }] });
  expect(served).toMatchObject({
    name: 'GET /api/shown',
    'network.protocol.version': '2.0',
    'url.scheme': 'https',
    'client.address': '127.0.0.1',
  });
});

test('traces as protobuf, with headers', async () => {
  const collector = await startCollector();
  const headers = { authorization: 'Bearer geheim' };
  const { url, streams, stop } = await serve(
    collector,
    {
      protocol: 'http/protobuf',
      headers,
    },
    { name: 'shop-api' },
  );
  await send(url, '/api/shown');
  await stop();
  const [{ body, headers: sent }] = collector.requests as [Collector['requests'][number]];
  expect([sent['content-type'], sent.authorization]).toEqual(['application/x-protobuf', 'Bearer geheim']);
  for (const text of ['shop-api', 'GET /api/shown', 'SELECT public.shown']) expect(body.includes(text)).toBe(true);
  expect(streams.text.stdout + streams.text.stderr).not.toContain('geheim');
});

test('a collector that refuses traces: one line, and requests are served', async () => {
  const collector = await startCollector(401);
  const { url, streams, stop } = await serve(collector, {}, { metrics: { path: '/metrics' } });
  expect(await send(url, '/api/shown')).toMatch(/^00-/);
  expect(await stop()).toBe(0);
  const lines = streams.text.stdout.split('\n').filter((line) => line.includes('tracing.endpoint'));
  expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
    'traces cannot be sent to tracing.endpoint, and are lost: Unauthorized',
  ]);
});

describe('the variables of OpenTelemetry', () => {
  test('set the section tracing; PGWAY_ variables win', async () => {
    const environment = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%20b, other=c=d',
      OTEL_SERVICE_NAME: 'shop',
      OTEL_RESOURCE_ATTRIBUTES: 'a=1,b=2',
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '.5',
      PGWAY_TRACING_SAMPLE_RATIO: '0.25',
    };
    const { configuration, origins } = await load({
      environment,
      files: { 'pgway.json': { tracing: { sampleRatio: 1 } } },
    });
    expect(configuration.tracing).toEqual({
      endpoint: 'http://collector:4318/v1/traces',
      protocol: 'http/json',
      headers: { 'api-key': 'a b', other: 'c=d' },
      resourceAttributes: { a: '1', b: '2', 'service.name': 'shop' },
      sampler: 'traceidratio',
      sampleRatio: 0.25,
      trustParent: true,
    });
    expect(origins.get('tracing.endpoint')).toBe('OTEL_EXPORTER_OTLP_ENDPOINT');
  });

  test('an endpoint of traces alone is used as it is; tracing can be disabled', async () => {
    const endpoint = {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example/x',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c',
    };
    const endpointOf = async (environment: Record<string, string>) =>
      (await load({ environment })).configuration.tracing.endpoint;
    expect(await endpointOf(endpoint)).toBe('https://traces.example/x');
    expect(await endpointOf({ ...endpoint, OTEL_SDK_DISABLED: 'true' })).toBe(null);
    expect(await endpointOf({ ...endpoint, OTEL_TRACES_EXPORTER: 'none' })).toBe(null);
    expect(await endpointOf({ OTEL_SERVICE_NAME: 'x' })).toBe(null);
  });

  test('invalid ones are named, secrets are not shown', async () => {
    const environment = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'geheim',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_EXPORTER_OTLP_HEADERS: 'geheim',
      OTEL_TRACES_SAMPLER: 'sometimes',
      OTEL_TRACES_SAMPLER_ARG: 'half',
    };
    expect(await issuesOf({ environment })).toMatchInlineSnapshot(`
      [
        "tracing.endpoint: must be an http or https URL such as http://localhost:4318/v1/traces (from OTEL_EXPORTER_OTLP_ENDPOINT)",
        "tracing.protocol: must be one of "http/protobuf", "http/json", not "grpc" (from OTEL_EXPORTER_OTLP_PROTOCOL)",
        "tracing.headers: must be an object (from OTEL_EXPORTER_OTLP_HEADERS)",
        "tracing.sampler: must be one of "always_on", "always_off", "traceidratio", "parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio", not "sometimes" (from OTEL_TRACES_SAMPLER)",
        "tracing.sampleRatio: must be a number from 0 to 1, not "half" (from OTEL_TRACES_SAMPLER_ARG)",
      ]
    `);
  });
});
