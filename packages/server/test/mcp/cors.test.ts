import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createGateway } from '@pgway/core';
import { useDatabase } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseConfiguration } from '../support/parse-configuration.ts';
import { gatewayOptions } from '../../src/gateway-options.ts';
import { Lifecycle } from '../../src/lifecycle.ts';
import { createMcpHandler } from '../../src/mcp/mcp-handler.ts';
import { startHttpServer } from '../../src/start.ts';

/** Web pages as clients of MCP, through the HTTP server with its CORS. */

const database = useDatabase(`
  create function greet(_name text) returns text language sql stable as $$ select 'Hello, ' || _name $$;
  comment on function greet is 'HTTP GET
  mcp';
`);

interface Served {
  readonly url: string;
  readonly send: (headers: Readonly<Record<string, string>>, method?: string, path?: string) => Promise<Response>;
}

const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });

/** Serves with this configuration until the test has ended. */
async function serve(file: object): Promise<Served> {
  const configuration = parseConfiguration({ port: 0, mcp: { path: '/mcp' }, ...file });
  const gateway = await createGateway(await gatewayOptions(configuration, database.connectionString, {}));
  onTestFinished(() => gateway.close());
  const lifecycle = new Lifecycle();
  const server = await startHttpServer(lifecycle, configuration, gateway, {
    handlers: [],
    serveMcp: createMcpHandler(configuration, gateway, () => undefined),
    certificates: null,
  });
  onTestFinished(() => server.stop(0, AbortSignal.abort()));
  const url = `http://127.0.0.1:${server.port}`;
  return {
    url,
    send: (headers, method = 'POST', path = '/mcp') =>
      fetch(`${url}${path}`, {
        method,
        headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...headers },
        ...(method === 'POST' ? { body: ping } : {}),
      }),
  };
}

const page = 'https://app.example.org';
const cors = { origins: [page] };

/** The status of a response, and its headers about CORS. */
function sharing(response: Response): unknown {
  const headers = [...response.headers].filter(([name]) => /^(?:access-control-|vary|allow$)/.test(name));
  return { status: response.status, ...Object.fromEntries(headers) };
}

const exposed =
  'etag, ratelimit, ratelimit-policy, retry-after, x-request-id, x-total-count, mcp-session-id, www-authenticate';

describe('with CORS', () => {
  test('a page that the configuration lists sends messages, after a preflight request', async () => {
    const { send, url } = await serve({ cors });
    const preflight = {
      origin: page,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,mcp-protocol-version,mcp-session-id',
    };
    expect(sharing(await send(preflight, 'OPTIONS'))).toEqual({
      status: 204,
      'access-control-allow-origin': page,
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, QUERY',
      'access-control-allow-headers': 'authorization,content-type,mcp-protocol-version,mcp-session-id',
      'access-control-expose-headers': exposed.split(', mcp')[0],
      'access-control-max-age': '600',
      vary: 'Origin, Access-Control-Request-Headers',
    });
    expect(sharing(await send({ origin: page }))).toEqual({
      status: 200,
      'access-control-allow-origin': page,
      'access-control-expose-headers': exposed,
      vary: 'Origin',
    });
    const client = new Client({ name: 'test', version: '1' });
    const requestInit = { headers: { origin: page } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
    onTestFinished(() => client.close());
    expect((await client.callTool({ name: 'greet', arguments: { name: 'Ada' } })).structuredContent).toEqual({
      value: 'Hello, Ada',
    });
    expect(sharing(await send({ origin: page }, 'GET'))).toMatchObject({ status: 405, allow: 'POST' });
    expect(await (await send({}, 'GET', '/api/greet?name=x')).text()).toBe('Hello, x');
  });

  test('other pages are refused, and cannot read the response', async () => {
    const { send } = await serve({ cors });
    expect(sharing(await send({ origin: 'https://evil.example' }))).toEqual({
      status: 403,
      'access-control-expose-headers': exposed,
      vary: 'Origin',
    });
    const wildcard = await serve({ cors: { origins: ['*'] } });
    expect((await wildcard.send({ origin: page })).status).toBe(403);
  });

  test('the metadata of the resource is for all pages', async () => {
    const mcp = {
      path: '/mcp',
      resource: 'https://api.example.org/mcp',
      authorizationServers: ['https://login.example.org'],
    };
    const { send } = await serve({ cors, mcp });
    const response = await send({ origin: page }, 'GET', '/.well-known/oauth-protected-resource/mcp');
    expect(sharing(response)).toMatchObject({ status: 200, 'access-control-allow-origin': '*' });
  });
});

describe('DNS rebinding', () => {
  const anyAddress = { host: '0.0.0.0' };

  test('a server that answers to any host name knows only the origins of its configuration', async () => {
    const { send, url } = await serve({
      ...anyAddress,
      authentication: { allowedOrigins: [page] },
      mcp: { path: '/mcp', resource: 'https://api.example.org/mcp' },
    });
    // The origin of the host that the page has requested.
    expect((await send({ origin: url })).status).toBe(403);
    expect((await send({ origin: 'null' })).status).toBe(403);
    expect((await send({ origin: page })).status).toBe(200);
    expect((await send({ origin: 'https://api.example.org', 'sec-fetch-site': 'same-origin' })).status).toBe(200);
    expect((await send({})).status).toBe(200);
  });

  test('a server that knows its names trusts the host of a request', async () => {
    const { send, url } = await serve({ ...anyAddress, allowedHosts: ['api.example.org'] });
    expect((await send({ origin: url })).status).toBe(200);
    expect((await send({ origin: 'https://evil.example' })).status).toBe(403);
  });
});
