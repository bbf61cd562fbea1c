import type { Routine } from '../catalog/routine.ts';
import { display } from './diagnostic.ts';
import { endpointMethod, endpointPath } from './annotations/http.ts';
import { loginOrLogout } from './annotations/login.ts';
import { paramType } from './annotations/request-param-type.ts';
import { bodyParameterName } from './annotations/body-parameter-name.ts';
import { uploadHandlers } from './annotations/upload.ts';
import { fromComment } from './comment/resolve-values.ts';
import type { EndpointBuilder } from './endpoint-builder.ts';
import type { Method, ParameterSource } from './endpoint.ts';
import { callNameOption } from './naming.ts';
import { endpointDefaults, type EndpointOptions, parameterSources } from './options.ts';
import { fromDefault, fromOption, fromRoutine, type Resolved } from './origin.ts';
import { parsePath, type PathSegment } from './path.ts';

/** The method and path of an endpoint. */
export interface Route {
  readonly method: Resolved<Method>;
  readonly path: Resolved<string>;
  /** Empty for an invalid path, which has been reported. */
  readonly segments: readonly PathSegment[];
}

/**
 * Resolves method and path from the comment, or else from the routine and the options. Logins and logouts default to POST: a
 * link must not trigger them, and a URL must not contain a password.
 */
export function resolveRoute(builder: EndpointBuilder): Route {
  const path = resolvePath(builder);
  const segments = checkPath(builder, path.value);
  return { method: resolveMethod(builder), path, segments };
}

/** Returns the segments of a valid path. */
function checkPath(builder: EndpointBuilder, path: string): readonly PathSegment[] {
  const { schema, name } = builder.routine;
  const segments = parsePath(path);
  if (typeof segments === 'string') {
    builder.reportAt(endpointPath, 'path-syntax', `${display(path)}: ${segments}`);
    return [];
  }
  // Braces of an annotation or of `urlPathBuilder` are parameters, braces of a routine name are not.
  if (!builder.isSet(endpointPath) && /[{}]/.test(schema + name)) {
    const message = `${display(path)} contains braces from the name of the routine; set another path in its comment`;
    builder.reportAt(endpointPath, 'path-syntax', message);
  }
  return segments;
}

function resolveMethod(builder: EndpointBuilder): Resolved<Method> {
  if (builder.isSet(uploadHandlers)) return fromComment(builder, uploadHandlers, 'POST', 'uploads are POST');
  const written = builder.get(endpointMethod);
  if (written !== null) return fromComment(builder, endpointMethod, written);
  const kind = builder.get(loginOrLogout);
  if (kind !== null) return fromComment(builder, loginOrLogout, 'POST', `a ${kind} is POST`);
  return defaultMethod(builder.routine, builder.options);
}

function resolvePath(builder: EndpointBuilder): Resolved<string> {
  const { routine, options } = builder;
  const written = builder.get(endpointPath);
  const path = applyUrlPattern(routine, written ?? generatePath(routine, options));
  if (routine.route?.urlPattern.includes('{0}') === false) return fromRoutine(path, 'the route of its source');
  if (written !== null) return fromComment(builder, endpointPath, path);
  if (options.urlPathBuilder !== endpointDefaults.urlPathBuilder) return fromOption(path, 'urlPathBuilder');
  const name = `${routine.schema === 'public' ? '' : ', the schema'} and the name of the ${routine.kind}`;
  return options.urlPathPrefix === endpointDefaults.urlPathPrefix
    ? fromRoutine(path, `the prefix${name}`)
    : fromOption(path, `urlPathPrefix${name}`);
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
function defaultMethod(routine: Routine, { defaultHttpMethod }: EndpointOptions): Resolved<Method> {
  const { kind, name, route, table, volatility } = routine;
  if (route !== undefined) {
    return fromRoutine(
      route.method,
      table === undefined ? 'the route of its source' : `the operation ${table.operation}`,
    );
  }
  if (defaultHttpMethod !== null) return fromOption(defaultHttpMethod, 'defaultHttpMethod');
  if (kind === 'procedure') return fromRoutine('POST', 'procedures are POST');
  const part = /^get_|_get_|_get$/i.exec(name)?.[0];
  if (part !== undefined) return fromRoutine('GET', `the name contains ${part}`);
  return volatility === 'volatile'
    ? fromRoutine('POST', 'the function is volatile, and its name does not contain get')
    : fromRoutine('GET', `the function is ${volatility}`);
}

/**
 * Returns the part of the request that parameters come from. A method in the comment overrides the option `defaultRequestParamType`. The
 * body of an upload is a form.
 */
export function resolveParameterSource(builder: EndpointBuilder, method: Method): Resolved<ParameterSource> {
  const { routine, options } = builder;
  const { dialect, table } = routine;
  if (builder.isSet(uploadHandlers))
    return fromComment(builder, uploadHandlers, 'query', 'the body of an upload is a form');
  if (dialect !== undefined) return fromRoutine('query', `the dialect ${dialect} reads the request`);
  const written = builder.get(paramType);
  if (written !== null) return fromComment(builder, paramType, written);
  const forced = options.defaultRequestParamType;
  if (forced !== null && !builder.isSet(endpointMethod) && table === undefined)
    return fromOption(parameterSources[forced], 'defaultRequestParamType');
  return fromDefault(method === 'GET' || method === 'DELETE' ? 'query' : 'body', `the method is ${method}`);
}

/** Parameters that are not read from the body come from the query string. */
export function withBodyParameter(
  builder: EndpointBuilder,
  source: Resolved<ParameterSource>,
  bodyParameter: number | null,
): Resolved<ParameterSource> {
  if (bodyParameter === null) return source;
  return fromComment(builder, bodyParameterName, 'query', 'the body is one parameter');
}
