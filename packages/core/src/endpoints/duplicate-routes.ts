import { type Diagnostic, display } from './diagnostic.ts';
import type { Endpoint } from './endpoint.ts';
import { parsePath } from './path.ts';
import { reportDuplicatesPerTable } from './table-diagnostics.ts';

/**
 * The routes that a path answers: without a final slash, without the names of parameters, and one for every number of
 * optional segments that may be missing. `/a/{id?}` answers `/a` and `/a/{}`.
 */
export function expandRoutes(path: string): readonly string[] {
  const segments = parsePath(path);
  if (typeof segments === 'string') return [path];
  const routes: string[] = [];
  let route = '';
  for (const segment of segments) {
    if (segment.kind === 'parameter' && segment.optional) routes.push(route);
    // Literal segments hold no braces, so `{}` cannot be one of them.
    route += segment.kind === 'literal' ? `/${segment.text}` : '/{}';
  }
  return [...routes, route];
}

/** Overloads of one routine share their route; the request's parameters tell them apart. */
function overloads(one: Endpoint, other: Endpoint): boolean {
  return (
    one.table === null &&
    other.table === null &&
    one.schema === other.schema &&
    one.name === other.name &&
    one.id !== other.id
  );
}

/**
 * Whether one reading of a request serves both: what is read of it is decided before the keys tell the overloads apart. Who
 * may call may differ: overloads that the caller may not call are left out before the choice.
 */
function readAlike(one: Endpoint, other: Endpoint): boolean {
  return (
    one.parameterSource === other.parameterSource && (one.bodyParameter === null) === (other.bodyParameter === null)
  );
}

function canShare(one: Endpoint, other: Endpoint): boolean {
  return overloads(one, other) && readAlike(one, other);
}

/**
 * Two endpoints on one method and route that are not overloads of one routine: nobody could say which is meant, so neither
 * is published and an error names both. The same holds for overloads that want their parameters from different places.
 */
export function excludeDuplicateRoutes(endpoints: readonly Endpoint[]): {
  readonly endpoints: readonly Endpoint[];
  readonly diagnostics: readonly Diagnostic[];
} {
  const byRoute = new Map<string, Endpoint[]>();
  for (const endpoint of endpoints) {
    for (const route of expandRoutes(endpoint.path)) {
      const key = `${endpoint.method} ${route}`;
      const there = byRoute.get(key);
      if (there === undefined) byRoute.set(key, [endpoint]);
      else there.push(endpoint);
    }
  }
  const rivals = new Map<Endpoint, Endpoint>();
  for (const group of byRoute.values()) {
    for (const endpoint of group) {
      const rival = group.find((other) => other !== endpoint && !canShare(endpoint, other));
      if (rival !== undefined && !rivals.has(endpoint)) rivals.set(endpoint, rival);
    }
  }
  return {
    endpoints: endpoints.filter((endpoint) => !rivals.has(endpoint)),
    diagnostics: [
      ...reportDuplicatesPerTable(
        [...rivals].map(([endpoint, rival]) => ({ endpoint, rival })),
        (endpoint, rival) => (overloads(endpoint, rival) ? readApart(endpoint, rival) : duplicate(endpoint, rival)),
      ),
      ...indistinguishable([...byRoute.values()].map((group) => group.filter((endpoint) => !rivals.has(endpoint)))),
    ],
  };
}

/**
 * Overloads that take the same names, all of them and those that have a default, so that every request fits both. Callers may tell
 * them apart: those with other roles are left out before the choice.
 */
function indistinguishable(groups: readonly (readonly Endpoint[])[]): readonly Diagnostic[] {
  const told = new Set<Endpoint>();
  return groups.flatMap((group) => {
    const first = new Map<string, Endpoint>();
    return group.flatMap((endpoint) => {
      const names = namesTaken(endpoint);
      const other = first.get(names);
      if (other === undefined) first.set(names, endpoint);
      if (other === undefined || told.has(endpoint)) return [];
      told.add(endpoint);
      return [ambiguous(endpoint, other)];
    });
  });
}

function namesTaken({ parameters, bodyParameter, authorization }: Endpoint): string {
  const names = parameters.flatMap(({ key, optional, inPath, position, injectedValue, fields }) =>
    injectedValue === undefined
      ? [[key, optional, inPath, position === bodyParameter, fields?.map((field) => field.key)] as const]
      : [],
  );
  return JSON.stringify([names.toSorted(([one], [other]) => (one < other ? -1 : 1)), authorization]);
}

function ambiguous(endpoint: Endpoint, other: Endpoint): Diagnostic {
  return {
    severity: 'warning',
    code: 'ambiguous-overload',
    routine: endpoint.id,
    line: null,
    message: `takes parameters of the same names as ${other.id} at ${endpoint.method} ${display(endpoint.path)}, so that no request can tell them apart and each is answered 400; name the parameters differently, or give one of them another path`,
  };
}

/** A path that the gateway answers itself, without a routine. */
export interface BuiltInRoute {
  readonly method: string;
  readonly path: string;
}

/**
 * An endpoint at the method and path of one of the gateway's own would never be asked: it is not published, and an error names both.
 * The own one stays, as the host wants it. One with a parameter in its place answers the other paths.
 */
export function excludeBuiltInRoutes(
  endpoints: readonly Endpoint[],
  own: readonly BuiltInRoute[],
): { readonly endpoints: readonly Endpoint[]; readonly diagnostics: readonly Diagnostic[] } {
  const taken = new Set(own.flatMap(({ method, path }) => expandRoutes(path).map((route) => `${method} ${route}`)));
  const isTaken = ({ method, path }: Endpoint): boolean =>
    expandRoutes(path).some((route) => taken.has(`${method} ${route}`));
  return {
    endpoints: endpoints.filter((endpoint) => !isTaken(endpoint)),
    diagnostics: endpoints.filter(isTaken).map((endpoint) => ({
      severity: 'error',
      code: 'duplicate-route',
      routine: endpoint.id,
      line: null,
      message: `${endpoint.method} ${display(endpoint.path)} is an endpoint of the gateway's own; the routine is not published: give it another path, or the gateway's endpoint by its option`,
    })),
  };
}

function duplicate(endpoint: Endpoint, rival: Endpoint): Diagnostic {
  return {
    severity: 'error',
    code: 'duplicate-route',
    routine: endpoint.id,
    line: null,
    message: `${endpoint.method} ${display(endpoint.path)} is also ${rival.id} (${display(rival.path)}); neither is published: give one of them another path`,
  };
}

function readApart(endpoint: Endpoint, rival: Endpoint): Diagnostic {
  return {
    severity: 'error',
    code: 'overload-source',
    routine: endpoint.id,
    line: null,
    message: `${endpoint.method} ${display(endpoint.path)} takes its parameters from ${sourceOf(endpoint)}, but ${rival.id} from ${sourceOf(rival)}; one request cannot be read both ways, so neither is published: make them the same, or give one of them another path`,
  };
}

function sourceOf({ parameterSource, bodyParameter }: Endpoint): string {
  if (bodyParameter !== null) return 'the query and one from the whole body';
  return parameterSource === 'query' ? 'the query' : 'a JSON body';
}
