import { once } from 'node:events';
import { createServer, request as sendRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { useDatabase } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { folderWith } from '../support/folder.ts';
import { createTestProcess } from '../support/process-context.ts';
import { runServer } from '../support/run-server.ts';

/** The generated client behind a proxy that does not know the method QUERY. */

const database = useDatabase(
  `create table film (id int primary key, title text not null); insert into film values (1, repeat('x', 5000));`,
);

type Client = Readonly<Record<string, (request: object, options?: object) => Promise<unknown>>>;

/** Starts the server, a proxy that answers `status` to QUERY, and the client; `requests` are those that the proxy has received. */
async function start(status: number): Promise<{ readonly client: Client; readonly requests: string[] }> {
  const requests: string[] = [];
  let port = 0;
  const proxy = createServer((request, response) => {
    const { method, url, headers } = request;
    requests.push(`${method} ${headers['content-type'] ?? ''} ${url!.split('?', 1)[0]}`);
    if (method === 'QUERY') return response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>refused</h1>');
    const passed = sendRequest({ host: '127.0.0.1', port, method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    return request.pipe(passed);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => proxy.close().closeAllConnections());
  await once(proxy, 'listening');
  const folder = await folderWith({
    'pgway.json': {
      connectionString: database.connectionString,
      port: 0,
      sqlFiles: '*.sql',
      typescriptClient: {
        filePath: 'client.mjs',
        skipTypes: true,
        customHost: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
        includeStatusCode: status === 501,
      },
    },
    'film.sql': '-- HTTP GET /film\n-- single\nselect id from film where title = :title',
  });
  expect(await run(['generate'], {}, createTestProcess(folder))).toBe(0);
  const server = await runServer(folder);
  port = server.port;
  const client = (await import(pathToFileURL(join(folder, 'client.mjs')).href)) as Client;
  return { client, requests };
}

test('405 to QUERY: the client repeats the request once, as GET', async () => {
  const { client, requests } = await start(405);
  const statuses: number[] = [];
  const onResponse = ({ status }: { readonly status: number }): void => void statuses.push(status);
  const headers = { 'x-tag': 'a' };
  expect(await client['film']!({ title: 'x'.repeat(5000) }, { onResponse, headers })).toBe(1);
  expect(await client['film']!({ title: 'y' })).toBeNull();
  expect(requests).toEqual(['QUERY application/x-www-form-urlencoded /film', 'GET  /film', 'GET  /film']);
  expect(statuses).toEqual([200]);
  requests.length = 0;
  await expect(client['film']!({ title: 'x'.repeat(9000) })).rejects.toMatchObject({
    name: 'GatewayError',
    status: 414,
    headers: expect.any(Headers),
    problem: { status: 414 },
  });
  expect(requests).toEqual(['QUERY application/x-www-form-urlencoded /film', 'GET  /film']);
});

test('501 to QUERY, with responses that have their status', async () => {
  const { client, requests } = await start(501);
  expect(await client['film']!({ title: 'x'.repeat(5000) })).toMatchObject({ status: 200, response: 1 });
  expect(await client['film']!({ title: 'x'.repeat(9000) })).toMatchObject({ status: 414, problem: { status: 414 } });
  expect(requests.map((text) => text.split(' ', 1)[0])).toEqual(['QUERY', 'GET', 'QUERY', 'GET']);
});

test('another error of QUERY is thrown at once', async () => {
  const { client, requests } = await start(403);
  await expect(client['film']!({ title: 'x'.repeat(5000) })).rejects.toMatchObject({ status: 403 });
  expect(requests).toEqual(['QUERY application/x-www-form-urlencoded /film']);
});
