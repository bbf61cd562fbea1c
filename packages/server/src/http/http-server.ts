/** The HTTP server around a gateway: limits, one clear line when it cannot listen, an orderly end. */
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Configuration } from '../config/schema.ts';
import { type HostCheck, hostCheck } from './host-check.ts';

/** The server cannot listen where it should; the message says what to do. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export interface HttpServer {
  readonly port: number;
  /**
   * Accepts nothing more, lets running requests finish, cuts off those that are not done after so many milliseconds or
   * when `atOnce` is aborted.
   */
  stop(grace: number, atOnce: AbortSignal): Promise<void>;
}

const refusal =
  'HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: 28\r\nretry-after: 1\r\nx-content-type-options: nosniff\r\nconnection: close\r\n\r\nThe server has no free place';
// Beyond these, even the refusal costs too much: the connection is dropped.
const placesForRefusals = 100;

/** @throws ListenError */
export async function listen(configuration: Configuration, handler: Handler): Promise<HttpServer> {
  const { limits, host, port } = configuration;
  const running = new Set<ServerResponse>();
  let stopping = false;
  let isForUs: HostCheck = () => false;
  const server = createServer(
    {
      headersTimeout: limits.headersTimeout * 1000,
      requestTimeout: limits.requestTimeout * 1000,
      keepAliveTimeout: limits.keepAliveTimeout * 1000,
      maxHeaderSize: limits.maxHeaderSize,
      connectionsCheckingInterval: 1000,
    },
    (request, response) => {
      running.add(response);
      if (stopping) response.shouldKeepAlive = false;
      response.once('close', () => {
        running.delete(response);
        if (stopping) server.closeIdleConnections();
      });
      if (isForUs(request, response)) handler(request, response);
    },
  );
  limitConnections(server, limits.maxConnections);
  await startListening(server, host, port);
  const address = server.address() as AddressInfo;
  isForUs = hostCheck(address.address, configuration.allowedHosts);

  return {
    port: address.port,
    stop: (grace, atOnce) => {
      stopping = true;
      for (const response of running) if (!response.headersSent) response.shouldKeepAlive = false;
      return closeServer(server, grace, atOnce);
    },
  };
}

function limitConnections(server: Server, most: number): void {
  let open = 0;
  server.maxConnections = most + placesForRefusals;
  server.prependListener('connection', (socket: Socket) => {
    open += 1;
    socket.once('close', () => (open -= 1));
    if (open > most) socket.end(refusal, () => socket.destroySoon());
  });
}

function startListening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(explain(error, host, port)));
    server.listen(port, host, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
}

function explain(error: NodeJS.ErrnoException, host: string, port: number): Error {
  switch (error.code) {
    case 'EADDRINUSE':
      return new ListenError(
        `port ${port} on ${host} is in use: stop the other program or start with --port=${port < 65_535 ? port + 1 : 8080}`,
      );
    case 'EACCES':
      return new ListenError(`port ${port} on ${host} needs rights that this user has not: start with --port=8080`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EINVAL':
      return new ListenError(`${host} is no address of this machine: start with --host=127.0.0.1`);
    default:
      return new ListenError(`cannot listen on ${host}, port ${port}: ${error.message}`);
  }
}

function closeServer(server: Server, grace: number, atOnce: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const cutOff = (): void => server.closeAllConnections();
    const timer = setTimeout(cutOff, grace);
    server.close(() => {
      clearTimeout(timer);
      atOnce.removeEventListener('abort', cutOff);
      resolve();
    });
    server.closeIdleConnections();
    if (atOnce.aborted) cutOff();
    else atOnce.addEventListener('abort', cutOff, { once: true });
  });
}
