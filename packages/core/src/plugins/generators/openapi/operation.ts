import type { Endpoint, EndpointParameter } from '../../../plan/endpoint.ts';
import type { KeyedType } from '../../../plan/keyed-type.ts';
import { plainLine } from '../text.ts';
import type { OpenApiOptions } from './options.ts';
import { type Content, type Success, successesOf } from './responses.ts';
import { type Member, nullable, objectSchema, type Schema, schemaOf } from './schema.ts';

/** Endpoints of one method and path: one, or the overloads of a routine. */
export interface OperationPlan {
  readonly id: string;
  readonly endpoints: readonly Endpoint[];
  /** The names of the path's parameters as this path has them, in its order. */
  readonly inPath: readonly string[];
}

/** An Operation Object. */
export function operationOf({ id, endpoints, inPath }: OperationPlan, options: OpenApiOptions): Schema {
  const [first] = endpoints;
  const body = requestBodyOf(endpoints);
  const parameters = [...pathParameters(first!, inPath), ...queryParameters(endpoints)];
  const description = [...new Set(endpoints.map((endpoint) => endpoint.description))].filter((one) => one !== '');
  return {
    operationId: id,
    tags: [first!.schema],
    summary: plainLine(endpoints.map((endpoint) => endpoint.id).join(' | ')),
    ...(description.length === 0 ? {} : { description: description.join('\n\n') }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === null ? {} : { requestBody: body }),
    responses: responsesOf(endpoints),
    ...securityOf(endpoints, options),
  };
}

function pathParameters(endpoint: Endpoint, names: readonly string[]): readonly Schema[] {
  const written = [...endpoint.path.matchAll(/\{([^{}?]+)\??\}/g)].map(([, name]) => name!);
  return names.map((name, index) => {
    const own = written[index];
    const parameter = endpoint.parameters.find((one) => one.inPath && (one.name === own || one.key === own));
    const schema = parameter === undefined ? {} : schemaOf(parameter.type.element ?? parameter.type);
    return { name, in: 'path', required: true, schema };
  });
}

/** The parameters of each endpoint; one is required when all of them require it. */
function queryParameters(endpoints: readonly Endpoint[]): readonly Schema[] {
  const byKey = new Map<string, { readonly schema: Schema; required: number; readonly display: string }>();
  for (const endpoint of endpoints.filter(({ parameterSource }) => parameterSource === 'query')) {
    for (const one of endpoint.parameters.flatMap((parameter) => queryMembers(endpoint, parameter))) {
      const known = byKey.get(one.key) ?? { schema: one.schema, display: one.display, required: 0 };
      known.required += one.required ? 1 : 0;
      byKey.set(one.key, known);
    }
  }
  return [...byKey].map(([name, { schema, required, display }]) => ({
    name,
    in: 'query',
    description: display,
    ...(required === endpoints.length ? { required: true } : {}),
    schema,
  }));
}

function queryMembers(
  { bodyParameter }: Endpoint,
  { key, type, fields, inPath, position, optional, several }: EndpointParameter,
): readonly (Member & { readonly display: string })[] {
  if (inPath || position === bodyParameter) return [];
  const member = (own: string, ofType: KeyedType): Member & { readonly display: string } => ({
    key: own,
    schema: querySchema(ofType, several === true),
    required: !optional,
    display: ofType.display,
  });
  return fields === null ? [member(key, type)] : fields.map((field) => member(field.key, field.type));
}

/** In a query string an array repeats its key, and what has no plain text is given as text: JSON, or PostgreSQL's own. */
function querySchema(type: KeyedType, several: boolean): Schema {
  const { element } = type;
  if (element !== undefined) return { type: 'array', items: textual(element) };
  return several ? { type: 'array', items: { type: 'string' } } : textual(type);
}

function textual(type: KeyedType): Schema {
  return type.json === 'json' || type.json === 'converted' ? { type: 'string' } : schemaOf(type);
}

function requestBodyOf(endpoints: readonly Endpoint[]): Schema | null {
  const contents = endpoints.map(bodyOf);
  const given = contents.filter((content) => content !== null);
  if (given.length === 0) return null;
  const isRequired = given.length === contents.length && given.every(({ required }) => required);
  return { ...(isRequired ? { required: true } : {}), content: merged(given.map(({ content }) => content)) };
}

const files: Schema = {
  type: 'object',
  properties: { file: { type: 'array', items: { type: 'string', contentMediaType: 'application/octet-stream' } } },
};

function bodyOf(endpoint: Endpoint): { readonly content: Content; readonly required: boolean } | null {
  const { parameters, parameterSource, bodyParameter, upload } = endpoint;
  if (upload !== null) return { content: { 'multipart/form-data': { schema: files } }, required: true };
  const whole = parameters.find(({ position }) => position === bodyParameter);
  if (whole !== undefined) {
    const type = whole.type.json === 'json' ? 'application/json' : 'text/plain';
    return { content: { [type]: { schema: schemaOf(whole.type) } }, required: !whole.optional };
  }
  const members = parameters.filter(({ inPath }) => !inPath).map((parameter) => memberOf(endpoint, parameter));
  if (parameterSource === 'query' || members.length === 0) return null;
  const schema = objectSchema(members);
  return { content: { 'application/json': { schema } }, required: members.some(({ required }) => required) };
}

function memberOf({ table }: Endpoint, { name, key, type, optional }: EndpointParameter): Member {
  const notNull = table?.columns.find((column) => column.name === name)?.notNull === true;
  return { key, schema: notNull ? schemaOf(type) : nullable(schemaOf(type)), required: !optional };
}

function merged(contents: readonly Content[]): Content {
  const types = new Set(contents.flatMap((content) => Object.keys(content)));
  return Object.fromEntries(
    [...types].map((type) => {
      const schemas = new Map(
        contents
          .flatMap((content) => (type in content ? [content[type]!.schema] : []))
          .map((schema) => [JSON.stringify(schema), schema]),
      );
      const [only] = schemas.values();
      return [type, { schema: schemas.size === 1 ? only! : { anyOf: [...schemas.values()] } }];
    }),
  );
}

function responsesOf(endpoints: readonly Endpoint[]): Schema {
  const successes = endpoints.flatMap(successesOf);
  const statuses = [...new Set(successes.map(({ status }) => status))].toSorted();
  return {
    ...Object.fromEntries(
      statuses.map((status) => [status, responseOf(successes.filter((one) => one.status === status))]),
    ),
    default: { $ref: '#/components/responses/Problem' },
  };
}

function responseOf(successes: readonly Success[]): Schema {
  const content = merged(successes.map((one) => one.content));
  return { description: successes[0]!.description, ...(Object.keys(content).length === 0 ? {} : { content }) };
}

/** Any of the schemes will do; roles are named with them, as OpenAPI 3.1 allows. */
export function securityOf(endpoints: readonly Endpoint[], { securitySchemes }: OpenApiOptions): Schema {
  const required = endpoints.filter(({ authorization }) => authorization.required);
  if (required.length === 0) return {};
  const roles = [...new Set(required.flatMap(({ authorization }) => authorization.roles))];
  const schemes = Object.keys(securitySchemes).map((name) => ({ [name]: roles }));
  return { security: required.length === endpoints.length ? schemes : [{}, ...schemes] };
}
