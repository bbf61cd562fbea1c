/** The data of the start page, from the model of the OpenAPI document. */
import { requestMethods, takesQuery } from '@pgway/core/internal';
import type { Endpoint } from '@pgway/core';
import { type JsonSchema, type OpenApiOperation, openApiOperations, openApiOptions } from '@pgway/generators/internal';
import type {
  PageAuthentication,
  PageBody,
  PageData,
  PageLink,
  PageOperation,
  PageParameter,
  ValueSchema,
} from '../browser/page-data.ts';
import { formatSchema } from '../api-docs/html-page.ts';
import { isProduction } from '../authentication-options.ts';
import type { Configuration } from '../config/schema.ts';
import { databaseOf, toOpenApiOptions } from '../config/generator-options.ts';

/** Returns the operations of the OpenAPI document, the same for each caller: the page knows its caller only after a login. */
export function pageData(
  endpoints: readonly Endpoint[],
  configuration: Configuration,
  { connectionString, links }: { readonly connectionString: string; readonly links: readonly PageLink[] },
): PageData {
  const { title } = configuration.openApi;
  const isPublic = isProduction(configuration);
  const hasTitle = title !== openApiOptions.options.title.default || isPublic;
  const operations = openApiOperations(endpoints, toOpenApiOptions(configuration)).map(pageOperation);
  return {
    title: hasTitle ? title : databaseOf(connectionString),
    links,
    authentication: pageAuthentication(configuration),
    operations: (isPublic ? operations.map(withoutDefaults) : operations).toSorted(compare),
  };
}

/** Defaults are code, which the OpenAPI document does not publish. */
function withoutDefaults(operation: PageOperation): PageOperation {
  return { ...operation, parameters: operation.parameters.map((parameter) => ({ ...parameter, default: null })) };
}

function pageAuthentication({ cookie, bearer, jwt, authentication }: Configuration): PageAuthentication {
  const { antiforgeryPath } = authentication;
  return { cookie: cookie.enabled, bearer: bearer.enabled || jwt.enabled, antiforgeryPath };
}

const methodOrder: readonly string[] = requestMethods;

function compare(left: PageOperation, right: PageOperation): number {
  const keys = ['schema', 'group', 'path'] as const;
  for (const key of keys) {
    if (left[key] !== right[key]) return left[key] < right[key] ? -1 : 1;
  }
  return methodOrder.indexOf(left.method) - methodOrder.indexOf(right.method);
}

/** The columns of a table are not parameters in a dialect: its description has the types and summaries. */
function ownEndpoints({ endpoints }: OpenApiOperation): readonly Endpoint[] {
  return endpoints.filter(({ dialect }) => dialect === undefined);
}

function pageOperation(operation: OpenApiOperation): PageOperation {
  const { path, method, endpoints, object } = operation;
  const first = endpoints[0]!;
  const ownSummary = first.dialect === undefined ? (first.table === null ? '' : first.id) : String(object['summary']);
  const { parameters, body } = requestParts(operation);
  return {
    id: String(object['operationId']),
    method,
    path,
    schema: first.schema,
    group: first.table === null ? routineGroup(first) : first.name,
    tags: [...new Set(endpoints.flatMap(({ tags }) => tags))],
    signatures: endpoints.map(({ id }) => id),
    summary: first.description.split('\n', 1)[0]! || ownSummary || resultText(first),
    description: [...new Set(endpoints.map(({ description }) => description))].filter(Boolean).join('\n\n'),
    access: {
      required: endpoints.every(({ authorization }) => authorization.required),
      roles: [...new Set(endpoints.flatMap(({ authorization }) => authorization.roles))],
      basic: endpoints.some(({ basicAuthentication }) => basicAuthentication !== null),
    },
    loginOrLogout: first.loginOrLogout?.kind ?? null,
    parameters,
    body,
    takesQuery: endpoints.every(takesQuery),
    returns: returnedType(object),
    workbookType: first.documents?.find(({ name }) => name === 'excel')?.mediaType ?? null,
    ...streamPaths(endpoints),
  };
}

/** The columns or type of a result, for endpoints without a description. */
function resultText({ table, result }: Endpoint): string {
  if (table !== null) return '';
  switch (result.kind) {
    case 'value':
      return result.column.type.display;
    case 'values':
      return `list of ${result.column.type.display}`;
    case 'object':
      return `row of ${result.columns.map(({ key }) => key).join(', ')}`;
    case 'objects':
      return `rows of ${result.columns.map(({ key }) => key).join(', ')}`;
    case 'nothing':
    case 'record':
    case 'records':
      return '';
  }
}

function streamPaths(endpoints: readonly Endpoint[]): Pick<PageOperation, 'eventsPath' | 'changesPath'> {
  const [eventsPath = null] = endpoints.flatMap(({ events }) => (events === null ? [] : [events.path]));
  const [changesPath = null] = endpoints.flatMap(({ changes }) => (changes === undefined ? [] : [changes.path]));
  return { eventsPath, changesPath };
}

const routineGroups: Readonly<Record<string, string>> = { function: 'Functions', procedure: 'Procedures' };

/** Returns the first tag, by default the kind of the routine. */
function routineGroup({ tags, kind }: Endpoint): string {
  const tag = tags[0] ?? kind;
  return routineGroups[tag] ?? tag;
}

type RequestParts = Pick<PageOperation, 'parameters' | 'body'>;

function requestParts(operation: OpenApiOperation): RequestParts {
  const { object } = operation;
  const endpoints = ownEndpoints(operation);
  const outsideBody = list(object['parameters']).map((parameter) => {
    const place = parameter['in'] as PageParameter['in'];
    return pageParameter(endpoints, { ...parameter, in: place, name: String(parameter['name']) });
  });
  const content = Object.entries(asObject(asObject(object['requestBody'])['content']));
  const [mediaType, media] = content[0] ?? [];
  if (mediaType === undefined) return { parameters: outsideBody, body: null };
  const required = asObject(object['requestBody'])['required'] === true;
  const body = { mediaType, required, accept: '' };
  if (mediaType === 'multipart/form-data') {
    return { parameters: outsideBody, body: { ...body, kind: 'files', accept: acceptedTypes(asObject(media)) } };
  }
  const schema = asObject(asObject(media)['schema']);
  const members = endpoints.every(({ bodyParameter }) => bodyParameter === null) ? bodyMembers(schema) : null;
  const inBody = members ?? [{ name: wholeBodyName(endpoints), required, schema }];
  const kind: PageBody['kind'] = members === null ? 'text' : 'object';
  return {
    parameters: [...outsideBody, ...inBody.map((member) => pageParameter(endpoints, { ...member, in: 'body' }))],
    body: { ...body, kind },
  };
}

interface ParameterObject {
  readonly name: string;
  readonly in: PageParameter['in'];
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: JsonSchema;
}

function pageParameter(endpoints: readonly Endpoint[], parameter: ParameterObject): PageParameter {
  const { name, schema = {}, required = false } = parameter;
  const type = declaredType(endpoints, name) ?? formatSchema(schema);
  // The description of a plain query parameter is its type.
  const description = parameter.description?.replaceAll('&lt;', '<') ?? '';
  return {
    name,
    in: parameter.in,
    type,
    required,
    default: required ? null : defaultOf(endpoints, name),
    secret: endpoints.some((endpoint) => isPassword(endpoint, name)),
    description: description === type ? '' : description,
    schema: schema as ValueSchema,
  };
}

/** Returns the PostgreSQL type, for overloads each once. */
function declaredType(endpoints: readonly Endpoint[], key: string): string | null {
  const types = endpoints.flatMap(({ parameters }) =>
    parameters
      .flatMap((parameter) => [parameter, ...(parameter.fields ?? [])])
      .filter((parameter) => parameter.key === key || parameter.name === key)
      .map(({ type }) => type.display),
  );
  return types.length === 0 ? null : [...new Set(types)].join(' or ');
}

/** A literal that PostgreSQL shows with its type. */
const typedLiteral = /^('(?:[^']|'')*'|NULL)::[^']+$/;

/** Returns the default of a parameter in SQL. Overloads may have different ones, which say nothing about the operation. */
function defaultOf(endpoints: readonly Endpoint[], key: string): string | null {
  const found = endpoints.flatMap(({ parameters }) => parameters.filter((parameter) => parameter.key === key));
  const [only, ...others] = new Set(found.map(({ defaultExpression }) => defaultExpression));
  return only === undefined || others.length > 0 ? null : only.replace(typedLiteral, '$1');
}

function isPassword({ loginOrLogout, parameters }: Endpoint, key: string): boolean {
  const parameter = parameters.find((candidate) => candidate.key === key);
  if (parameter === undefined) return false;
  const isHashed = parameter.hashOf === parameter.position;
  return isHashed || (loginOrLogout?.kind === 'login' && loginOrLogout.passwordParameter === parameter.position);
}

/** Returns the members of an object, or of all alternatives; null for other schemas. */
function bodyMembers(schema: JsonSchema): readonly Omit<ParameterObject, 'in'>[] | null {
  const alternatives = Array.isArray(schema['anyOf']) ? list(schema['anyOf']) : [schema];
  if (alternatives.some(({ properties }) => properties === undefined)) return null;
  const members = new Map<string, JsonSchema>();
  for (const { properties } of alternatives) {
    for (const [name, member] of Object.entries(asObject(properties))) {
      if (!members.has(name)) members.set(name, asObject(member));
    }
  }
  return [...members].map(([name, member]) => ({
    name,
    schema: member,
    required: alternatives.every(({ required }) => Array.isArray(required) && required.includes(name)),
  }));
}

function wholeBodyName(endpoints: readonly Endpoint[]): string {
  const endpoint = endpoints.find(({ bodyParameter }) => bodyParameter !== null) ?? endpoints[0];
  return endpoint?.parameters.find(({ position }) => position === endpoint.bodyParameter)?.key ?? 'body';
}

function acceptedTypes({ encoding }: JsonSchema): string {
  const { contentType } = asObject(asObject(encoding)['file']);
  return typeof contentType === 'string' ? contentType.replaceAll(' ', '') : '';
}

function returnedType({ responses }: JsonSchema): string {
  const content = Object.entries(asObject(asObject(asObject(responses)['200'])['content']));
  const [mediaType, media] = content[0] ?? [];
  if (mediaType === undefined) return '';
  const { schema } = asObject(media);
  if (asObject(schema)['$ref'] !== undefined) return 'tokens, or a message';
  return mediaType === 'application/json' || mediaType === 'text/plain' ? formatSchema(schema) : mediaType;
}

function list(value: unknown): readonly JsonSchema[] {
  return Array.isArray(value) ? value.map(asObject) : [];
}

function asObject(value: unknown): JsonSchema {
  return typeof value === 'object' && value !== null ? (value as JsonSchema) : {};
}
