import type { Diagnostic } from '../../endpoints/diagnostic.ts';
import type { Endpoint } from '../../endpoints/endpoint.ts';
import type { GeneratedFile } from '../generated-file.ts';
import { nameCollisions, nameEndpoints, numberedName } from '../naming.ts';
import { escapeLine } from '../source-text.ts';
import { withClientParameters } from '../client-endpoint.ts';
import { componentsObject, problemResponse } from './components.ts';
import { operationObject, securityObject } from './operation.ts';
import { type OpenApiOptions, openApiOptions } from './options.ts';
import type { Schema } from './schema.ts';

/** An OpenAPI 3.1 document, as data. */
export type OpenApiDocument = Schema;

/** Where the document comes from: a relative URL. */
const documentRoot = '/';

/** What a Path Item can have; CONNECT has no place there. */
const methods: ReadonlySet<string> = new Set(['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH', 'TRACE']);

/**
 * Every endpoint that OpenAPI can describe. Overloads, which share method and path, are one operation.
 * @throws GeneratorError for an option that cannot be
 */
export function openApiDocument(endpoints: readonly Endpoint[], given: Partial<OpenApiOptions> = {}): OpenApiDocument {
  const options = openApiOptions(given);
  const { title, version, description, license, servers } = options;
  return {
    openapi: '3.1.0',
    info: {
      title,
      version,
      ...(description === null ? {} : { description }),
      ...(license === null ? {} : { license: { name: license, identifier: license } }),
    },
    servers: (servers.length === 0 ? [documentRoot] : servers).map((url) => ({ url })),
    paths: withEventStreams(pathsObject(withClientParameters(endpoints), options), endpoints, options),
    components: componentsObject(endpoints, options),
  };
}

/** A warning for each operation whose id has a number because another one has the name. */
export function openApiDiagnostics(
  endpoints: readonly Endpoint[],
  given: Partial<OpenApiOptions>,
): readonly Diagnostic[] {
  const named = nameEndpoints(withClientParameters(endpoints), openApiOptions(given));
  return nameCollisions(named.filter(({ endpoint }) => methods.has(endpoint.method)));
}

/** A stream may share its path with endpoints of other methods. */
function withEventStreams(paths: Schema, endpoints: readonly Endpoint[], options: OpenApiOptions): Schema {
  const streams = eventStreamPaths(endpoints, (endpoint) => securityObject([endpoint], options)).map(([path, item]) => {
    const others = Object.hasOwn(paths, path) ? (paths[path] as Schema) : {};
    return [path, { ...others, ...item }] as const;
  });
  return { ...paths, ...Object.fromEntries(streams) };
}

/** The same as a file to write. */
export function openApiFiles(endpoints: readonly Endpoint[], given: Partial<OpenApiOptions>): readonly GeneratedFile[] {
  const { filePath } = openApiOptions(given);
  if (filePath === null) return [];
  const content = `${JSON.stringify(openApiDocument(endpoints, given), null, 2)}\n`;
  return [{ path: filePath, content, timestampLines: [] }];
}

/** One path, with the endpoints of each of its methods. */
interface PathGroup {
  /** As it is written in the document: those of its first endpoint. */
  readonly path: string;
  readonly names: readonly string[];
  readonly methods: Map<string, Endpoint[]>;
}

/** Paths that differ in nothing but the names of their parameters are one path to OpenAPI. */
function pathsObject(endpoints: readonly Endpoint[], options: OpenApiOptions): Schema {
  const plans = new Map<string, PathGroup>();
  for (const endpoint of endpoints.filter(({ method }) => methods.has(method))) {
    for (const path of pathVariants(endpoint.path)) {
      const shape = path.replaceAll(/\{[^{}]*\}/g, '{}');
      const names = [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name!);
      const plan = plans.get(shape) ?? { path, names, methods: new Map<string, Endpoint[]>() };
      plan.methods.set(endpoint.method, [...(plan.methods.get(endpoint.method) ?? []), endpoint]);
      plans.set(shape, plan);
    }
  }
  const idOf = operationIds(endpoints, options);
  return Object.fromEntries(
    [...plans.values()].map(({ path, names, methods: byMethod }) => [
      path,
      Object.fromEntries(
        [...byMethod].map(([method, own]) => [
          method.toLowerCase(),
          operationObject({ id: idOf(own[0]!), endpoints: own, pathNames: names }, options),
        ]),
      ),
    ]),
  );
}

/** `/a/{b?}` is two paths, since every parameter of a path is required in OpenAPI. */
function pathVariants(path: string): readonly string[] {
  const optional = /\/\{[^{}?]+\?\}$/;
  return optional.test(path)
    ? [...pathVariants(path.replace(optional, '') || '/'), path.replaceAll('?}', '}')]
    : [path.replaceAll('?}', '}')];
}

/** As functions of the client are called; a path that one endpoint has besides takes the next free number. */
function operationIds(endpoints: readonly Endpoint[], options: OpenApiOptions): (endpoint: Endpoint) => string {
  const named = nameEndpoints(endpoints, options);
  const names = new Map(named.map(({ endpoint, name }) => [endpoint, name]));
  const taken = new Set(names.values());
  const used = new Set<string>();
  return (endpoint) => {
    const name = names.get(endpoint)!;
    const id = used.has(name) ? numberedName(name, (one) => taken.has(one)) : name;
    used.add(id);
    taken.add(id);
    return id;
  };
}

/** The streams of what endpoints raise, by path: each is an operation of its own. */
export function eventStreamPaths(
  endpoints: readonly Endpoint[],
  securityOf: (endpoint: Endpoint) => Schema,
): readonly (readonly [path: string, item: Schema])[] {
  const byPath = new Map<string, Endpoint>();
  for (const endpoint of endpoints) {
    if (endpoint.events !== null && !byPath.has(endpoint.events.path)) byPath.set(endpoint.events.path, endpoint);
  }
  const ids = new Set<string>();
  return [...byPath].map(([path, endpoint]) => {
    // No other operation has an underscore within its id.
    const wanted = `stream${path.replaceAll(/[^A-Za-z0-9]+/g, '_')}`;
    const id = ids.has(wanted) ? numberedName(`${wanted}_`, (one) => ids.has(one)) : wanted;
    ids.add(id);
    return [path, { get: eventStreamOperation(id, endpoint, securityOf(endpoint)) }];
  });
}

function eventStreamOperation(id: string, endpoint: Endpoint, security: Schema): Schema {
  return {
    operationId: id,
    tags: [endpoint.schema],
    summary: escapeLine(`Messages of ${endpoint.id}`),
    description:
      'Server-sent events. The query is the execution id that a call sends as X-Gateway-ID, where only its own messages are wanted.',
    responses: {
      200: {
        description: 'Messages, as they are raised',
        content: { 'text/event-stream': { schema: { type: 'string' } } },
      },
      '4XX': problemResponse,
      default: problemResponse,
    },
    ...security,
  };
}
