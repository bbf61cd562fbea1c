import { build, useDatabase } from '@pgway/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Server, startWorkers } from '../workers/support.ts';

/** The metrics of a server with two worker processes. */

beforeAll(build);

const database = useDatabase(`
  create function hello() returns text language sql stable as $$ select 'Hello' $$;
  comment on function hello is 'HTTP GET';
`);

describe('metrics of workers', () => {
  test('are added up, whichever worker answers, and keep the counts of a worker that has exited', async () => {
    const server = await startWorkers({
      connectionString: database.connectionString,
      log: { format: 'json', levels: { access: 'silent' } },
      metrics: { path: '/metrics' },
    });
    for (let count = 0; count < 20; count++) expect((await server.send('GET /api/hello')).status).toBe(200);
    const requests = 'pgway_http_requests_total{method="GET",route="/api/hello",code="200"}';
    // A worker counts a response after the client has received it.
    await expect.poll(() => valueOf(server, requests)).toBe(20);
    expect(await valueOf(server, requests)).toBe(20);
    expect(
      await valueOf(server, 'pgway_http_request_duration_seconds_count{method="GET",route="/api/hello",status="2xx"}'),
    ).toBe(20);
    expect(await valueOf(server, 'pgway_catalog_endpoints')).toBe(1);
    expect(await valueOf(server, 'pgway_workers_running')).toBe(2);

    const [first] = await server.workers();
    process.kill(first!, 'SIGKILL');
    await server.logged('worker . runs again');
    expect(await valueOf(server, requests)).toBe(20);
    await expect.poll(() => valueOf(server, 'pgway_workers_running')).toBe(2);
    for (let count = 0; count < 4; count++) await server.send('GET /api/hello');
    await expect.poll(() => valueOf(server, requests)).toBe(24);
  });
});

async function valueOf(server: Server, series: string): Promise<number> {
  const { status, body } = await server.send('GET /metrics');
  expect(status).toBe(200);
  const line = body.split('\n').find((each) => each.startsWith(`${series} `));
  return Number(line?.slice(series.length));
}
