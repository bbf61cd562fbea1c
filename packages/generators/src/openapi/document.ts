import type { Diagnostic, Endpoint, Method } from '@pgway/core';
import { takesQuery } from '@pgway/core/internal';
import type { GeneratedFile } from '../generated-file.ts';
import { nameCollisions, nameEndpoints, numberedName } from '../naming.ts';
import { escapeLine } from '../source-text.ts';
import { withDescribed } from '../client-endpoint.ts';
import { batchPathItem } from './batch.ts';
import { changeStreamPaths } from './change-streams.ts';
import { componentsObject, problemResponseObject } from './components.ts';
import { operationObject, securityObject } from './operation.ts';
import { type OpenApiOptions, resolveOpenApiOptions } from './options.ts';
import type { JsonSchema } from './schema.ts';

/** An OpenAPI document, as data. */
export type OpenApiDocument = JsonSchema;

/** The server of the document, as a relative URL. */
const documentRoot = '/';

/** The methods of a Path Item Object; CONNECT is not among them. */
const methods: ReadonlySet<string> = new Set(['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH', 'TRACE']);

/**
 * Returns the OpenAPI document of the endpoints. Overloads, which share method and path, are one operation.
 * @throws GeneratorError for invalid options
 */
export function openApiDocument(
  endpoints: readonly Endpoint[],
  partial: Partial<OpenApiOptions> = {},
): OpenApiDocument {
  const options = resolveOpenApiOptions(partial);
  const { specification, title, version, description, license, servers, batchPath } = options;
  const paths = withEventStreams(pathsObject(withDescribed(endpoints), options), endpoints, options);
  return {
    openapi: `${specification}.0`,
    info: {
      title,
      version,
      ...(description === null ? {} : { description }),
      ...(license === null ? {} : { license: { name: license, identifier: license } }),
    },
    servers: (servers.length === 0 ? [documentRoot] : servers).map((url) => ({ url })),
    paths:
      batchPath === null
        ? paths
        : { ...paths, [batchPath]: { ...(paths[batchPath] as JsonSchema | undefined), ...batchPathItem } },
    components: componentsObject(endpoints, options),
  };
}

/**
 * Returns a warning for each operation whose id has a number because of a collision.
 * @throws GeneratorError for invalid options
 */
export function openApiDiagnostics(
  endpoints: readonly Endpoint[],
  partial: Partial<OpenApiOptions>,
): readonly Diagnostic[] {
  const named = nameEndpoints(withDescribed(endpoints), resolveOpenApiOptions(partial));
  return nameCollisions(named.filter(({ endpoint }) => methods.has(endpoint.method)));
}

/** Adds event streams, which may share their path with endpoints of other methods. */
function withEventStreams(paths: JsonSchema, endpoints: readonly Endpoint[], options: OpenApiOptions): JsonSchema {
  const streams = [
    ...eventStreamPaths(endpoints, (endpoint) => securityObject([endpoint], options)),
    ...changeStreamPaths(withDescribed(endpoints), options),
  ].map(([path, item]) => {
    const others = Object.hasOwn(paths, path) ? (paths[path] as JsonSchema) : {};
    return [path, { ...others, ...item }] as const;
  });
  return { ...paths, ...Object.fromEntries(streams) };
}

/**
 * Returns the document as a file; none without `filePath`.
 * @throws GeneratorError for invalid options
 */
export function openApiFiles(
  endpoints: readonly Endpoint[],
  partial: Partial<OpenApiOptions>,
): readonly GeneratedFile[] {
  const { filePath } = resolveOpenApiOptions(partial);
  if (filePath === null) return [];
  const content = `${JSON.stringify(openApiDocument(endpoints, partial), null, 2)}\n`;
  return [{ path: filePath, content, timestampLines: [] }];
}

/** A path with the endpoints of each method. */
interface PathGroup {
  /** The path of the first endpoint. */
  readonly path: string;
  /** The path parameters, in order. */
  readonly names: readonly string[];
  readonly methods: Map<Method, Endpoint[]>;
}

/** An operation of the document. */
export interface OpenApiOperation {
  readonly path: string;
  readonly method: Method;
  /** One, or overloads, with the parameters that clients can set. */
  readonly endpoints: readonly Endpoint[];
  /** The Operation Object. */
  readonly object: JsonSchema;
}

/**
 * Returns the operations of the OpenAPI document with their endpoints, without event streams.
 * @throws GeneratorError for invalid options
 */
export function openApiOperations(
  endpoints: readonly Endpoint[],
  partial: Partial<OpenApiOptions> = {},
): readonly OpenApiOperation[] {
  return operations(withDescribed(endpoints), resolveOpenApiOptions(partial));
}

/** Returns the Paths Object. */
function pathsObject(endpoints: readonly Endpoint[], options: OpenApiOptions): JsonSchema {
  const items = new Map<string, Record<string, JsonSchema>>();
  const all = operations(endpoints, options);
  const ids = new Set(all.map(({ object }) => object['operationId'] as string));
  for (const operation of all) {
    const { path, method, object } = operation;
    const query = options.specification === '3.1' ? null : queryOperation(operation, ids, options);
    items.set(path, { ...items.get(path), [method.toLowerCase()]: object, ...(query === null ? {} : { query }) });
  }
  return Object.fromEntries(items);
}

/** Returns the operation with the method QUERY of endpoints with GET, whose parameters are in the body; null without one. */
function queryOperation(
  { path, object, endpoints }: OpenApiOperation,
  ids: Set<string>,
  options: OpenApiOptions,
): JsonSchema | null {
  const answering = endpoints.filter(takesQuery).map((endpoint) => ({ ...endpoint, parameterSource: 'body' as const }));
  if (answering.length === 0) return null;
  const name = `${object['operationId'] as string}Query`;
  const id = ids.has(name) ? numberedName(name, (candidate) => ids.has(candidate)) : name;
  ids.add(id);
  const pathNames = [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name!);
  return operationObject({ id, endpoints: answering, pathNames }, options);
}

/** Returns the operations by path. Paths that differ only in parameter names are the same path in OpenAPI. */
function operations(endpoints: readonly Endpoint[], options: OpenApiOptions): readonly OpenApiOperation[] {
  const groups = new Map<string, PathGroup>();
  for (const endpoint of endpoints.filter(({ method }) => methods.has(method))) {
    for (const path of pathVariants(endpoint.path)) {
      const shape = path.replaceAll(/\{[^{}]*\}/g, '{}');
      const names = [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name!);
      const group = groups.get(shape) ?? { path, names, methods: new Map<Method, Endpoint[]>() };
      group.methods.set(endpoint.method, [...(group.methods.get(endpoint.method) ?? []), endpoint]);
      groups.set(shape, group);
    }
  }
  const takeId = operationIds(endpoints, options);
  return [...groups.values()].flatMap(({ path, names, methods: byMethod }) =>
    [...byMethod].map(([method, overloads]) => ({
      path,
      method,
      endpoints: overloads,
      object: operationObject({ id: takeId(overloads[0]!), endpoints: overloads, pathNames: names }, options),
    })),
  );
}

/** Returns two paths for `/a/{b?}`: path parameters are required in OpenAPI. */
function pathVariants(path: string): readonly string[] {
  const optional = /\/\{[^{}?]+\?\}$/;
  return optional.test(path)
    ? [...pathVariants(path.replace(optional, '') || '/'), path.replaceAll('?}', '}')]
    : [path.replaceAll('?}', '}')];
}

/** Returns a function that assigns ids: names of client functions; the second path of an endpoint gets a number. */
function operationIds(endpoints: readonly Endpoint[], options: OpenApiOptions): (endpoint: Endpoint) => string {
  const named = nameEndpoints(endpoints, options);
  const names = new Map(named.map(({ endpoint, name }) => [endpoint, name]));
  const taken = new Set(names.values());
  const used = new Set<string>();
  return (endpoint) => {
    const name = names.get(endpoint)!;
    const id = used.has(name) ? numberedName(name, (candidate) => taken.has(candidate)) : name;
    used.add(id);
    taken.add(id);
    return id;
  };
}

/** Returns the event streams of endpoints, by path. */
export function eventStreamPaths(
  endpoints: readonly Endpoint[],
  toSecurity: (endpoint: Endpoint) => JsonSchema,
): readonly (readonly [path: string, item: JsonSchema])[] {
  const byPath = new Map<string, Endpoint>();
  for (const endpoint of endpoints) {
    if (endpoint.events !== null && !byPath.has(endpoint.events.path)) byPath.set(endpoint.events.path, endpoint);
  }
  const ids = new Set<string>();
  return [...byPath].map(([path, endpoint]) => {
    // Ids of other operations contain no underscore.
    const preferred = `stream${path.replaceAll(/[^A-Za-z0-9]+/g, '_')}`;
    const id = ids.has(preferred) ? numberedName(`${preferred}_`, (candidate) => ids.has(candidate)) : preferred;
    ids.add(id);
    return [path, { get: eventStreamOperation(id, endpoint, toSecurity(endpoint)) }];
  });
}

function eventStreamOperation(id: string, endpoint: Endpoint, security: JsonSchema): JsonSchema {
  return {
    operationId: id,
    tags: [endpoint.schema],
    summary: escapeLine(`Messages of ${endpoint.id}`),
    description:
      'Server-sent events. The query string is the execution id that a call sends as X-Gateway-ID, to receive the messages of that call only.',
    responses: {
      200: {
        description: 'Messages, as they are raised',
        content: { 'text/event-stream': { schema: { type: 'string' } } },
      },
      '4XX': problemResponseObject,
      default: problemResponseObject,
    },
    ...security,
  };
}
