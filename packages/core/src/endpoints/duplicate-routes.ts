import { type Diagnostic, display } from './diagnostic.ts';
import type { Steps } from '../catalog/steps.ts';
import type { Endpoint, EndpointParameter } from './endpoint.ts';
import { parsePath } from './path.ts';
import { reportDuplicatesPerTable } from './table-diagnostics.ts';

/**
 * Returns the routes that a path matches, without a trailing slash and parameter names: one per number of optional segments.
 * `/a/{id?}` matches `/a` and `/a/{}`.
 */
export function expandRoutes(path: string): readonly string[] {
  if (path.startsWith('/') && !path.includes('{')) return [path.endsWith('/') ? path.slice(0, -1) : path];
  const segments = parsePath(path);
  if (typeof segments === 'string') return [path];
  const routes: string[] = [];
  let route = '';
  for (const segment of segments) {
    if (segment.kind === 'parameter' && segment.optional) routes.push(route);
    // Literal segments contain no braces, so `{}` is unambiguous.
    route += segment.kind === 'literal' ? `/${segment.text}` : '/{}';
  }
  return [...routes, route];
}

/** Returns whether the endpoints are overloads of one routine, which may share a route. */
function areOverloads(one: Endpoint, other: Endpoint): boolean {
  return (
    one.table === null &&
    other.table === null &&
    one.schema === other.schema &&
    one.name === other.name &&
    one.id !== other.id &&
    routineOf(one) === routineOf(other)
  );
}

/** Returns the signature without parameters. Two files may have one name, but each is a routine of its own. */
function routineOf({ id }: Endpoint): string {
  return id.split('(', 1)[0]!;
}

/** Returns whether both endpoints read parameters from the same place, as a request is parsed before an overload is selected. */
function haveSameSource(one: Endpoint, other: Endpoint): boolean {
  return (
    one.parameterSource === other.parameterSource &&
    (one.bodyParameter === null) === (other.bodyParameter === null) &&
    (one.upload === null) === (other.upload === null)
  );
}

/** Whether requests select one of the endpoints by the name of its schema, before anything else is known of them. */
function haveProfiles(one: Endpoint, other: Endpoint): boolean {
  return one.dialect !== undefined && one.dialect === other.dialect && one.schema !== other.schema;
}

/** Overloads have one rate limit, as a request is counted before an overload is selected. */
function canShare(one: Endpoint, other: Endpoint): boolean {
  if (haveProfiles(one, other)) return true;
  return areOverloads(one, other) && haveSameSource(one, other) && one.rateLimit === other.rateLimit;
}

/** The endpoints that may be published, and why the others may not. */
interface RouteCheck {
  readonly endpoints: readonly Endpoint[];
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Excludes and reports endpoints that share a method and route with another, unless they are overloads of one routine that
 * read parameters from the same place and have the same rate limit.
 */
export function* excludeDuplicateRoutes(endpoints: readonly Endpoint[]): Steps<RouteCheck> {
  const byRoute = new Map<string, Endpoint[]>();
  for (const endpoint of endpoints) {
    for (const route of expandRoutes(endpoint.path)) {
      const key = `${endpoint.method} ${route}`;
      const group = byRoute.get(key);
      if (group === undefined) byRoute.set(key, [endpoint]);
      else group.push(endpoint);
    }
    yield;
  }
  const groups = [...byRoute.values()].filter(({ length }) => length > 1);
  const rivals = new Map<Endpoint, Endpoint>();
  for (const group of groups) {
    for (const endpoint of group) {
      const rival = group.find((other) => other !== endpoint && !canShare(endpoint, other));
      if (rival !== undefined && !rivals.has(endpoint)) rivals.set(endpoint, rival);
    }
    yield;
  }
  return {
    endpoints: endpoints.filter((endpoint) => !rivals.has(endpoint)),
    diagnostics: [
      ...reportDuplicatesPerTable(
        [...rivals].map(([endpoint, rival]) => ({ endpoint, rival })),
        (endpoint, rival) =>
          areOverloads(endpoint, rival) ? reportOverloadConflict(endpoint, rival) : reportDuplicate(endpoint, rival),
      ),
      ...reportAmbiguousOverloads(groups.map((group) => group.filter((endpoint) => !rivals.has(endpoint)))),
    ],
  };
}

/** Reports overloads with the same parameter names, defaults and authorization, between which no request can choose. */
function reportAmbiguousOverloads(groups: readonly (readonly Endpoint[])[]): readonly Diagnostic[] {
  const reported = new Set<Endpoint>();
  return groups.flatMap((group) => {
    const first = new Map<string, Endpoint>();
    return group.flatMap((endpoint) => {
      const names = getSignatureKey(endpoint);
      const other = first.get(names);
      if (other === undefined) first.set(names, endpoint);
      if (other === undefined || reported.has(endpoint)) return [];
      reported.add(endpoint);
      return [reportAmbiguous(endpoint, other)];
    });
  });
}

function getSignatureKey({ schema, parameters, bodyParameter, authorization, upload, dialect }: Endpoint): string {
  const names = parameters.flatMap(({ key, optional, inPath, position, injectedValue, fields, unnamed, type }) => {
    if (injectedValue !== undefined || position === upload?.metadataParameter) return [];
    // In a dialect, a parameter without a name is the whole body, whose content type selects the overload.
    const wholeType = dialect !== undefined && unnamed ? wholeBodyType(type) : null;
    return [[key, optional, inPath, position === bodyParameter, fields?.map((field) => field.key), wholeType] as const];
  });
  return JSON.stringify([schema, names.toSorted(([one], [other]) => (one < other ? -1 : 1)), authorization]);
}

/** Returns the type that a body selects. JSON is the value of both JSON types. */
function wholeBodyType({ builtin, display: name }: EndpointParameter['type']): string {
  return builtin === 'jsonb' ? 'json' : (builtin ?? name);
}

function reportAmbiguous(endpoint: Endpoint, other: Endpoint): Diagnostic {
  return {
    severity: 'warning',
    code: 'ambiguous-overload',
    routine: endpoint.id,
    line: null,
    message: `${endpoint.method} ${display(endpoint.path)} has the same parameter names as ${other.id}, so every request fails${endpoint.dialect === undefined ? ' with 400' : ''}; rename the parameters, or set another path for one of them`,
  };
}

/** A route that the gateway handles without a routine. */
export interface BuiltInRoute {
  readonly method: string;
  readonly path: string;
}

/** Excludes and reports endpoints at the method and path of a built-in route, which takes precedence. */
export function excludeBuiltInRoutes(endpoints: readonly Endpoint[], builtIn: readonly BuiltInRoute[]): RouteCheck {
  return excludeTaken(
    endpoints,
    builtIn,
    (route) =>
      `${route} is a built-in route, so the routine is not published; set another path for the routine, or for the built-in route by its option`,
  );
}

/** Excludes and reports endpoints at the method and path of another endpoint. */
export function excludeTakenRoutes(endpoints: readonly Endpoint[], others: readonly BuiltInRoute[]): RouteCheck {
  return excludeTaken(
    endpoints,
    others,
    (route) => `${route} is the route of another endpoint, which keeps it; set another path for that endpoint`,
  );
}

function excludeTaken(
  endpoints: readonly Endpoint[],
  builtIn: readonly BuiltInRoute[],
  describe: (route: string) => string,
): RouteCheck {
  const taken = new Set(builtIn.flatMap(({ method, path }) => expandRoutes(path).map((route) => `${method} ${route}`)));
  const isTaken = ({ method, path }: Endpoint): boolean =>
    expandRoutes(path).some((route) => taken.has(`${method} ${route}`));
  const excluded = new Set(endpoints.filter(isTaken));
  return {
    endpoints: endpoints.filter((endpoint) => !excluded.has(endpoint)),
    diagnostics: [...excluded].map((endpoint) => ({
      severity: 'error',
      code: 'duplicate-route',
      routine: endpoint.id,
      line: null,
      message: describe(`${endpoint.method} ${display(endpoint.path)}`),
    })),
  };
}

function reportDuplicate(endpoint: Endpoint, rival: Endpoint): Diagnostic {
  return {
    severity: 'error',
    code: 'duplicate-route',
    routine: endpoint.id,
    line: null,
    message: `${endpoint.method} ${display(endpoint.path)} is also the route of ${rival.id} (${display(rival.path)}), so neither is published; set another path for one of them`,
  };
}

function reportOverloadConflict(endpoint: Endpoint, rival: Endpoint): Diagnostic {
  return haveSameSource(endpoint, rival)
    ? reportRateLimitConflict(endpoint, rival)
    : reportSourceConflict(endpoint, rival);
}

function reportRateLimitConflict(endpoint: Endpoint, rival: Endpoint): Diagnostic {
  return {
    severity: 'error',
    code: 'overload-rate-limit',
    routine: endpoint.id,
    line: null,
    message: `${endpoint.method} ${display(endpoint.path)} has the rate limit ${endpoint.rateLimit ?? 'none'}, but its overload ${rival.id} ${rival.rateLimit ?? 'none'}, so neither is published; use the same rate limit, or set another path for one of them`,
  };
}

function reportSourceConflict(endpoint: Endpoint, rival: Endpoint): Diagnostic {
  return {
    severity: 'error',
    code: 'overload-source',
    routine: endpoint.id,
    line: null,
    message: `${endpoint.method} ${display(endpoint.path)} reads parameters from ${describeSource(endpoint)}, but its overload ${rival.id} from ${describeSource(rival)}, so neither is published; use the same source, or set another path for one of them`,
  };
}

function describeSource({ parameterSource, bodyParameter, upload }: Endpoint): string {
  if (upload !== null) return 'the query string and files from a form';
  if (bodyParameter !== null) return 'the query string and the whole body';
  return parameterSource === 'query' ? 'the query string' : 'a JSON body';
}
