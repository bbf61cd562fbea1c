import { takesRows } from '../client-endpoint.ts';
import type { Endpoint, EndpointParameter, NamedType } from '@pgway/core';
import { escapeLine } from '../source-text.ts';
import { describedOperationObject } from './described-operation.ts';
import { escapeMarkdown } from './escape-markdown.ts';
import {
  listingParameter,
  listingRequestHeaders,
  listingResponseHeaders,
  acceptsVersion,
  returnsVersion,
} from './listing.ts';
import { idempotencyHeaders, idempotencyProblems } from './idempotency.ts';
import { mergeContents } from './merge-contents.ts';
import type { OpenApiOptions } from './options.ts';
import { basicSecurityScheme, problemResponseObject } from './components.ts';
import { rateLimitHeaders, rateLimitProblems } from './rate-limit.ts';
import { type Content, type SuccessResponse, successResponses } from './responses.ts';
import { nullableWithRules, withRules } from './rules.ts';
import { type SchemaProperty, objectSchema, type JsonSchema, typeSchema } from './schema.ts';
import { multipartContent, uploadProblems } from './upload.ts';

/** The endpoints of a method and path: one, or overloads. */
export interface OperationGroup {
  readonly id: string;
  readonly endpoints: readonly Endpoint[];
  /** The path parameters, in order. */
  readonly pathNames: readonly string[];
}

/** Returns an Operation Object. */
export function operationObject(group: OperationGroup, options: OpenApiOptions): JsonSchema {
  const security = securityObject(group.endpoints, options);
  return { ...(describedOperationObject(group) ?? ownOperationObject(group)), ...security };
}

function ownOperationObject({ id, endpoints, pathNames }: OperationGroup): JsonSchema {
  const [first] = endpoints;
  const body = requestBodyObject(endpoints);
  const parameters = [
    ...pathParameters(first!, pathNames),
    ...queryParameters(endpoints),
    ...headerParameters(endpoints),
    ...idempotencyHeaders(endpoints),
  ];
  const descriptions = [...new Set(endpoints.map((endpoint) => endpoint.description))].filter(Boolean);
  return {
    operationId: id,
    tags: [first!.schema],
    summary: escapeLine(endpoints.map((endpoint) => endpoint.id).join(' | ')),
    ...(descriptions.length === 0 ? {} : { description: escapeMarkdown(descriptions.join('\n\n')) }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === null ? {} : { requestBody: body }),
    responses: responsesObject(endpoints),
  };
}

function pathParameters(endpoint: Endpoint, names: readonly string[]): readonly JsonSchema[] {
  const ownNames = [...endpoint.path.matchAll(/\{([^{}?]+)\??\}/g)].map(([, name]) => name!);
  return names.map((name, index) => {
    const own = ownNames[index];
    const parameter = endpoint.parameters.find(
      (candidate) => candidate.inPath && (candidate.name === own || candidate.key === own),
    );
    const schema =
      parameter === undefined ? {} : withRules(typeSchema(parameter.type.element ?? parameter.type), parameter);
    return { name, in: 'path', required: true, schema };
  });
}

/** A parameter of the query string. */
interface QueryProperty extends SchemaProperty {
  readonly description: string;
}

/** Returns the query parameters of all endpoints; required when each endpoint requires them. */
function queryParameters(endpoints: readonly Endpoint[]): readonly JsonSchema[] {
  const byKey = new Map<string, { readonly first: QueryProperty; required: number }>();
  for (const endpoint of endpoints.filter(({ parameterSource }) => parameterSource === 'query')) {
    for (const property of endpoint.parameters.flatMap((parameter) => queryProperties(endpoint, parameter))) {
      const known = byKey.get(property.key) ?? { first: property, required: 0 };
      known.required += property.required ? 1 : 0;
      byKey.set(property.key, known);
    }
  }
  return [...byKey].map(([name, { first, required }]) => ({
    name,
    in: 'query',
    description: escapeMarkdown(first.description),
    ...(required === endpoints.length ? { required: true } : {}),
    schema: first.schema,
  }));
}

function headerParameters(endpoints: readonly Endpoint[]): readonly JsonSchema[] {
  return [...new Map(endpoints.flatMap(listingRequestHeaders).map((header) => [header['name'], header])).values()];
}

function queryProperties(endpoint: Endpoint, parameter: EndpointParameter): readonly QueryProperty[] {
  const { key, type, fields, inPath, position } = parameter;
  if (inPath || position === endpoint.bodyParameter) return [];
  const listing = listingParameter(endpoint, parameter);
  if (listing !== null) return [{ key, required: false, ...listing }];
  const values = fields ?? [{ key, type }];
  return values.map((value) => ({
    key: value.key,
    schema: fields === null ? withRules(querySchema(value.type), parameter) : querySchema(value.type),
    required: !parameter.optional,
    description: value.type.display,
  }));
}

/** An array repeats its key in a query string. JSON and composite values are text: JSON or PostgreSQL's input syntax. */
function querySchema(type: NamedType): JsonSchema {
  return type.element === undefined ? textSchema(type) : { type: 'array', items: textSchema(type.element) };
}

function textSchema(type: NamedType): JsonSchema {
  return type.json === 'json' || type.json === 'converted' ? { type: 'string' } : typeSchema(type);
}

function requestBodyObject(endpoints: readonly Endpoint[]): JsonSchema | null {
  const contents = endpoints.map(endpointBody);
  const bodies = contents.filter((content) => content !== null);
  if (bodies.length === 0) return null;
  const isRequired = bodies.length === contents.length && bodies.every(({ required }) => required);
  return { ...(isRequired ? { required: true } : {}), content: mergeContents(bodies.map(({ content }) => content)) };
}

/** A body that is one parameter is text, unless the parameter is JSON. */
function wholeBodySchema(type: NamedType): JsonSchema {
  const schema = typeSchema(type);
  return type.json === 'json' || schema['type'] === 'string' ? schema : { type: 'string' };
}

function endpointBody(endpoint: Endpoint): { readonly content: Content; readonly required: boolean } | null {
  const { parameters, parameterSource, bodyParameter, upload } = endpoint;
  if (upload !== null) return { content: multipartContent(upload), required: true };
  const whole = parameters.find(({ position }) => position === bodyParameter);
  if (whole !== undefined) {
    const type = whole.type.json === 'json' ? 'application/json' : 'text/plain';
    return {
      content: { [type]: { schema: withRules(wholeBodySchema(whole.type), whole) } },
      required: !whole.optional,
    };
  }
  const members = parameters.filter(({ inPath }) => !inPath).map((parameter) => bodyProperty(endpoint, parameter));
  if (parameterSource === 'query' || members.length === 0) return null;
  const minimum = minProperties(endpoint);
  const schema = { ...objectSchema(members), ...(minimum === 0 ? {} : { minProperties: minimum }) };
  const required = minimum > 0 || members.some((member) => member.required);
  return { content: { 'application/json': { schema: takesRows(endpoint) ? oneOrSeveral(schema) : schema } }, required };
}

function oneOrSeveral(row: JsonSchema): JsonSchema {
  return {
    anyOf: [
      row,
      { type: 'array', items: row, minItems: 1, description: 'Rows with the same columns, inserted by one statement' },
    ],
  };
}

/** An insert needs a column, which a required one is. An update needs a column to set, and a key column unless the path contains it. */
function minProperties({ table, parameters }: Endpoint): number {
  if (table?.operation.startsWith('insert') === true)
    return parameters.some(({ inPath, optional }) => inPath || !optional) ? 0 : 1;
  if (table === null || !table.operation.startsWith('update')) return 0;
  const keys = new Set(table.columns.flatMap(({ key, name }) => (key ? [name] : [])));
  return parameters.some(({ inPath, name }) => inPath && keys.has(name)) ? 1 : 2;
}

function bodyProperty({ table }: Endpoint, parameter: EndpointParameter): SchemaProperty {
  const { name, key, type } = parameter;
  const notNull = table?.columns.find((column) => column.name === name)?.notNull === true;
  const schema = notNull ? typeSchema(type) : nullableWithRules(typeSchema(type), parameter);
  return { key, schema, required: !parameter.optional };
}

function responsesObject(endpoints: readonly Endpoint[]): JsonSchema {
  const successes = endpoints.flatMap(successResponses);
  const statuses = [...new Set(successes.map(({ status }) => status))].toSorted();
  const listing = Object.assign({}, ...endpoints.map(listingResponseHeaders)) as JsonSchema;
  const rateLimit = rateLimitHeaders(endpoints[0]!);
  return {
    ...Object.fromEntries(
      statuses.map((status) => [
        status,
        responseObject(
          successes.filter((success) => success.status === status),
          status === '200' ? { ...listing, ...rateLimit } : rateLimit,
        ),
      ]),
    ),
    ...(endpoints.some(returnsVersion)
      ? { 304: { description: 'The row still has the version of If-None-Match' } }
      : {}),
    ...(endpoints.some(({ table }) => table?.requiresRow === true) ? { 404: problemResponseObject } : {}),
    ...(endpoints.some(acceptsVersion) ? { 412: problemResponseObject } : {}),
    ...fieldErrorProblems(endpoints),
    ...uploadProblems(endpoints),
    ...idempotencyProblems(endpoints),
    ...rateLimitProblems(endpoints),
    '4XX': problemResponseObject,
    default: problemResponseObject,
  };
}

/** The status of field errors, where the endpoint sets one. */
function fieldErrorProblems(endpoints: readonly Endpoint[]): JsonSchema {
  const statuses = endpoints.flatMap(({ fieldErrors }) => fieldErrors?.status ?? []);
  return Object.fromEntries(statuses.map((status) => [status, problemResponseObject]));
}

function responseObject(successes: readonly SuccessResponse[], headers: JsonSchema): JsonSchema {
  const content = mergeContents(successes.map((success) => success.content));
  return {
    description: successes[0]!.description,
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(Object.keys(content).length === 0 ? {} : { content }),
  };
}

/**
 * Returns the security requirements: alternatives, with roles as OpenAPI 3.1 allows. Public operations have an empty list, which
 * overrides requirements of the document.
 */
export function securityObject(endpoints: readonly Endpoint[], options: OpenApiOptions): JsonSchema {
  const requirements = endpoints.map((endpoint) => securityRequirements(endpoint, options));
  const all = requirements.flat();
  if (all.length === 0) return { security: [] };
  const isMixed = requirements.some((alternatives) => alternatives.length === 0);
  const unique = new Map(all.map((requirement) => [JSON.stringify(requirement), requirement]));
  return { security: [...(isMixed ? [{}] : []), ...unique.values()] };
}

/** Returns no requirement for a public endpoint. */
function securityRequirements(
  { authorization, basicAuthentication: basic }: Endpoint,
  { securitySchemes }: OpenApiOptions,
): readonly JsonSchema[] {
  if (basic !== null) return [{ [basicSecurityScheme]: authorization.roles }];
  if (!authorization.required) return [];
  return Object.keys(securitySchemes).map((name) => ({ [name]: authorization.roles }));
}
