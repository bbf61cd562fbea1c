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
  readonly close: () => Promise<void>;
}

/**
 * Serves changes of tables to clients such as `@supabase/supabase-js`, which work unchanged. Starts to read the log of the database.
 * @throws RangeError for an invalid option, and for a gateway with tenants
 */
export function realtime(gateway: Gateway, options: RealtimeOptions = {}): Realtime {
  const resolved = resolveRealtimeOptions(options);
  const access = changeAccess(gateway);
  if (access === null)
    throw new RangeError('realtime: it does not serve tenants; use a gateway without the option tenant');
  access.feed();
  const connections = new Connections({ ...access, tables: new PublishedTables(access.database) }, resolved);
  return {
    upgrade: (request, socket, head) => connections.upgrade(request, socket, head),
    close: () => connections.close(),
  };
}

/** Milliseconds for clients to answer that they close. */
const closeTimeoutMs = 1_000;

/** The connections of all clients. */
class Connections {
  readonly #services: Services;
  readonly #options: ReturnType<typeof resolveRealtimeOptions>;
  readonly #path: string;
  readonly #open = new Set<Connection>();
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: maxMessageBytes,
  });
  readonly #timer: NodeJS.Timeout;
  /** Handshakes whose credentials are checked. */
  #pending = 0;
  #isClosing = false;

  constructor(services: Services, options: ReturnType<typeof resolveRealtimeOptions>) {
    this.#services = services;
    this.#options = options;
    this.#path = `${trimPath(options.path)}/websocket`;
    this.#timer = setInterval(() => {
      for (const connection of this.#open) connection.check();
    }, checkIntervalMs);
    this.#timer.unref();
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean {
    if (request.url?.split('?', 1)[0] !== this.#path) return false;
    // A client may disconnect before the answer.
    socket.on('error', () => socket.destroy());
    this.#admit(request).then(
      (handshake) => {
        if (!socket.destroyed) this.#accept(handshake, request, { socket, head });
      },
      (error: unknown) => refuseHandshake(socket, error instanceof Problem ? error : new Problem('internal')),
    );
    return true;
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    clearInterval(this.#timer);
    const closed = [...this.#open].map((connection) => connection.close());
    const terminate = setTimeout(() => {
      for (const connection of this.#open) connection.terminate();
    }, closeTimeoutMs);
    await Promise.all(closed);
    clearTimeout(terminate);
  }

  /** @throws Problem that refuses the handshake */
  async #admit(request: IncomingMessage): Promise<Handshake> {
    if (this.#isClosing || this.#open.size + this.#pending >= this.#options.maxConnections)
      throw new Problem('too-many-connections', { status: 503, title: 'The server has too many connections' });
    const handshake = readHandshake(request, this.#options.allowedOrigins);
    this.#pending++;
    try {
      const client = this.#services.resolveClient(toGatewayRequest(request));
      await this.#services.identify(toCallerRequest(client, handshake.apiKey));
    } finally {
      this.#pending--;
    }
    return handshake;
  }

  #accept(
    handshake: Handshake,
    request: IncomingMessage,
    { socket, head }: { readonly socket: Duplex; readonly head: Buffer },
  ): void {
    this.#server.handleUpgrade(request, socket, head, (webSocket) => {
      const client = this.#services.resolveClient(toGatewayRequest(request));
      const connection = new Connection(webSocket, { ...handshake, request: client }, this.#services);
      this.#open.add(connection);
      webSocket.on('close', () => this.#open.delete(connection));
      if (this.#isClosing) void connection.close();
    });
  }
}

function trimPath(path: string): string {
  const trimmed = path.replaceAll(/^\/+|\/+$/g, '');
  return trimmed === '' ? '' : `/${trimmed}`;
}
