/** The parameters and the body of an operation, from its Operation Object. */
import type { Endpoint } from '@pgway/core';
import type { JsonSchema, OpenApiOperation } from '@pgway/generators/internal';
import type { PageBody, PageOperation, PageParameter, ValueSchema } from '../browser/page-data.ts';
import { asObject, formatSchema, plainText } from './schema-text.ts';

/** The columns of a table are not parameters in a dialect: its description has the types and summaries. */
function ownEndpoints({ endpoints }: Pick<OpenApiOperation, 'endpoints'>): readonly Endpoint[] {
  return endpoints.filter(({ dialect }) => dialect === undefined);
}

type RequestParts = Pick<PageOperation, 'parameters' | 'body'>;

export function requestParts(operation: Pick<OpenApiOperation, 'endpoints' | 'object'>): RequestParts {
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
  // A whole list is one text of JSON.
  const inBody = members ?? [
    { name: wholeBodyName(endpoints), required, schema: schema['type'] === 'array' ? {} : schema },
  ];
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
  const description = plainText(parameter.description);
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

/** Returns the members of an object, or of all alternatives, beside which there may be lists of them; null for other schemas. */
function bodyMembers(schema: JsonSchema): readonly Omit<ParameterObject, 'in'>[] | null {
  const all = Array.isArray(schema['anyOf']) ? list(schema['anyOf']) : [schema];
  const alternatives = all.filter(({ type }) => type !== 'array');
  if (alternatives.length === 0 || alternatives.some(({ properties }) => properties === undefined)) return null;
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

function list(value: unknown): readonly JsonSchema[] {
  return Array.isArray(value) ? value.map(asObject) : [];
}
