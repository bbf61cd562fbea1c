import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { useGateway } from '@pgway/testing';
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import type { Configuration } from '../src/config/schema.ts';
import { parseConfiguration } from './support/parse-configuration.ts';
import { shadowedEndpoints, createApiDocsHandler } from '../src/api-docs/api-docs.ts';
import { htmlPage, formatSchema } from '../src/api-docs/html-page.ts';

const hostile = readFileSync(new URL('../../generators/test/golden/hostile/setup.sql', import.meta.url), 'utf8');
const gateway = useGateway(`${hostile}
create function greet(_name text) returns text language sql stable as $$ select 'Hello, ' || _name $$;
comment on function greet is 'Greets.
HTTP
authorize staff';
create function hidden() returns int language sql stable as $$ select 1 $$;
comment on function hidden is 'HTTP GET /docs';`);

let server: Server | null = null;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** Serves gateway and API docs with a configuration. */
async function serve(configuration: object): Promise<(line: string) => Promise<Response>> {
  const documents = createApiDocsHandler(parse(configuration), gateway.database.connectionString);
  server = createServer((request, response) => {
    if (!documents(gateway.gateway.endpoints, request, response)) gateway.gateway.middleware(request, response);
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
  test('escapes names and comments', async () => {
    const send = await serve({ openApi: { docsPath: '/docs' } });
    const page = await (await send('GET /docs')).text();
    const tags = new Set([...page.matchAll(/<\/?([a-z!]\w*)/gi)].map(([, name]) => name!.toLowerCase()));
    expect([...tags].toSorted()).toEqual(
      '!doctype b body code details h1 h4 head html meta p pre small style summary table td th title tr'.split(' '),
    );
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(page).toContain('&#39;quote&#39;');
  });

  test('shows required roles', async () => {
    const send = await serve({ openApi: { docsPath: '/docs' } });
    const page = await (await send('GET /docs')).text();
    expect(page.match(/<p>For .*<\/p>/g)).toEqual(['<p>For staff.</p>']);
  });

  test('for a small document', () => {
    const page = htmlPage(
      {
        info: { title: 'T', version: '1', description: 'D & d' },
        paths: {
          '/a/{id}': {
            get: {
              operationId: 'aId',
              summary: 'public.a(id integer)',
              description: 'It.',
              parameters: [
                { name: 'id', in: 'path', description: 'a &lt;b>', required: true, schema: { type: 'integer' } },
              ],
              responses: {
                200: {
                  description: 'A row',
                  headers: { ETag: { description: 'The version', schema: { type: 'string' } } },
                  content: { 'application/json': { schema: { type: 'string' } } },
                },
                '4XX': { $ref: '#/components/responses/Problem' },
                default: { $ref: '#/components/responses/Problem' },
              },
            },
          },
        },
      },
      '/openapi.json',
    );
    expect(page.slice(page.indexOf('<h1>'))).toBe(`<h1>T <small>1</small></h1>
<p class="prose">D &amp; d</p>
<p><a href="/openapi.json">OpenAPI document</a></p>
<details id="aId">
<summary><b>GET</b> <code>/a/{id}</code></summary>
<p><code>public.a(id integer)</code></p>
<p class="prose">It.</p>
<table><tr><th>parameter<th>in<th>type<th><th>description</tr>
<tr><td>id</td><td>path</td><td>integer</td><td>required</td><td>a &lt;b&gt;</td></tr>
</table>
<h4>200 A row</h4>
<p><code>ETag</code>: The version</p>
<p>application/json</p>
<pre>string</pre>
</details>
</body>
</html>
`);
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
  ])('writes the schema %j', (schema, text) => expect(formatSchema(schema)).toBe(text));
});
