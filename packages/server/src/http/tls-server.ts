/** The HTTPS server. */
import type { X509Certificate } from 'node:crypto';
import type { Server as HttpServer, ServerOptions } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import type { SecureContextOptions, TLSSocket } from 'node:tls';
import { interceptConnections } from './connection-limits.ts';

export interface Certificate {
  readonly x509: X509Certificate;
  readonly secureContext: SecureContextOptions;
}

export interface TlsOptions {
  readonly certificate: Certificate;
  readonly http2: boolean;
  /** Calls the listener with renewed certificates; returns a function that ends it. */
  readonly watch: (renewed: (certificate: Certificate) => void) => () => void;
}

export function createTlsServer(options: ServerOptions, { certificate, http2 }: TlsOptions): Server {
  const { secureContext } = certificate;
  return createServer({
    ...options,
    ...secureContext,
    ALPNProtocols: http2 ? ['h2', 'http/1.1'] : ['http/1.1'],
    handshakeTimeout: options.headersTimeout!,
    requestCert: secureContext.ca !== undefined,
    rejectUnauthorized: secureContext.ca !== undefined,
  });
}

/** Passes connections that negotiated HTTP/2 to `open`. */
export function dispatchHttp2(server: HttpServer | Server, open: (socket: TLSSocket) => void): void {
  interceptConnections<TLSSocket>(server, 'secureConnection', (socket) => {
    if (socket.alpnProtocol !== 'h2') return false;
    open(socket);
    return true;
  });
}

/** Returns a function that closes connections whose handshake has not finished: a server does not close them itself. */
export function trackHandshakes(server: HttpServer | Server): () => void {
  const sockets = new Map<string, Socket>();
  const keyOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
  server.prependListener('connection', (socket: Socket) => {
    const key = keyOf(socket);
    sockets.set(key, socket);
    socket.once('close', () => sockets.delete(key));
  });
  server.prependListener('secureConnection', (socket: TLSSocket) => sockets.delete(keyOf(socket)));
  return () => {
    for (const socket of sockets.values()) socket.destroy();
  };
}
