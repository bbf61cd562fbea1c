/** Responses that are sent before the whole request has arrived. */
import { type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { allowBufferReuse } from '@pgway/core/internal';
import { linger } from './linger.ts';
import { hasBody } from './request-body.ts';

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];

/**
 * A response that closes the connection when the body of the request has not arrived completely. The rest of the body is read and
 * discarded for some seconds.
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

allowBufferReuse(LingeringResponse);

/**
 * Returns the class of the responses of a server that is going to stop.
 * @param closesConnection whether a connection ends with the response
 */
export function responseClass(closesConnection: (response: ServerResponse) => boolean): typeof LingeringResponse {
  return class<Request extends IncomingMessage = IncomingMessage> extends LingeringResponse<Request> {
    override writeHead(status: number, reasonOrHeaders?: string | Headers, headers?: Headers): this {
      if (closesConnection(this)) this.shouldKeepAlive = false;
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
