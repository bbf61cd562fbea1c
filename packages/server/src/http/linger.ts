import type { Socket } from 'node:net';

/** The time within which the client must read the response and close the connection. */
export const lingerMs = 5000;

/**
 * Ends a connection after what was written. Until the client closes it, too, its data is read and discarded: closing at once would
 * reset the connection, and the client would lose the response (RFC 9112, section 9.6).
 */
export function linger(socket: Socket): void {
  socket.end();
  // Without the listeners of the HTTP parser, which would take further requests.
  socket.removeAllListeners('data');
  socket.on('data', () => undefined);
  socket.once('end', () => socket.destroy());
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
  socket.resume();
}
