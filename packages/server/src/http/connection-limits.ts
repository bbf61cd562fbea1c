/** Limits of the number of connections, in all and per client address. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { clientNetwork, trustedAddresses } from '@pgway/core/internal';
import type { Configuration } from '../config/schema.ts';
import { linger } from './linger.ts';

const busyText = 'Too many connections';
const busyResponse = `HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: ${busyText.length}\r\nretry-after: 1\r\nx-content-type-options: nosniff\r\nconnection: close\r\n\r\n${busyText}`;
// Connections beyond the limit that still get the 503; further ones are dropped.
const rejectableConnections = 100;

export type ConnectionEvent = 'connection' | 'secureConnection';

/**
 * Passes the connections of an event to `take`, and those that it returns false for to the listeners that the event has now.
 * @returns passes a connection to those listeners, which `take` has kept so far
 */
export function interceptConnections<Accepted extends Socket>(
  server: Server,
  event: ConnectionEvent,
  take: (socket: Accepted) => boolean,
): (socket: Accepted) => void {
  const listeners = server.listeners(event);
  server.removeAllListeners(event);
  const passOn = (socket: Accepted): void => {
    for (const listener of listeners) listener.call(server, socket);
  };
  server.on(event, (socket: Accepted) => {
    if (!take(socket)) passOn(socket);
  });
  return passOn;
}

export interface ConnectionLimits {
  /** Whether the requests of a connection of HTTP/2 are answered 503, because there are too many connections. */
  readonly isBusy: (socket: Socket) => boolean;
  /** Closes the connections that were answered 503. */
  readonly closeRefused: () => void;
}

/**
 * Applies `limits.maxConnections` and `limits.maxConnectionsPerAddress` to a server. A connection beyond them is answered 503. With TLS,
 * one beyond the limit of its address is closed without the cost of a handshake.
 */
export function limitConnections(server: Server, configuration: Configuration, isTls: boolean): ConnectionLimits {
  const { maxConnections, maxConnectionsPerAddress } = configuration.limits;
  const refused = new Set<Socket>();
  const busy = new WeakSet<Socket>();
  const refuse = (socket: Socket): boolean => {
    refused.add(socket);
    socket.once('close', () => refused.delete(socket)).on('error', () => undefined);
    socket.write(busyResponse);
    linger(socket);
    return true;
  };
  const total = new ConnectionCounter(maxConnections);
  interceptConnections(server, isTls ? 'secureConnection' : 'connection', (socket) => {
    if (total.accept(socket, '')) return false;
    if (!isHttp2(socket)) return refuse(socket);
    busy.add(socket);
    return false;
  });
  if (maxConnectionsPerAddress !== null) {
    const byNetwork = new ConnectionCounter(maxConnectionsPerAddress);
    const isProxy = trustedAddresses(configuration.authentication.trustedProxies);
    interceptConnections(server, 'connection', (socket) => {
      const { remoteAddress } = socket;
      // The client has disconnected already, or is a proxy of many clients.
      if (remoteAddress === undefined || isProxy(remoteAddress)) return false;
      if (byNetwork.accept(socket, clientNetwork(remoteAddress))) return false;
      if (!isTls && refused.size < rejectableConnections) return refuse(socket);
      socket.destroy();
      return true;
    });
  }
  dropConnections(server, maxConnections + rejectableConnections);
  return { isBusy: (socket) => busy.has(socket), closeRefused: () => refused.forEach((socket) => socket.destroy()) };
}

/** Closes connections beyond the limit at once. The `maxConnections` of Node.js ignores connections from the primary process. */
function dropConnections(server: Server, max: number): void {
  const total = new ConnectionCounter(max);
  interceptConnections(server, 'connection', (socket) => {
    if (total.accept(socket, '')) return false;
    socket.destroy();
    return true;
  });
}

/** Counts open connections by a key. */
class ConnectionCounter {
  readonly #max: number;
  readonly #counts = new Map<string, number>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Counts the connection until it closes; false: there are too many, and it is not counted. */
  accept(socket: Socket, key: string): boolean {
    const count = this.#counts.get(key) ?? 0;
    if (count >= this.#max) return false;
    this.#counts.set(key, count + 1);
    socket.once('close', () => this.#release(key));
    return true;
  }

  #release(key: string): void {
    const count = this.#counts.get(key)! - 1;
    if (count === 0) this.#counts.delete(key);
    else this.#counts.set(key, count);
  }
}

function isHttp2(socket: Socket): boolean {
  return (socket as Partial<TLSSocket>).alpnProtocol === 'h2';
}
