/** The responses of `/health`, `/health/live` and `/health/ready`. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Endpoint, Gateway } from '@pgway/core';
import type { Configuration } from '../config/schema.ts';
import { isLocalRequest } from '../http/local-request.ts';
import type { PathHandler } from '../http/http-server.ts';
import { type HealthReport, HealthChecks, type WorkerCounts } from './checks.ts';

/** Seconds after which a client may try again. */
const retryAfter = 1;
const methods = 'GET, HEAD';

/**
 * Creates the handler. It runs before the host check, as probes name the server by its address. The responses change nothing and contain
 * no data of callers.
 * @param stopSignal aborted when the shutdown begins
 * @param workers null: there is one process
 */
export function createHealthHandler(
  configuration: Configuration,
  gateway: Gateway,
  stopSignal: AbortSignal,
  workers: (() => WorkerCounts) | null = null,
): PathHandler {
  const { path } = configuration.health;
  if (path === null) return () => false;
  const checks = new HealthChecks(configuration, gateway, workers);
  const live = `${path}/live`;
  const ready = `${path}/ready`;
  return (request, response) => {
    if (request.url?.startsWith(path) !== true) return false;
    const requested = request.url.split('?', 1)[0]!.replace(/\/$/, '');
    if (requested !== path && requested !== live && requested !== ready) return false;
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      send(response, 405, { type: 'about:blank', title: 'Method not allowed', status: 405 }, { allow: methods });
      return true;
    }
    if (requested === live) {
      send(response, 200, { status: 'ok' });
      return true;
    }
    const showsDetails = requested === path && maySeeDetails(request, configuration);
    void checks.run(stopSignal.aborted).then((report) => {
      const isReady = report.status === 'ok' || report.status === 'degraded';
      send(response, isReady ? 200 : 503, toBody(report, showsDetails), isReady ? {} : { 'retry-after': retryAfter });
    });
    return true;
  };
}

/** Returns the endpoints whose path is taken by the health checks. */
export function endpointsBehindHealth(
  endpoints: readonly Endpoint[],
  { health: { path } }: Configuration,
): readonly Endpoint[] {
  if (path === null) return [];
  const taken = [path, `${path}/live`, `${path}/ready`];
  return endpoints.filter((endpoint) => taken.includes(endpoint.path.replace(/\/$/, '')));
}

function maySeeDetails(request: IncomingMessage, { health: { details } }: Configuration): boolean {
  return details === 'loopback' ? isLocalRequest(request) : details === 'always';
}

function toBody({ status, checks }: HealthReport, showsDetails: boolean): object {
  const results = checks.map(({ name, isOk, details }) => {
    const result = isOk ? 'ok' : 'failed';
    return [name, showsDetails ? { status: result, ...details } : result] as const;
  });
  return { status, checks: Object.fromEntries(results) };
}

function send(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string | number>> = {},
): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, {
    'content-type': status === 405 ? 'application/problem+json' : 'application/json',
    'content-length': bytes.length,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...headers,
  });
  // Node.js sends no body in a response to HEAD.
  response.end(bytes);
}
