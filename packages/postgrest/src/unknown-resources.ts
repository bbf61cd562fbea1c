/** Paths of the dialect without an endpoint: tables and functions that do not exist, and methods that they do not have. */
import type { Endpoint, HeaderList, Problem, RoutedRequest, UnknownResources } from '@pgway/core';
import { postgrestTable } from './dialect-table.ts';
import { postgrestProblem } from './postgrest-problem.ts';
import { isRoot } from './root/root-endpoint.ts';
import { readProfileHeader, unknownInSchema, unknownSchema } from './profile.ts';

/** The tables and functions below a path. */
interface DialectPath {
  /** Without a slash at its end. */
  readonly path: string;
  /** The schema of requests that name none. */
  readonly defaultSchema: string;
  readonly schemas: ReadonlySet<string>;
  /** The names of tables by their simplified form. */
  readonly tables: ReadonlyMap<string, string>;
  readonly functions: ReadonlyMap<string, string>;
}

/** Returns the error of PostgREST for a path below one of the dialect that has no endpoint. */
export function findUnknownResources(endpoints: readonly Endpoint[]): UnknownResources {
  const paths = listPaths(endpoints.filter((endpoint) => !isRoot(endpoint)));
  return (request) => {
    const found = paths.find(({ path }) => request.path.startsWith(`${path}/`));
    return found === undefined ? null : createProblem(request, found, request.path.slice(found.path.length));
  };
}

function listPaths(endpoints: readonly Endpoint[]): readonly DialectPath[] {
  return [...new Set(endpoints.map(pathOf))]
    .filter((path) => path !== '')
    .map((path) => {
      const own = endpoints.filter((endpoint) => pathOf(endpoint) === path);
      const names = (isFunction: boolean): ReadonlyMap<string, string> =>
        new Map(own.filter(({ table }) => (table === null) === isFunction).map(({ name }) => [simplify(name), name]));
      return {
        path,
        defaultSchema: own[0]!.schema,
        schemas: new Set(own.map(({ schema }) => schema)),
        tables: names(false),
        functions: names(true),
      };
    });
}

const functionPath = '/rpc/';

function pathOf({ path, table }: Endpoint): string {
  return table === null ? path.slice(0, path.lastIndexOf(functionPath)) : postgrestTable(table).path;
}

/** Names that differ in their case, underscores and a last "s" are alike. */
function simplify(name: string): string {
  return name.toLowerCase().replaceAll('_', '').replace(/s$/, '');
}

function createProblem(
  request: RoutedRequest,
  { defaultSchema, schemas, tables, functions }: DialectPath,
  path: string,
): Problem {
  const schema = readProfileHeader(request) ?? defaultSchema;
  if (!schemas.has(schema)) return unknownSchema(schema, schemas);
  const isFunction = path.startsWith(functionPath);
  const name = decodeName(path.slice(isFunction ? functionPath.length : 1));
  if (name === null) return invalidPath;
  const kind = isFunction ? 'function' : 'table';
  const similar = (isFunction ? functions : tables).get(simplify(name));
  const hint = similar === undefined ? null : `Perhaps you meant the ${kind} '${similar}'`;
  return unknownInSchema(kind, `${schema}.${name}`, hint);
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

const invalidPath = postgrestProblem(404, 'PGRST125', 'Invalid path specified in request URL');

/** Returns the error of PostgREST for a method that a table or function does not have. */
export function unsupportedMethod({ method, path }: RoutedRequest, allow: HeaderList): Problem {
  const isCall = path.includes(functionPath);
  const message = isCall ? `Cannot use the ${method} method on RPC` : `Unsupported HTTP method: ${method}`;
  return postgrestProblem(405, isCall ? 'PGRST101' : 'PGRST117', message, { headers: allow });
}
