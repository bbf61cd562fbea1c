import { Problem } from '../http/problem.ts';
import type { GatewayRequest } from '../http/request.ts';
import { findUnknownResource, selectProfile, type UnknownResource } from './dialect-routes.ts';
import type { RouteResult } from './router.ts';
import type { StreamDefinition } from '../events/stream.ts';
import type { CompiledEndpoint } from './compiled-endpoint.ts';
import type { RequestPipeline } from './pipeline.ts';

/** The methods of an event stream, besides OPTIONS. */
const streamMethods: readonly string[] = ['GET', 'HEAD'];

/** The candidate endpoints of a request, its event stream, or the reason why there is neither. */
export type RouteLookup =
  | RouteResult<CompiledEndpoint>
  | UnknownResource
  | { readonly kind: 'stream'; readonly definition: StreamDefinition };

/** Finds the route of a request. An event stream wins over a path pattern that matches as well. */
export function lookUpRoute(
  request: Pick<GatewayRequest, 'method' | 'path' | 'header'>,
  { streamDefinitions, router, dialectPaths }: Pick<RequestPipeline, 'streamDefinitions' | 'router' | 'dialectPaths'>,
): RouteLookup {
  const definition = streamDefinitions.get(request.path);
  if (definition === undefined) {
    const route = router.match(request.method, request.path);
    if (route.kind === 'match') return selectProfile(route, request);
    return route.kind === 'not-found' && dialectPaths.length > 0 ? findUnknownResource(request, dialectPaths) : route;
  }
  if (streamMethods.includes(request.method)) return { kind: 'stream', definition };
  const route = router.match(request.method, request.path);
  return route.kind === 'not-found' ? { kind: 'method-not-allowed', allowed: [...streamMethods, 'OPTIONS'] } : route;
}

/** @throws Problem `uri-too-long` */
export function checkUriLength(request: GatewayRequest, limit: number): void {
  if (request.path.length + request.query.length > limit) throw new Problem('uri-too-long');
}
