/** The fast path: serves requests of a simple form for endpoints without `node:http`, which gets all others with their connections. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Endpoint, Gateway } from '@pgway/core';
import { createRouter, toError } from '@pgway/core/internal';
import { hasCors } from '../../config/schema/http.ts';
import type { Configuration } from '../../config/schema.ts';
import { interceptConnections, type ConnectionEvent } from '../connection-limits.ts';
import type { Connections } from '../connections.ts';
import { maxHeadersCount } from '../fixed-limits.ts';
import type { HostCheck } from '../host-check.ts';
import type { RequestErrorListener } from '../static-files.ts';
import type { FastPathCounts } from './counts.ts';
import { FastConnection, type FastPathServices, maxWaitingBytes } from './fast-connection.ts';
import type { ParsedRequest } from './parse-request.ts';

const timeoutCode = 'ERR_HTTP_REQUEST_TIMEOUT';

/** Milliseconds between two checks of all connections. */
const checkIntervalMs = 1000;

/** Whether the fast path is on, and no setting changes the responses of endpoints outside the gateway. */
export function hasFastPath({ fastPath, cors, compression, securityHeaders, tenant }: Configuration): boolean {
  const areChanged = hasCors(cors) || compression.enabled || securityHeaders.enabled;
  return fastPath && !areChanged && tenant.by === null;
}

/** What answers the requests. */
export interface FastPathTarget {
  readonly gateway: Pick<Gateway, 'endpoints' | 'handle'>;
  /** Whether the server itself answers at a path, before the endpoints. */
  readonly isServerPath: (path: string) => boolean;
  readonly counts: FastPathCounts;
  /** Called for each request that the fast path answers. */
  readonly onRequest?: (request: IncomingMessage) => void;
}

export interface FastPathContext {
  readonly configuration: Configuration;
  readonly isAllowedHost: HostCheck;
  readonly connections: Connections;
  /** Called at the beginning of each request. */
  readonly onRequest: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  readonly onError: RequestErrorListener | undefined;
  readonly isStopping: () => boolean;
}

export interface FastPath {
  /** Whether the body of a request has arrived in part: at the latest the next check leaves the request to `node:http`. */
  isReceiving(socket: Socket): boolean;
  /** Closes all connections of the fast path at once. */
  destroy(): void;
}

/**
 * Serves the connections of a server, which is not listening yet.
 * @param target null or undefined: `node:http` serves them all, and the result is null
 */
export function openFastPath(
  server: Server,
  event: ConnectionEvent,
  target: FastPathTarget | null | undefined,
  context: FastPathContext,
): FastPath | null {
  if (target === null || target === undefined) return null;
  const { limits } = context.configuration;
  const { isAllowedHost } = context;
  const connections = new Map<Socket, FastConnection>();
  const isEndpoint = endpointTest(target);
  const services: FastPathServices = {
    limits: { maxHeaderSize: limits.maxHeaderSize, maxHeadersCount, maxBodyBytes: maxWaitingBytes },
    keepAliveSeconds: limits.keepAliveTimeout,
    accepts: (request) => isEndpoint(request) && isAllowedHost(request.headers['host']!),
    begin: (request, response) => {
      target.counts.requests += 1;
      // The class has the members that these read.
      const served = response as unknown as ServerResponse;
      if (!context.connections.admit(request.raw, served)) return false;
      context.onRequest?.(request.raw, served);
      target.onRequest?.(request.raw);
      return true;
    },
    // A refresh has removed the endpoint.
    answer: async (request) => (await target.gateway.handle(request)) ?? notFound,
    onError: (error, request) => context.onError?.(toError(error), request),
    isStopping: context.isStopping,
    // As `node:http` reports it.
    timeOut: (socket) =>
      void server.emit('clientError', Object.assign(new Error('timeout'), { code: timeoutCode }), socket),
    handOver: (socket, bytes) => {
      target.counts.handOvers += 1;
      // Before its listeners are called: they read what is there.
      socket.unshift(bytes);
      passOn(socket);
    },
    closed: (socket) => connections.delete(socket),
  };
  const passOn = interceptConnections<Socket>(server, event, (socket) => {
    connections.set(socket, new FastConnection(socket, services));
    return true;
  });
  const timer = setInterval(() => {
    const now = performance.now();
    for (const connection of connections.values()) {
      connection.check(now, limits.headersTimeout * 1000, limits.keepAliveTimeout * 1000);
    }
  }, checkIntervalMs);
  timer.unref();
  server.once('close', () => clearInterval(timer));
  return {
    isReceiving: (socket) => connections.get(socket)?.isReceiving === true,
    destroy: () => connections.forEach((connection) => connection.destroy()),
  };
}

const notFound = {
  kind: 'whole',
  status: 404,
  headers: ['content-type', 'application/problem+json'],
  body: JSON.stringify({ type: 'about:blank', title: 'Not found', status: 404 }),
} as const;

/** Returns whether a request has an endpoint. The router is made again when the endpoints change. */
function endpointTest({ gateway, isServerPath }: FastPathTarget): (request: ParsedRequest) => boolean {
  let known: readonly Endpoint[] | null = null;
  let router = createRouter<{ readonly endpoint: Endpoint }>([]);
  return ({ method, target }) => {
    const { endpoints } = gateway;
    if (endpoints !== known) {
      known = endpoints;
      const reachable = endpoints.filter((endpoint) => !isServerPath(endpoint.path));
      router = createRouter(reachable.map((endpoint) => ({ endpoint })));
    }
    const mark = target.indexOf('?');
    const path = mark === -1 ? target : target.slice(0, mark);
    const route = router.match(method, path);
    // A path with parameters may match one of the server.
    return route.kind === 'match' && (route.path.size === 0 || !isServerPath(path));
  };
}
