import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import {
  cancelOnThrow,
  type AdapterOptions,
  type ByteSource,
  nosniffHeader,
  type GatewayResponse,
  type Handle,
  type HeaderList,
  type WholeResponse,
} from '../http/response.ts';
import type { GatewayRequest } from '../http/request.ts';
import { endInOneWrite, ResponseOutput } from './response-output.ts';
import { type MaybeParsed, readBody, readChunks } from './node-body.ts';
import { requestId } from './request-id.ts';

/** A handler for `node:http`, Connect and Express. Without `next`, the gateway answers 404 for paths that it does not have. */
export type NodeMiddleware = (
  request: IncomingMessage,
  response: ServerResponse,
  next?: (error?: Error) => void,
) => void;

/** Bytes. Up to this size, copying a body into the write of the headers is cheaper than a second buffer. */
const smallBodyBytes = 8 * 1024;

/** A request of `node:http`. */
export class NodeRequest implements GatewayRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly #incoming: MaybeParsed;
  readonly #outgoing: ServerResponse | null;
  readonly #body: Readable;
  #id: string | null = null;

  /**
   * @param outgoing null for a request that the host answers
   * @param body the stream of the body, if the host has replaced it
   */
  constructor(incoming: IncomingMessage, outgoing: ServerResponse | null, body: Readable = incoming) {
    const url = toOriginForm(incoming.url ?? '/');
    const mark = url.indexOf('?');
    this.method = incoming.method ?? 'GET';
    this.path = mark === -1 ? url : url.slice(0, mark);
    this.query = mark === -1 ? '' : url.slice(mark + 1);
    this.#incoming = incoming;
    this.#outgoing = outgoing;
    this.#body = body;
  }

  get raw(): IncomingMessage {
    return this.#incoming;
  }

  get connection(): object | undefined {
    return (this.#incoming as { readonly stream?: Http2ServerRequest['stream'] }).stream?.session;
  }

  get id(): string {
    return (this.#id ??= requestId(this.header('x-request-id')));
  }

  get remoteAddress(): string | undefined {
    return peerAddress(this.#incoming.socket);
  }

  get secure(): boolean {
    return (this.#incoming.socket as Partial<TLSSocket>).encrypted === true;
  }

  header(name: string): string | undefined {
    const { headers } = this.#incoming;
    // HTTP/2 has the host in a pseudo-header.
    const value = headers[name] ?? (name === 'host' ? headers[':authority'] : undefined);
    return Array.isArray(value) ? value.join(', ') : value;
  }

  headers(): readonly (readonly [string, string])[] {
    const { rawHeaders } = this.#incoming;
    const pairs: (readonly [string, string])[] = [];
    for (let index = 0; index < rawHeaders.length; index += 2) pairs.push([rawHeaders[index]!, rawHeaders[index + 1]!]);
    return pairs;
  }

  body(limit: number): Promise<Uint8Array> {
    return readBody(this.#incoming, this.#body, limit);
  }

  chunks(): AsyncIterable<Uint8Array> {
    return readChunks(this.#incoming, this.#outgoing, this.#body);
  }

  onDisconnect(listener: () => void): void {
    const outgoing = this.#outgoing;
    if (outgoing === null) return;
    // The client may have disconnected during a hook or the body.
    if (outgoing.destroyed) return listener();
    // The event comes once; `on` avoids the wrapper function of `once`.
    outgoing.on('close', () => {
      if (!outgoing.writableFinished) listener();
    });
  }
}

/** Returns the address of the client of a connection. */
export function peerAddress({ remoteAddress }: Pick<Socket, 'remoteAddress'>): string | undefined {
  // A dual-stack socket shows IPv4 addresses as IPv6: ::ffff:192.0.2.1.
  return remoteAddress?.startsWith('::ffff:') === true && remoteAddress.includes('.')
    ? remoteAddress.slice(7)
    : remoteAddress;
}

/** Returns path and query of a request target, which may be a URL (RFC 9112, section 3.2.2). */
function toOriginForm(url: string): string {
  if (url.startsWith('/')) return url;
  const absolute = /^https?:\/\/[^/?#]*(\/[^?#]*)?(\?.*)?$/i.exec(url);
  return absolute === null ? url : (absolute[1] ?? '/') + (absolute[2] ?? '');
}

interface NodeAdapterOptions extends AdapterOptions {
  /** The format of 404 without `next`. */
  readonly errorFormat?: 'problem' | 'text';
  /** Called with a request that no endpoint matches. */
  readonly onUnmatched?: (request: IncomingMessage) => void;
}

/** Returns the gateway as a handler: `app.use(middleware)`, `createServer(middleware)`. */
export function nodeMiddleware(
  handle: Handle,
  { requestIdHeader, errorFormat = 'problem', onUnmatched }: NodeAdapterOptions = { requestIdHeader: false },
): NodeMiddleware {
  return (incoming, outgoing, next) => {
    const request = new NodeRequest(incoming, outgoing);
    const respond = (gatewayResponse: GatewayResponse | undefined): void => {
      if (gatewayResponse === undefined) onUnmatched?.(incoming);
      if (next !== undefined && (gatewayResponse === undefined || isFallback(gatewayResponse))) return next();
      const response = gatewayResponse ?? notFound[errorFormat];
      send(response, requestIdHeader ? [...response.headers, 'x-request-id', request.id] : response.headers, outgoing);
    };
    handle(request)
      .then(respond)
      .catch((error: unknown) => {
        // An error of a host's handler, or of invalid headers, fails this request only.
        if (next === undefined || outgoing.headersSent) outgoing.destroy();
        else next(error as Error);
      });
  };
}

function isFallback(response: GatewayResponse): boolean {
  return response.kind === 'whole' && response.isFallback === true;
}

const nothingHere = 'Not found';

const notFound: Readonly<Record<'problem' | 'text', GatewayResponse>> = {
  problem: {
    kind: 'whole',
    status: 404,
    headers: ['content-type', 'application/problem+json'],
    body: JSON.stringify({ type: 'about:blank', title: nothingHere, status: 404 }),
  },
  text: { kind: 'whole', status: 404, headers: ['content-type', 'text/plain; charset=utf-8'], body: nothingHere },
};

function send(response: GatewayResponse, headers: HeaderList, outgoing: ServerResponse): void {
  if (outgoing.destroyed || outgoing.headersSent) {
    if (response.kind === 'stream') response.body.cancel();
    return;
  }
  const { status } = response;
  if (response.kind === 'stream') {
    cancelOnThrow(response, () => writeHead(outgoing, status, headers.concat(nosniffHeader)));
    return pipe(response.body, outgoing);
  }
  sendWhole(response, headers, outgoing);
}

function sendWhole(
  { status, body, memory = null }: WholeResponse,
  headers: HeaderList,
  outgoing: ServerResponse,
): void {
  if (body === null) {
    writeHead(outgoing, status, headers.concat(nosniffHeader));
    outgoing.end();
    return;
  }
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
  writeHead(outgoing, status, headers.concat(nosniffHeader, 'content-length', String(length)));
  // Node writes headers and a string body in one buffer, but a binary body in a second one.
  if (typeof body !== 'string' && length <= smallBodyBytes) {
    endInOneWrite(outgoing, latin1(body));
    memory?.release();
  } else if (memory === null) {
    outgoing.end(body);
  } else {
    new ResponseOutput(outgoing).end(body, memory);
  }
}

function latin1(bytes: Uint8Array): string {
  const buffer = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return buffer.toString('latin1');
}

/** Headers that are added to those of the host. */
const appendedHeaders = new Set(['set-cookie', 'vary']);

/** Keeps headers that the host has set, unless the response has the same ones. */
function writeHead(outgoing: ServerResponse, status: number, headers: readonly string[]): void {
  if (outgoing.getHeaderNames().length === 0) {
    outgoing.writeHead(status, headers as string[]);
    return;
  }
  for (let index = 0; index < headers.length; index += 2) {
    if (!appendedHeaders.has(headers[index]!)) outgoing.removeHeader(headers[index]!);
  }
  for (let index = 0; index < headers.length; index += 2) outgoing.appendHeader(headers[index]!, headers[index + 1]!);
  outgoing.writeHead(status);
}

function pipe(source: ByteSource, outgoing: ServerResponse): void {
  outgoing.on('drain', () => source.resume());
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) source.cancel();
  });
  const output = new ResponseOutput(outgoing);
  source.pipe({
    write: (chunk, memory) => output.write(chunk, memory),
    end: (chunk, memory) => output.end(chunk, memory),
    // Without the last chunk, the client sees that the response is incomplete.
    fail: () => {
      outgoing.destroy();
    },
  });
}
