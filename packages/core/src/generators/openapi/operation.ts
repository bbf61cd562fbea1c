import type { Endpoint, EndpointParameter } from '../../endpoints/endpoint.ts';
import type { NamedType } from '../../endpoints/named-type.ts';
import { escapeLine } from '../source-text.ts';
import { listingParameter, requestHeaders, responseHeaders, acceptsVersion, returnsVersion } from './listing.ts';
import type { OpenApiOptions } from './options.ts';
import { basicScheme, problemResponse } from './components.ts';
import { type Content, type SuccessResponse, successResponses } from './responses.ts';
import { type SchemaProperty, nullableSchema, objectSchema, type Schema, typeSchema } from './schema.ts';

/** Endpoints of one method and path: one, or the overloads of a routine. */
export interface OperationGroup {
  readonly id: string;
  readonly endpoints: readonly Endpoint[];
  /** The names of the path's parameters as this path has them, in its order. */
  readonly pathNames: readonly string[];
}

/** An Operation Object. */
export function operationObject({ id, endpoints, pathNames: inPath }: OperationGroup, options: OpenApiOptions): Schema {
  const [first] = endpoints;
  const body = requestBodyObject(endpoints);
  const parameters = [...pathParameters(first!, inPath), ...queryParameters(endpoints), ...headerParameters(endpoints)];
  const description = [...new Set(endpoints.map((endpoint) => endpoint.description))].filter((one) => one !== '');
  return {
    operationId: id,
    tags: [first!.schema],
    summary: escapeLine(endpoints.map((endpoint) => endpoint.id).join(' | ')),
    ...(description.length === 0 ? {} : { description: escapeMarkdown(description.join('\n\n')) }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === null ? {} : { requestBody: body }),
    responses: responsesObject(endpoints),
    ...securityObject(endpoints, options),
  };
}

function pathParameters(endpoint: Endpoint, names: readonly string[]): readonly Schema[] {
  const written = [...endpoint.path.matchAll(/\{([^{}?]+)\??\}/g)].map(([, name]) => name!);
  return names.map((name, index) => {
    const own = written[index];
    const parameter = endpoint.parameters.find((one) => one.inPath && (one.name === own || one.key === own));
    const schema = parameter === undefined ? {} : typeSchema(parameter.type.element ?? parameter.type);
    return { name, in: 'path', required: true, schema };
  });
}

/** A parameter of the query string. */
interface QueryProperty extends SchemaProperty {
  readonly description: string;
}

/** The parameters of each endpoint; one is required when all of them require it. */
function queryParameters(endpoints: readonly Endpoint[]): readonly Schema[] {
  const byKey = new Map<string, { readonly first: QueryProperty; required: number }>();
  for (const endpoint of endpoints.filter(({ parameterSource }) => parameterSource === 'query')) {
    for (const one of endpoint.parameters.flatMap((parameter) => queryProperties(endpoint, parameter))) {
      const known = byKey.get(one.key) ?? { first: one, required: 0 };
      known.required += one.required ? 1 : 0;
      byKey.set(one.key, known);
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

function headerParameters(endpoints: readonly Endpoint[]): readonly Schema[] {
  return [...new Map(endpoints.flatMap(requestHeaders).map((one) => [one['name'], one])).values()];
}

function queryProperties(endpoint: Endpoint, parameter: EndpointParameter): readonly QueryProperty[] {
  const { key, type, fields, inPath, position, optional } = parameter;
  if (inPath || position === endpoint.bodyParameter) return [];
  const listing = listingParameter(endpoint, parameter);
  if (listing !== null) return [{ key, required: false, ...listing }];
  const member = (own: string, ofType: NamedType): QueryProperty => ({
    key: own,
    schema: querySchema(ofType),
    required: !optional,
    description: ofType.display,
  });
  return fields === null ? [member(key, type)] : fields.map((field) => member(field.key, field.type));
}

/** In a query string an array repeats its key, and what has no plain text is given as text: JSON, or PostgreSQL's own. */
function querySchema(type: NamedType): Schema {
  return type.element === undefined ? textSchema(type) : { type: 'array', items: textSchema(type.element) };
}

function textSchema(type: NamedType): Schema {
  return type.json === 'json' || type.json === 'converted' ? { type: 'string' } : typeSchema(type);
}

function requestBodyObject(endpoints: readonly Endpoint[]): Schema | null {
  const contents = endpoints.map(endpointBody);
  const given = contents.filter((content) => content !== null);
  if (given.length === 0) return null;
  const isRequired = given.length === contents.length && given.every(({ required }) => required);
  return { ...(isRequired ? { required: true } : {}), content: mergeContents(given.map(({ content }) => content)) };
}

const multipartSchema: Schema = {
  type: 'object',
  properties: { file: { type: 'array', items: { type: 'string', contentMediaType: 'application/octet-stream' } } },
};

/** A body that is one parameter is the text of its value, unless it is JSON. */
function wholeBodySchema(type: NamedType): Schema {
  const schema = typeSchema(type);
  return type.json === 'json' || schema['type'] === 'string' ? schema : { type: 'string' };
}

function endpointBody(endpoint: Endpoint): { readonly content: Content; readonly required: boolean } | null {
  const { parameters, parameterSource, bodyParameter, upload } = endpoint;
  if (upload !== null) return { content: { 'multipart/form-data': { schema: multipartSchema } }, required: true };
  const whole = parameters.find(({ position }) => position === bodyParameter);
  if (whole !== undefined) {
    const type = whole.type.json === 'json' ? 'application/json' : 'text/plain';
    return { content: { [type]: { schema: wholeBodySchema(whole.type) } }, required: !whole.optional };
  }
  const members = parameters.filter(({ inPath }) => !inPath).map((parameter) => bodyProperty(endpoint, parameter));
  if (parameterSource === 'query' || members.length === 0) return null;
  const fewest = minProperties(endpoint);
  const schema = { ...objectSchema(members), ...(fewest === 0 ? {} : { minProperties: fewest }) };
  const required = fewest > 0 || members.some((member) => member.required);
  return { content: { 'application/json': { schema } }, required };
}

/** An update needs a column to set, and one of the key unless the path has it. */
function minProperties({ table, parameters }: Endpoint): number {
  if (table === null || !table.operation.startsWith('update')) return 0;
  const keys = new Set(table.columns.flatMap(({ key, name }) => (key ? [name] : [])));
  return parameters.some(({ inPath, name }) => inPath && keys.has(name)) ? 1 : 2;
}

function bodyProperty({ table }: Endpoint, { name, key, type, optional }: EndpointParameter): SchemaProperty {
  const notNull = table?.columns.find((column) => column.name === name)?.notNull === true;
  return { key, schema: notNull ? typeSchema(type) : nullableSchema(typeSchema(type)), required: !optional };
}

/** Each media type with the schemas of all that have it. */
function mergeContents(contents: readonly Content[]): Content {
  const schemas = new Map<string, Map<string, Schema>>();
  for (const [type, { schema }] of contents.flatMap((content) => Object.entries(content))) {
    const known = schemas.get(type) ?? new Map<string, Schema>();
    schemas.set(type, known.set(JSON.stringify(schema), schema));
  }
  return Object.fromEntries(
    [...schemas].map(([type, byContent]) => {
      const [only, ...others] = byContent.values();
      return [type, { schema: others.length === 0 ? only! : { anyOf: [only, ...others] } }];
    }),
  );
}

function responsesObject(endpoints: readonly Endpoint[]): Schema {
  const successes = endpoints.flatMap(successResponses);
  const statuses = [...new Set(successes.map(({ status }) => status))].toSorted();
  const headers = Object.assign({}, ...endpoints.map(responseHeaders)) as Schema;
  return {
    ...Object.fromEntries(
      statuses.map((status) => [
        status,
        responseObject(
          successes.filter((one) => one.status === status),
          status === '200' ? headers : {},
        ),
      ]),
    ),
    ...(endpoints.some(returnsVersion)
      ? { 304: { description: 'The row has the version that the request names' } }
      : {}),
    ...(endpoints.some(acceptsVersion) ? { 412: problemResponse } : {}),
    '4XX': problemResponse,
    default: problemResponse,
  };
}

function responseObject(successes: readonly SuccessResponse[], headers: Schema): Schema {
  const content = mergeContents(successes.map((one) => one.content));
  return {
    description: successes[0]!.description,
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(Object.keys(content).length === 0 ? {} : { content }),
  };
}

/**
 * Any of the schemes will do; roles are named with them, as OpenAPI 3.1 allows. Every operation says it, so that an empty list means
 * anonymous whatever a reader adds to the document.
 */
export function securityObject(endpoints: readonly Endpoint[], options: OpenApiOptions): Schema {
  const requirements = endpoints.map((endpoint) => securityRequirements(endpoint, options));
  const all = requirements.flat();
  if (all.length === 0) return { security: [] };
  const isMixed = requirements.some((one) => one.length === 0);
  const unique = new Map(all.map((one) => [JSON.stringify(one), one]));
  return { security: [...(isMixed ? [{}] : []), ...unique.values()] };
}

/** Empty: callers need not sign in. */
function securityRequirements(
  { authorization, basicAuthentication: basic }: Endpoint,
  { securitySchemes }: OpenApiOptions,
): readonly Schema[] {
  if (basic !== null) return [{ [basicScheme]: authorization.roles }];
  if (!authorization.required) return [];
  return Object.keys(securitySchemes).map((name) => ({ [name]: authorization.roles }));
}

/** Text as a description, which OpenAPI reads as Markdown: HTML in it is shown, and no link runs a script. */
export function escapeMarkdown(text: string): string {
  return text
    .replaceAll(/<(?=[a-z/!?])/gi, '&lt;')
    .replaceAll(/\](?=[(:]\s*(?:&lt;|<)?\s*(?:javascript|vbscript|data):)/gi, String.raw`]\ `.trimEnd());
}
