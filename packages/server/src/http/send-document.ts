import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Endpoint } from '@pgway/core';
import { gzipSync } from 'node:zlib';
import type { FastifyReply } from 'fastify';

/** Serves a request for a document. Returns false for other requests. */
export type DocumentHandler = (
  endpoints: readonly Endpoint[],
  request: IncomingMessage,
  response: ServerResponse,
) => boolean;

/** A handler that knows its paths. */
export interface PathDocumentHandler extends DocumentHandler {
  readonly isAt: (path: string) => boolean;
}

/** Returns the document that a request asks for; null for other requests. */
export type DocumentLookup = (endpoints: readonly Endpoint[], request: IncomingMessage) => ServedDocument | null;

/** A document that the server itself serves, beside the endpoints. */
export interface ServedDocument {
  readonly type: string;
  readonly content: string | Buffer;
  /** Of a page in place of one that does not exist. */
  readonly status?: 404;
  /** Of an HTML page. */
  readonly contentSecurityPolicy?: string;
}

interface DocumentResponse {
  readonly status: 200 | 304 | 404;
  readonly headers: Readonly<Record<string, string | number>>;
  /** Empty for 304. */
  readonly bytes: Buffer;
}

/** Responds to GET or HEAD. */
export function sendDocument(document: ServedDocument, request: IncomingMessage, response: ServerResponse): void {
  const { status, headers, bytes } = documentResponse(document, request);
  response.writeHead(status, headers);
  response.end(request.method === 'HEAD' ? undefined : bytes);
}

/** Responds to GET or HEAD with the headers that plug-ins add. */
export function replyDocument(document: ServedDocument, request: IncomingMessage, reply: FastifyReply): FastifyReply {
  const { status, headers, bytes } = documentResponse(document, request);
  // Cross-origin resource sharing has added Origin.
  const vary = [reply.getHeader('vary') ?? [], headers['vary'] ?? []].flat().join(', ');
  return reply
    .code(status)
    .headers(vary === '' ? headers : { ...headers, vary })
    .send(status === 304 ? undefined : bytes);
}

/** The path of a request, without its query. */
export function requestPath({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0]!;
}

function documentResponse(document: ServedDocument, request: IncomingMessage): DocumentResponse {
  const { type, status = 200, contentSecurityPolicy } = document;
  const known = encode(document);
  const { bytes, etag } = known;
  const isCompressible = bytes.length >= minCompressedBytes;
  const shared = {
    etag,
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    ...(isCompressible ? { vary: 'accept-encoding' } : {}),
  };
  if (status === 200 && isUnchanged(request, etag)) return { status: 304, headers: shared, bytes: Buffer.alloc(0) };
  const sent = isCompressible && acceptsGzip(request) ? (known.compressed ??= gzipSync(bytes)) : bytes;
  const headers = {
    'content-type': type,
    'content-length': sent.length,
    ...(sent === bytes ? {} : { 'content-encoding': 'gzip' }),
    ...shared,
    ...(contentSecurityPolicy === undefined
      ? {}
      : { 'content-security-policy': contentSecurityPolicy, 'referrer-policy': 'no-referrer' }),
  };
  return { status, headers, bytes: sent };
}

interface EncodedDocument {
  readonly bytes: Buffer;
  readonly etag: string;
  /** Null before the first request that accepts it. */
  compressed: Buffer | null;
}

/** Smaller documents are generated for a request, or would hardly become smaller. */
const minCompressedBytes = 8192;

const encoded = new WeakMap<ServedDocument, EncodedDocument>();

/** Encodes a document once: that of a thousand endpoints has more than a megabyte, and a fiftieth of it compressed. */
function encode(document: ServedDocument): EncodedDocument {
  const known = encoded.get(document);
  if (known !== undefined) return known;
  const bytes = Buffer.from(document.content);
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
  const result = { bytes, etag: `W/"${hash}"`, compressed: null };
  encoded.set(document, result);
  return result;
}

function isUnchanged({ headers }: IncomingMessage, etag: string): boolean {
  return (headers['if-none-match'] ?? '').split(',').some((known) => known.trim() === etag);
}

/** RFC 9110, section 12.5.3. A weight of 0 refuses the coding. */
function acceptsGzip({ headers }: IncomingMessage): boolean {
  return String(headers['accept-encoding'] ?? '')
    .split(',')
    .some((coding) => /^\s*gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/i.test(coding));
}
