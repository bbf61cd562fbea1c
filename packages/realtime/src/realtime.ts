import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Gateway, type GatewayRequest, Problem } from '@pgway/core';
import {
  clientNetwork,
  clientShare,
  Limiter,
  realtimeAccess,
  type RealtimeAccess,
  toGatewayRequest,
} from '@pgway/core/internal';
import { WebSocketServer } from 'ws';
import { CallerSubscriptions } from './caller-subscriptions.ts';
import { Connection, toCallerRequest } from './connection.ts';
import { type Handshake, readHandshake, refuseHandshake } from './handshake.ts';
import { checkIntervalMs, maxCallerMessagesPerSecond, maxMessageBytes } from './limits.ts';
import { broadcastRoutes } from './messages/broadcast-route.ts';
import { DatabaseMessages } from './messages/database-messages.ts';
import { MessageHistory } from './messages/message-history.ts';
import { MessageHub } from './messages/message-hub.ts';
import { MessageRates } from './messages/message-rate.ts';
import { Policies } from './messages/policies.ts';
import { type RealtimeOptions, resolveRealtimeOptions } from './options.ts';
import { PublishedTables } from './published-tables.ts';
import type { Services } from './services.ts';

/** Use of WebSockets and their messages in this process. Counters begin at the start. */
export interface RealtimeStatistics {
  readonly connections: number;
  readonly channels: number;
  /** Clients that are present in topics, in all processes. */
  readonly presences: number;
  /** Broadcasts of clients of this process. */
  readonly broadcasts: number;
  /** Messages of `realtime.send`. */
  readonly databaseMessages: number;
  /** Broadcasts and changes of presence that clients got, one for each receiver. */
  readonly deliveries: number;
  /** Broadcasts and messages of presence that were refused. */
  readonly refusals: number;
  /** Connections that were ended because their clients did not read. */
  readonly slowClients: number;
}

/** Row changes, broadcasts and presence through WebSockets in the protocol of Supabase's Realtime. */
export interface Realtime {
  /**
   * Answers the event `upgrade` of an `http.Server` for the path of the options.
   * @returns false for another path, whose socket the caller has to answer or to destroy
   */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => boolean;
  /** Closes all connections, whose clients connect again, and refuses new ones. Call it before `gateway.close()`. */
  readonly close: () => Promise<void>;
  readonly statistics: () => RealtimeStatistics;
}

/**
 * Serves row changes, broadcasts and presence to clients such as `@supabase/supabase-js`, which work unchanged. Starts to read the log of
 * the database, and adds the routes of `broadcastRoutes` to the gateway.
 * @throws RangeError for an invalid option, and for a gateway with tenants
 */
export function realtime(gateway: Gateway, options: RealtimeOptions = {}): Realtime {
  const resolved = resolveRealtimeOptions(options);
  const access = realtimeAccess(gateway);
  if (access === null)
    throw new RangeError('realtime: it does not serve tenants; use a gateway without the option tenant');
  access.feed();
  const services = createServices(access, resolved.publicChannels);
  const connections = new Connections(services, resolved);
  return {
    upgrade: (request, socket, head) => connections.upgrade(request, socket, head),
    close: () => connections.close(),
    statistics: () => connections.statistics(),
  };
}

export function createServices(access: RealtimeAccess, allowsPublicChannels: boolean): Services {
  const tables = new PublishedTables(access.database);
  const hub = new MessageHub(access.broadcast, access.report);
  const databaseMessages = new DatabaseMessages(access, tables, hub);
  const share = clientShare(access.database.size);
  const policies = new Policies(access.database, new Limiter(share));
  const history = new MessageHistory(access.database, new Limiter(clientShare(share)));
  const counts = { refusals: 0, slowClients: 0 };
  const callerRates = new MessageRates(maxCallerMessagesPerSecond);
  const callerSubscriptions = new CallerSubscriptions();
  const messages = { hub, databaseMessages, policies, history, callerRates };
  return { ...access, ...messages, tables, callerSubscriptions, allowsPublicChannels, counts };
}

/** Milliseconds between two looks at the messages of the database. */
const messageIntervalMs = 5_000;

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
  readonly #timers: readonly NodeJS.Timeout[];
  /** Connections and handshakes by the network of the client. */
  readonly #networks = new Map<string, number>();
  /** Handshakes whose credentials are checked. */
  #pending = 0;
  #isClosing = false;

  constructor(services: Services, options: ReturnType<typeof resolveRealtimeOptions>) {
    this.#services = services;
    this.#options = options;
    const path = trimPath(options.path);
    this.#path = `${path}/websocket`;
    const { allowedOrigins } = options;
    for (const route of broadcastRoutes(path, services, { allowedOrigins, isClosing: () => this.#isClosing }))
      services.addRoute(route);
    const checkAll = (): void => {
      for (const connection of this.#open) connection.check();
    };
    this.#timers = [
      setInterval(checkAll, checkIntervalMs).unref(),
      setInterval(() => services.databaseMessages.check(), messageIntervalMs).unref(),
    ];
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean {
    if (request.url?.split('?', 1)[0] !== this.#path) return false;
    // A client may disconnect before the answer.
    socket.on('error', () => socket.destroy());
    this.#admit(request, socket).then(
      (handshake) => {
        if (!socket.destroyed) this.#accept(handshake, request, { socket, head });
      },
      (error: unknown) => refuseHandshake(socket, error instanceof Problem ? error : new Problem('internal')),
    );
    return true;
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    for (const timer of this.#timers) clearInterval(timer);
    this.#services.databaseMessages.close();
    const closed = [...this.#open].map((connection) => connection.close());
    const terminate = setTimeout(() => {
      for (const connection of this.#open) connection.terminate();
    }, closeTimeoutMs);
    await Promise.all(closed);
    clearTimeout(terminate);
    this.#services.hub.close();
  }

  statistics(): RealtimeStatistics {
    const { hub, databaseMessages, counts } = this.#services;
    return {
      connections: this.#open.size,
      channels: [...this.#open].reduce((sum, { channelCount }) => sum + channelCount, 0),
      presences: hub.presences,
      broadcasts: hub.messages,
      databaseMessages: databaseMessages.count,
      deliveries: hub.topics.deliveries,
      ...counts,
    };
  }

  /** @throws Problem that refuses the handshake */
  async #admit(request: IncomingMessage, socket: Duplex): Promise<Handshake> {
    if (this.#isClosing || this.#open.size + this.#pending >= this.#options.maxConnections)
      throw new Problem('too-many-connections', { status: 503, title: 'The server has too many connections' });
    const handshake = readHandshake(request, this.#options.allowedOrigins);
    const client = this.#services.resolveClient(toGatewayRequest(request));
    this.#count(client, socket);
    this.#pending++;
    try {
      await this.#services.identify(toCallerRequest(client, handshake.apiKey));
    } finally {
      this.#pending--;
    }
    return handshake;
  }

  /** @throws Problem for a client address with too many connections */
  #count({ remoteAddress }: GatewayRequest, socket: Duplex): void {
    if (remoteAddress === undefined) return;
    const network = clientNetwork(remoteAddress);
    const count = this.#networks.get(network) ?? 0;
    if (count >= this.#services.maxConnectionsPerAddress)
      throw new Problem('too-many-connections', { status: 429, title: 'Your address has too many connections' });
    this.#networks.set(network, count + 1);
    socket.once('close', () => {
      const left = this.#networks.get(network)! - 1;
      if (left > 0) this.#networks.set(network, left);
      else this.#networks.delete(network);
    });
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
