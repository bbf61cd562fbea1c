import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { Problem } from '../http/problem.ts';
import { BodyChunks, type ChunkSource } from './body-chunks.ts';

/** A request whose body a parser of the host may have read, as with Express. */
export type MaybeParsed = IncomingMessage & { readonly body?: unknown; readonly rawBody?: unknown };

/** A listener for the beginning of the reading of a body, such as of a server that limits its time. */
export interface BodyReadListener {
  /**
   * The gateway begins to read a body as a whole.
   * @param fail ends the reading; the problem becomes the response
   */
  whole(fail: (problem: Problem) => void): void;
  /** The gateway begins to read the chunks of an upload, whose rate it checks itself. */
  chunks(): void;
}

const readListeners = new WeakMap<IncomingMessage, BodyReadListener>();

/**
 * Sets the listener that is called when the gateway begins to read the body of the request. A body that is refused before, or not
 * needed, is not read.
 */
export function onBodyRead(request: IncomingMessage, listener: BodyReadListener): void {
  readListeners.set(request, listener);
}

/**
 * Reads the whole body, as `GatewayRequest.body`.
 * @param body the stream of the body: `incoming`, or the stream by which the host has replaced it
 */
export function readBody(incoming: MaybeParsed, body: Readable, limit: number): Promise<Uint8Array> {
  const announced = Number(incoming.headers['content-length'] ?? 0);
  if (announced > limit) return Promise.reject(tooLarge(limit));
  if (body.readableDidRead) return readParsed(incoming, limit);
  if (hasEnded(body)) return Promise.resolve(new Uint8Array(0));
  forwardAbort(incoming, body);
  return concatenate(body, limit, readListeners.get(incoming));
}

/**
 * Returns the chunks of the body, as `GatewayRequest.chunks`.
 * @param outgoing null for a request that the host answers
 * @param body as for `readBody`
 */
export function readChunks(
  incoming: MaybeParsed,
  outgoing: ServerResponse | null,
  body: Readable,
): AsyncIterable<Uint8Array> {
  if (hasEnded(body)) return new BodyChunks(() => openChunks(Readable.from([])));
  if (!body.readableDidRead) {
    forwardAbort(incoming, body);
    outgoing?.once('finish', () => discardRest(body));
    return new BodyChunks(() => {
      readListeners.get(incoming)?.chunks();
      return openChunks(body);
    });
  }
  const parsed = incoming.rawBody ?? incoming.body;
  if (parsed instanceof Uint8Array) return new BodyChunks(() => openChunks(Readable.from([parsed])));
  throw new Problem('internal', {
    detail: 'The host has read the body before the gateway; mount the gateway before the parser.',
  });
}

/** Whether a stream of which nothing was read has ended, and emits no event: that of an empty request with `optimizeEmptyRequests`. */
function hasEnded(body: Readable): boolean {
  return body.readableEnded && !body.readableDidRead;
}

function openChunks(body: Readable): ChunkSource {
  // By default, an early end destroys the request and removes its socket, which has the client's address.
  const chunks = body.iterator({ destroyOnReturn: false }) as AsyncIterator<Uint8Array, undefined>;
  return { next: () => chunks.next(), return: () => chunks.return!() };
}

/** Discards the rest of a body after the response, as Node does for a body of which nothing was read. */
function discardRest(body: Readable): void {
  if (body.readableEnded) return;
  // With the listener of a reader that still waits, the stream would not flow.
  body.removeAllListeners('readable');
  body.resume();
}

/** Fails a stream that has replaced the body when the client disconnects: `pipe` does not. */
function forwardAbort(incoming: IncomingMessage, body: Readable): void {
  if (body === incoming) return;
  const abort = (): void => {
    if (!incoming.complete) body.destroy();
  };
  if (incoming.destroyed) abort();
  else incoming.once('close', abort);
}

function incomplete(): Problem {
  return new Problem('malformed-body', { detail: 'The body ended before it was complete.' });
}

function tooLarge(limit: number): Problem {
  // The rest of the body is not read: the connection cannot serve another request.
  return new Problem('body-too-large', { detail: `The limit is ${limit} bytes.`, headers: ['connection', 'close'] });
}

/** Reads the body from the host's parser. A parsed document is serialized again, so that digits may be lost. */
async function readParsed({ body, rawBody, headers }: MaybeParsed, limit: number): Promise<Uint8Array> {
  const parsed = rawBody ?? body;
  if (parsed === undefined || parsed === null) {
    if (Number(headers['content-length'] ?? 0) === 0) return new Uint8Array(0);
    throw new Problem('internal', { detail: 'The host has read the body before the gateway and kept nothing of it.' });
  }
  const bytes =
    parsed instanceof Uint8Array ? parsed : Buffer.from(typeof parsed === 'string' ? parsed : JSON.stringify(parsed));
  if (bytes.length > limit) throw tooLarge(limit);
  return bytes;
}

function concatenate(body: Readable, limit: number, listener: BodyReadListener | undefined): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    listener?.whole(reject);
    const chunks: Buffer[] = [];
    let size = 0;
    body.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) {
        body.pause();
        chunks.length = 0;
        reject(tooLarge(limit));
      } else {
        chunks.push(chunk);
      }
    });
    body.on('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    body.on('error', () => reject(incomplete()));
    body.on('close', () => {
      if (!body.readableEnded) reject(incomplete());
    });
    // The host may have paused the stream.
    body.resume();
  });
}
