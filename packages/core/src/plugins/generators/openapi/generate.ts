import type { Endpoint } from '../../../plan/endpoint.ts';
import type { GeneratedFile } from '../file.ts';
import { nameEndpoints } from '../naming.ts';
import { seenByClients } from '../seen-by-clients.ts';
import { operationOf, securityOf } from './operation.ts';
import { type OpenApiOptions, openApiOptions } from './options.ts';
import { tokens } from './responses.ts';
import type { Schema } from './schema.ts';
import { streamsOf } from './stream.ts';

/** An OpenAPI 3.1 document, as data. */
export type OpenApiDocument = Schema;

/** What a Path Item can have; CONNECT has no place there. */
const methods: ReadonlySet<string> = new Set(['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH', 'TRACE']);

const problem: Schema = {
  type: 'object',
  description: 'Why a request was refused (RFC 9457); of errors of the database also what PostgreSQL tells.',
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { type: 'string', description: 'SQLSTATE' },
    hint: { type: 'string' },
    constraint: { type: 'string' },
    column: { type: 'string' },
    table: { type: 'string' },
  },
  required: ['type', 'title', 'status'],
};

/**
 * Every endpoint that OpenAPI can describe. Overloads, which share method and path, are one operation.
 * @throws GeneratorError for an option that cannot be
 */
export function openApiDocument(endpoints: readonly Endpoint[], given: Partial<OpenApiOptions> = {}): OpenApiDocument {
  const options = openApiOptions(given);
  const { title, version, description, servers, securitySchemes } = options;
  return {
    openapi: '3.1.0',
    info: { title, version, ...(description === null ? {} : { description }) },
    ...(servers.length === 0 ? {} : { servers: servers.map((url) => ({ url })) }),
    paths: {
      ...pathsOf(seenByClients(endpoints), options),
      ...Object.fromEntries(streamsOf(endpoints, (endpoint) => securityOf([endpoint], options))),
    },
    components: {
      schemas: { Problem: problem, ...(endpoints.some(signsIn) ? { Tokens: tokens } : {}) },
      responses: {
        Problem: {
          description: 'The request was refused',
          content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
        },
      },
      ...(endpoints.some(({ authorization }) => authorization.required) ? { securitySchemes } : {}),
    },
  };
}

const signsIn = ({ signIn }: Endpoint): boolean => signIn?.kind === 'login';

/** The same as a file to write. */
export function openApiFiles(endpoints: readonly Endpoint[], given: Partial<OpenApiOptions>): readonly GeneratedFile[] {
  const { filePath } = openApiOptions(given);
  if (filePath === null) return [];
  const content = `${JSON.stringify(openApiDocument(endpoints, given), null, 2)}\n`;
  return [{ path: filePath, content, timeLines: [] }];
}

/** One path, with the endpoints of each of its methods. */
interface PathPlan {
  /** As it is written in the document: those of its first endpoint. */
  readonly path: string;
  readonly names: readonly string[];
  readonly methods: Map<string, Endpoint[]>;
}

/** Paths that differ in nothing but the names of their parameters are one path to OpenAPI. */
function pathsOf(endpoints: readonly Endpoint[], options: OpenApiOptions): Schema {
  const plans = new Map<string, PathPlan>();
  for (const endpoint of endpoints.filter(({ method }) => methods.has(method))) {
    for (const path of variantsOf(endpoint.path)) {
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
          operationOf({ id: idOf(own[0]!), endpoints: own, inPath: names }, options),
        ]),
      ),
    ]),
  );
}

/** `/a/{b?}` is two paths, since every parameter of a path is required in OpenAPI. */
function variantsOf(path: string): readonly string[] {
  const optional = /\/\{[^{}?]+\?\}$/;
  return optional.test(path)
    ? [...variantsOf(path.replace(optional, '') || '/'), path.replaceAll('?}', '}')]
    : [path.replaceAll('?}', '}')];
}

/** As functions of the client are called, numbered where two would be called the same. */
function operationIds(endpoints: readonly Endpoint[], options: OpenApiOptions): (endpoint: Endpoint) => string {
  const names = new Map(nameEndpoints(endpoints, options).map(({ endpoint, name }) => [endpoint, name]));
  const used = new Set<string>();
  return (endpoint) => {
    const name = names.get(endpoint)!;
    let id = name;
    for (let number = 2; used.has(id); number++) id = `${name}_${number}`;
    used.add(id);
    return id;
  };
}
