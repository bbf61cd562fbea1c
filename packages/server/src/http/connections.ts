import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Configuration } from '../config/schema.ts';
import type { StallDetector } from './stall-detector.ts';

interface Connection {
  /** The number of requests so far. */
  requests: number;
  /** Bytes that were read before the first request: those of the TLS handshake. */
  readonly handshakeBytes: number;
  /** The oldest one first. Those that have ended are removed at the next request or check. */
  readonly responses: ServerResponse[];
}

/** The connections of HTTP/1.1, with the responses that have not ended. */
export class Connections {
  readonly #connections = new Map<Socket, Connection>();
  readonly #maxRequests: number;
  readonly #maxConcurrent: number;

  constructor({ maxRequestsPerConnection, maxConcurrentStreams }: Configuration['limits']) {
    this.#maxRequests = maxRequestsPerConnection ?? Infinity;
    this.#maxConcurrent = maxConcurrentStreams;
  }

  add(socket: Socket): void {
    const responses: ServerResponse[] = [];
    this.#connections.set(socket, { requests: 0, handshakeBytes: socket.bytesRead, responses });
    socket.once('close', () => {
      this.#connections.delete(socket);
      for (const response of responses) if (isQueued(response)) abort(response);
    });
  }

  /** Adds a request. Returns false for one that is not served, as its connection ends. */
  admit({ socket, headers }: IncomingMessage, response: ServerResponse): boolean {
    const connection = this.#connections.get(socket);
    const responses = this.responses(socket);
    const isClosing = !socket.writable || responses.at(-1)?.shouldKeepAlive === false;
    if (connection === undefined || isClosing) return false;
    connection.requests += 1;
    connection.responses.push(response);
    // Node's `maxRequestsPerSocket` leaves it to the client to close the connection, and its parser drops what follows an `Upgrade`.
    if (connection.requests >= this.#maxRequests || headers.upgrade !== undefined) response.shouldKeepAlive = false;
    if (responses.length <= this.#maxConcurrent) return true;
    // Pipelining would make a connection cost as much memory as thousands.
    socket.destroy();
    return false;
  }

  /** Returns the responses of a connection that have not ended, the oldest one first. */
  responses(socket: Socket): readonly ServerResponse[] {
    const responses = this.#connections.get(socket)?.responses ?? [];
    while (responses[0]?.closed === true) responses.shift();
    return responses;
  }

  /** Whether no further request has arrived on the connection of the response. */
  isLast(response: ServerResponse): boolean {
    return this.responses(response.req.socket).at(-1) === response;
  }

  /** Closes connections whose client does not read. */
  closeStalled(stalls: StallDetector): void {
    for (const socket of this.#connections.keys()) {
      this.responses(socket);
      const pendingBytes = socket.writableLength;
      if (stalls.isStalled(socket, pendingBytes, socket.bytesWritten - pendingBytes)) socket.destroy();
    }
  }

  /**
   * Closes connections without a request. Node's `closeIdleConnections` cuts off responses that have been written but not sent.
   * @param isReceiving whether a request has arrived in part that was not admitted
   */
  closeIdle(isReceiving: (socket: Socket) => boolean = () => false): void {
    for (const [socket, { requests, handshakeBytes }] of this.#connections) {
      const isWaiting = (requests > 0 || socket.bytesRead === handshakeBytes) && !isReceiving(socket);
      if (isWaiting && this.responses(socket).length === 0 && socket.writableLength === 0) socket.destroy();
    }
  }
}

/** Whether the response waits for others of its connection (pipelining). */
function isQueued(response: ServerResponse): boolean {
  return response.socket === null && !response.writableFinished;
}

/** Aborts a queued response, whose call goes on otherwise: Node closes only the response that it sends. */
function abort(response: ServerResponse): void {
  response.destroy();
  response.emit('close');
}
