import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { freePort, useDatabase } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { folderWith } from '../support/folder.ts';
import { type RunningServer, runServer } from '../support/run-server.ts';

/** Collectors that do not answer: requests and shutdown do not wait for them. */

const database = useDatabase(`
  create function hello() returns text language sql stable as $$ select 'Hello' $$;
  comment on function hello is 'HTTP GET';
`);

async function serve(endpoint: string): Promise<RunningServer> {
  const configuration = {
    port: 0,
    connectionString: database.connectionString,
    log: { format: 'json', levels: { access: 'silent' } },
    metrics: { path: '/metrics' },
    tracing: { endpoint },
  };
  return runServer(await folderWith({ 'pgway.json': configuration }));
}

function messages({ streams }: RunningServer): readonly string[] {
  const lines = streams.text.stdout.split('\n').filter((line) => line.includes('tracing.endpoint'));
  return lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
}

async function failedSpans({ url }: RunningServer): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/pgway_trace_spans_total\{result="failed"\} (\d+)/.exec(text)![1]);
}

/** More spans than the queue has room for. */
const requests = 3000;

async function sendMany(url: string): Promise<void> {
  for (let sent = 0; sent < requests; sent += 50) {
    const responses = await Promise.all(Array.from({ length: 50 }, () => fetch(`${url}/api/hello`)));
    expect(await Promise.all(responses.map((response) => response.text()))).toEqual(
      Array.from({ length: 50 }, () => 'Hello'),
    );
  }
}

test('a collector that is down: one line for many spans, and a short shutdown', async () => {
  const served = await serve(`http://127.0.0.1:${await freePort()}/v1/traces`);
  await sendMany(served.url);
  await expect.poll(() => failedSpans(served)).toBeGreaterThan(0);
  await sendMany(served.url);
  await expect.poll(() => failedSpans(served)).toBeGreaterThan(512);
  expect(messages(served)).toEqual([
    expect.stringMatching(/^traces cannot be sent to tracing\.endpoint, and are lost: connect ECONNREFUSED/),
  ]);
  await sendMany(served.url);
  served.streams.sendStop('graceful');
  expect(await served.ended).toBe(0);
  expect(messages(served).slice(1)).toEqual([
    'the last traces could not be sent to tracing.endpoint within 2 s, and are lost',
  ]);
});

test('a collector that never answers does not delay the shutdown', async () => {
  const sockets = new Set<{ destroy(): void }>();
  const server = createServer((socket) => void sockets.add(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const served = await serve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`);
  expect(await (await fetch(`${served.url}/api/hello`)).text()).toBe('Hello');
  served.streams.sendStop('graceful');
  expect(await served.ended).toBe(0);
  expect(messages(served)).toEqual(['the last traces could not be sent to tracing.endpoint within 2 s, and are lost']);
});
