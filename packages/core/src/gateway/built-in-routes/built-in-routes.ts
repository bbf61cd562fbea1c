import { Problem } from '../../http/problem.ts';
import type { GatewayRequest } from '../../http/request.ts';
import type { GatewayResponse, Handle } from '../../http/response.ts';
import type { Options } from '../options/options.ts';
import type { Observer, SchemeRoute } from '../../ports/ports.ts';
import { problemResponse, type ProblemOptions } from '../../request/problem-response.ts';
import { StartError } from '../start-error.ts';

interface Parts {
  readonly options: Options;
  readonly observe: Observer;
}

/** Endpoints that no routine is behind, before those of the database: refresh, tokens. */
export function withOwnEndpoints(handle: Handle, routes: readonly SchemeRoute[], parts: Parts): Handle {
  if (routes.length === 0) return handle;
  const byPath = new Map<string, SchemeRoute[]>();
  for (const route of routes) add(byPath, route);
  return (request) => {
    const there = byPath.get(withoutSlash(request.path));
    if (there === undefined) return handle(request);
    const route = there.find(({ method }) => method === request.method);
    if (route !== undefined) return answer(route, request, parts);
    // A routine may answer another method at the same path.
    return handle(request).then((response) => response ?? otherMethod(request, there, parts.options));
  };
}

function add(byPath: Map<string, SchemeRoute[]>, route: SchemeRoute): void {
  const path = withoutSlash(route.path);
  const there = byPath.get(path) ?? [];
  if (there.some(({ method }) => method === route.method)) {
    throw new StartError(`${route.method} ${route.path} is asked for twice: give one of them another path`);
  }
  byPath.set(path, [...there, route]);
}

function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

function refusal({ errorFormat, returnGatewayExceptionMessage }: Options): ProblemOptions {
  return { format: errorFormat, showDatabaseMessage: returnGatewayExceptionMessage, mappedCodes: {} };
}

function otherMethod(request: GatewayRequest, routes: readonly SchemeRoute[], options: Options): GatewayResponse {
  const headers = ['allow', [...routes.map(({ method }) => method), 'OPTIONS'].join(', ')];
  if (request.method === 'OPTIONS') return { kind: 'whole', status: 204, headers, body: null, passable: true };
  return { ...problemResponse(new Problem('method-not-allowed', { headers }), null, refusal(options)), passable: true };
}

async function answer(
  route: SchemeRoute,
  request: GatewayRequest,
  { options, observe }: Parts,
): Promise<GatewayResponse> {
  try {
    return await route.handle(request);
  } catch (error) {
    const problem = error instanceof Problem ? error : new Problem('internal', { cause: error });
    return problemResponse(problem, observeFailure(problem, request, observe), refusal(options));
  }
}

/** Tells the observer of a failure that is not the client's; gives the id by which the answer is found in the log. */
function observeFailure(problem: Problem, request: GatewayRequest, observe: Observer): string | null {
  const { status, cause } = problem;
  if (status < 500) return null;
  const error = cause instanceof Error ? cause : problem;
  observe({ kind: 'request-failed', request, endpoint: null, status, correlationId: request.id, error });
  return request.id;
}
