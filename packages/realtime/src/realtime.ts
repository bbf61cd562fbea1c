import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Gateway, Problem } from '@pgway/core';
import { changeAccess, toGatewayRequest } from '@pgway/core/internal';
import { WebSocketServer } from 'ws';
import { Connection, toCallerRequest } from './connection.ts';
import { type Handshake, readHandshake, refuseHandshake } from './handshake.ts';
import { checkIntervalMs, maxMessageBytes } from './limits.ts';
import { type RealtimeOptions, resolveRealtimeOptions } from './options.ts';
import { PublishedTables } from './published-tables.ts';
import type { Services } from './services.ts';

/** Row changes through WebSockets in the protocol of Supabase's Realtime. */
export interface Realtime {
  /**
   * Answers the event `upgrade` of an `http.Server` for the path of the options.
   * @returns false for another path, whose socket the caller has to answer or to destroy
   */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => boolean;
  /** Closes all connections, whose clients connect again, and refuses new ones. Call it before `gateway.close()`. */
  close(): Promise<void>;
}

/** Milliseconds for clients to answer that they close. */
const closeTimeoutMs = 1_000;

/**
 * Serves changes of tables to clients such as `@supabase/supabase-js`, which work unchanged. Starts to read the log of the database.
 * @throws RangeError for an invalid option, and for a gateway with tenants
 */
export function realtime(gateway: Gateway, options: RealtimeOptions = {}): Realtime {
  const { path, allowedOrigins, maxConnections } = resolveRealtimeOptions(options);
  const access = changeAccess(gateway);
  if (access === null)
    throw new RangeError('realtime: it does not serve tenants; use a gateway without the option tenant');
  const services: Services = { ...access, tables: new PublishedTables(access.database) };
  services.feed();
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: maxMessageBytes,
  });
  const connections = new Set<Connection>();
  let opening = 0;
  let isClosing = false;
  const timer = setInterval(() => {
    for (const connection of connections) connection.check();
  }, checkIntervalMs);
  timer.unref();

  const accept = (request: IncomingMessage, socket: Duplex, head: Buffer, { version, apiKey }: Handshake): void => {
    server.handleUpgrade(request, socket, head, (webSocket) => {
      const client = services.resolveClient(toGatewayRequest(request));
      const connection = new Connection(webSocket, { version, apiKey, request: client }, services);
      connections.add(connection);
      webSocket.on('close', () => connections.delete(connection));
      if (isClosing) void connection.close();
    });
  };
  const open = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    if (isClosing || connections.size + opening >= maxConnections)
      throw new Problem('too-many-connections', { status: 503, title: 'The server has too many connections' });
    const handshake = readHandshake(request, allowedOrigins);
    opening++;
    try {
      const client = services.resolveClient(toGatewayRequest(request));
      await services.identify(toCallerRequest(client, handshake.apiKey));
    } finally {
      opening--;
    }
    if (!socket.destroyed) accept(request, socket, head, handshake);
  };
  return {
    upgrade: (request, socket, head) => {
      if (request.url?.split('?', 1)[0] !== `${trimPath(path)}/websocket`) return false;
      // A client may disconnect before the answer.
      socket.on('error', () => socket.destroy());
      open(request, socket, head).catch((error: unknown) => {
        refuseHandshake(socket, error instanceof Problem ? error : new Problem('internal'));
      });
      return true;
    },
    close: async () => {
      isClosing = true;
      clearInterval(timer);
      const closed = [...connections].map((connection) => connection.close());
      const terminate = setTimeout(() => {
        for (const connection of connections) connection.terminate();
      }, closeTimeoutMs);
      await Promise.all(closed);
      clearTimeout(terminate);
    },
  };
}

function trimPath(path: string): string {
  const trimmed = path.replaceAll(/^\/+|\/+$/g, '');
  return trimmed === '' ? '' : `/${trimmed}`;
}
