import { readFileSync } from 'node:fs';
import { IncomingMessage, request } from 'node:http';
import { Socket } from 'node:net';
import { freshDatabase, useDatabase } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { metricsSection } from '../../src/config/schema/metrics.ts';
import { resolveSection } from '../../src/config/schema/section.ts';
import type { RequestEntry } from '../../src/log/request-log.ts';
import { addExited, aggregatedText } from '../../src/metrics/aggregate.ts';
import { Metrics } from '../../src/metrics/metrics.ts';
import { folderWith } from '../support/folder.ts';
import { type RunningServer, runServer } from '../support/run-server.ts';

/** Metrics of a running server, as Prometheus reads them. */

const sql = `
  create function numbers(_to int) returns setof int language sql stable as $$ select generate_series(1, _to) $$;
  comment on function numbers is 'HTTP GET';
  create function cached_one(_key int) returns int language sql stable as $$ select _key $$;
  comment on function cached_one is 'HTTP GET
  cached';
  create function hostile() returns text language sql stable as $$ select 'x' $$;
  comment on function hostile is 'HTTP GET /api/"quoted"';
  create function reset(_token text) returns text language sql as $$ select 'done' $$;
  comment on function reset is 'HTTP GET /reset/{_token}';
  create function store(_meta json) returns json language sql as $$ select _meta $$;
  comment on function store is 'HTTP POST
  upload for large_object _meta as metadata';
  create function say(_text text) returns void language plpgsql as $$ begin raise info '%', _text; end $$;
  comment on function say is 'HTTP POST
  info_path';
`;
const database = useDatabase(sql);

async function serve(settings: object): Promise<RunningServer> {
  const configuration = {
    port: 0,
    connectionString: database.connectionString,
    metrics: { path: '/metrics' },
    ...settings,
  };
  return runServer(await folderWith({ 'pgway.json': configuration }));
}

async function scrape(url: string): Promise<string> {
  const response = await fetch(`${url}/metrics`);
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ]);
  return response.text();
}

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const unescape = { '\\\\': '\\', '\\"': '"', '\\n': '\n' } as Readonly<Record<string, string>>;

/** Parses the text format of Prometheus: https://prometheus.io/docs/instrumenting/exposition_formats */
function parse(text: string): readonly Sample[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name, labels = '', value] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? ([-+\w.]+)$/.exec(line) ?? [];
      if (name === undefined) throw new Error(`not a sample: ${line}`);
      const pairs = [...labels.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"(?:,|$)/g)];
      expect(pairs.map(([pair]) => pair).join('')).toBe(labels);
      return {
        name,
        labels: Object.fromEntries(
          pairs.map(([, key, quoted]) => [key!, quoted!.replace(/\\./g, (escaped) => unescape[escaped]!)]),
        ),
        value: Number(value),
      };
    });
}

/** Returns the samples whose names begin so, without the buckets of histograms. Times are replaced by `time`. */
function readable(text: string, prefix = 'pgway_'): readonly string[] {
  return parse(text)
    .filter(({ name }) => name.startsWith(prefix) && !name.endsWith('_bucket'))
    .map(({ name, labels, value }) => {
      const isTime = /_seconds(_sum|_total)?$/.test(name) && value > 0;
      const pairs = Object.entries(labels).map(([key, text_]) => `${key}=${text_}`);
      return `${name}{${pairs.join(',')}} ${isTime ? 'time' : value}`;
    });
}

const rateLimits = { rateLimits: { policies: { one: { type: 'fixed-window', limit: 1 } } } };

test('the metrics of a server, all of them', async () => {
  const { url } = await serve({ gateway: { poolSize: 3 }, log: { file: { path: 'log/pgway.log' } }, ...rateLimits });
  for (const path of ['/api/numbers?to=3', '/api/numbers?to=x', '/api/cached-one?key=1', '/api/cached-one?key=1']) {
    await (await fetch(url + path)).text();
  }
  await fetch(`${url}/reset/geheim?x=geheim`);
  await fetch(`${url}/geheim`, { method: 'DELETE' });
  await fetch(`${url}/api/numbers`, { method: 'POST' });
  const form = new FormData();
  form.append('file', new Blob(['12345']), 'geheim.txt');
  expect((await fetch(`${url}/api/store`, { method: 'POST', body: form })).status).toBe(200);
  const stream = new AbortController();
  await fetch(`${url}/api/say/info`, { signal: stream.signal });
  const text = await scrape(url);
  stream.abort();
  await expect.poll(async () => readable(await scrape(url), 'pgway_event_streams_open{')).toEqual([]);

  expect(text).not.toContain('geheim');
  const lines = readable(text).map((line) =>
    line
      .replace(/version=.*}/, 'version=…}')
      .replace(/(pool_connections_(open|idle)|pool_waits_total|size_bytes|fast_path_\w+)(\{.*\}) \d+/, '$1$3 …'),
  );
  expect(lines).toMatchInlineSnapshot(`
    [
      "pgway_http_requests_total{method=GET,route=/api/numbers,code=200} 1",
      "pgway_http_requests_total{method=GET,route=/api/numbers,code=400} 1",
      "pgway_http_requests_total{method=POST,route=/api/numbers,code=405} 1",
      "pgway_http_requests_total{method=GET,route=/api/cached-one,code=200} 2",
      "pgway_http_requests_total{method=GET,route=/reset/{_token},code=400} 1",
      "pgway_http_requests_total{method=DELETE,route=other,code=404} 1",
      "pgway_http_requests_total{method=POST,route=/api/store,code=200} 1",
      "pgway_http_requests_in_flight{} 2",
      "pgway_http_responses_incomplete_total{} 0",
      "pgway_http_response_body_bytes_total{method=GET,route=/api/numbers} 203",
      "pgway_http_response_body_bytes_total{method=POST,route=/api/numbers} 177",
      "pgway_http_response_body_bytes_total{method=GET,route=/api/cached-one} 2",
      "pgway_http_response_body_bytes_total{method=GET,route=/reset/{_token}} 196",
      "pgway_http_response_body_bytes_total{method=DELETE,route=other} 55",
      "pgway_http_response_body_bytes_total{method=POST,route=/api/store} 140",
      "pgway_database_rows_total{method=GET,route=/api/numbers} 3",
      "pgway_database_rows_total{method=POST,route=/api/numbers} 0",
      "pgway_database_rows_total{method=GET,route=/api/cached-one} 1",
      "pgway_database_rows_total{method=GET,route=/reset/{_token}} 0",
      "pgway_database_rows_total{method=DELETE,route=other} 0",
      "pgway_database_rows_total{method=POST,route=/api/store} 1",
      "pgway_http_request_duration_seconds_sum{method=GET,route=/api/numbers,status=2xx} time",
      "pgway_http_request_duration_seconds_count{method=GET,route=/api/numbers,status=2xx} 1",
      "pgway_http_request_duration_seconds_sum{method=GET,route=/api/numbers,status=4xx} time",
      "pgway_http_request_duration_seconds_count{method=GET,route=/api/numbers,status=4xx} 1",
      "pgway_http_request_duration_seconds_sum{method=GET,route=/api/cached-one,status=2xx} time",
      "pgway_http_request_duration_seconds_count{method=GET,route=/api/cached-one,status=2xx} 2",
      "pgway_http_request_duration_seconds_sum{method=GET,route=/reset/{_token},status=4xx} time",
      "pgway_http_request_duration_seconds_count{method=GET,route=/reset/{_token},status=4xx} 1",
      "pgway_http_request_duration_seconds_sum{method=DELETE,route=other,status=4xx} time",
      "pgway_http_request_duration_seconds_count{method=DELETE,route=other,status=4xx} 1",
      "pgway_http_request_duration_seconds_sum{method=POST,route=/api/numbers,status=4xx} time",
      "pgway_http_request_duration_seconds_count{method=POST,route=/api/numbers,status=4xx} 1",
      "pgway_http_request_duration_seconds_sum{method=POST,route=/api/store,status=2xx} time",
      "pgway_http_request_duration_seconds_count{method=POST,route=/api/store,status=2xx} 1",
      "pgway_database_call_duration_seconds_sum{method=GET,route=/api/numbers} time",
      "pgway_database_call_duration_seconds_count{method=GET,route=/api/numbers} 1",
      "pgway_database_call_duration_seconds_sum{method=GET,route=/api/cached-one} time",
      "pgway_database_call_duration_seconds_count{method=GET,route=/api/cached-one} 1",
      "pgway_database_call_duration_seconds_sum{method=POST,route=/api/store} time",
      "pgway_database_call_duration_seconds_count{method=POST,route=/api/store} 1",
      "pgway_upload_files_total{handler=large_object,status=Ok} 1",
      "pgway_upload_bytes_total{handler=large_object} 5",
      "pgway_build_info{version=…} 1",
      "pgway_workers_running{} 1",
      "pgway_workers_configured{} 1",
      "pgway_fast_path_requests_total{} …",
      "pgway_fast_path_handovers_total{} …",
      "pgway_log_lines_lost_total{output=console} 0",
      "pgway_log_lines_lost_total{output=file} 0",
      "pgway_pool_connections_max{connection=} 3",
      "pgway_pool_connections_open{connection=} …",
      "pgway_pool_connections_idle{connection=} …",
      "pgway_pool_calls_waiting{connection=} 0",
      "pgway_pool_calls_waiting_max{connection=} 10000",
      "pgway_pool_waits_total{connection=} …",
      "pgway_pool_wait_seconds_total{connection=} time",
      "pgway_pool_acquire_timeouts_total{connection=} 0",
      "pgway_reads_on_primary_total{} 0",
      "pgway_plan_statements{method=GET,route=/api/numbers,plan=auto} 1",
      "pgway_plan_statements{method=GET,route=/api/numbers,plan=generic} 0",
      "pgway_plan_statements{method=GET,route=/api/cached-one,plan=auto} 1",
      "pgway_plan_statements{method=GET,route=/api/cached-one,plan=generic} 0",
      "pgway_plan_comparisons_total{result=auto} 0",
      "pgway_plan_comparisons_total{result=generic} 0",
      "pgway_plan_comparisons_total{result=undecided} 0",
      "pgway_plan_comparisons_total{result=exceeded} 0",
      "pgway_plan_fallbacks_total{} 0",
      "pgway_cache_requests_total{result=hit} 1",
      "pgway_cache_requests_total{result=miss} 1",
      "pgway_cache_requests_total{result=shared} 0",
      "pgway_cache_entries{} 1",
      "pgway_cache_size_bytes{} …",
      "pgway_cache_evictions_total{} 0",
      "pgway_cache_available{} 1",
      "pgway_event_streams_open{} 1",
      "pgway_event_streams_opened_total{} 1",
      "pgway_event_streams_dropped_total{} 0",
      "pgway_event_messages_total{} 0",
      "pgway_broadcast_available{} 1",
      "pgway_changes_lag_bytes{} 0",
      "pgway_changes_cut_seconds{} 0",
      "pgway_changes_lookups_total{} 0",
      "pgway_changes_deliveries_total{} 0",
      "pgway_realtime_connections_open{} 0",
      "pgway_realtime_channels_joined{} 0",
      "pgway_realtime_presences{} 0",
      "pgway_realtime_broadcasts_total{} 0",
      "pgway_realtime_database_messages_total{} 0",
      "pgway_realtime_deliveries_total{} 0",
      "pgway_realtime_refusals_total{} 0",
      "pgway_realtime_slow_clients_total{} 0",
      "pgway_rate_limit_refusals_total{policy=one} 0",
      "pgway_rate_limits_available{} 1",
      "pgway_catalog_endpoints{} 6",
      "pgway_catalog_loaded_timestamp_seconds{} time",
      "pgway_catalog_load_duration_seconds{} time",
      "pgway_catalog_loads_total{result=success} 1",
      "pgway_catalog_loads_total{result=failure} 0",
    ]
  `);
  const ofTenants = ({ name }: Metric): boolean => name.startsWith('pgway_tenant');
  expect(documentedMetrics().filter((metric) => !ofTenants(metric))).toEqual(metricsOf(text));
});

test('with tenants there are their numbers, without their names', async () => {
  const { url, port } = await serve({
    tenant: {
      by: 'host',
      host: '{tenant}.example.com',
      query: 'values ($$acme$$), ($$globex$$)',
      connectionString: database.connectionString.replace(/[^/]*$/, '{tenant}'),
      connectionStrings: { initech: database.connectionString },
    },
  });
  const ask = async (host: string): Promise<unknown> =>
    (await send(port, { path: '/api/numbers?to=1', headers: { host } }))[0];
  const hosts = ['initech.example.com', 'evil.example.com', 'evil.example.org'];
  expect(await Promise.all(hosts.map(ask))).toEqual([200, 404, 421]);
  let text = '';
  // A tenant counts as unavailable until it is tried again, which a busy machine may reach before the scrape.
  const afterFailure = async (): Promise<unknown> => {
    const status = await ask('acme.example.com');
    text = await scrape(url);
    return [status, ...readable(text, 'pgway_tenant')];
  };
  await expect
    .poll(afterFailure)
    .toEqual([
      503,
      'pgway_tenants_known{} 3',
      'pgway_tenants_open{} 1',
      'pgway_tenants_unavailable{} 1',
      'pgway_tenant_schema_versions{} 1',
    ]);
  expect(text).not.toMatch(/acme|initech|evil/);
  expect(documentedMetrics()).toEqual(metricsOf(text));
});

interface Metric {
  readonly name: string;
  readonly type: string;
  readonly help: string;
}

/** Returns the metrics of pgway with their types and descriptions, in order. */
function metricsOf(text: string): readonly Metric[] {
  return [...text.matchAll(/^# HELP (pgway_\w+) (.*)\n# TYPE \1 (\w+)$/gm)].map(([, name, help, type]) => {
    return { name: name!, type: type!, help: help! };
  });
}

/** Returns the metrics in the tables of the reference. */
function documentedMetrics(): readonly Metric[] {
  const reference = readFileSync(new URL('../../../../docs/reference/metrics.md', import.meta.url), 'utf8');
  return [...reference.matchAll(/^\| `(pgway_\w+)` +\| (\w+) +\| [^|]* \| (.*?) +\|$/gm)].map(
    ([, name, type, help]) => {
      return { name: name!, type: type!, help: help! };
    },
  );
}

test('paths and methods of clients make no series; labels are escaped', async () => {
  const { url, port } = await serve({ log: { levels: { access: 'silent' } } });
  await fetch(`${url}/none`);
  await scrape(url);
  const before = parse(await scrape(url)).length;
  const paths = Array.from({ length: 300 }, (_, index) => `/none/${index}?${'x'.repeat(index)}`);
  const hostile = ['/api/%22%0a{x="y"} 1', '/\\', '/api/numbers/%0a', '/metrics/x', '/api/"', '//', '/api/../x'];
  await Promise.all([...paths, ...hostile].map((path) => send(port, { path: path.replaceAll(' ', '%20') })));
  await Promise.all(['PROPFIND', 'M-SEARCH', 'PURGE', 'LINK'].map((method) => send(port, { path: '/none', method })));
  await fetch(`${url}/api/%22quoted%22`);
  const text = await scrape(url);
  const requests = readable(text, 'pgway_http_requests_total');
  expect(requests.map((line) => line.replace(/(other,code=404}) \d+/, '$1 …'))).toMatchInlineSnapshot(`
    [
      "pgway_http_requests_total{method=GET,route=other,code=404} …",
      "pgway_http_requests_total{method=GET,route=other,code=200} 2",
      "pgway_http_requests_total{method=other,route=other,code=404} …",
      "pgway_http_requests_total{method=GET,route=/api/"quoted",code=200} 1",
    ]
  `);
  expect(text).toContain(String.raw`route="/api/\"quoted\""`);
  // The series of another method, of another status, and of one endpoint.
  expect(parse(text).length - before).toBeLessThan(100);
});

test('perEndpoint: false has one route for all endpoints', async () => {
  const { url } = await serve({ metrics: { path: '/metrics', perEndpoint: false } });
  for (const path of ['/api/numbers?to=3', '/api/cached-one?key=1', '/none']) await fetch(url + path);
  const text = await scrape(url);
  expect(readable(text, 'pgway_http_requests_total')).toEqual([
    'pgway_http_requests_total{method=GET,route=endpoint,code=200} 2',
    'pgway_http_requests_total{method=GET,route=other,code=404} 1',
  ]);
  const buckets = parse(text).filter(
    ({ name, labels }) =>
      name === 'pgway_database_call_duration_seconds_bucket' && ['5', '10', '+Inf'].includes(labels['le']!),
  );
  expect(buckets.map(({ labels, value }) => [labels['le'], labels['route'], value])).toEqual([
    ['5', 'endpoint', 2],
    ['10', 'endpoint', 2],
    ['+Inf', 'endpoint', 2],
  ]);
});

test('a refresh removes the series of endpoints that are gone', async () => {
  const own = await freshDatabase(sql);
  onTestFinished(() => own.drop());
  const { url } = await serve({ connectionString: own.connectionString, gateway: { refreshEndpointEnabled: true } });
  for (const path of ['/api/numbers?to=3', '/api/cached-one?key=1']) await fetch(url + path);
  const routes = async (): Promise<readonly string[]> => {
    const samples = parse(await scrape(url)).filter(({ labels }) => labels['route'] !== undefined);
    return [...new Set(samples.map(({ labels }) => labels['route']!))];
  };
  expect(await routes()).toEqual(['/api/numbers', '/api/cached-one']);
  await own.query('drop function numbers');
  expect((await fetch(`${url}/api/gateway/refresh`, { method: 'POST' })).status).toBe(204);
  expect(await routes()).toEqual(['/api/cached-one', 'other', '/api/gateway/refresh']);
});

test('the metrics of several processes: gauges of the running ones, counts of all', async () => {
  const counts = {
    lostLines: () => ({ file: 3 }),
    fastPath: { requests: 0, handOvers: 0 },
    spanCounts: { exported: 2, failed: 0 },
    workers: () => ({ running: 2, configured: 3 }),
  };
  const read = async (route: string): Promise<string> => {
    const metrics = new Metrics(resolveSection(metricsSection, {}), counts);
    for (let count = 0; count < 2; count++) metrics.begin();
    metrics.record({ ...entry, route }, new IncomingMessage(new Socket()));
    return JSON.stringify(await metrics.json());
  };
  const running = [await read('/a'), await read('/b')];
  const exited = await addExited(await addExited(null, await read('/a')), await read('/gone'));
  const text = await aggregatedText({ running, exited }, () => false);
  const lines = readable(text, 'pgway_').map((line) => line.replace(/version=.*}/, 'version=…}'));
  expect(lines).toMatchInlineSnapshot(`
    [
      "pgway_http_requests_total{method=GET,route=/a,code=200} 2",
      "pgway_http_requests_total{method=GET,route=/b,code=200} 1",
      "pgway_http_requests_in_flight{} 2",
      "pgway_http_responses_incomplete_total{} 0",
      "pgway_http_response_body_bytes_total{method=GET,route=/a} 20",
      "pgway_http_response_body_bytes_total{method=GET,route=/b} 10",
      "pgway_database_rows_total{method=GET,route=/a} 6",
      "pgway_database_rows_total{method=GET,route=/b} 3",
      "pgway_http_request_duration_seconds_sum{method=GET,route=/a,status=2xx} time",
      "pgway_http_request_duration_seconds_count{method=GET,route=/a,status=2xx} 2",
      "pgway_http_request_duration_seconds_sum{method=GET,route=/b,status=2xx} time",
      "pgway_http_request_duration_seconds_count{method=GET,route=/b,status=2xx} 1",
      "pgway_build_info{version=…} 1",
      "pgway_workers_running{} 2",
      "pgway_workers_configured{} 3",
      "pgway_fast_path_requests_total{} 0",
      "pgway_fast_path_handovers_total{} 0",
      "pgway_log_lines_lost_total{output=file} 12",
      "pgway_trace_spans_total{result=exported} 8",
      "pgway_trace_spans_total{result=failed} 0",
    ]
  `);
});

const entry: RequestEntry = {
  endedAt: 0,
  method: 'GET',
  path: '/a',
  status: 200,
  isIncomplete: false,
  durationMs: 500,
  databaseMs: null,
  rows: 3,
  bytes: 10,
  user: null,
  requestId: null,
  address: null,
  routine: null,
  route: '/a',
  isEventStream: false,
  tenant: null,
  traceparent: null,
};

describe('access', () => {
  const token = 'a-token-of-20-characters';
  const refused = '{"type":"about:blank","title":"Not allowed","status":403}';

  test('programs on this machine, unless a proxy has forwarded the request', async () => {
    const { port } = await serve({});
    const read = async (headers: Record<string, string>) => (await send(port, { path: '/metrics', headers }))[0];
    expect(await read({ host: `127.0.0.1:${port}` })).toBe(200);
    expect(await read({ host: 'localhost', 'user-agent': 'Prometheus' })).toBe(200);
    expect(await send(port, { path: '/metrics', headers: { host: 'rebound.example' } })).toEqual([403, refused]);
    expect(await read({ host: 'localhost', 'x-forwarded-for': '203.0.113.7' })).toBe(403);
    expect((await send(port, { path: '/metrics?x=1', method: 'POST' }))[0]).toBe(405);
    expect((await send(port, { path: '/metrics/' }))[0]).toBe(200);
    expect((await send(port, { path: '/metricsx' }))[0]).toBe(404);
    expect(await send(port, { path: '/metrics', method: 'HEAD' })).toEqual([200, '']);
  });

  test('every caller, when configured', async () => {
    const { port } = await serve({ metrics: { access: 'always', path: '/internal/metrics' } });
    expect((await send(port, { path: '/internal/metrics', headers: { host: '10.0.0.1' } }))[0]).toBe(200);
  });

  test('callers with the token, wherever they are', async () => {
    const { port } = await serve({ metrics: { path: '/metrics', token } });
    const read = async (authorization: string) => {
      return (await send(port, { path: '/metrics', headers: { host: '10.0.0.1', authorization } }))[0];
    };
    expect(await read(`Bearer ${token}`)).toBe(200);
    expect(await read(`bearer ${token}`)).toBe(200);
    for (const wrong of ['', 'Bearer', `Bearer ${token}x`, `Bearer ${token.slice(1)}`, `Basic ${token}`, token]) {
      expect([wrong, await read(wrong)]).toEqual([wrong, 401]);
    }
    const response = await fetch(`http://127.0.0.1:${port}/metrics`);
    expect([response.status, response.headers.get('www-authenticate'), await response.text()]).toEqual([
      401,
      'Bearer realm="metrics"',
      '{"type":"about:blank","title":"Authentication is required","status":401}',
    ]);
  });

  test('off by default: the path belongs to the endpoints', async () => {
    const { url } = await serve({ metrics: {} });
    expect((await fetch(`${url}/metrics`)).status).toBe(404);
  });
});

test('invalid settings are refused', async () => {
  const { streams } = await serve({ metrics: { token: 'geheim', path: 'metrics' } });
  expect(streams.text.stderr).toMatchInlineSnapshot(`
    "pgway: the configuration has 2 errors:
      metrics.token: must be a bearer token of at least 16 characters: letters, digits and -._~+/= (in pgway.json:1)
      metrics.path: must be a path such as /metrics, not "metrics" (in pgway.json:1)
    "
  `);
});

/** Sends a request, and returns status and body. */
function send(
  port: number,
  options: { readonly path: string; readonly method?: string; readonly headers?: Readonly<Record<string, string>> },
): Promise<readonly [number, string]> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, agent: false, ...options }, (answer) => {
      let body = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      answer.on('end', () => resolve([answer.statusCode!, body]));
    });
    outgoing.on('error', reject).end();
  });
}
