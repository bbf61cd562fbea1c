import type { Routine } from '../catalog/routine.ts';
import { display } from './diagnostic.ts';
import type { EndpointBuilder } from './endpoint-builder.ts';
import type { Method, ParameterSource } from './endpoint.ts';
import { callNameOption } from './naming.ts';
import { type EndpointOptions, parameterSources } from './options.ts';
import type { ReportProblem } from './parameters.ts';
import { parsePath, type PathSegment } from './path.ts';

/** Where an endpoint stands. */
export interface Route {
  readonly method: Method;
  readonly path: string;
  /** None where the path cannot be understood, which was told. */
  readonly segments: readonly PathSegment[];
}

/**
 * Method and path: as the comment says, or else by the source of the routine, its name and its kind. Signing in and out is POST
 * whatever the name, the volatility or the host's one method says: a link must not do it, and a password is not for a URL.
 */
export function resolveRoute(builder: EndpointBuilder, refuse: ReportProblem): Route {
  const { routine, options, overrides } = builder;
  const path = inPattern(routine, overrides.path ?? generatedPath(routine, options));
  const segments = parsePath(path);
  if (typeof segments === 'string') refuse('path-syntax', `${display(path)}: ${segments}`);
  // The braces of a routine's name are no parameters; those of an annotation, or of the host's own builder, are.
  else if (overrides.path === null && /[{}]/.test(routine.schema + routine.name)) {
    refuse('path-syntax', `${display(path)} holds braces of the routine's name; give it another path in its comment`);
  }
  return {
    method: overrides.method ?? (overrides.signIn === null ? defaultMethod(routine, options) : 'POST'),
    path,
    segments: typeof segments === 'string' ? [] : segments,
  };
}

function generatedPath(routine: Routine, options: EndpointOptions): string {
  const { schema, name, signature } = routine;
  const { urlPathBuilder, urlPathPrefix } = options;
  const path = callNameOption('urlPathBuilder', signature, () => urlPathBuilder({ schema, name }, urlPathPrefix ?? ''));
  return path.startsWith('/') ? path : `/${path}`;
}

/** The operations of one table stand at patterns of its path: `{0}/returning`. */
function inPattern({ route }: Routine, path: string): string {
  return route === undefined ? path : route.urlPattern.replaceAll('{0}', path.replace(/(?<=.)\/$/, ''));
}

/**
 * GET for what reads: by its name (`get_x`, `x_get_y`, `x_get`, in any case), or because the function is stable or
 * immutable. Everything else is POST, procedures always: PostgreSQL knows no volatility of them, and a name is no promise.
 * The host's one verb for all is for routines: operations on a table are told apart by theirs.
 */
function defaultMethod(routine: Routine, options: EndpointOptions): Method {
  if (routine.route !== undefined) return routine.route.method;
  if (options.defaultHttpMethod !== null) return options.defaultHttpMethod;
  if (routine.kind === 'procedure') return 'POST';
  return /^get_|_get_|_get$/i.test(routine.name) || routine.volatility !== 'volatile' ? 'GET' : 'POST';
}

/** A verb in the comment derives the source anew, over the host's option; an annotation is always nearer than an option. */
export function resolveParameterSource(
  { routine, options, overrides }: EndpointBuilder,
  method: Method,
): ParameterSource {
  if (overrides.parameterSource !== null) return overrides.parameterSource;
  const forced = options.defaultRequestParamType;
  if (forced !== null && overrides.method === null && routine.table === undefined) return parameterSources[forced];
  return method === 'GET' || method === 'DELETE' ? 'query' : 'body';
}
