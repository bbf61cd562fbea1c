import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Endpoint, httpDocuments, openApiDocument } from '@pgway/core';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { column, int4, returns, text } from '../support/routine.ts';
import { planned } from './endpoints.ts';
import { clientOf, compile, folderWith } from './support.ts';

/** Endpoints with uploads, without a gateway: a test server parses the form data. */
const endpoints: readonly Endpoint[] = planned([
  {
    name: 'put_photos',
    comment: 'HTTP POST\nparam_type query',
    parameters: [{ name: '_album', type: text }],
    result: returns('scalar', [column('put_photos', int4)]),
  },
  {
    name: 'put_quietly',
    comment: 'HTTP POST\nparam_type query\ntsclient_status_code = on',
    result: returns('void', []),
  },
]).map((endpoint) => ({ ...endpoint, upload: { handlers: [], options: {}, metadataParameter: null } }));

// oxlint-disable-next-line typescript/no-explicit-any -- the module does not exist before the test
type Client = any;

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Returns in headers what has arrived, and counts the files. */
function fileServer(script: string): Server {
  return createServer((request, response) => {
    if (request.method === 'GET') {
      const [type, content] =
        request.url === '/client.js' ? ['text/javascript', script] : ['text/html', '<!doctype html>'];
      response.setHeader('content-type', type!).end(content);
      return;
    }
    void bodyOf(request).then(async (body) => {
      const form = await new Response(body, {
        headers: { 'content-type': request.headers['content-type']! },
      }).formData();
      const files = form.getAll('file') as File[];
      const told = await Promise.all(
        files.map(async (file) => `${file.name}:${file.size}:${await file.slice(0, 4).text()}`),
      );
      const problem = JSON.stringify({ type: 'x', title: 'No files', status: 413 });
      response.setHeader('x-count', files.length);
      if (files.length === 0) response.writeHead(413, { 'content-type': 'application/problem+json' }).end(problem);
      else if (request.url!.startsWith('/api/put-quietly')) response.writeHead(204).end();
      else response.setHeader('content-type', 'text/plain').end(`${request.url} ${told.join(' ')}`.length.toString());
      received.push(`${request.url} ${told.join(' ')}`);
    });
  });
}

const received: string[] = [];
let server: Server;
let origin: string;

beforeAll(async () => {
  const [script] = clientOf(endpoints, { skipTypes: true });
  server = fileServer(script!.content).listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

test('compiles in strict mode', async () => {
  expect(await compile(clientOf(endpoints))).toBe('');
  expect(await compile(clientOf(endpoints.slice(1), { createSeparateTypeFile: false }))).toBe('');
});

test('in Node, by fetch', async () => {
  const { folder, remove } = await folderWith(
    clientOf(endpoints, { customHost: origin, skipTypes: true, filePath: 'client.mts' }),
  );
  try {
    const client: Client = await import(pathToFileURL(join(folder, 'client.mjs')).href);
    received.length = 0;
    const photo = new File(['photo of a cat'], 'cat.jpg');
    expect(await client.putPhotos([photo, new Blob(['blob'])], { album: 'pets' })).toBeGreaterThan(10);
    const { headers, ...quiet } = await client.putQuietly(photo);
    expect(quiet).toEqual({ status: 204, response: undefined, problem: undefined });
    expect(headers.get('x-count')).toBe('1');
    expect(received).toEqual([
      '/api/put-photos?album=pets cat.jpg:14:phot file:4:blob',
      '/api/put-quietly cat.jpg:14:phot',
    ]);
    await expect(client.putPhotos([], { album: 'pets' })).rejects.toMatchObject({ name: 'GatewayError', status: 413 });
  } finally {
    await remove();
  }
});

const browser = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);

describe.skipIf(browser === undefined)('in a browser (skipped where there is no Chromium)', () => {
  test('with progress', async () => {
    const started = await chromium.launch({ executablePath: browser!, args: ['--no-sandbox'] });
    try {
      const page = await started.newPage();
      await page.goto(`${origin}/`);
      received.length = 0;
      const told = await page.evaluate(`import('/client.js').then(async (client) => {
        const steps = [];
        const file = new File([new Uint8Array(300000).fill(97)], 'big.bin');
        const counts = [];
        const options = { onResponse: ({ headers }) => counts.push(headers.get('x-count')) };
        const answer = await client.putPhotos(file, { album: 'a' }, { ...options, onProgress: (step) => steps.push(step) });
        const refused = await client.putPhotos([], { album: 'a' }, { ...options, onProgress: () => undefined })
          .catch((error) => [error.status, error.headers.get('content-type')]);
        return { answer: typeof answer, refused, counts, whole: steps.at(-1).loaded === steps.at(-1).total, size: steps.at(-1).total > 300000 };
      })`);
      expect(told).toEqual({
        answer: 'number',
        refused: [413, 'application/problem+json'],
        counts: ['1', '0'],
        whole: true,
        size: true,
      });
      expect(received[0]).toBe('/api/put-photos?album=a big.bin:300000:aaaa');
    } finally {
      await started.close();
    }
  }, 60_000);
});

test('request file and OpenAPI document describe uploads', () => {
  const [document] = httpDocuments(endpoints, {});
  expect(document!.content).toContain(`POST {{host}}/api/put-photos?album=ABC
Content-Type: multipart/form-data; boundary=part

--part
Content-Disposition: form-data; name="file"; filename="sample.txt"
Content-Type: text/plain

sample
--part--`);
  const { paths } = openApiDocument(endpoints) as Client;
  expect(Object.keys(paths['/api/put-photos'].post.requestBody.content)).toEqual(['multipart/form-data']);
});
