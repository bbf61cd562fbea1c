/** Paths of the dialect without an endpoint: tables and functions that do not exist, and methods that they do not have. */
import type { Endpoint, HeaderList, Problem, RoutedRequest, UnknownResources } from '@pgway/core';
import { groupBy, parseQueryString } from '@pgway/core/internal';
import { postgrestTable } from './dialect-table.ts';
import { postgrestProblem } from './postgrest-problem.ts';
import { isRoot } from './root/root-endpoint.ts';
import { readProfileHeader, unknownInSchema, unknownSchema } from './profile.ts';
import { isArgument } from './rpc/arguments.ts';
import { namesBySchema } from './rpc/function-names.ts';
import { type CalledName, hintAtName, minName, unknownFunction } from './rpc/unknown-function.ts';
import { keyFilters } from './write-parts.ts';
import { findSimilarName, findStem } from './similar-name.ts';

/** The tables and functions below a path. */
interface DialectPath {
  /** Without a slash at its end. */
  readonly path: string;
  /** The schema of requests that name none. */
  readonly defaultSchema: string;
  readonly schemas: ReadonlySet<string>;
  /** The names that a hint may have, by schema. */
  readonly tables: ReadonlyMap<string, readonly string[]>;
  readonly functions: ReadonlyMap<string, readonly string[]>;
}

/** Returns the error of PostgREST for a path below one of the dialect that has no endpoint. */
export function findUnknownResources(endpoints: readonly Endpoint[]): UnknownResources {
  const paths = listPaths(endpoints.filter((endpoint) => !isRoot(endpoint)));
  return (request) => {
    const found = paths.find(({ path }) => request.path === path || request.path.startsWith(`${path}/`));
    return found === undefined ? null : createProblem(request, found, request.path.slice(found.path.length));
  };
}

function listPaths(endpoints: readonly Endpoint[]): readonly DialectPath[] {
  // The most specific path comes first: that of the root is part of all others.
  const paths = [...new Set(endpoints.map(pathOf))].toSorted((a, b) => b.length - a.length);
  return paths.map((path) => {
    const own = endpoints.filter((endpoint) => pathOf(endpoint) === path);
    return {
      path,
      defaultSchema: own[0]!.schema,
      schemas: new Set(own.map(({ schema }) => schema)),
      tables: tableNames(own),
      functions: namesBySchema(own.filter(({ table }) => table === null)),
    };
  });
}

const functionPath = '/rpc/';

function pathOf({ path, table }: Endpoint): string {
  return table === null ? path.slice(0, path.lastIndexOf(functionPath)) : postgrestTable(table).path;
}

/** Returns the names of tables by schema that a hint may name: those that need no login. */
function tableNames(endpoints: readonly Endpoint[]): ReadonlyMap<string, readonly string[]> {
  const named = endpoints.filter(
    ({ table, authorization, basicAuthentication }) =>
      table !== null && !authorization.required && basicAuthentication === null,
  );
  return new Map(
    [...groupBy(named, ({ schema }) => schema)].map(([schema, group]) => [
      schema,
      [...new Set(group.map(({ name }) => name))],
    ]),
  );
}

function createProblem(
  request: RoutedRequest,
  { defaultSchema, schemas, tables, functions }: DialectPath,
  path: string,
): Problem {
  // The document has an endpoint of its own, unless it is disabled.
  if (path === '' || path === '/') return noDocument;
  const schema = readProfileHeader(request) ?? defaultSchema;
  if (!schemas.has(schema)) return unknownSchema(schema, schemas);
  const isFunction = path.startsWith(functionPath);
  const name = decodeName(path.slice(isFunction ? functionPath.length : 1));
  if (name === null) return invalidPath;
  if (isFunction) return unknownCall(request, { schema, name }, functions.get(schema) ?? []);
  const names = tables.get(schema) ?? [];
  const similar = findSimilarName(name, names, minName) ?? findStem(name, names);
  const hint = similar === null ? null : `Perhaps you meant the table '${schema}.${similar}'`;
  return unknownInSchema('table', `${schema}.${name}`, hint);
}

/** The values of Content-Length of bodies without arguments, as clients send them: empty, or `{}`. */
const emptyLengths: ReadonlySet<string | undefined> = new Set(['0', '2']);

/** The arguments of a GET are in its query string. The body of other methods is not read: its length shows that it has none. */
function unknownCall(request: RoutedRequest, called: CalledName, functions: readonly string[]): Problem {
  const hint = hintAtName(called, functions);
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    const isEmpty = isJson(request.header('content-type')) && emptyLengths.has(request.header('content-length'));
    if (isEmpty) return unknownFunction(called, { names: [], wholeType: 'json/jsonb' }, hint);
    return unknownInSchema('function', `${called.schema}.${called.name}`, hint);
  }
  const given = [...parseQueryString(request.query)].flatMap(([name, values]) =>
    values.some((value) => isArgument(name, value, new Set())) ? [name] : [],
  );
  return unknownFunction(called, { names: given.toSorted(), wholeType: null }, hint);
}

/** JSON is the type of a body without one. */
function isJson(type: string | undefined): boolean {
  return type === undefined || /^application\/json\s*(?:;|$)/i.test(type);
}

/** Null for a path of several segments, or one that is not UTF-8. */
function decodeName(segment: string): string | null {
  try {
    const name = decodeURIComponent(segment).slice(0, 100);
    return segment === '' || segment.includes('/') ? null : name;
  } catch {
    return null;
  }
}

const noDocument = postgrestProblem(404, 'PGRST126', 'Root endpoint metadata is disabled');
const invalidPath = postgrestProblem(404, 'PGRST125', 'Invalid path specified in request URL');

const methodOrder: readonly string[] = ['OPTIONS', 'GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Returns the methods of a path. A GET of a volatile function is read-only, and mostly an error. */
export function allowedMethods(allowed: readonly string[], endpoints: readonly Endpoint[]): string {
  const isVolatile = endpoints.every(({ table, volatility }) => table === null && volatility === 'volatile');
  const hidden = isVolatile ? ['GET', 'HEAD'] : [];
  return methodOrder.filter((method) => allowed.includes(method) && !hidden.includes(method)).join(',');
}

/** Returns the error of PostgREST for a method that a table or function does not have. */
export function unsupportedMethod({ method, path }: RoutedRequest, allow: HeaderList): Problem {
  const isCall = path.includes(functionPath);
  if (method === 'PUT' && !isCall && allow.some((value) => value.includes('POST'))) {
    return postgrestProblem(405, 'PGRST105', keyFilters, { headers: allow });
  }
  const message = isCall ? `Cannot use the ${method} method on RPC` : `Unsupported HTTP method: ${method}`;
  return postgrestProblem(405, isCall ? 'PGRST101' : 'PGRST117', message, { headers: allow });
}
