/** Responses that are sent before the whole request has arrived. */
import { type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { hasBody } from './request-body.ts';

/** The time within which the client must read the response and close the connection. */
const lingerMs = 5000;

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];

/**
 * A response that closes the connection when the body of the request has not arrived completely. The rest of the body is read and
 * discarded for some seconds: closing at once would reset the connection, and the client would lose the response (RFC 9112,
 * section 9.6).
 */
export class LingeringResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  /** Bytes of the body so far. */
  bodySize = 0;

  override write(chunk: unknown, encoding?: BufferEncoding | Callback, callback?: Callback): boolean {
    this.bodySize += sizeOf(chunk, encoding);
    return super.write(chunk, encoding as BufferEncoding, callback);
  }

  override end(chunk?: unknown, encoding?: BufferEncoding | (() => void), callback?: () => void): this {
    this.bodySize += sizeOf(chunk, encoding);
    return super.end(chunk, encoding as BufferEncoding, callback);
  }

  override writeHead(status: number, reasonOrHeaders?: string | Headers, headers?: Headers): this {
    if (!this.req.complete && hasBody(this.req)) {
      this.shouldKeepAlive = false;
      lingerOnClose(this.req);
    }
    return super.writeHead(status, reasonOrHeaders as string, headers);
  }
}

/** Tells the responses of a server that its connections are about to be closed. */
export interface Shutdown {
  hasBegun: boolean;
}

/** Returns the class of the responses of a server, which end their connections once the shutdown has begun. */
export function responseClass(shutdown: Shutdown): typeof LingeringResponse {
  return class<Request extends IncomingMessage = IncomingMessage> extends LingeringResponse<Request> {
    override writeHead(status: number, reasonOrHeaders?: string | Headers, headers?: Headers): this {
      if (shutdown.hasBegun) this.shouldKeepAlive = false;
      return super.writeHead(status, reasonOrHeaders, headers);
    }
  };
}

type Callback = (error?: Error | null) => void;

/** Returns the bytes of a chunk of a body. */
export function sizeOf(chunk: unknown, encoding: unknown): number {
  if (typeof chunk === 'string') {
    return Buffer.byteLength(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8');
  }
  return chunk instanceof Uint8Array ? chunk.byteLength : 0;
}

/** Replaces the method by which Node closes a connection after its last response. */
function lingerOnClose(request: IncomingMessage): void {
  const { socket } = request;
  const destroySoon = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    if (request.complete) destroySoon();
    else linger(socket);
  };
}

function linger(socket: Socket): void {
  socket.end();
  // Without the listeners of the HTTP parser, which would take further requests.
  socket.removeAllListeners('data');
  socket.on('data', () => undefined);
  socket.once('end', () => socket.destroy());
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
  socket.resume();
}
