import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Endpoint } from '@pgway/core';

/** Serves a request for a document. Returns false for other requests. */
export type DocumentHandler = (
  endpoints: readonly Endpoint[],
  request: IncomingMessage,
  response: ServerResponse,
) => boolean;

/** A document that the server itself serves, beside the endpoints. */
export interface ServedDocument {
  readonly type: string;
  readonly content: string | Buffer;
  /** Of an HTML page. */
  readonly contentSecurityPolicy?: string;
}

/** Responds to GET or HEAD. */
export function sendDocument(document: ServedDocument, request: IncomingMessage, response: ServerResponse): void {
  const { type, content, contentSecurityPolicy } = document;
  const bytes = Buffer.from(content);
  response.writeHead(200, {
    'content-type': type,
    'content-length': bytes.length,
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    ...(contentSecurityPolicy === undefined
      ? {}
      : { 'content-security-policy': contentSecurityPolicy, 'referrer-policy': 'no-referrer' }),
  });
  response.end(request.method === 'HEAD' ? undefined : bytes);
}
