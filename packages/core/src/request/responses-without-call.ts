import { Problem } from '../http/problem.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { RouteLookup } from './route-lookup.ts';
import type { StreamDefinition } from '../events/stream.ts';
import { handleError } from './error-handler.ts';
import type { Pipeline } from './pipeline.ts';
import { problemResponse } from './problem-response.ts';
import { readStreamExecutionId } from '../events/execution-id.ts';
import type { EventStreams } from '../events/event-streams.ts';

/** Nothing runs in the database for these. Undefined: the request is not ours. */
export async function respondWithoutCall(
  routed: Exclude<RouteLookup, { readonly kind: 'match' }>,
  request: GatewayRequest,
  pipeline: Pipeline,
): Promise<GatewayResponse | undefined> {
  switch (routed.kind) {
    case 'none':
      return undefined;
    case 'method':
      return otherMethod(request, routed.allowed, pipeline);
    case 'stream':
      return streamed(routed.plan, request, pipeline);
  }
}

async function streamed(plan: StreamDefinition, request: GatewayRequest, pipeline: Pipeline): Promise<GatewayResponse> {
  try {
    return await openEventStream(plan, request, pipeline.streams);
  } catch (error) {
    return handleError(error, request, { call: null, targets: plan.endpoints }, pipeline);
  }
}

/** The path is ours and the method is not: a host's own handlers may still want it. */
function otherMethod(
  request: GatewayRequest,
  allowed: readonly string[],
  { problemOptions: refusal }: Pipeline,
): GatewayResponse {
  const allow = ['allow', allowed.join(', ')];
  if (request.method === 'OPTIONS') return { kind: 'whole', status: 204, headers: allow, body: null, isFallback: true };
  const problem = new Problem('method-not-allowed', {
    detail: `${request.method} is not answered here; try ${allowed.join(', ')}.`,
    headers: allow,
  });
  return { ...problemResponse(problem, null, refusal), isFallback: true };
}

/**
 * The answer to a request for a stream: refused before its first byte, or without end.
 * @throws Problem 400 for an execution id that others might guess, 401, 403; 429 and 503 when there are too many
 */
export async function openEventStream(
  plan: StreamDefinition,
  request: GatewayRequest,
  streams: EventStreams,
): Promise<GatewayResponse> {
  const executionId = readStreamExecutionId(request);
  const authorized = await streams.authorize(plan, request);
  const headers = [...streams.headers, ...(authorized.caller?.headers ?? [])];
  if (request.method === 'HEAD') return { kind: 'whole', status: 200, headers, body: null };
  const subscriber = streams.subscribe(plan, request, authorized, executionId);
  request.onDisconnect(() => subscriber.cancel());
  return { kind: 'stream', status: 200, headers, body: subscriber };
}
