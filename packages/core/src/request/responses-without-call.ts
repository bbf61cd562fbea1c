import { Problem } from '../http/problem.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { RouteLookup } from './route-lookup.ts';
import type { StreamDefinition } from '../events/stream.ts';
import { handleError } from './error-handler.ts';
import type { RequestPipeline } from './pipeline.ts';
import { problemResponse } from './problem-response.ts';
import { readStreamExecutionId } from '../events/execution-id.ts';
import type { EventStreams } from '../events/event-streams.ts';

/** Answers a request that calls no routine. Undefined: no route has its path. */
export async function respondWithoutCall(
  route: Exclude<RouteLookup, { readonly kind: 'match' }>,
  request: GatewayRequest,
  pipeline: RequestPipeline,
): Promise<GatewayResponse | undefined> {
  switch (route.kind) {
    case 'not-found':
      return undefined;
    case 'method-not-allowed':
      return respondToOtherMethod(request, route.allowed, pipeline);
    case 'stream':
      return respondWithStream(route.definition, request, pipeline);
  }
}

/** Answers OPTIONS and 405 as a fallback: the host may have a handler for the method. */
function respondToOtherMethod(
  request: GatewayRequest,
  allowed: readonly string[],
  { problemOptions }: RequestPipeline,
): GatewayResponse {
  const allow = ['allow', allowed.join(', ')];
  if (request.method === 'OPTIONS') return { kind: 'whole', status: 204, headers: allow, body: null, isFallback: true };
  const problem = new Problem('method-not-allowed', {
    detail: `${request.method} is not answered here; try ${allowed.join(', ')}.`,
    headers: allow,
  });
  return { ...problemResponse(problem, null, problemOptions), isFallback: true };
}

async function respondWithStream(
  definition: StreamDefinition,
  request: GatewayRequest,
  pipeline: RequestPipeline,
): Promise<GatewayResponse> {
  try {
    return await openEventStream(definition, request, pipeline.streams);
  } catch (error) {
    return handleError(error, request, { call: null, targets: definition.endpoints }, pipeline);
  }
}

/**
 * Authorizes the subscriber and opens the stream.
 * @throws Problem 400 for a guessable execution id, 401, 403; 429 and 503 when there are too many streams
 */
async function openEventStream(
  definition: StreamDefinition,
  request: GatewayRequest,
  streams: EventStreams,
): Promise<GatewayResponse> {
  const executionId = readStreamExecutionId(request);
  const authorized = await streams.authorize(definition, request);
  const headers = [...streams.headers, ...(authorized.caller?.headers ?? [])];
  if (request.method === 'HEAD') return { kind: 'whole', status: 200, headers, body: null };
  const subscriber = streams.subscribe(definition, request, authorized, executionId);
  request.onDisconnect(() => subscriber.cancel());
  return { kind: 'stream', status: 200, headers, body: subscriber };
}
