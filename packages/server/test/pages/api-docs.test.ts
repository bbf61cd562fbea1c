import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { crudSource } from '@pgway/core';
import { useGateway } from '@pgway/testing';
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import type { Configuration } from '../../src/config/schema.ts';
import { parseConfiguration } from '../support/parse-configuration.ts';
import { createApiDocsHandler, createApiDocsPage, shadowedEndpoints } from '../../src/pages/api-docs.ts';
import type { PageData } from '../../src/browser/page-data.ts';
import { sendDocument } from '../../src/http/send-document.ts';
import { formatSchema } from '../../src/pages/schema-text.ts';

const hostile = readFileSync(new URL('../../../generators/test/golden/hostile/setup.sql', import.meta.url), 'utf8');
const gateway = useGateway(
  `${hostile}
create function greet(_name text) returns text language sql stable as $$ select 'Hello, ' || _name $$;
comment on function greet is 'Greets.
HTTP
authorize staff';
create table writer (id int primary key, full_name text not null, email text);
create table book (id int primary key, title text not null, writer_id int references writer, in_print boolean);
comment on table writer is 'HTTP
listing';
comment on table book is 'Books.
HTTP
listing';
create function hidden() returns int language sql stable as $$ select 1 $$;
comment on function hidden is 'HTTP GET /docs';`,
  { sourcesCreated: (sources) => void sources.push(crudSource()) },
);

let server: Server | null = null;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** Serves gateway and API docs with a configuration. */
async function serve(configuration: object): Promise<(line: string) => Promise<Response>> {
  const documents = createApiDocsHandler(parse(configuration), gateway.database.connectionString);
  const findFile = createApiDocsPage(parse(configuration), gateway.database.connectionString);
  server = createServer((request, response) => {
    const { endpoints } = gateway.gateway;
    const file = findFile?.(endpoints, request) ?? null;
    if (file !== null) sendDocument(file, request, response);
    else if (!documents(endpoints, request, response)) gateway.gateway.middleware(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return (line) => {
    const [method, path] = line.split(' ') as [string, string];
    return fetch(`http://127.0.0.1:${port}${path}`, { method });
  };
}

const parse = (configuration: object): Configuration => parseConfiguration(configuration);

describe('served files', () => {
  test('none by default', async () => {
    const send = await serve({});
    expect((await send('GET /openapi.json')).status).toBe(404);
    expect(await (await send('GET /docs')).text()).toBe('1');
  });

  test('OpenAPI document and HTML page, beside the endpoints', async () => {
    const send = await serve({ openApi: { path: '/openapi.json', docsPath: '/docs', title: 'Greetings <1>' } });
    const document = await send('GET /openapi.json?x');
    expect([document.status, document.headers.get('content-type'), document.headers.get('cache-control')]).toEqual([
      200,
      'application/json',
      'no-cache',
    ]);
    expect(await document.json()).toMatchObject({ openapi: '3.1.0', info: { title: 'Greetings <1>' } });

    const page = await send('GET /docs');
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(await page.text()).toContain('<title>Greetings &lt;1&gt;</title>');

    const head = await send('HEAD /docs');
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect((await send('POST /openapi.json')).status).toBe(404);
    expect((await send('GET /api/fetch?moods=fine')).status).toBe(200);
  });

  test('request files, one in all or one per schema', async () => {
    const whole = await serve({ httpFile: { path: '/requests' } });
    expect(await (await whole('GET /requests')).text()).toMatch(/^@host=http:\/\/127\.0\.0\.1:8080\n/);
    const apart = await serve({
      httpFile: { path: '/requests', namePattern: '{1}' },
    });
    expect(await (await apart('GET /requests/class.http')).text()).toContain('{{host}}/api/fetch');
    expect((await apart('GET /requests/other.http')).status).toBe(404);
    const filesOnly = await serve({ httpFile: { folder: 'requests' } });
    expect((await filesOnly('GET /requests')).status).toBe(404);
  });

  test('endpoints at the path of a served file are reported', () => {
    const ids = shadowedEndpoints(gateway.gateway.endpoints, parse({ openApi: { docsPath: '/docs' } })).map(
      ({ id }) => id,
    );
    expect(ids).toEqual(['public.hidden()']);
  });

  test('an invalid path is rejected', () => {
    expect(() => parse({ openApi: { path: 'openapi.json' } })).toThrow('must be a path, as in /openapi.json');
  });
});

describe('the HTML page', () => {
  const dataOf = async (configuration: object): Promise<PageData> => {
    const send = await serve({ ...configuration, openApi: { docsPath: '/docs', path: '/openapi.json' } });
    return (await (await send('GET /_pgway/api-docs.json')).json()) as PageData;
  };

  test('loads its own script, style and data, and links to the document without scripts', async () => {
    const send = await serve({ openApi: { docsPath: '/docs', path: '/openapi.json', title: '</title><b>T</b>' } });
    const page = await send('GET /docs');
    expect(page.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src blob: data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    );
    const html = await page.text();
    const targets = [...html.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, target]) => target!);
    expect(targets.filter((target) => !/^(?:\/_pgway\/|data:)/.test(target))).toEqual(['/openapi.json']);
    expect(html).toContain('<title>&lt;/title&gt;&lt;b&gt;T&lt;/b&gt;</title>');
    const style = await send('GET /_pgway/page.css');
    expect([style.status, style.headers.get('content-type')]).toEqual([200, 'text/css; charset=utf-8']);
    expect((await send('GET /_pgway/sign-in-page.css')).status).toBe(404);
  });

  test('has no files when it is not served', async () => {
    const send = await serve({ openApi: { path: '/openapi.json' } });
    for (const path of ['/_pgway/api-docs.json', '/_pgway/page.css'])
      expect((await send(`GET ${path}`)).status).toBe(404);
  });

  test('has the version and the document of the API, and its responses with errors', async () => {
    const { kind, title, version, documentPath, problem, operations } = await dataOf({});
    expect([kind, title, version, documentPath]).toEqual(['docs', 'API', '1', '/openapi.json']);
    expect(JSON.parse(problem.example)).toMatchObject({
      type: expect.stringMatching(/^urn:pgway:problem:/),
      status: 400,
    });
    expect(problem.type).toMatch(
      /^\{\n {2}type: string\n {2}title: string\n {2}status: integer\n {2}detail\?: string\n/,
    );
    const greet = operations.find(({ id }) => id === 'greet')!;
    expect([greet.description, greet.access.roles, greet.client?.name]).toEqual(['Greets.', ['staff'], 'greet']);
    expect(
      greet.responses.map(({ status, description, problem: isProblem }) => [status, description, isProblem]),
    ).toEqual([
      ['200', 'text', false],
      ['4XX', 'Another error of the request', true],
      ['default', 'An error of the server or the database', true],
    ]);
    expect(operations.find(({ id }) => id === 'bookOnConflictDoUpdateReturningPut')?.summary).toBe(
      'Inserts rows, or updates those whose key exists, and returns them',
    );
  });

  test('has the conditions, columns and related rows of a listing', async () => {
    const { operations } = await dataOf({});
    const listing = operations.find(({ id }) => id === 'bookGet')!.listing!;
    const ordered = ['eq', 'neq', 'gt', 'gte', 'lt', 'lte', 'in', 'like', 'ilike', 'is.null', 'is.not_null'];
    expect(listing).toEqual({
      conditions: [
        { name: 'id', type: 'integer', operators: ordered },
        { name: 'title', type: 'text', operators: ordered },
        { name: 'writerId', type: 'integer', operators: ordered },
        { name: 'inPrint', type: 'boolean', operators: [...ordered, 'is.true', 'is.false', 'is.unknown'] },
      ],
      columns: ['id', 'title', 'writerId', 'inPrint'],
      related: [{ name: 'writer', columns: ['id', 'fullName', 'email'] }],
      select: 'select',
      order: 'order',
      page: ['limit', 'offset', 'after'],
    });
    // A row in an array is one of the forms of the body: the inputs make the other.
    const insert = operations.find(({ id }) => id === 'bookPut')!;
    expect([insert.body?.kind, insert.parameters.map(({ name }) => name)]).toEqual([
      'object',
      ['id', 'title', 'writerId', 'inPrint'],
    ]);
  });

  test('has batches where they are served', async () => {
    const batch = (await dataOf({ gateway: { batchPath: '/api/batch' } })).operations.at(-1)!;
    expect([batch.method, batch.path, batch.group, batch.body?.kind]).toEqual([
      'POST',
      '/api/batch',
      'Batches',
      'text',
    ]);
    expect(batch.parameters.map(({ name, schema }) => [name, schema])).toContainEqual(['body', {}]);
    expect((await dataOf({})).operations.every(({ group }) => group !== 'Batches')).toBe(true);
  });

  test.each([
    [{ type: ['integer', 'null'] }, 'integer or null'],
    [{ type: 'array', items: { type: 'string', format: 'uuid' } }, 'array of uuid'],
    [{ type: 'string', enum: ['a', '"'] }, '"a" | "\\""'],
    [{}, 'any JSON'],
    [{ anyOf: [{ type: 'boolean' }, { type: 'null' }] }, 'boolean or null'],
    [
      { type: 'object', properties: { a: { type: 'integer' }, b: {} }, required: ['a'] },
      '{\n  a: integer\n  b?: any JSON\n}',
    ],
    [{ type: 'array', items: { $ref: '#/components/schemas/node' } }, 'array of {\n  next: node\n}'],
    [{ $ref: '#/components/schemas/other' }, 'other'],
    [{ anyOf: [{ const: 'a' }, { type: 'object', description: 'An object with more' }] }, '"a" or an object with more'],
    [
      {
        anyOf: ['URL of a page', 'GeoJSON', 'A row', 'Übersicht', ''].map((description) => ({
          type: 'object',
          description,
        })),
      },
      'URL of a page or GeoJSON or a row or übersicht or ',
    ],
  ])('writes the schema %j', (schema, text) => {
    const shared = {
      node: { properties: { next: { $ref: '#/components/schemas/node' } }, required: ['next'], type: 'object' },
    };
    expect(formatSchema(schema, shared)).toBe(text);
  });
});
