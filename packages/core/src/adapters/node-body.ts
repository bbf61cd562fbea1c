import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Problem } from '../http/problem.ts';

/** A request whose body a parser of the host may have read, as with Express. */
export type MaybeParsed = IncomingMessage & { readonly body?: unknown; readonly rawBody?: unknown };

/**
 * Reads the whole body, as `GatewayRequest.body`.
 * @param body the stream of the body: `incoming`, or the stream by which the host has replaced it
 */
export function readBody(incoming: MaybeParsed, body: Readable, limit: number): Promise<Uint8Array> {
  const announced = Number(incoming.headers['content-length'] ?? 0);
  if (announced > limit) return Promise.reject(tooLarge(limit));
  if (body.readableDidRead) return readParsed(incoming, limit);
  forwardAbort(incoming, body);
  return concatenate(body, limit);
}

/**
 * Returns the chunks of the body, as `GatewayRequest.chunks`.
 * @param body as for `readBody`
 */
export function readChunks(incoming: MaybeParsed, body: Readable): AsyncIterable<Uint8Array> {
  if (!body.readableDidRead) {
    forwardAbort(incoming, body);
    return iterate(body);
  }
  const parsed = incoming.rawBody ?? incoming.body;
  if (parsed instanceof Uint8Array) return iterate([parsed]);
  throw new Problem('internal', {
    detail: 'The host has read the body before the gateway; mount the gateway before the parser.',
  });
}

async function* iterate(body: Readable | readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  // By default, an early end destroys the request and removes its socket, which has the client's address.
  const chunks = 'iterator' in body ? body.iterator({ destroyOnReturn: false }) : body;
  try {
    for await (const chunk of chunks) yield chunk as Uint8Array;
  } catch {
    throw incomplete();
  }
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

function concatenate(body: Readable, limit: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
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
    body.on('close', () => reject(incomplete()));
    // The host may have paused the stream.
    body.resume();
  });
}
