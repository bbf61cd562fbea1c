/** The response to a scrape of Prometheus. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { MetricsConfiguration } from '../config/schema/metrics.ts';
import type { PathHandler } from '../http/http-server.ts';
import { isLocalRequest } from '../http/local-request.ts';
import type { Metrics } from './metrics.ts';

const methods = 'GET, HEAD';

/** Creates the handler. It runs before the host check, as a scraper may name the server by its address. */
export function createMetricsHandler(configuration: MetricsConfiguration, metrics: Metrics): PathHandler {
  const { path } = configuration;
  if (path === null) return () => false;
  return (request, response) => {
    if (request.url?.startsWith(path) !== true) return false;
    if (request.url.split('?', 1)[0]!.replace(/\/$/, '') !== path) return false;
    const refusal = refuse(request, configuration);
    if (refusal === null) void sendMetrics(metrics, response);
    else refusal(response);
    return true;
  };
}

/** Returns what sends a refusal; null: the request is allowed. */
function refuse(
  request: IncomingMessage,
  configuration: MetricsConfiguration,
): ((response: ServerResponse) => void) | null {
  const { token, access } = configuration;
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return (response) => sendProblem(response, 405, 'Method not allowed', { allow: methods });
  }
  if (token !== null) {
    if (hasToken(request, token)) return null;
    return (response) =>
      sendProblem(response, 401, 'Authentication is required', { 'www-authenticate': 'Bearer realm="metrics"' });
  }
  if (access === 'always' || isLocalRequest(request)) return null;
  return (response) => sendProblem(response, 403, 'Not allowed', {});
}

/** Compares hashes, in constant time: neither content nor length of the token can be measured. */
function hasToken({ headers }: IncomingMessage, token: string): boolean {
  const sent = /^Bearer +(.+)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
  return timingSafeEqual(hash(sent), hash(token));
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

async function sendMetrics(metrics: Metrics, response: ServerResponse): Promise<void> {
  try {
    const text = await metrics.text();
    send(response, 200, { type: metrics.contentType, text });
  } catch {
    sendProblem(response, 500, 'The metrics cannot be read', {});
  }
}

type Headers = Readonly<Record<string, string>>;

function sendProblem(response: ServerResponse, status: number, title: string, headers: Headers): void {
  const text = JSON.stringify({ type: 'about:blank', title, status });
  send(response, status, { type: 'application/problem+json', text }, headers);
}

function send(
  response: ServerResponse,
  status: number,
  { type, text }: { readonly type: string; readonly text: string },
  headers: Headers = {},
): void {
  const bytes = Buffer.from(text);
  response.writeHead(status, {
    'content-type': type,
    'content-length': bytes.length,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...headers,
  });
  // Node.js sends no body in a response to HEAD.
  response.end(bytes);
}
