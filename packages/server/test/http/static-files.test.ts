import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { useDatabase } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import {
  type Files,
  get,
  navigation,
  send,
  serveSite,
  type Site,
  siteSql,
  writeFiles,
} from '../support/static-site.ts';

const database = useDatabase(siteSql);

const serve = (files: Files, staticFiles: object = {}, configuration: object = {}): Promise<Site> =>
  serveSite(database.connectionString, { files, staticFiles, configuration });

const etag = /^W\/"[\da-f]+-[\da-f]+"$/;

describe('files', () => {
  test('a file, its headers, and HEAD', async () => {
    const { port } = await serve({ 'public/app.js': 'go()' });
    const response = await get(port, '/app.js');
    expect(response).toEqual({
      status: 200,
      headers: {
        'x-request-id': expect.any(String) as string,
        'x-content-type-options': 'nosniff',
        'accept-ranges': 'bytes',
        'last-modified': 'Tue, 14 Nov 2023 22:13:20 GMT',
        etag: expect.stringMatching(etag) as string,
        'content-type': 'application/javascript; charset=utf-8',
        'cache-control': 'no-cache',
        vary: 'accept-encoding',
        'content-length': '4',
        date: expect.any(String) as string,
        connection: 'close',
      },
      body: 'go()',
    });
    const head = await send(port, 'HEAD /app.js HTTP/1.1');
    expect([head.status, head.headers['content-length'], head.body]).toEqual([200, '4', '']);
  });

  test('endpoints win over files; without a file, the response is the 404 of the gateway', async () => {
    const { port, url } = await serve({ 'public/page.html': 'from the folder', 'public/api/hello': 'file' });
    expect((await get(port, '/page.html')).body).toBe('from the database');
    expect((await get(port, '/api/hello')).body).toBe('Hello');
    for (const [method, path] of [
      ['GET', '/missing.html'],
      ['POST', '/missing'],
      ['DELETE', '/api/missing'],
    ] as const) {
      const response = await fetch(url + path, { method });
      expect([response.status, response.headers.get('content-type'), await response.json()]).toEqual([
        404,
        'application/problem+json',
        { type: 'about:blank', title: 'Not found', status: 404 },
      ]);
    }
  });

  test('other methods than GET and HEAD do not get files', async () => {
    const { url } = await serve({ 'public/app.js': 'go()' });
    const statuses = ['POST', 'PUT', 'PATCH', 'DELETE'].map(
      async (method) => (await fetch(`${url}/app.js`, { method })).status,
    );
    expect(await Promise.all(statuses)).toEqual([404, 404, 404, 404]);
  });

  test('conditional requests and ranges', async () => {
    const { port } = await serve({ 'public/a.txt': '0123456789' });
    const { headers } = await get(port, '/a.txt');
    const unchanged = await get(port, '/a.txt', { 'if-none-match': headers['etag']! });
    expect([unchanged.status, unchanged.body, unchanged.headers['cache-control']]).toEqual([304, '', 'no-cache']);
    const since = await get(port, '/a.txt', { 'if-modified-since': headers['last-modified']! });
    expect([since.status, since.body]).toEqual([304, '']);
    const range = await get(port, '/a.txt', { range: 'bytes=2-4' });
    expect([range.status, range.headers['content-range'], range.body]).toEqual([206, 'bytes 2-4/10', '234']);
  });

  test('errors of ranges and conditions are not cached', async () => {
    const { port } = await serve({ 'public/a.txt': '0123456789' }, { immutable: ['/'] });
    const range = await get(port, '/a.txt', { range: 'bytes=20-' });
    expect([range.status, range.headers['content-range'], range.headers['cache-control']]).toEqual([
      416,
      'bytes */10',
      undefined,
    ]);
    expect(JSON.parse(range.body)).toEqual({ type: 'about:blank', title: 'Range Not Satisfiable', status: 416 });
    const match = await get(port, '/a.txt', { 'if-match': '"other"' });
    expect([match.status, match.headers['cache-control']]).toEqual([412, undefined]);
    expect(JSON.parse(match.body)).toEqual({ type: 'about:blank', title: 'Precondition Failed', status: 412 });
  });

  test('the index of a folder; a folder without its slash is redirected to it', async () => {
    const { port } = await serve({
      'public/index.html': 'home',
      'public/my docs/index.html': 'docs',
      'public/x/a': '',
    });
    expect((await get(port, '/')).body).toBe('home');
    expect((await get(port, '/my%20docs/')).body).toBe('docs');
    const redirect = await get(port, '/my%20docs?q=1');
    expect([redirect.status, redirect.headers['location']]).toEqual([301, '/my%20docs/?q=1']);
    // Folders are never listed, and a file is no folder.
    expect((await get(port, '/x/')).status).toBe(404);
    expect((await get(port, '/x')).status).toBe(404);
    expect((await get(port, '/index.html/')).status).toBe(404);
  });

  test('names with spaces, percent signs, marks and other scripts', async () => {
    const names = ['a b.txt', '100%.txt', '%2e.txt', 'a?b.txt', 'a#b.txt', 'ünï.txt', '日本.txt', "it's (1).txt"];
    const { port } = await serve(Object.fromEntries(names.map((name) => [`public/${name}`, name])));
    for (const name of names) {
      const response = await get(port, `/${encodeURIComponent(name)}`);
      expect([response.status, Buffer.from(response.body, 'latin1').toString()]).toEqual([200, name]);
    }
  });

  test('Cache-Control: HTML is always validated, names with a hash are immutable', async () => {
    const { port } = await serve(
      { 'public/a.html': 'a', 'public/a.css': 'a', 'public/assets/b-4fXa81.js': 'b', 'public/assets/c.html': 'c' },
      { cacheControl: 'public, max-age=60', immutable: ['/assets/'] },
    );
    const paths = ['/a.html', '/a.css', '/assets/b-4fXa81.js', '/assets/c.html'];
    const responses = await Promise.all(paths.map((path) => get(port, path)));
    expect(responses.map(({ headers }) => headers['cache-control'])).toEqual([
      'no-cache',
      'public, max-age=60',
      'public, max-age=31536000, immutable',
      'no-cache',
    ]);
  });

  test('precompressed files', async () => {
    const script = 'go();'.repeat(100);
    const files = {
      'public/app.js': script,
      'public/app.js.br': brotliCompressSync(script),
      'public/app.js.gz': gzipSync(script),
      'public/plain.js': script,
    };
    const { url } = await serve(files);
    const ask = async (path: string, encoding: string): Promise<readonly unknown[]> => {
      const response = await fetch(url + path, { headers: { 'accept-encoding': encoding } });
      const { headers } = response;
      const names = ['content-encoding', 'content-type', 'vary'];
      return [...names.map((name) => headers.get(name)), (await response.text()) === script];
    };
    const type = 'application/javascript; charset=utf-8';
    expect(await ask('/app.js', 'gzip, br')).toEqual(['br', type, 'accept-encoding', true]);
    expect(await ask('/app.js', 'gzip')).toEqual(['gzip', type, 'accept-encoding', true]);
    expect(await ask('/app.js', 'identity')).toEqual([null, type, 'accept-encoding', true]);
    expect(await ask('/plain.js', 'br')).toEqual([null, type, 'accept-encoding', true]);
  });

  test('compression and security headers apply, also to ranges and precompressed files', async () => {
    const html = '<p>text</p>'.repeat(500);
    const { url } = await serve(
      { 'public/a.html': html, 'public/b.html': html, 'public/b.html.br': brotliCompressSync(html) },
      {},
      { compression: { enabled: true }, securityHeaders: { enabled: true } },
    );
    for (const path of ['/a.html', '/b.html']) {
      const response = await fetch(url + path, { headers: { 'accept-encoding': 'br' } });
      expect([response.headers.get('content-encoding'), await response.text()]).toEqual(['br', html]);
      expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'self'/);
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    }
    const range = await fetch(`${url}/a.html`, { headers: { 'accept-encoding': 'br', range: 'bytes=0-2000' } });
    expect([range.status, range.headers.get('content-encoding'), await range.text()]).toEqual([
      206,
      null,
      html.slice(0, 2001),
    ]);
  });

  test('a large file arrives whole', async () => {
    const bytes = Buffer.alloc(5_000_000, 'abcdefg');
    const { url } = await serve({ 'public/large.bin': bytes });
    const response = await fetch(`${url}/large.bin`);
    const hash = (data: Uint8Array): string => createHash('sha256').update(data).digest('hex');
    expect(hash(new Uint8Array(await response.arrayBuffer()))).toBe(hash(bytes));
  });

  test('further folders at their paths; the longest path wins', async () => {
    const { port } = await serve(
      { 'public/docs/a.txt': 'hidden', 'site/a.txt': 'site', 'site/index.html': 'docs', 'v2/a.txt': 'v2' },
      { mounts: { '/docs/': 'site', '/docs/v2/': 'v2' } },
    );
    const bodies = ['/docs/a.txt', '/docs/', '/docs/v2/a.txt'].map(async (path) => (await get(port, path)).body);
    expect(await Promise.all(bodies)).toEqual(['site', 'docs', 'v2']);
    expect((await get(port, '/docs')).headers['location']).toBe('/docs/');
  });

  test('files that are added, changed and removed', async () => {
    const { port, folder } = await serve({ 'public/a.txt': 'one' });
    await writeFiles(folder, { 'public/a.txt': 'second', 'public/b.txt': 'new' });
    expect([(await get(port, '/a.txt')).body, (await get(port, '/b.txt')).body]).toEqual(['second', 'new']);
    await rm(join(folder, 'public'), { recursive: true });
    expect((await get(port, '/a.txt')).status).toBe(404);
  });
});

describe('the page of a single-page application', () => {
  const files = { 'public/index.html': 'app', 'public/a.txt': 'a' };

  test('browsers get it for pages', async () => {
    const { port } = await serve(files, { spaFallback: 'index.html' });
    const response = await get(port, '/orders/7?tab=1', navigation);
    expect([response.status, response.body, response.headers['cache-control'], response.headers['vary']]).toEqual([
      200,
      'app',
      'no-cache',
      'Accept, Sec-Fetch-Mode, accept-encoding',
    ]);
  });

  test.each([
    ['below the prefix of the API', '/api/unknown', navigation],
    ['the prefix of the API', '/api', navigation],
    ['with a file extension', '/logo.png', navigation],
    ['by a script', '/orders', { accept: '*/*' }],
    ['by a script that accepts HTML', '/orders', { accept: 'text/html', 'sec-fetch-mode': 'cors' }],
    ['with a hostile path', '/orders/%2e%2e/x', navigation],
  ])('not %s', async (_, path, headers) => {
    const { port } = await serve(files, { spaFallback: 'index.html' });
    expect((await get(port, path, headers)).status).toBe(404);
  });

  test('a path that begins like the prefix of the API is a page', async () => {
    const { port } = await serve(files, { spaFallback: 'index.html' });
    expect((await get(port, '/apifoo', navigation)).body).toBe('app');
  });
});
