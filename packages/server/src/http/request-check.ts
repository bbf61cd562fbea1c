/** Checks of requests that the HTTP parser of Node accepts, although proxies may understand them differently (request smuggling). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isHttp2 } from './request-body.ts';

/** Why a request is refused. */
export interface Refusal {
  readonly status: 400 | 431 | 501 | 505;
  readonly title: string;
  readonly detail: string;
}

/** Characters that end or cannot be in the authority of a URL. */
const notInHost = /[\s/?#@\\,]/;
const absoluteForm = /^https?:\/\/([^/?#]*)/i;

/**
 * Returns why a request of HTTP/1.1 is refused; null for a request to serve. `node:http2` has such checks of its own.
 * @param maxHeadersCount beyond which Node drops headers, perhaps one that a proxy has added
 */
export function findRefusal(request: IncomingMessage, maxHeadersCount: number): Refusal | null {
  if (isHttp2(request)) return null;
  const { httpVersion, headers, rawHeaders } = request;
  // The parser also accepts `HTTP/2.0` and `HTTP/0.9`.
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    const detail = `The request line names HTTP/${httpVersion}.`;
    return { status: 505, title: 'HTTP version not supported', detail };
  }
  if (rawHeaders.length > 2 * maxHeadersCount) {
    return { status: 431, title: 'The request has too many headers', detail: `The limit is ${maxHeadersCount}.` };
  }
  const coding = headers['transfer-encoding'];
  return (coding === undefined ? null : checkCoding(coding, httpVersion)) ?? checkHost(request);
}

/** RFC 9112, section 6.1. */
function checkCoding(coding: string, httpVersion: string): Refusal | null {
  if (httpVersion === '1.0') return badRequest('HTTP/1.0 has no Transfer-Encoding.');
  if (coding.toLowerCase() === 'chunked') return null;
  return { status: 501, title: 'Transfer coding not supported', detail: 'The server supports chunked alone.' };
}

/** RFC 9112, sections 3.2 and 3.2.2. */
function checkHost({ headers: { host }, rawHeaders, url = '' }: IncomingMessage): Refusal | null {
  if (host !== undefined && notInHost.test(host)) return badRequest('The value of Host is not a host.');
  if (hasTwoHosts(rawHeaders)) return badRequest('There is more than one Host.');
  const authority = url.startsWith('/') ? undefined : absoluteForm.exec(url)?.[1];
  return authority === undefined || authority.toLowerCase() === host?.toLowerCase()
    ? null
    : badRequest('The URL in the request line and Host name different hosts.');
}

/** `headers` has the first value only. */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count > 1;
}

function badRequest(detail: string): Refusal {
  return { status: 400, title: 'Bad request', detail };
}

/** Sends the refusal, and closes the connection. */
export function sendRefusal(response: ServerResponse, { status, title, detail }: Refusal): void {
  const body = JSON.stringify({ type: 'about:blank', title, status, detail });
  response.writeHead(status, {
    'content-type': 'application/problem+json',
    'content-length': Buffer.byteLength(body),
    'x-content-type-options': 'nosniff',
    connection: 'close',
  });
  response.end(body);
}
