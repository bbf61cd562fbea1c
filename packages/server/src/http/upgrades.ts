import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type HostCheck, sendMisdirected } from './host-check.ts';
import { hasBody } from './request-body.ts';

/** Answers a request with the header `Upgrade`. Returns false for one that is not its own. */
export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => boolean;

/**
 * Passes requests with the header `Upgrade` to the handler. The others are served as if they did not have the header: a server may ignore it
 * (RFC 9110, section 7.8), as Node does without a listener.
 */
export function acceptUpgrades(server: Server, upgrade: UpgradeHandler | undefined, isAllowedHost: HostCheck): void {
  if (upgrade === undefined) return;
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    const { host = '' } = request.headers;
    const isWebSocket = request.headers.upgrade?.toLowerCase() === 'websocket';
    // The parser of Node leaves the body of such a request on the socket, where a WebSocket would read it as its first frames.
    const isPlain = !hasBody(request);
    if (isWebSocket && isPlain && isAllowedHost(host) && upgrade(request, socket, head)) return;
    const response = respondOn(request, socket);
    if (isWebSocket && !isAllowedHost(host)) return sendMisdirected(response, host);
    if (!isPlain) return void response.writeHead(400, { 'content-length': 0 }).end();
    request.push(null);
    server.emit('request', request, response);
  });
}

/** Returns a response, with which the connection ends. */
function respondOn(request: IncomingMessage, socket: Socket): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  // The listeners of Node's server are gone.
  socket.on('error', () => socket.destroy());
  response.on('finish', () => socket.end());
  return response;
}
