import { queryMediaTypes, queryMethod } from '../http/methods.ts';
import { Problem } from '../http/problem.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { CompiledEndpoint } from './compiled-endpoint.ts';
import type { RepeatableRoute, RouteLookup } from './route-lookup.ts';
import type { RouteResult } from './router.ts';
import type { StreamDefinition } from '../events/stream.ts';
import type { Caller } from '../ports/ports.ts';
import { findEndpoint, handleError } from './error-handler.ts';
import type { RequestPipeline } from './pipeline.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { Dialect } from '../ports/dialect.ts';
import { type ProblemOptions, problemResponse } from './problem-response.ts';
import { observeHandled } from './request-observation.ts';
import { readStreamExecutionId } from '../events/execution-id.ts';
import type { EventStreams } from '../events/event-streams.ts';
import type { AuthorizedCaller } from '../events/subscriber-authorization.ts';
import type { MaybeLimitedRequest } from './admit.ts';

/** Answers a request that calls no routine. Undefined: no route has its path. */
export async function respondWithoutCall(
  route: Exclude<RouteLookup, RepeatableRoute>,
  { request, limited }: MaybeLimitedRequest,
  pipeline: RequestPipeline,
): Promise<GatewayResponse | undefined> {
  switch (route.kind) {
    case 'not-found':
      observeHandled(pipeline, { request, endpoint: null, caller: null, targets: [] });
      return undefined;
    case 'method-not-allowed':
      if (pipeline.observesRequests) observeOtherMethod(request, route.allowed, pipeline);
      return respondToOtherMethod(request, route.allowed, pipeline);
    case 'unknown-resource':
      observeHandled(pipeline, { request, endpoint: null, caller: null, targets: [] });
      return {
        ...problemResponse(route.problem, null, inDialect(route.dialect, pipeline.problemOptions)),
        isFallback: true,
      };
    case 'stream':
      return respondWithStream(route.definition, { request, limited }, pipeline);
  }
}

/** The endpoints of other methods tell whether the path may contain secrets. */
function observeOtherMethod(request: GatewayRequest, allowed: readonly string[], pipeline: RequestPipeline): void {
  const targets = allowed.flatMap((method) => {
    const route = pipeline.router.match(method, request.path);
    return route.kind === 'match' ? route.targets : [];
  });
  observeHandled(pipeline, { request, endpoint: null, caller: null, targets });
}

/** Answers OPTIONS and 405 as a fallback: the host may have a handler for the method. */
function respondToOtherMethod(
  request: GatewayRequest,
  allowed: readonly string[],
  { problemOptions, router }: RequestPipeline,
): GatewayResponse {
  const takesBodies = allowed.includes(queryMethod);
  const acceptQuery = takesBodies ? ['accept-query', queryMediaTypes.join(', ')] : [];
  const allow = ['allow', allowed.join(', '), ...acceptQuery];
  const routes = allowed.map((method) => router.match(method, request.path));
  const dialect = dialectOf(routes);
  if (request.method === 'OPTIONS') {
    if (dialect === null) return { kind: 'whole', status: 204, headers: allow, body: null, isFallback: true };
    const headers = ['allow', dialect.allowedMethods(allowed, endpointsOf(routes))];
    return { kind: 'whole', status: 200, headers, body: '', isFallback: true };
  }
  if (dialect !== null) {
    const refused = dialect.unsupportedMethod(request, allow);
    return { ...problemResponse(refused, null, inDialect(dialect, problemOptions)), isFallback: true };
  }
  const reason = problemOptions.explainsSetup ? explainMissingPost(request, routes) : '';
  const problem = new Problem('method-not-allowed', {
    detail: `${request.method} is not answered here; try ${allowed.join(', ')}.${reason}`,
    headers: allow,
  });
  return { ...problemResponse(problem, null, problemOptions), isFallback: true };
}

/** Returns why the endpoints of a table have no POST. */
function explainMissingPost({ method }: GatewayRequest, routes: readonly RouteResult<CompiledEndpoint>[]): string {
  const lacksKey = endpointsOf(routes).some(({ table }) => table !== null && table.columns.every(({ key }) => !key));
  return method === 'POST' && lacksKey
    ? ' POST updates rows by their primary key, which this table or view does not have.'
    : '';
}

function dialectOf(routes: readonly RouteResult<CompiledEndpoint>[]): Dialect | null {
  for (const route of routes)
    if (route.kind === 'match' && route.targets[0]!.dialect !== null) return route.targets[0]!.dialect;
  return null;
}

function endpointsOf(routes: readonly RouteResult<CompiledEndpoint>[]): readonly Endpoint[] {
  return routes.flatMap((route) => (route.kind === 'match' ? route.targets.map(({ endpoint }) => endpoint) : []));
}

function inDialect({ formatProblem }: Dialect, options: ProblemOptions): ProblemOptions {
  return { ...options, format: formatProblem };
}

async function respondWithStream(
  definition: StreamDefinition,
  limitedRequest: MaybeLimitedRequest,
  pipeline: RequestPipeline,
): Promise<GatewayResponse> {
  const { request } = limitedRequest;
  const targets = definition.endpoints;
  const endpoint = findEndpoint({ call: null, targets });
  const handled = { request, endpoint, targets, route: definition.path, isEventStream: true };
  try {
    const { response, caller } = await openEventStream(definition, limitedRequest, pipeline.streams);
    observeHandled(pipeline, { ...handled, caller });
    return response;
  } catch (error) {
    const response = await handleError(error, request, { call: null, input: null, targets }, pipeline);
    observeHandled(pipeline, { ...handled, caller: null });
    return response;
  }
}

interface OpenedStream {
  readonly response: GatewayResponse;
  readonly caller: Caller | null;
}

/**
 * Authorizes the subscriber and opens the stream.
 * @throws Problem 400 for a guessable execution id, 401, 403; 429 and 503 when there are too many streams
 */
async function openEventStream(
  definition: StreamDefinition,
  { request, limited }: MaybeLimitedRequest,
  streams: EventStreams,
): Promise<OpenedStream> {
  const executionId = readStreamExecutionId(request);
  const authorize = (): Promise<AuthorizedCaller> => streams.authorize(definition, request);
  const authorized = await (limited === null ? authorize() : limited.admit(authorize));
  const { caller } = authorized;
  const headers = [...streams.headers, ...(caller?.headers ?? [])];
  if (request.method === 'HEAD') return { response: { kind: 'whole', status: 200, headers, body: null }, caller };
  const subscriber = streams.subscribe(definition, request, authorized, executionId);
  request.onDisconnect(() => subscriber.cancel());
  return { response: { kind: 'stream', status: 200, headers, body: subscriber }, caller };
}
