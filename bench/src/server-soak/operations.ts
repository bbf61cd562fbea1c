/** The requests of the soak of the server, each with the check of its response. */
import { randomUUID } from 'node:crypto';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

import type { HttpClient, HttpRequest, HttpResult } from '../soak/http-client.ts';
import type { Random } from '../soak/random.ts';
import { StreamReader } from '../streams/stream-reader.ts';

export interface OperationContext {
  readonly http: HttpClient;
  readonly port: number;
  readonly random: Random;
  /** Counts a request. */
  readonly count: () => void;
  /** Reports a wrong response. */
  readonly fail: (operation: string, reason: string) => void;
}

type Response = Extract<HttpResult, { readonly kind: 'response' }>;

interface Operation {
  readonly name: string;
  readonly weight: number;
  readonly run: (context: OperationContext, name: string) => Promise<void>;
}

/** The files of the static folder. */
export const staticFiles: Readonly<Record<string, string>> = {
  'index.html': '<!doctype html><title>Soak</title>',
  'app.js': `export const text = ${JSON.stringify('soak '.repeat(6000))};\n`,
};

async function send(
  { http, count, fail }: OperationContext,
  name: string,
  request: Partial<HttpRequest> & { readonly path: string },
  expected: readonly number[] = [200],
): Promise<Response | null> {
  const response = await http.send({ method: 'GET', headers: {}, ...request });
  count();
  if (response.kind === 'response' && expected.includes(response.status)) return response;
  const found = response.kind === 'response' ? `${response.status} ${response.body.toString().slice(0, 200)}` : '';
  fail(name, `${response.kind} ${found}`);
  return null;
}

function post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) {
  return {
    method: 'POST',
    path,
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  };
}

async function rows(context: OperationContext, name: string, path: string, headers = {}): Promise<void> {
  const limit = context.random.pick([1, 1, 1, 5, 10, 100]);
  const response = await send(context, name, { path: `${path}?limit=${limit}`, headers });
  const found = response === null ? limit : (JSON.parse(response.body.toString()) as readonly unknown[]).length;
  if (found !== limit) context.fail(name, `${found} rows instead of ${limit}`);
}

async function compressed(context: OperationContext, name: string): Promise<void> {
  const encoding = context.random.pick(['br', 'gzip']);
  const response = await send(context, name, {
    path: '/api/items?limit=200',
    headers: { 'accept-encoding': encoding },
  });
  if (response === null) return;
  if (response.headers['content-encoding'] !== encoding) context.fail(name, 'not compressed');
  const decompressed = encoding === 'br' ? brotliDecompressSync(response.body) : gunzipSync(response.body);
  if ((JSON.parse(decompressed.toString()) as readonly unknown[]).length !== 200) context.fail(name, 'wrong rows');
}

async function file(context: OperationContext, name: string): Promise<void> {
  const response = await send(context, name, { path: '/app.js' });
  if (response === null) return;
  if (response.body.toString() !== staticFiles['app.js']) context.fail(name, 'wrong content');
  const { etag = '' } = response.headers;
  await send(context, name, { path: '/app.js', headers: { 'if-none-match': etag } }, [304]);
  const part = await send(context, name, { path: '/app.js', headers: { range: 'bytes=10-19' } }, [206]);
  if (part !== null && part.body.length !== 10) context.fail(name, 'wrong range');
}

async function session(context: OperationContext, name: string): Promise<void> {
  const user = `user-${context.random.integer(1, 500)}`;
  const signedIn = await send(context, name, post('/api/sign-in', { name: user }));
  const cookie = signedIn?.headers['set-cookie']?.map((value) => value.split(';', 1)[0]).join('; ');
  if (cookie === undefined) return;
  const headers = { cookie, origin: context.http.origin };
  const me = await send(context, name, { path: '/api/me', headers });
  if (me !== null && me.body.toString() !== user) context.fail(name, `${me.body.toString()} instead of ${user}`);
  await send(context, name, post('/api/sign-out', {}, headers), [200, 204]);
  await send(context, name, { path: '/api/me', headers }, [401]);
}

function form(content: string, fileName: string, type: string) {
  const boundary = 'soak-boundary';
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${fileName}"\r\ncontent-type: ${type}\r\n\r\n`;
  return {
    method: 'POST',
    body: `${head}${content}\r\n--${boundary}--\r\n`,
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  };
}

async function upload(context: OperationContext, name: string): Promise<void> {
  const content = 'x'.repeat(context.random.integer(1, 20_000));
  await send(context, name, { path: '/api/keep-file', ...form(content, 'note.txt', 'text/plain') });
  const lines = 'a,b\n'.repeat(context.random.integer(1, 20));
  await send(context, name, { path: '/api/import-lines', ...form(lines, 'lines.csv', 'text/csv') });
}

/** Opens a stream, calls its endpoint, waits for the event and disconnects. */
async function events(context: OperationContext, name: string): Promise<void> {
  const id = randomUUID();
  const reader = new StreamReader(context.port, `/api/announce/info?${id}`);
  const closed = new Promise<'closed'>((resolve) => reader.socket.once('close', () => resolve('closed')));
  try {
    if ((await Promise.race([reader.begun(), closed])) === 'closed')
      return context.fail(name, 'the stream did not begin');
    context.count();
    const received = reader.waitForMarker(`data: ${id}`);
    await send(context, name, post('/api/announce', { text: id }, { 'x-gateway-id': id }), [204]);
    if ((await Promise.race([received, closed])) === 'closed') context.fail(name, 'the stream has ended');
  } finally {
    reader.socket.destroy();
  }
}

async function disconnect(context: OperationContext, name: string): Promise<void> {
  const how = context.random.pick(['at-first-bytes', { afterMs: 1 }] as const);
  const response = await context.http.send({
    method: 'GET',
    path: '/api/items?limit=500',
    headers: {},
    disconnect: how,
  });
  context.count();
  if (response.kind === 'timeout') context.fail(name, response.kind);
}

async function unknownPath(context: OperationContext, name: string): Promise<void> {
  // Ever new paths: nothing may be kept of them.
  await send(context, name, { path: `/unknown/${randomUUID()}` }, [404]);
}

export const operations: readonly Operation[] = [
  {
    name: 'scalar',
    weight: 20,
    run: async (context, name) => void (await send(context, name, { path: '/api/add?a=1&b=2' })),
  },
  { name: 'rows', weight: 20, run: (context, name) => rows(context, name, '/api/items') },
  { name: 'cached', weight: 10, run: (context, name) => rows(context, name, '/api/cached-items') },
  { name: 'compressed', weight: 4, run: compressed },
  {
    name: 'post',
    weight: 8,
    run: async (context, name) => void (await send(context, name, post('/api/echo', { text: 'a' }))),
  },
  {
    name: 'error',
    weight: 3,
    run: async (context, name) => void (await send(context, name, post('/api/failing', { code: 'P0001' }), [400])),
  },
  {
    name: 'invalid',
    weight: 2,
    run: async (context, name) => void (await send(context, name, { path: '/api/add?a=x&b=2' }, [400])),
  },
  { name: 'unknown path', weight: 2, run: unknownPath },
  {
    name: 'rate limit',
    weight: 4,
    run: async (context, name) => void (await send(context, name, { path: '/api/limited' }, [200, 429])),
  },
  { name: 'static files', weight: 6, run: file },
  { name: 'session', weight: 4, run: session },
  { name: 'upload', weight: 2, run: upload },
  { name: 'events', weight: 2, run: events },
  { name: 'disconnect', weight: 1, run: disconnect },
  {
    name: 'metrics',
    weight: 0.05,
    run: async (context, name) => void (await send(context, name, { path: '/metrics' })),
  },
  { name: 'health', weight: 0.5, run: async (context, name) => void (await send(context, name, { path: '/health' })) },
];
