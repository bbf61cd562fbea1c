import { execFile } from 'node:child_process';
import { request } from 'node:http';
import { useDatabase } from '@pgway/testing';
import { expect, test } from 'vitest';
import { folderWith } from '../support/folder.ts';
import { runServer } from '../support/run-server.ts';

/** Metrics under many paths, and as Prometheus itself reads them. */

const database = useDatabase(`
  create function hello() returns text language sql stable as $$ select 'Hello' $$;
  comment on function hello is 'HTTP GET';
`);

const promtool = await new Promise<string | null>((resolve) => {
  const name = process.env['PROMTOOL'] ?? 'promtool';
  execFile(name, ['--version'], (error) => resolve(error === null ? name : null));
});
if (promtool === null) console.warn('SKIPPED: there is no promtool on this machine (apt-get install prometheus)');

async function serve(): Promise<number> {
  const configuration = { port: 0, connectionString: database.connectionString, metrics: { path: '/metrics' } };
  const settings = { ...configuration, log: { levels: { access: 'silent' } } };
  const { port } = await runServer(await folderWith({ 'pgway.json': settings }));
  return port;
}

function read(port: number, options: { readonly path: string; readonly method?: string }): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, ...options }, (answer) => {
      let body = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      answer.on('end', () => resolve(body));
    });
    outgoing.on('error', reject).end();
  });
}

const isSample = /^pgway_http_requests_total\{.*\} \d+$/;

test('10,000 paths that no endpoint has make one series for each method', async () => {
  const port = await serve();
  const methods = ['GET', 'POST', 'PROPFIND', 'SEARCH', 'PURGE'];
  for (let sent = 0; sent < 10_000; sent += 100) {
    // In turn: so many connections at once would be refused.
    await Promise.all(
      Array.from({ length: 100 }, (_, index) => {
        const path = `/p${sent + index}/%22%0a%7b${index}?x=${index}`;
        return read(port, { path, method: methods[index % methods.length]! });
      }),
    );
  }
  const text = await read(port, { path: '/metrics' });
  expect(
    text
      .split('\n')
      .filter((line) => isSample.test(line))
      .toSorted(),
  ).toEqual([
    'pgway_http_requests_total{method="GET",route="other",code="404"} 2000',
    'pgway_http_requests_total{method="POST",route="other",code="404"} 2000',
    'pgway_http_requests_total{method="other",route="other",code="404"} 6000',
  ]);
  expect(text.length).toBeLessThan(60_000);
});

test.runIf(promtool !== null)('promtool of Prometheus finds nothing to improve', async () => {
  const port = await serve();
  for (const path of ['/api/hello', '/none']) await read(port, { path });
  const text = await read(port, { path: '/metrics' });
  const output = await new Promise<string>((resolve) => {
    const child = execFile(promtool!, ['check', 'metrics'], (_, stdout, stderr) => resolve(stdout + stderr));
    child.stdin!.end(text);
  });
  // The other metrics are those of prom-client.
  expect(output.split('\n').filter((line) => line.startsWith('pgway') || line.includes('rror'))).toEqual([]);
});
