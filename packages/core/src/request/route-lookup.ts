import { Problem } from '../http/problem.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { Dialect, DialectPaths, RoutedRequest } from '../ports/dialect.ts';
import type { RouteResult } from './router.ts';
import type { StreamDefinition } from '../events/stream.ts';
import type { CompiledEndpoint } from './compiled-endpoint.ts';
import type { RequestPipeline } from './pipeline.ts';

/** The methods of an event stream, besides OPTIONS. */
const streamMethods: readonly string[] = ['GET', 'HEAD'];

/** A path of a dialect that has no endpoint. */
interface UnknownResource {
  readonly kind: 'unknown-resource';
  readonly problem: Problem;
  readonly dialect: Dialect;
}

const notFound = { kind: 'not-found' } as const;

/** The candidate endpoints of a request, its event stream, or the reason why there is neither. */
export type RouteLookup =
  | RouteResult<CompiledEndpoint>
  | UnknownResource
  | { readonly kind: 'stream'; readonly definition: StreamDefinition }
  | { readonly kind: 'changes'; readonly target: CompiledEndpoint };

/** A route whose endpoints may be stale: its request runs again with those that are loaded then. */
export type RepeatableRoute = Extract<RouteLookup, { readonly kind: 'match' | 'changes' }>;

export function isRepeatable(route: RouteLookup): route is RepeatableRoute {
  return route.kind === 'match' || route.kind === 'changes';
}

/** Finds the route of a request. An event stream wins over a path pattern that matches as well. */
export function lookUpRoute(
  request: RoutedRequest,
  {
    streamDefinitions,
    changeTargets,
    router,
    dialects,
  }: Pick<RequestPipeline, 'streamDefinitions' | 'changeTargets' | 'router' | 'dialects'>,
): RouteLookup {
  const definition = streamDefinitions.get(request.path);
  const target = changeTargets.get(request.path);
  if (definition === undefined && target === undefined) {
    const route = router.match(request.method, request.path);
    if (route.kind === 'match') return selectTargets(route, request);
    return route.kind === 'not-found' ? findUnknownResource(request, dialects) : route;
  }
  if (streamMethods.includes(request.method))
    return definition === undefined ? { kind: 'changes', target: target! } : { kind: 'stream', definition };
  const route = router.match(request.method, request.path);
  return route.kind === 'not-found' ? { kind: 'method-not-allowed', allowed: [...streamMethods, 'OPTIONS'] } : route;
}

/** Several targets are overloads of a routine, or tables of a dialect, of which the request means one. */
function selectTargets(
  route: RouteResult<CompiledEndpoint> & { readonly kind: 'match' },
  request: RoutedRequest,
): RouteResult<CompiledEndpoint> {
  const { targets } = route;
  const { dialect } = targets[0]!;
  if (targets.length === 1 || dialect === null) return route;
  return { ...route, targets: dialect.selectTargets(targets, request) };
}

function findUnknownResource(
  request: RoutedRequest,
  dialects: readonly DialectPaths[],
): RouteResult<CompiledEndpoint> | UnknownResource {
  for (const { dialect, findUnknown } of dialects) {
    const problem = findUnknown(request);
    if (problem !== null) return { kind: 'unknown-resource', problem, dialect };
  }
  return notFound;
}

/** @throws Problem `uri-too-long` */
export function checkUriLength(request: GatewayRequest, limit: number): void {
  if (request.path.length + request.query.length > limit) throw new Problem('uri-too-long');
}
