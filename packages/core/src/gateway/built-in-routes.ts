import { type AccessControl, authorize } from '../auth/authorize.ts';
import { withCallerHeaders } from '../auth/caller-headers.ts';
import { Problem } from '../http/problem.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { GatewayResponse, Handle } from '../http/response.ts';
import type { Caller, Observer, SchemeRoute } from '../ports/ports.ts';
import { problemResponse, type ProblemOptions } from '../request/problem-response.ts';
import { observeHandled } from '../request/request-observation.ts';
import type { Authentication } from './open-authentication.ts';
import type { AuthenticationOptions } from './options/authentication-options.ts';
import type { ResolvedOptions } from './options/options.ts';
import { OptionsError } from './start-error.ts';
import { toError } from '../to-error.ts';

interface Context {
  readonly options: ResolvedOptions;
  readonly observe: Observer;
}

/** A route of the gateway itself. */
export interface GatewayRoute extends SchemeRoute {
  /** Returns the caller of an answered request, for observers; null: unknown. */
  callerOf?(request: GatewayRequest): Caller | null;
}

/**
 * Answers the routes that are not database endpoints (refresh, tokens, antiforgery) before the database endpoints.
 * @throws StartError for two routes with one method and path
 */
export function withBuiltInRoutes(handle: Handle, routes: readonly GatewayRoute[], context: Context): Handle {
  if (routes.length === 0) return handle;
  const byPath = new Map<string, GatewayRoute[]>();
  for (const route of routes) addRoute(byPath, route);
  const templates = routes.filter((route) => 'matches' in route);
  const find = (path: string): readonly GatewayRoute[] | undefined => {
    const found = byPath.get(path) ?? templates.filter((route) => route.matches!(path));
    return found.length === 0 ? undefined : found;
  };
  return (request) => {
    const matches = find(withoutTrailingSlash(request.path));
    if (matches === undefined) return handle(request);
    const route = matches.find(({ method }) => method === request.method);
    if (route !== undefined) {
      return respond(route, request, context).then((response) => {
        const { observe, options } = context;
        const caller = route.callerOf?.(request) ?? null;
        const handled = { request, endpoint: null, caller, targets: [], route: route.path };
        observeHandled({ observe, observesRequests: options.observeRequests }, handled);
        return response;
      });
    }
    // A routine may have another method at the same path.
    return handle(request).then((response) => response ?? methodNotAllowed(request, matches, context.options));
  };
}

function addRoute(byPath: Map<string, GatewayRoute[]>, route: GatewayRoute): void {
  const path = withoutTrailingSlash(route.path);
  const routes = byPath.get(path) ?? [];
  if (routes.some(({ method }) => method === route.method)) {
    throw new OptionsError(
      `${route.method} ${route.path} is the path of two built-in routes; give one of them another path`,
    );
  }
  byPath.set(path, [...routes, route]);
}

function withoutTrailingSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

function problemOptions({ errorFormat, returnGatewayExceptionMessage }: ResolvedOptions): ProblemOptions {
  return { format: errorFormat, showDatabaseMessage: returnGatewayExceptionMessage !== false, mappedCodes: {} };
}

function methodNotAllowed(
  request: GatewayRequest,
  routes: readonly SchemeRoute[],
  options: ResolvedOptions,
): GatewayResponse {
  const headers = ['allow', [...routes.map(({ method }) => method), 'OPTIONS'].join(', ')];
  if (request.method === 'OPTIONS') return { kind: 'whole', status: 204, headers, body: null, isFallback: true };
  const problem = new Problem('method-not-allowed', { headers });
  return { ...problemResponse(problem, null, problemOptions(options)), isFallback: true };
}

async function respond(
  route: SchemeRoute,
  request: GatewayRequest,
  { options, observe }: Context,
): Promise<GatewayResponse> {
  try {
    return await route.handle(request);
  } catch (error) {
    const problem = error instanceof Problem ? error : new Problem('internal', { cause: error });
    const correlationId = observeFailure(problem, request, observe);
    const page = route.problemPage?.(problem, request) ?? null;
    return page ?? problemResponse(problem, correlationId, problemOptions(options));
  }
}

/** Returns the response to an error before an endpoint is known, and reports a failure of the gateway. */
export function problemToResponse(
  error: unknown,
  request: GatewayRequest,
  { options, observe }: Context,
): GatewayResponse {
  const problem = error instanceof Problem ? error : new Problem('internal', { cause: error });
  return problemResponse(problem, observeFailure(problem, request, observe), problemOptions(options));
}

/** Failures of sign-in providers, which the observation `external-sign-in` reports. */
const observedByRoute: ReadonlySet<string> = new Set(['invalid-provider-response', 'provider-unavailable']);

/** Reports a failure of the gateway. Returns the correlation id of response and log line, null for a client error. */
function observeFailure(problem: Problem, request: GatewayRequest, observe: Observer): string | null {
  const { status, cause } = problem;
  if (status < 500) return null;
  if (observedByRoute.has(problem.code)) return request.id;
  const error = cause instanceof Error ? cause : problem;
  observe({ kind: 'request-failed', request, endpoint: null, status, correlationId: request.id, error });
  return request.id;
}

/** The route that reads the catalog again: 204, or 500 while the old endpoints stay. Empty unless enabled. */
export function refreshRoute(
  refresh: () => Promise<void>,
  options: ResolvedOptions,
  access: AccessControl,
): readonly SchemeRoute[] {
  const { refreshEndpointEnabled, refreshMethod, refreshPath } = options;
  if (!refreshEndpointEnabled) return [];
  return [
    {
      method: refreshMethod,
      // The leading slash of a configured path is optional.
      path: refreshPath.startsWith('/') ? refreshPath : `/${refreshPath}`,
      handle: async (request) => {
        const caller = await authorizeRefresh(request, options, access);
        try {
          await refresh();
        } catch (error) {
          throw refreshProblem(error, caller, options);
        }
        return { kind: 'whole', status: 204, headers: [], body: null };
      },
    },
  ];
}

/**
 * Returns the caller, null for an anonymous caller where no role is required.
 * @throws Problem 401, 403; 403 also for a request that another site makes, whatever its method
 */
async function authorizeRefresh(
  request: GatewayRequest,
  { refreshRoles }: ResolvedOptions,
  access: AccessControl,
): Promise<Caller | null> {
  const target = {
    endpoint: {
      authorization: { required: refreshRoles !== null, roles: refreshRoles ?? [] },
      basicAuthentication: null,
    },
    needsCaller: true,
    changesData: true,
    endpointScheme: null,
  };
  return (await authorize([target], request, access)).caller;
}

/** The reason may name hosts, ports and roles: only a signed-in caller gets it. The log has it under the correlation id. */
function refreshProblem(
  error: unknown,
  caller: Caller | null,
  { returnGatewayExceptionMessage }: ResolvedOptions,
): Problem {
  const detail = toError(error).message;
  return new Problem('refresh-failed', {
    ...(caller !== null && returnGatewayExceptionMessage !== false ? { detail } : {}),
    cause: error,
  });
}

/**
 * The route of batches. Empty without a path.
 * @throws StartError for an option that batches exclude
 */
export function batchRoute(
  batches: Required<Pick<GatewayRoute, 'handle' | 'callerOf'>>,
  { batchPath, connectionProvider }: ResolvedOptions,
): readonly GatewayRoute[] {
  if (batchPath === null) return [];
  if (!/^\/[^?#\s]*$/.test(batchPath)) {
    throw new OptionsError(`batchPath: ${JSON.stringify(batchPath)} must begin with a slash, as in "/api/batch"`);
  }
  if (connectionProvider !== null) {
    throw new OptionsError(
      'batchPath and connectionProvider exclude one another: a batch runs in one transaction on a connection of the gateway',
    );
  }
  return [
    {
      method: 'POST',
      path: batchPath,
      handle: (request) => batches.handle(request),
      callerOf: (request) => batches.callerOf(request),
    },
  ];
}

/** The route that gives a signed-in caller an antiforgery token, as `{"token": "…"}` and as a cookie that scripts can read. */
export function antiforgeryRoute(
  { antiforgeryPath }: AuthenticationOptions,
  { access, csrfGuard }: Authentication,
): readonly SchemeRoute[] {
  if (antiforgeryPath === null) return [];
  const target = {
    endpoint: { authorization: { required: true, roles: [] }, basicAuthentication: null },
    needsCaller: true,
    changesData: false,
    endpointScheme: null,
  };
  return [
    {
      method: 'GET',
      path: antiforgeryPath,
      handle: async (request) => {
        const { caller } = await authorize([target], request, access);
        const issued = await csrfGuard.issue(caller!, request);
        const headers = ['content-type', 'application/json', 'cache-control', 'no-store', ...issued.headers];
        return withCallerHeaders(
          { kind: 'whole', status: 200, headers, body: JSON.stringify({ token: issued.token }) },
          caller,
        );
      },
    },
  ];
}
