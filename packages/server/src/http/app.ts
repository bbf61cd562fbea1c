/** The HTTP application: the gateway, and what the configuration adds to its responses. */
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import * as zlib from 'node:zlib';
import { type Endpoint, type Gateway, Problem } from '@pgway/core';
import { requestId, requestMethods } from '@pgway/core/internal';
import { gatewayPlugin } from '@pgway/core/fastify';
import { fastify, type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { ConfigurationError } from '../config/configuration-error.ts';
import { callerDocument, replyCaller } from './caller-document.ts';
import { hasCors } from '../config/schema/http.ts';
import type { Configuration } from '../config/schema.ts';
import { isProduction } from '../authentication-options.ts';
import { maxUriLength } from './fixed-limits.ts';
import { isLocalRequest } from './local-request.ts';
import { nearestEndpoint } from './nearest-endpoint.ts';
import type { Handler } from './http-server.ts';
import {
  type PathDocumentHandler,
  type DocumentLookup,
  replyDocument,
  requestPath,
  type ServedDocument,
} from './send-document.ts';
import { sendProblem } from './static-authorization.ts';
import { addStaticFiles, type RequestErrorListener } from './static-files.ts';

export interface App {
  readonly handle: Handler;
  /** For requests that the gateway has passed on. */
  readonly handleUnmatched: Handler;
  close(): Promise<void>;
}

export interface AppContext {
  /** The folder that relative paths of static files begin at. */
  readonly workingDirectory?: string;
  /**
   * The start page and the sign-in page; null: not served. Static files take precedence at `/` only: the page of an application answers
   * for all other paths.
   */
  readonly pages?: readonly (DocumentLookup | null)[];
  /** Serves MCP, with the headers of CORS; null or absent: it has no such headers, or is not served. */
  readonly serveMcp?: PathDocumentHandler | null;
  /** Receives the errors that the gateway does not observe, such as of static files. The response is a 500 without the reason. */
  readonly onError?: RequestErrorListener;
}

/**
 * Creates the application. Fastify serves what the gateway does not have. It also serves the endpoints when the configuration adds something
 * to responses; otherwise the gateway answers before Fastify, which is faster.
 * @throws ConfigurationError for settings that contradict each other
 */
export async function createApp(
  configuration: Configuration,
  gateway: Gateway,
  { workingDirectory = process.cwd(), pages = [], serveMcp = null, onError = () => undefined }: AppContext = {},
): Promise<App> {
  const app = fastify({
    genReqId: (request) => requestId(headerOf(request, 'x-request-id')),
    // The gateway reads bodies itself, with limits of its own.
    bodyLimit: Number.MAX_SAFE_INTEGER,
    forceCloseConnections: false,
    return503OnClosing: false,
    // No route has a schema. The default compilers would be loaded, which takes a tenth of the start.
    schemaController: { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } },
    routerOptions: { maxParamLength: maxUriLength(configuration.limits) },
    // Of paths that are not percent-encoded UTF-8. No hook runs before.
    frameworkErrors: (error, request, reply) => {
      sendClientError(error, configuration.gateway.errorFormat, addServerHeaders(request, reply));
    },
  });
  app.addHook('onRequest', (request, reply, done) => {
    addServerHeaders(request, reply);
    done();
  });
  app.setErrorHandler<FastifyError>((error, request, reply) => {
    if (error instanceof Problem) return sendProblem(error, configuration.gateway.errorFormat, reply);
    if ((error.statusCode ?? 500) < 500) return sendClientError(error, configuration.gateway.errorFormat, reply);
    onError(error, request);
    return sendProblem(new Problem('internal', { cause: error }), configuration.gateway.errorFormat, reply);
  });
  await addPlugins(app, configuration);
  if (serveMcp !== null) addMcp(app, gateway, serveMcp);
  await app.register(gatewayPlugin, { gateway });
  const serveFile =
    configuration.staticFiles.root === null
      ? null
      : await addStaticFiles(app, configuration, gateway, { workingDirectory, onError });
  app.setNotFoundHandler(async (request, reply) => {
    const page = findPage(pages, gateway.endpoints, request.raw);
    const precedesFiles = page !== null && page.status !== 404 && request.url.split('?', 1)[0] !== '/';
    if (!precedesFiles && (await serveFile?.(request, reply)) === true) return reply;
    if (page === callerDocument) return replyCaller(gateway, request, reply);
    if (page !== null) return replyDocument(page, request.raw, reply);
    const isDeveloper = !isProduction(configuration) && isLocalRequest(request.raw);
    const nearest = isDeveloper ? nearestEndpoint(gateway.endpoints, request.method, requestPath(request.raw)) : null;
    return sendNotFound(nearest, configuration.gateway.errorFormat, reply);
  });
  await app.ready();
  const handleUnmatched: Handler = (request, response) => app.routing(request, response);
  return {
    handleUnmatched,
    handle: changesResponses(configuration)
      ? handleUnmatched
      : (request, response) => gateway.middleware(request, response, () => handleUnmatched(request, response)),
    close: () => app.close(),
  };
}

/** Clients of MCP that are web pages read these headers of its responses. */
const mcpHeaders = 'mcp-session-id, www-authenticate';

/** Serves MCP from the raw request, before Fastify reads a body, with the headers of the plugins. */
function addMcp(app: FastifyInstance, gateway: Gateway, serve: PathDocumentHandler): void {
  app.addHook('onRequest', ({ raw }, reply, done) => {
    if (!serve.isAt(requestPath(raw))) return done();
    reply.removeHeader('x-request-id');
    const exposed = reply.getHeader('access-control-expose-headers');
    if (exposed !== undefined) reply.header('access-control-expose-headers', `${String(exposed)}, ${mcpHeaders}`);
    for (const [name, value] of Object.entries(reply.getHeaders())) {
      if (value !== undefined) reply.raw.setHeader(name, value);
    }
    reply.hijack();
    serve(gateway.endpoints, raw, reply.raw);
  });
}

function findPage(
  pages: readonly (DocumentLookup | null)[],
  endpoints: readonly Endpoint[],
  request: IncomingMessage,
): ServedDocument | null {
  for (const lookUp of pages) {
    const page = lookUp?.(endpoints, request) ?? null;
    if (page !== null) return page;
  }
  return null;
}

const noCompiler = (): never => {
  throw new Error('a route has a schema');
};

function addServerHeaders({ id }: Pick<FastifyRequest, 'id'>, reply: FastifyReply): FastifyReply {
  return reply.header('x-request-id', id).header('x-content-type-options', 'nosniff');
}

/** An error of Fastify or of its plugins. */
interface ClientError {
  readonly statusCode?: number;
  /** Such as `Content-Range`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends status and headers of an error, without its message. */
function sendClientError(
  { statusCode = 400, headers = {} }: ClientError,
  errorFormat: string,
  reply: FastifyReply,
): FastifyReply {
  const title = STATUS_CODES[statusCode] ?? 'Bad Request';
  reply.code(statusCode).headers(headers);
  if (errorFormat === 'text') return reply.type('text/plain; charset=utf-8').send(title);
  const problem = JSON.stringify({ type: 'about:blank', title, status: statusCode });
  return reply.header('content-type', 'application/problem+json').send(Buffer.from(problem));
}

/** @param nearest the endpoint that the request may mean; null: none, or the client is not told */
function sendNotFound(nearest: string | null, errorFormat: string, reply: FastifyReply): FastifyReply {
  if (errorFormat === 'text') {
    const text = nearest === null ? 'Not found' : `Not found; did you mean ${nearest}?`;
    return reply.code(404).type('text/plain; charset=utf-8').send(text);
  }
  const hint = nearest === null ? {} : { hint: `Did you mean ${nearest}?` };
  const problem = JSON.stringify({ type: 'about:blank', title: 'Not found', status: 404, ...hint });
  return reply.code(404).header('content-type', 'application/problem+json').send(Buffer.from(problem));
}

function headerOf(
  request: IncomingMessage | { readonly headers: IncomingMessage['headers'] },
  name: string,
): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
}

function changesResponses({ cors, compression, securityHeaders }: Configuration): boolean {
  return hasCors(cors) || compression.enabled || securityHeaders.enabled;
}

async function addPlugins(app: FastifyInstance, configuration: Configuration): Promise<void> {
  const { cors, compression, securityHeaders } = configuration;
  // Imported when needed: most starts need none of them.
  if (securityHeaders.enabled) await app.register(import('@fastify/helmet'), helmetOptions(configuration));
  if (securityHeaders.enabled && securityHeaders.hstsMaxAge > 0) addStrictTransportSecurity(app, configuration);
  if (hasCors(cors)) await app.register(import('@fastify/cors'), corsOptions(configuration));
  if (compression.enabled) await addCompression(app, compression);
}

/** Smaller responses would hardly become smaller, or larger. */
const minCompressedBytes = 1024;

async function addCompression(app: FastifyInstance, compression: Configuration['compression']): Promise<void> {
  const isCompressible = mediaTypeTest(compression.mediaTypes);
  app.addHook('onSend', (request, reply, payload, done) => {
    // The plugin compresses every type that can be compressed, unless the request has this header.
    if (!isCompressible(String(reply.getHeader('content-type') ?? ''))) request.headers['x-no-compression'] = 'true';
    done(null, payload);
  });
  await app.register(import('@fastify/compress'), {
    global: true,
    encodings: ['br', 'gzip'],
    threshold: minCompressedBytes,
    customTypes: () => true,
    // The default of Brotli, 11, takes a hundred times as long for a tenth less.
    brotliOptions: { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } },
    // Bodies of requests are not decompressed: their size could not be limited before.
    globalDecompression: false,
  });
}

/** Clients of PostgREST that are web pages read these headers of its responses; those that it exposes and that pgway sends are among them. */
const dialectHeaders = [
  'content-encoding',
  'content-location',
  'content-profile',
  'content-range',
  'date',
  'location',
  'preference-applied',
  'proxy-status',
];

/** Seconds that browsers may cache a preflight response. */
const preflightMaxAge = 600;

/** @throws ConfigurationError */
function corsOptions({ cors, crud }: Configuration) {
  const { origins, allowedHeaders, exposedHeaders, credentials } = cors;
  const isWildcard = origins.includes('*');
  if (isWildcard && credentials) {
    throw new ConfigurationError([
      'cors.credentials: not with the origin *, which would let every site act for its visitors; list the origins',
    ]);
  }
  return {
    origin: isWildcard ? '*' : [...origins],
    methods: [...requestMethods],
    exposedHeaders: [...exposedHeaders, ...(crud.dialect === null ? [] : dialectHeaders)],
    credentials,
    maxAge: preflightMaxAge,
    ...(allowedHeaders === null ? {} : { allowedHeaders: [...allowedHeaders] }),
  };
}

const defaultPolicy = "default-src 'self'; base-uri 'self'; frame-ancestors 'none'; object-src 'none'";

function helmetOptions({ securityHeaders, cors }: Configuration) {
  const { contentSecurityPolicy, referrerPolicy } = securityHeaders;
  return {
    contentSecurityPolicy: { useDefaults: false, directives: parsePolicy(contentSecurityPolicy ?? defaultPolicy) },
    referrerPolicy: { policy: referrerPolicy },
    strictTransportSecurity: false,
    // Pages of other origins would not get the responses that CORS allows.
    crossOriginResourcePolicy: { policy: hasCors(cors) ? ('cross-origin' as const) : ('same-origin' as const) },
    xFrameOptions: { action: 'deny' as const },
  };
}

/** Adds the header to responses over TLS only (RFC 6797, section 7.2), which a proxy in front may have decrypted. */
function addStrictTransportSecurity(app: FastifyInstance, { securityHeaders, authentication }: Configuration): void {
  const value = `max-age=${securityHeaders.hstsMaxAge}; includeSubDomains`;
  const isBehindProxy = authentication.trustedProxies.length > 0;
  app.addHook('onRequest', ({ raw }, reply, done) => {
    const isEncrypted = 'encrypted' in raw.socket && raw.socket.encrypted === true;
    if (isEncrypted || (isBehindProxy && isForwardedFromTls(raw))) reply.header('strict-transport-security', value);
    done();
  });
}

/** Browsers ignore the header on connections without TLS, so that a wrong value of a client has no effect. */
function isForwardedFromTls(request: IncomingMessage): boolean {
  return (
    headerOf(request, 'x-forwarded-proto') === 'https' ||
    /\bproto="?https\b/i.test(headerOf(request, 'forwarded') ?? '')
  );
}

/** Parses the text of a policy into directives: `default-src 'self'; img-src *`. */
function parsePolicy(policy: string): Record<string, string[]> {
  const directives = policy
    .split(';')
    .map((directive) => directive.trim().split(/\s+/))
    .filter(([name]) => name !== '');
  return Object.fromEntries(directives.map(([name, ...values]) => [name!, values]));
}

/** Returns a test of media types, without their parameters. Event streams must not be held back by a compressor. */
function mediaTypeTest(patterns: readonly string[]): (contentType: string) => boolean {
  const tests = patterns.map((pattern) => {
    const [before = '', after] = pattern.toLowerCase().split('*');
    return (type: string) => (after === undefined ? type === before : type.startsWith(before) && type.endsWith(after));
  });
  return (contentType) => {
    const type = contentType.split(';', 1)[0]!.trim().toLowerCase();
    return type !== 'text/event-stream' && tests.some((matches) => matches(type));
  };
}
