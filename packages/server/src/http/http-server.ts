/** The HTTP server around the gateway: limits, listen errors, graceful shutdown. */
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Configuration } from '../config/schema.ts';
import type { RequestLog } from '../log/request-log.ts';
import { createHttp2Connections, type Http2Connections } from './http2-server.ts';
import { createTlsServer, dispatchHttp2, type TlsOptions, trackHandshakes } from './tls-server.ts';
import { answerClientErrors } from './client-error.ts';
import { limitConnections } from './connection-limits.ts';
import { Connections } from './connections.ts';
import { type HostCheck, hostCheck, sendMisdirected, tenantHostCheck } from './host-check.ts';
import { type FastPathTarget, openFastPath } from './fast-path/fast-path.ts';
import { keepAliveInitialDelayMs, maxHeadersCount } from './fixed-limits.ts';
import { type Listen, listenHere, type Listener } from './listener.ts';
import { LingeringResponse, responseClass } from './lingering-response.ts';
import { applyBodyPolicy, isHttp2 } from './request-body.ts';
import { findRefusal, sendRefusal } from './request-check.ts';
import { StallDetector } from './stall-detector.ts';
import type { RequestErrorListener } from './static-files.ts';
import { acceptUpgrades, type UpgradeHandler } from './upgrades.ts';
import { toError } from '@pgway/core/internal';

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export interface HttpServer {
  readonly port: number;
  /** Stops listening and drains running requests; closes their connections after `graceMs`, or when `force` is aborted. */
  stop(graceMs: number, force: AbortSignal): Promise<void>;
  /**
   * Stops listening, as other processes take new connections. Connections stay open until their next response, which tells the client to
   * close them, and at most for `limitMs`.
   */
  retire(limitMs: number): Promise<void>;
}

/** Serves requests for a path before the endpoints. Returns false for other requests. */
export type PathHandler = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Options of the server beside its handler. */
export interface ListenOptions {
  /** Null: HTTP without TLS. */
  readonly tls?: TlsOptions | null;
  /** Serves health checks, whatever the host name of the request. */
  readonly serveHealth?: PathHandler;
  /** Called at the beginning of each request, for the access log. */
  readonly onRequest?: RequestLog['begin'] | undefined;
  /** Receives what a handler throws; the response is a 500 without the reason. */
  readonly onError?: RequestErrorListener | undefined;
  /** Absent: the header `Upgrade` is ignored. */
  readonly upgrade?: UpgradeHandler | undefined;
  /** Absent: this process listens. */
  readonly listenOn?: Listen | undefined;
  /** Answers requests of a simple form for endpoints without `node:http`; null or absent: `node:http` reads all requests. */
  readonly fastPath?: FastPathTarget | null;
}

/** @throws ListenError */
export async function listen(
  configuration: Configuration,
  handler: Handler,
  { tls = null, serveHealth = () => false, listenOn = listenHere, ...others }: ListenOptions = {},
): Promise<HttpServer> {
  const { limits, host, port } = configuration;
  const { onRequest, onError, upgrade } = others;
  const connections = new Connections(limits);
  let stopping = false;
  let isAllowedHost: HostCheck = () => false;
  const checkHost: HostCheck = (name) => isAllowedHost(name);
  const parts = { connections, isAllowedHost: checkHost, limits, onRequest, serveHealth };
  const serve = guard(requestHandler(handler, parts), onError);
  const closesConnection = (response: ServerResponse): boolean => stopping && connections.isLast(response);
  const options = { ...httpOptions(limits), ServerResponse: responseClass(closesConnection) };
  const server = tls === null ? createServer(options) : createTlsServer(options, tls);
  const event = tls === null ? 'connection' : 'secureConnection';
  const fast = openFastPath(server, event, others.fastPath, {
    configuration,
    isAllowedHost: checkHost,
    connections,
    onRequest,
    onError,
    isStopping: () => stopping,
  });
  server.prependListener(event, (socket: Socket) => connections.add(socket));
  serveRequests(server, serve);
  acceptUpgrades(server, upgrade, checkHost);
  server.maxHeadersCount = maxHeadersCount + 1;
  server.closeIdleConnections = () => connections.closeIdle((socket) => fast?.isReceiving(socket) === true);
  answerClientErrors(server, (socket) => connections.responses(socket));
  const http2 = tls?.http2 === true ? createHttp2Connections(limits, serve) : null;
  if (http2 !== null) dispatchHttp2(server, (socket) => http2.open(socket, admission.isBusy(socket)));
  const admission = limitConnections(server, configuration, tls !== null);
  const closeHandshakes = tls === null ? () => undefined : trackHandshakes(server);
  const listener = await listenOn(server, { host, port, setting: 'port' });
  const unwatch = tls?.watch((certificate) => (server as TlsServer).setSecureContext(certificate.secureContext));
  const endChecks = closeStalled(configuration.gateway.slowClientTimeout * 1000, connections, http2);
  isAllowedHost = hostCheck(listener.address, configuration.allowedHosts, tenantHostCheck(configuration.tenant));

  return {
    port: listener.port,
    stop: async (graceMs, force) => {
      stopping = true;
      unwatch?.();
      closeHandshakes();
      admission.closeRefused();
      http2?.close();
      const alsoClose = (): void => [http2, fast].forEach((other) => other?.destroy());
      await closeServer({ server, listener, alsoClose }, graceMs, force);
      endChecks();
    },
    retire: (limitMs) => {
      stopping = true;
      http2?.close();
      return closeListener(listener, limitMs);
    },
  };
}

interface HandlerParts extends Pick<ListenOptions, 'onRequest'> {
  readonly connections: Connections;
  readonly isAllowedHost: HostCheck;
  readonly limits: Configuration['limits'];
  readonly serveHealth: PathHandler;
}

/** Returns the handler of each request: limits, access log and checks before the handler of the application. */
function requestHandler(
  handler: Handler,
  { connections, isAllowedHost, limits, onRequest, serveHealth }: HandlerParts,
): Serve {
  return (request, response, expectsContinue) => {
    if (!isHttp2(request) && !connections.admit(request, response)) return;
    onRequest?.(request, response);
    const refusal = findRefusal(request, maxHeadersCount);
    if (refusal !== null) return sendRefusal(response, refusal);
    if (serveHealth(request, response)) return;
    const name = request.headers.host ?? '';
    if (!isAllowedHost(name)) return sendMisdirected(response, name);
    applyBodyPolicy(request, response, { timeoutMs: limits.requestTimeout * 1000, expectsContinue });
    handler(request, response);
  };
}

type Serve = (request: IncomingMessage, response: ServerResponse, expectsContinue: boolean) => void;

function serveRequests(server: Server, serve: Serve): void {
  server.on('request', (request: IncomingMessage, response: ServerResponse) => serve(request, response, false));
  // With the listener, Node does not send `100 Continue` itself.
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => serve(request, response, true));
}

/** Reports an error that `serve` throws: uncaught, it would end the process. */
function guard(serve: Serve, onError: RequestErrorListener | undefined): Serve {
  return (request, response, expectsContinue) => {
    try {
      serve(request, response, expectsContinue);
    } catch (error) {
      onError?.(toError(error), request);
      sendFailure(response);
    }
  };
}

/** Answers 500, without the reason. */
export function sendFailure(response: ServerResponse): void {
  if (response.headersSent) return void response.destroy();
  const body = JSON.stringify({ type: 'about:blank', title: 'Internal server error', status: 500 });
  const headers = { 'content-type': 'application/problem+json', 'content-length': body.length, connection: 'close' };
  response.writeHead(500, headers).end(body);
}

/** Closes connections and streams whose client stops to read, until the returned function is called. */
function closeStalled(timeoutMs: number, connections: Connections, http2: Http2Connections | null): () => void {
  const stalls = new StallDetector(timeoutMs);
  // Streams share a connection.
  const streamStalls = new StallDetector(4 * timeoutMs);
  const timer = setInterval(() => {
    stalls.beginCheck();
    connections.closeStalled(stalls);
    streamStalls.beginCheck();
    http2?.closeStalled(streamStalls);
  }, stalls.intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** The option of Node.js 24.12 and newer: a request without a body has a stream that has ended, instead of one that emits events. */
interface EmptyRequestOption {
  readonly optimizeEmptyRequests: boolean;
}

/** The options of Node's server for HTTP/1.1. */
export function httpOptions(limits: Configuration['limits']): ServerOptions & EmptyRequestOption {
  return {
    optimizeEmptyRequests: true,
    ServerResponse: LingeringResponse,
    headersTimeout: limits.headersTimeout * 1000,
    // Node's timeout would end uploads too. `applyBodyPolicy` limits the time of the other bodies.
    requestTimeout: 0,
    keepAliveTimeout: limits.keepAliveTimeout * 1000,
    maxHeaderSize: limits.maxHeaderSize,
    connectionsCheckingInterval: 1000,
    keepAlive: true,
    keepAliveInitialDelay: keepAliveInitialDelayMs,
  };
}

/** Resolves when all connections have ended, or after the time. */
export function closeListener(listener: Listener, limitMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, limitMs);
    listener.close(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

const idleSweepMs = 50;

interface ClosedServer {
  readonly server: Server;
  readonly listener: Listener;
  /** Closes connections that the server does not know. */
  readonly alsoClose?: () => void;
}

export function closeServer(
  { server, listener, alsoClose }: ClosedServer,
  graceMs: number,
  force: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    const closeConnections = (): void => {
      server.closeAllConnections();
      alsoClose?.();
    };
    const timer = setTimeout(closeConnections, graceMs);
    // A response that had begun before may leave its connection open.
    const sweep = setInterval(() => server.closeIdleConnections(), idleSweepMs);
    listener.close(() => {
      clearTimeout(timer);
      clearInterval(sweep);
      force.removeEventListener('abort', closeConnections);
      resolve();
    });
    server.closeIdleConnections();
    if (force.aborted) closeConnections();
    else force.addEventListener('abort', closeConnections, { once: true });
  });
}
