import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { TestGateway } from '@pgway/testing';
import { onTestFinished } from 'vitest';
import { parseConfiguration } from '../support/parse-configuration.ts';
import { createMcpHandler } from '../../src/mcp/mcp-handler.ts';

export interface McpServer {
  readonly url: string;
  /** Failures of the server itself. */
  readonly errors: readonly Error[];
  /** Connects a client of the protocol, as the caller of a token. */
  readonly connect: (token?: string | null, mode?: 'legacy' | 'auto') => Promise<Client>;
  /** Sends a message, or another body, to the path of MCP. */
  readonly post: (message: unknown, headers?: Readonly<Record<string, string>>) => Promise<Response>;
}

/** Serves MCP at `/mcp`, and the gateway beside it, until the end of the test. */
export async function serveMcp({ gateway }: TestGateway, mcp: object = {}, others: object = {}): Promise<McpServer> {
  const errors: Error[] = [];
  const configuration = parseConfiguration({ mcp: { path: '/mcp', ...mcp }, ...others });
  const serve = createMcpHandler(configuration, gateway, (error) => errors.push(error))!;
  const server: Server = createServer((request, response) => {
    if (!serve(gateway.endpoints, request, response)) gateway.middleware(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url,
    errors,
    connect: async (token = null, mode = 'auto') => {
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
      const headers = token === null ? {} : { authorization: `Bearer ${token}` };
      await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }));
      onTestFinished(() => client.close());
      return client;
    },
    post: (message, headers = {}) =>
      fetch(`${url}/mcp`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
        body: typeof message === 'string' ? message : JSON.stringify(message),
      }),
  };
}
