/** The connections of a worker: the primary process accepts them. */
import type { Server, Socket } from 'node:net';
import { keepAliveInitialDelayMs } from '../http/fixed-limits.ts';
import { type Listen, ListenError } from '../http/listener.ts';
import type { Channel } from './channel.ts';
import { answerTimeouts, type ListenAnswer, type ListenQuestion, toPrimary, toWorker } from './topics.ts';

/** Returns a function that has the primary process listen for the servers of this worker. */
export function listenThroughPrimary(channel: Channel, limits: { readonly maxConnections: number }): Listen {
  /** By the number of the listener. */
  const servers = new Map<number, (socket: Socket) => void>();
  channel.handle<number>(toWorker.connection, (listener, socket) => {
    const take = servers.get(listener);
    // Without a socket, the client has disconnected.
    if (socket === undefined) return true;
    // Nothing was read: the primary process gives the connection to another worker.
    if (take === undefined) socket.destroy();
    else take(socket);
    return take !== undefined;
  });
  return async (server, address) => {
    const question: ListenQuestion = { ...address, maxWaiting: limits.maxConnections };
    const answer = await channel.ask<ListenAnswer>(toPrimary.listen, question, answerTimeouts.primary);
    if (!answer.ok) throw new ListenError(answer.message);
    const open = new Set<Socket>();
    let ended: (() => void) | null = null;
    servers.set(answer.listener, (socket) => {
      open.add(socket);
      socket.once('close', () => {
        open.delete(socket);
        if (open.size === 0) ended?.();
      });
      begin(server, socket);
    });
    // Begins the checks of `headersTimeout`.
    server.emit('listening');
    channel.tell(toPrimary.beginListening, answer.listener);
    return {
      address: answer.address,
      port: answer.port,
      close: (onEnd) => {
        servers.delete(answer.listener);
        channel.tell(toPrimary.endListening, answer.listener);
        ended = onEnd;
        if (open.size === 0) onEnd();
      },
    };
  };
}

/** Passes a connection to the server with the settings of a server that listens itself. */
function begin(server: Server, socket: Socket): void {
  socket.allowHalfOpen = (server as Server & { readonly allowHalfOpen: boolean }).allowHalfOpen;
  socket.setNoDelay(true);
  socket.setKeepAlive(true, keepAliveInitialDelayMs);
  server.emit('connection', socket);
}
