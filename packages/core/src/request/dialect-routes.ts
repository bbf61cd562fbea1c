/** Routes of endpoints in the dialect of PostgREST: the schema of a request, and tables and functions that do not exist. */
import type { Endpoint } from '../endpoints/endpoint.ts';
import { Problem } from '../http/problem.ts';
import { readProfileHeader, unknownInSchema, unknownSchema } from '../http/profile.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { HeaderList } from '../http/response.ts';
import type { CompiledEndpoint } from './compiled-endpoint.ts';
import type { RouteResult } from './router.ts';

/** The tables and functions below a path. */
export interface DialectPath {
  /** Without a slash at its end. */
  readonly path: string;
  /** The schema of requests that name none. */
  readonly defaultSchema: string;
  readonly schemas: ReadonlySet<string>;
  /** The names of tables by their simplified form. */
  readonly tables: ReadonlyMap<string, string>;
  readonly functions: ReadonlyMap<string, string>;
}

/** A path below one of a dialect that has no endpoint. */
export interface UnknownResource {
  readonly kind: 'unknown-resource';
  readonly problem: Problem;
}

const noPaths: readonly DialectPath[] = [];

/** Returns the paths of dialects; empty without one. */
export function listDialectPaths(endpoints: readonly Endpoint[]): readonly DialectPath[] {
  const inDialect = endpoints.filter(({ dialect }) => dialect !== undefined);
  if (inDialect.length === 0) return noPaths;
  const paths = new Set(inDialect.map(pathOf));
  return [...paths]
    .filter((path) => path !== '')
    .map((path) => {
      const own = inDialect.filter((endpoint) => pathOf(endpoint) === path);
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
  return table?.postgrest?.path ?? path.slice(0, path.lastIndexOf(functionPath));
}

/** Names that differ in their case, underscores and a last "s" are alike. */
function simplify(name: string): string {
  return name.toLowerCase().replaceAll('_', '').replace(/s$/, '');
}

/**
 * Returns the targets of the schema that a request names, or of the first one. Targets in no dialect are returned unchanged. A schema
 * without a target leaves the first one, whose query builder refuses the request.
 */
export function selectProfile(
  route: RouteResult<CompiledEndpoint> & { readonly kind: 'match' },
  request: Pick<GatewayRequest, 'method' | 'header'>,
): RouteResult<CompiledEndpoint> {
  const { targets } = route;
  const first = targets[0]!.endpoint;
  if (targets.length === 1 || first.dialect === undefined) return route;
  const profile = readProfileHeader(request) ?? first.schema;
  const named = targets.filter(({ endpoint }) => endpoint.schema === profile);
  if (named.length > 0) return { ...route, targets: named };
  return { ...route, targets: targets.filter(({ endpoint }) => endpoint.schema === first.schema) };
}

const notFound = { kind: 'not-found' } as const;

/** Returns the error of PostgREST for a path below one of a dialect. */
export function findUnknownResource(
  request: Pick<GatewayRequest, 'method' | 'path' | 'header'>,
  paths: readonly DialectPath[],
): RouteResult<CompiledEndpoint> | UnknownResource {
  const found = paths.find(({ path }) => request.path.startsWith(`${path}/`));
  if (found === undefined || request.method === 'OPTIONS') return notFound;
  const problem = createProblem(request, found, request.path.slice(found.path.length));
  return { kind: 'unknown-resource', problem };
}

function createProblem(
  request: Pick<GatewayRequest, 'method' | 'header'>,
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

const invalidPath = new Problem('postgrest', {
  status: 404,
  title: 'Invalid path specified in request URL',
  members: { code: 'PGRST125', details: null, hint: null },
});

/** Returns the error of PostgREST for a method that a table or function does not have. */
export function unsupportedMethod(
  { method, path }: Pick<GatewayRequest, 'method' | 'path'>,
  allow: HeaderList,
): Problem {
  const isCall = path.includes(functionPath);
  return new Problem('postgrest', {
    status: 405,
    title: isCall ? `Cannot use the ${method} method on RPC` : `Unsupported HTTP method: ${method}`,
    members: { code: isCall ? 'PGRST101' : 'PGRST117', details: null, hint: null },
    headers: allow,
  });
}
