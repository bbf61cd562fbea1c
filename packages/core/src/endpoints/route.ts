import type { Routine } from '../catalog/routine.ts';
import { display } from './diagnostic.ts';
import type { EndpointBuilder } from './endpoint-builder.ts';
import type { Method, ParameterSource } from './endpoint.ts';
import { callNameOption } from './naming.ts';
import { type EndpointOptions, parameterSources } from './options.ts';
import { parsePath, type PathSegment } from './path.ts';

/** The method and path of an endpoint. */
export interface Route {
  readonly method: Method;
  readonly path: string;
  /** Empty for an invalid path, which has been reported. */
  readonly segments: readonly PathSegment[];
}

/**
 * Resolves method and path from the comment, or else from the routine and the options. Logins and logouts default to POST: a
 * link must not trigger them, and a URL must not contain a password.
 */
export function resolveRoute(builder: EndpointBuilder): Route {
  const { routine, options, overrides } = builder;
  const path = applyUrlPattern(routine, overrides.path ?? generatePath(routine, options));
  const segments = parsePath(path);
  if (typeof segments === 'string') builder.reportAt('path', 'path-syntax', `${display(path)}: ${segments}`);
  // Braces of an annotation or of `urlPathBuilder` are parameters, braces of a routine name are not.
  else if (overrides.path === null && /[{}]/.test(routine.schema + routine.name)) {
    builder.reportAt(
      'path',
      'path-syntax',
      `${display(path)} contains braces from the name of the routine; set another path in its comment`,
    );
  }
  return {
    method: resolveMethod(builder),
    path,
    segments: typeof segments === 'string' ? [] : segments,
  };
}

function resolveMethod({ routine, options, overrides }: EndpointBuilder): Method {
  if (overrides.upload !== null) return 'POST';
  return overrides.method ?? (overrides.loginOrLogout === null ? defaultMethod(routine, options) : 'POST');
}

function generatePath(routine: Routine, options: EndpointOptions): string {
  const { schema, name, signature, folder = '' } = routine;
  const { urlPathBuilder } = options;
  const prefix = (options.urlPathPrefix ?? '') + folder;
  const path = callNameOption('urlPathBuilder', signature, () => urlPathBuilder({ schema, name }, prefix));
  return path.startsWith('/') ? path : `/${path}`;
}

/** Applies the URL pattern of a table operation, such as `{0}/returning`, to the path of the table. */
function applyUrlPattern({ route }: Routine, path: string): string {
  return route === undefined ? path : route.urlPattern.replaceAll('{0}', path.replace(/(?<=.)\/$/, ''));
}

/**
 * Returns GET for functions that are stable or immutable or whose name says so (`get_x`, `x_get_y`, `x_get`), else POST.
 * Procedures are POST, as PostgreSQL has no volatility for them. Table operations have fixed methods.
 */
function defaultMethod(routine: Routine, options: EndpointOptions): Method {
  if (routine.route !== undefined) return routine.route.method;
  if (options.defaultHttpMethod !== null) return options.defaultHttpMethod;
  if (routine.kind === 'procedure') return 'POST';
  return /^get_|_get_|_get$/i.test(routine.name) || routine.volatility !== 'volatile' ? 'GET' : 'POST';
}

/** A method in the comment overrides the option `defaultRequestParamType`. The body of an upload is a form. */
export function resolveParameterSource(
  { routine, options, overrides }: EndpointBuilder,
  method: Method,
): ParameterSource {
  if (overrides.upload !== null || routine.dialect !== undefined) return 'query';
  if (overrides.parameterSource !== null) return overrides.parameterSource;
  const forced = options.defaultRequestParamType;
  if (forced !== null && overrides.method === null && routine.table === undefined) return parameterSources[forced];
  return method === 'GET' || method === 'DELETE' ? 'query' : 'body';
}
