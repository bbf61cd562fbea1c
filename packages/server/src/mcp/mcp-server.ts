/** Requests of MCP clients. Each is served by itself: no process has to be the one that has served the request before. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import {
  createMcpHandler,
  isLegacyRequest,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { type Endpoint, type Gateway, type GatewayRequest, Problem } from '@pgway/core';
import { type McpTool, mcpTools } from '@pgway/generators/internal';
import { deriveRequest, toGatewayRequest } from '@pgway/core/internal';
import { version } from '../version.ts';
import type { Configuration } from '../config/schema.ts';
import { requestPath } from '../http/send-document.ts';
import type { RequestErrorListener } from '../http/static-files.ts';
import { asksForProgress, type Message, parseMessage } from './message.ts';
import { originCheck } from './origin-check.ts';
import { metadataPaths, resourceMetadata, withMetadata } from './protected-resource.ts';
import { RunningRequests } from './running-requests.ts';
import { createToolServer } from './tool-server.ts';

export interface McpServer {
  handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void>;
}

export function openMcpServer(
  configuration: Configuration,
  gateway: Gateway,
  onError: RequestErrorListener,
): McpServer {
  const { name, mcp } = configuration;
  const running = new RunningRequests();
  const findTools = toolCatalog(configuration);
  const refuseUnknownOrigin = originCheck(configuration);
  const settings = { name, settings: mcp, version: version(), gateway };
  const respond = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<Response> => {
    if (metadataPaths(mcp).includes(requestPath(incoming))) return metadataResponse(incoming, configuration);
    const client = toGatewayRequest(incoming);
    // Without its cookies.
    const caller = deriveRequest(client, {});
    refuseUnknownOrigin(client);
    await gateway.refuseCrossSite(client);
    if (client.method !== 'POST') throw methodNotAllowed('POST');
    const all = findTools(gateway.endpoints);
    const tools = await permittedTools(gateway, caller, all);
    if (mcp.requireSignIn || (tools.length === 0 && all.length > 0)) await gateway.authorize(caller);
    const message = parseMessage(await client.body(configuration.gateway.maxBodySize));
    if (message instanceof Response) return message;
    if (callsProtectedTool(message, all, tools)) await gateway.authorize(caller);
    const session = client.header('mcp-session-id') ?? null;
    running.cancel(session, message);
    const request = running.begin(session, message, outgoing);
    const options = { ...settings, tools, all, client: caller };
    const open = (): Server => createToolServer(options, (error) => onError(error, incoming));
    const webRequest = toWebRequest(client, request.signal);
    const response = await respondTo(message, webRequest, open);
    if (message.method === 'initialize' && response.ok) response.headers.set('mcp-session-id', randomUUID());
    return response;
  };
  return {
    handle: async (incoming, outgoing) => {
      const response = await respond(incoming, outgoing).catch((error: unknown) => {
        if (!(error instanceof Problem)) throw error;
        return problemResponse(error, mcp);
      });
      await send(response, outgoing);
    },
  };
}

async function respondTo(message: Message, request: Request, open: () => Server): Promise<Response> {
  if (!asksForProgress(message) && (await isLegacyRequest(request, message))) {
    return respondWithJson(open(), request, message);
  }
  // The list of tools does not change within a request, and there are no subscriptions to changes.
  return createMcpHandler(open, { maxSubscriptions: 0 }).fetch(request, { parsedBody: message });
}

/**
 * Answers a client of the revisions of 2025 that asks for no progress. The handler of the library would send an event stream with one event,
 * which takes a quarter more CPU.
 */
async function respondWithJson(server: Server, request: Request, message: Message): Promise<Response> {
  const { signal } = request;
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    // A cancelled request has no response in the protocol, but one in HTTP.
    const cancelled = new Promise<Response>((resolve) => {
      const end = (): void => resolve(new Response(null, { status: 202 }));
      if (signal.aborted) end();
      else signal.addEventListener('abort', end, { once: true });
    });
    return await Promise.race([transport.handleRequest(request, { parsedBody: message }), cancelled]);
  } finally {
    await server.close();
  }
}

/** Returns the tools of the endpoints, made once for each load. */
function toolCatalog({ mcp }: Configuration): (endpoints: readonly Endpoint[]) => readonly McpTool[] {
  const known = new WeakMap<readonly Endpoint[], readonly McpTool[]>();
  return (endpoints) => {
    const tools = known.get(endpoints) ?? mcpTools(endpoints, mcp).tools;
    known.set(endpoints, tools);
    return tools;
  };
}

async function permittedTools(
  gateway: Gateway,
  client: GatewayRequest,
  tools: readonly McpTool[],
): Promise<readonly McpTool[]> {
  const permitted = new Set(
    await gateway.permitted(
      client,
      tools.flatMap(({ endpoints }) => endpoints),
    ),
  );
  return tools.filter(({ endpoints }) => endpoints.some((endpoint) => permitted.has(endpoint)));
}

/** Such a call of an anonymous caller is answered 401, which makes clients sign in. */
function callsProtectedTool(
  { method, params }: Message,
  all: readonly McpTool[],
  permitted: readonly McpTool[],
): boolean {
  const isCalled = ({ name }: McpTool): boolean => name === params?.name;
  return method === 'tools/call' && all.some(isCalled) && !permitted.some(isCalled);
}

/** The headers that the protocol reads. */
const protocolHeaders = /^(?:content-type|accept|mcp-(?!session-id).*)$/;

function toWebRequest(client: GatewayRequest, signal: AbortSignal): Request {
  const headers = client.headers().filter(([name]) => protocolHeaders.test(name.toLowerCase()));
  return new Request('http://localhost/', {
    method: 'POST',
    headers: headers.map(([name, value]) => [name, value]),
    signal,
  });
}

function methodNotAllowed(allowed: string): Problem {
  return new Problem('method-not-allowed', { headers: ['allow', allowed] });
}

function metadataResponse({ method }: IncomingMessage, { name, mcp }: Configuration): Response {
  if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed('GET, HEAD');
  // Clients that are web pages read it too; it is the same for every client.
  const headers = { 'content-type': 'application/json', 'access-control-allow-origin': '*' };
  return new Response(method === 'HEAD' ? null : resourceMetadata(mcp, name), { headers });
}

function problemResponse({ status, title, type, detail, headers: list }: Problem, mcp: Configuration['mcp']): Response {
  const headers = new Headers({ 'content-type': 'application/problem+json' });
  for (let index = 0; index < list.length; index += 2) {
    const [name, value] = [list[index]!, list[index + 1]!];
    headers.append(name, name.toLowerCase() === 'www-authenticate' ? withMetadata(value, mcp) : value);
  }
  const shown = status < 500 && detail !== undefined ? { detail } : {};
  return new Response(JSON.stringify({ type, title, status, ...shown }), { status, headers });
}

async function send(response: Response, outgoing: ServerResponse): Promise<void> {
  if (outgoing.destroyed) return response.body?.cancel();
  // Headers of CORS may be there: those of the response replace them.
  response.headers.forEach((value, name) => {
    if (name === 'vary') outgoing.appendHeader(name, value);
    else outgoing.setHeader(name, value);
  });
  outgoing.setHeader('x-content-type-options', 'nosniff');
  if (!response.headers.has('cache-control')) outgoing.setHeader('cache-control', 'no-store');
  if (response.body === null) return void outgoing.writeHead(response.status).end();
  if (response.headers.get('content-type') !== 'text/event-stream') {
    const body = Buffer.from(await response.arrayBuffer());
    return void outgoing.writeHead(response.status, { 'content-length': body.length }).end(body);
  }
  outgoing.writeHead(response.status);
  // Headers of an event stream are sent before its first event.
  outgoing.flushHeaders();
  // A client that disconnects ends the pipeline with an error.
  await pipeline(Readable.fromWeb(response.body as ReadableStream), outgoing).catch(() => undefined);
}
