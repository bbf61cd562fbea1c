import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { createGateway, type Gateway } from '@pgway/core';
import { useDatabase } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { PageData } from '../../src/browser/page-data.ts';
import { parseConfiguration } from '../support/parse-configuration.ts';
import { gatewayOptions } from '../../src/gateway-options.ts';
import { createApp } from '../../src/http/app.ts';
import { listen } from '../../src/http/http-server.ts';
import { scriptModules } from '../../src/pages/page-assets.ts';
import { createStartPage } from '../../src/pages/start-page.ts';
import { folderWith } from '../support/folder.ts';
import { get, send, writeFiles } from '../support/static-site.ts';

const database = useDatabase(`
  create type mood as enum ('fine', '</script>');
  create type place as (city text, zip int);
  create function greet(_name text, _mood mood default 'fine', _days int[] default '{}') returns text language sql stable as
    $$ select _name $$;
  comment on function greet is 'Says "hello" & <b>more</b>.
  HTTP GET /api/greet/{name}
  authorize staff, admin';
  create function save(_id bigint, _at place, _note json default null) returns table (id bigint) language sql as $$ select _id $$;
  comment on function save is 'HTTP
  info_path';
  create function enter(_name text, _password text) returns table (id text, hash text) language sql as $$ select '1', '2' $$;
  comment on function enter is 'HTTP
  login';
  create function store(_meta json default null) returns int language sql as 'select 1';
  comment on function store is 'HTTP
  upload for large_object
  included_mime_types = image/png, image/*
  param _meta is upload metadata';
  create function raw(_text text) returns int language sql as 'select 1';
  comment on function raw is 'HTTP
  body_parameter_name _text';
`);

interface Setup {
  readonly configuration?: object;
  /** Files of the folder that is served; none: no static files. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Serves with this configuration until the test has ended. */
async function serve({ configuration: sections = {}, files }: Setup = {}): Promise<{ port: number; gateway: Gateway }> {
  const workingDirectory = await folderWith();
  if (files !== undefined) await writeFiles(workingDirectory, files);
  const configuration = parseConfiguration({
    port: 0,
    connectionString: database.connectionString,
    ...(files === undefined ? {} : { staticFiles: { root: 'public' } }),
    ...sections,
  });
  const gateway = await createGateway(await gatewayOptions(configuration, database.connectionString, {}));
  const startPage = createStartPage(configuration, 'postgres://localhost/shop');
  const app = await createApp(configuration, gateway, { workingDirectory, pages: [startPage] });
  const server = await listen(configuration, app.handle);
  onTestFinished(async () => {
    await server.stop(0, AbortSignal.abort());
    await app.close();
    await gateway.close();
  });
  return { port: server.port, gateway };
}

async function data(port: number): Promise<PageData> {
  return JSON.parse((await get(port, '/_pgway/endpoints.json')).body) as PageData;
}

describe('the page', () => {
  test('loads only its own script, style and data', async () => {
    const { port } = await serve();
    const { status, headers, body } = await get(port, '/');
    expect([status, headers]).toEqual([
      200,
      {
        'cache-control': 'no-cache',
        connection: 'close',
        'content-length': expect.any(String),
        'content-security-policy':
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src blob: data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
        'content-type': 'text/html; charset=utf-8',
        date: expect.any(String),
        etag: expect.stringMatching(/^W\/"[\w-]{22}"$/),
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'x-request-id': expect.any(String),
      },
    ]);
    expect(body).toContain('<title>shop</title>');
    expect(body.match(/<script[^>]*>/g)).toEqual(['<script type="module" src="/_pgway/page.js">']);
    const targets = [...body.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, target]) => target!);
    expect(targets.filter((target) => !target.startsWith('/_pgway/') && !target.startsWith('data:'))).toEqual([]);
  });

  /** Types, and the script of another page. */
  const ownScripts = new Set(['page-data.ts', 'sign-in-page.ts']);

  test('preloads all modules of its script', () => {
    const folder = join(import.meta.dirname, '../../src/browser');
    const sources = readdirSync(folder).filter((name) => name.endsWith('.ts') && !ownScripts.has(name));
    expect(scriptModules.toSorted()).toEqual(sources.map((name) => name.replace('.ts', '.js')).toSorted());
    const imported = sources.flatMap((name) => [
      ...readFileSync(join(folder, name), 'utf8').matchAll(/^(?:import|} from).*'\.\/(.*)\.ts'/gm),
    ]);
    expect(new Set(imported.map(([, name]) => `${name!}.js`))).toEqual(
      new Set([...scriptModules.slice(1), 'page-data.js']),
    );
  });

  test('escapes its title', async () => {
    const { port } = await serve({ configuration: { openApi: { title: '</title><script>alert(1)</script>' } } });
    expect((await get(port, '/')).body).toContain('<title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;</title>');
  });

  test.each([false, true])('its large files are compressed once, with `compression.enabled` %s', async (enabled) => {
    const { port } = await serve({ configuration: { compression: { enabled } } });
    const plain = await get(port, '/_pgway/page.css');
    expect(plain.headers).toMatchObject({ vary: 'accept-encoding', 'content-length': String(plain.body.length) });
    expect(plain.headers['content-encoding']).toBeUndefined();
    const { headers, body } = await get(port, '/_pgway/page.css', { 'accept-encoding': 'br;q=0, gzip;q=0.5' });
    expect(headers).toMatchObject({ 'content-encoding': 'gzip', etag: plain.headers['etag'] });
    expect(headers['content-length']).toBe(String(body.length));
    expect(gunzipSync(Buffer.from(body, 'latin1')).toString('latin1')).toBe(plain.body);
    for (const coding of ['gzip;q=0', 'gzip; q=0.000', 'br;q=0', 'x-gzip-like;q=0'])
      expect(
        (await get(port, '/_pgway/page.css', { 'accept-encoding': `${coding}, *;q=0` })).headers,
      ).not.toHaveProperty('content-encoding');
    const known = await get(port, '/_pgway/page.css', { 'accept-encoding': 'gzip', 'if-none-match': headers['etag']! });
    expect([known.status, known.body]).toEqual([304, '']);
  });

  test('has a style, and no other files', async () => {
    const { port } = await serve();
    const style = await get(port, '/_pgway/page.css');
    expect([style.status, style.headers['content-type']]).toEqual([200, 'text/css; charset=utf-8']);
    const others = ['', 'page-data.ts', 'tsconfig.json', '../package.json', '%2e%2e/package.json', 'page.js.map'];
    for (const name of others) expect((await get(port, `/_pgway/${name}`)).status).toBe(404);
    expect((await send(port, 'HEAD / HTTP/1.1')).body).toBe('');
    expect((await send(port, 'POST / HTTP/1.1', { 'content-length': '0' })).status).toBe(404);
  });
});

describe('the data', () => {
  test('describes parameters, body and access of each operation', async () => {
    const { port } = await serve({
      configuration: {
        cookie: { enabled: true },
        openApi: { path: '/openapi.json' },
        health: { path: '/up' },
        metrics: { path: '/metrics' },
      },
    });
    const { title, links, authentication, operations } = await data(port);
    expect({ title, links, authentication }).toEqual({
      title: 'shop',
      links: [
        { label: 'OpenAPI', path: '/openapi.json' },
        { label: 'Health', path: '/up' },
        { label: 'Metrics', path: '/metrics' },
      ],
      authentication: { cookie: true, bearer: false, antiforgeryPath: null, signInUrl: null, signOutPath: null },
    });
    const byPath = new Map(operations.map((operation) => [operation.path, operation]));
    expect(byPath.get('/api/save')!.workbookType).toBe(
      'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    );
    expect([...byPath.keys()]).toEqual(['/api/enter', '/api/greet/{name}', '/api/raw', '/api/save', '/api/store']);
    expect(byPath.get('/api/greet/{name}')).toEqual({
      id: 'greetName',
      takesQuery: true,
      workbookType: null,
      method: 'GET',
      path: '/api/greet/{name}',
      schema: 'public',
      group: 'Functions',
      isTable: false,
      isVariant: false,
      tags: ['function', 'stable'],
      signatures: ['public.greet(_name text, _mood public.mood, _days integer[])'],
      summary: 'Says "hello" & <b>more</b>.',
      description: 'Says "hello" & <b>more</b>.',
      access: { required: true, roles: ['staff', 'admin'], basic: false },
      loginOrLogout: null,
      parameters: [
        {
          name: 'name',
          in: 'path',
          type: 'text',
          required: true,
          default: null,
          secret: false,
          description: '',
          schema: { type: 'string' },
        },
        {
          name: 'mood',
          in: 'query',
          type: 'public.mood',
          required: false,
          default: `'fine'`,
          secret: false,
          description: '',
          schema: { type: 'string', enum: ['fine', '</script>'] },
        },
        {
          name: 'days',
          in: 'query',
          type: 'integer[]',
          required: false,
          default: `'{}'`,
          secret: false,
          description: '',
          schema: { type: 'array', items: { type: 'integer', format: 'int32' } },
        },
      ],
      body: null,
      listing: null,
      responses: [
        {
          status: '200',
          description: 'text',
          problem: false,
          headers: [],
          content: [{ mediaType: 'text/plain', type: 'string', example: null }],
        },
        { status: '4XX', description: 'Another error of the request', problem: true, headers: [], content: [] },
        {
          status: 'default',
          description: 'An error of the server or the database',
          problem: true,
          headers: [],
          content: [],
        },
      ],
      client: { name: 'greetName', module: './api.ts', takesRequest: true, hasResult: true },
      eventsPath: null,
      changesPath: null,
    });
    const { parameters, body, eventsPath, responses } = byPath.get('/api/save')!;
    expect(parameters.map(({ name, in: place, type, required }) => [name, place, type, required])).toEqual([
      ['id', 'body', 'bigint', true],
      ['at', 'body', 'public.place', true],
      ['note', 'body', 'json', false],
    ]);
    expect({ body, eventsPath, content: responses[0]!.content[0] }).toEqual({
      body: { kind: 'object', mediaType: 'application/json', required: true, accept: '' },
      eventsPath: '/api/save/info',
      content: {
        mediaType: 'application/json',
        type: 'array of {\n  id: integer or null\n}',
        example: '[\n  {\n    "id": 1\n  }\n]',
      },
    });
    expect(byPath.get('/api/store')!.body).toEqual({
      kind: 'files',
      mediaType: 'multipart/form-data',
      required: true,
      accept: 'image/png,image/*',
    });
    expect(byPath.get('/api/raw')).toMatchObject({
      body: { kind: 'text', mediaType: 'text/plain', required: true },
      parameters: [{ name: 'text', in: 'body', type: 'text', required: true }],
    });
    const enter = byPath.get('/api/enter')!;
    expect([enter.loginOrLogout, enter.parameters.map(({ name, secret }) => [name, secret])]).toEqual([
      'login',
      [
        ['name', false],
        ['password', true],
      ],
    ]);
  });

  test('is sent again only after a change', async () => {
    const { port, gateway } = await serve();
    const first = await get(port, '/_pgway/endpoints.json');
    expect(first.headers['content-type']).toBe('application/json');
    const again = await get(port, '/_pgway/endpoints.json', { 'if-none-match': `"x", ${first.headers['etag']!}` });
    expect([again.status, again.body]).toEqual([304, '']);
    await database.query(`create function added() returns int language sql as 'select 1'`);
    await database.query(`comment on function added is 'HTTP'`);
    await gateway.refresh();
    const changed = await get(port, '/_pgway/endpoints.json', { 'if-none-match': first.headers['etag']! });
    await database.query('drop function added()');
    expect([changed.status, changed.body.includes('/api/added')]).toEqual([200, true]);
  });
});

test('a page learns whether its caller is signed in, and nothing else', async () => {
  const { port, gateway } = await serve({ configuration: { cookie: { enabled: true } } });
  const { headers: signedIn } = await gateway.signIn(new Request(`http://127.0.0.1:${port}/`), { user_id: '7' });
  const cookie = signedIn.find(([name]) => name === 'set-cookie')![1].split(';', 1)[0]!;
  const ask = (headers: Record<string, string>) => get(port, '/_pgway/caller.json', headers);
  const { headers, body } = await ask({ cookie });
  expect([body, headers['content-type'], headers['cache-control']]).toEqual([
    '{"signedIn":true}',
    'application/json',
    'no-store',
  ]);
  expect((await ask({})).body).toBe('{"signedIn":false}');
  const broken = await ask({ cookie: `${cookie}x` });
  expect([broken.status, broken.body]).toEqual([200, '{"signedIn":false}']);
});

describe('who gets it', () => {
  test.each([
    ['programs on this machine, by default', {}, {}, 200],
    ['not those behind a proxy', {}, { 'x-forwarded-for': '192.0.2.1' }, 404],
    [
      'not those behind a proxy that a name leads to',
      { allowedHosts: ['api.example.org'] },
      { host: 'api.example.org' },
      404,
    ],
    ['no client in production', { authentication: { production: true } }, {}, 404],
    ['no client when it is disabled', { startPage: { enabled: false } }, {}, 404],
    ['every client when it is enabled', { startPage: { enabled: true } }, { forwarded: 'for=192.0.2.1' }, 200],
  ])('%s', async (_, configuration, headers, status) => {
    const { port } = await serve({ configuration });
    for (const path of ['/', '/_pgway/endpoints.json', '/_pgway/page.css', '/_pgway/caller.json']) {
      expect((await get(port, path, headers)).status).toBe(status);
    }
  });

  test('in production it has neither the name of the database nor defaults', async () => {
    const { port } = await serve({
      configuration: {
        startPage: { enabled: true },
        authentication: { production: true },
      },
    });
    const { title, operations } = await data(port);
    expect(title).toBe('API');
    const defaults = operations.flatMap(({ parameters }) => parameters.map((parameter) => parameter.default));
    expect(new Set(defaults)).toEqual(new Set([null]));
  });
});

describe('other content at its path', () => {
  test('an endpoint takes precedence', async () => {
    await database.query(`create function home() returns text language sql stable as $$ select 'home' $$`);
    await database.query(`comment on function home is 'HTTP GET /'`);
    const { port } = await serve();
    const bodies = [(await get(port, '/')).body, (await get(port, '/_pgway/endpoints.json')).status];
    await database.query('drop function home()');
    expect(bodies).toEqual(['home', 200]);
  });

  test('a static index file takes precedence at /, and the page at another path', async () => {
    const files = { 'public/index.html': 'the application' };
    const staticFiles = { root: 'public', spaFallback: 'index.html' };
    const { port } = await serve({ files, configuration: { staticFiles, startPage: { path: '/console' } } });
    const navigation = { accept: 'text/html', 'sec-fetch-mode': 'navigate' };
    expect((await get(port, '/', navigation)).body).toBe('the application');
    expect((await get(port, '/other', navigation)).body).toBe('the application');
    expect((await get(port, '/console', navigation)).body).toContain('<title>shop</title>');
  });

  test('static files without an index leave / to the page', async () => {
    const { port } = await serve({ files: { 'public/a.txt': 'a' } });
    expect((await get(port, '/a.txt')).body).toBe('a');
    expect((await get(port, '/')).body).toContain('<title>shop</title>');
  });

  test('security headers of the server do not weaken its policy', async () => {
    const { port } = await serve({
      configuration: { securityHeaders: { enabled: true }, compression: { enabled: true } },
    });
    const { headers } = await get(port, '/', { 'accept-encoding': 'gzip' });
    expect(headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'");
    expect(headers['content-encoding']).toBe('gzip');
    expect(headers['x-frame-options']).toBe('DENY');
  });
});
