import type { Endpoint, EndpointParameter, NamedType, ResultShape } from '@pgway/core';
import { negotiatesLargeNumbers, withLargeNumberTexts } from '@pgway/core/internal';
import { listedRow, listingParameter } from '../openapi/listing.ts';
import { nullableWithRules, withRules } from '../openapi/rules.ts';
import { columnSchema, type JsonSchema, nullableSchema, rowSchema, typeSchema } from '../openapi/schema.ts';
import { safeName, UniqueNames } from './names.ts';

/** An argument of a tool: a parameter of the endpoint, or a field of a composite one. */
export interface ToolArgument {
  /** The name in the input schema. */
  readonly name: string;
  /** The key in the request. */
  readonly key: string;
  readonly parameter: EndpointParameter;
  readonly type: NamedType;
  readonly required: boolean;
  readonly schema: JsonSchema;
}

/** The argument that becomes the idempotency key of a call. */
export interface KeyArgument extends Pick<ToolArgument, 'name' | 'required' | 'schema'> {
  /** A shorter key is refused: a language model would choose it again for another call. */
  readonly minLength: number;
}

const minKeyLength = 16;
const maxKeyLength = 255;

/** Returns null for an endpoint without idempotency keys. */
export function keyArgument({ idempotency }: Endpoint, others: readonly ToolArgument[]): KeyArgument | null {
  if (idempotency === undefined) return null;
  const names = new UniqueNames();
  for (const { name } of others) names.take(name);
  return {
    name: names.take('idempotencyKey'),
    required: idempotency === 'required',
    minLength: minKeyLength,
    schema: {
      type: 'string',
      minLength: minKeyLength,
      maxLength: maxKeyLength,
      pattern: '^[ -~]*$',
      description:
        'A new random UUID for each operation. Repeat a call whose result is unknown with the same key and arguments: it runs once.',
    },
  };
}

/** Returns the arguments of an endpoint with the parameters that clients can set. */
export function toolArguments(endpoint: Endpoint): readonly ToolArgument[] {
  const names = new UniqueNames();
  return endpoint.parameters.flatMap((parameter) =>
    values(endpoint, parameter).map((value) => ({
      ...value,
      name: names.take(safeName(value.key, 'argument')),
      parameter,
      required: value.required,
    })),
  );
}

function values(
  endpoint: Endpoint,
  parameter: EndpointParameter,
): readonly Pick<ToolArgument, 'key' | 'type' | 'required' | 'schema'>[] {
  const { key, type, fields, inPath, optional } = parameter;
  const listing = listingParameter(endpoint, parameter);
  if (listing !== null) {
    return [{ key, type, required: false, schema: { ...listing.schema, description: listing.description } }];
  }
  if (inPath) {
    return [
      {
        key,
        type,
        required: !isOptionalSegment(endpoint, parameter),
        schema: withRules(described(type, parameter), parameter),
      },
    ];
  }
  const inBody = endpoint.parameterSource === 'body' || parameter.position === endpoint.bodyParameter;
  if (inBody || fields === null) {
    const isNotNull = endpoint.table?.columns.find(({ name }) => name === parameter.name)?.notNull === true;
    const schema = described(type, parameter);
    return [{ key, type, required: !optional, schema: isNotNull ? schema : nullableWithRules(schema, parameter) }];
  }
  return fields.map((field) => ({
    key: field.key,
    type: field.type,
    required: !optional,
    schema: nullableSchema({ ...typeSchema(field.type), description: field.type.display }),
  }));
}

function isOptionalSegment({ path }: Endpoint, { name, key }: EndpointParameter): boolean {
  return path.includes(`{${name}?}`) || path.includes(`{${key}?}`);
}

function described(type: NamedType, { defaultExpression }: EndpointParameter): JsonSchema {
  const byDefault = defaultExpression === undefined ? '' : `, default ${defaultExpression}`;
  return { ...typeSchema(type), description: `${type.display}${byDefault}` };
}

/** Returns the schema of the arguments. An argument of several overloads is required when each of them requires it. */
export function inputSchema(
  overloads: readonly (readonly Pick<ToolArgument, 'name' | 'required' | 'schema'>[])[],
): JsonSchema {
  const byName = new Map<string, Pick<ToolArgument, 'required' | 'schema'>[]>();
  for (const argument of overloads.flat()) {
    byName.set(argument.name, [...(byName.get(argument.name) ?? []), argument]);
  }
  const required = [...byName]
    .filter(([, same]) => same.length === overloads.length && same.every((argument) => argument.required))
    .map(([name]) => name);
  return {
    type: 'object',
    properties: Object.fromEntries([...byName].map(([name, same]) => [name, anyOf(same.map(({ schema }) => schema))])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

function anyOf(schemas: readonly JsonSchema[]): JsonSchema {
  const different = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
  return different.length === 1 ? different[0]! : { anyOf: different };
}

/** The member of the structured content that holds a result; null: the result is the content, an object itself. */
export type ResultMember = 'value' | 'values' | 'row' | 'rows' | null;

/** How the response of an endpoint becomes structured content. */
export interface ToolOutput {
  readonly member: ResultMember;
  /** The response: JSON, or PostgreSQL's text of one value. Text of a type that is not `text` is never empty, unless it is NULL. */
  readonly format: 'json' | 'number' | 'boolean' | 'text' | 'other';
  readonly schema: JsonSchema;
}

/** Returns null for a result that is text: a format of its own, or nothing. */
export function toolOutput(endpoint: Endpoint): ToolOutput | null {
  const { raw, contentType } = endpoint;
  const result = requestedShape(endpoint);
  if (raw !== null || contentType !== null) return null;
  const inMember = (member: NonNullable<ResultMember>, schema: JsonSchema): ToolOutput => ({
    member,
    format: 'json',
    schema: { type: 'object', properties: { [member]: schema }, required: [member] },
  });
  const texts = { type: 'array', items: { type: ['string', 'null'] } };
  switch (result.kind) {
    case 'nothing':
      return null;
    case 'value':
      return { ...inMember('value', valueSchema(result)), format: valueFormat(result) };
    case 'values':
      return inMember('values', { type: 'array', items: columnSchema(result.column) });
    case 'object': {
      const schema = rowSchema(result.columns);
      return result.nullable ? inMember('row', nullableSchema(schema)) : { member: null, format: 'json', schema };
    }
    case 'objects':
      return inMember('rows', { type: 'array', items: listedRow(endpoint, rowSchema(result.columns)) });
    case 'record':
      return inMember('row', nullableSchema(texts));
    case 'records':
      return inMember('rows', { type: 'array', items: texts });
  }
}

/** Calls request large numbers as strings where they can. */
function requestedShape(endpoint: Endpoint): ResultShape {
  return negotiatesLargeNumbers(endpoint) ? withLargeNumberTexts(endpoint.result) : endpoint.result;
}

function valueFormat({ column: { type }, media }: Extract<ResultShape, { kind: 'value' }>): ToolOutput['format'] {
  if (media === 'json') return 'json';
  if (type.json === 'number' || type.json === 'boolean') return type.json;
  return type.textual ? 'text' : 'other';
}

/** Numbers may be text: `NaN`, and those with more digits than a client can read. */
function valueSchema({ column, media }: Extract<ResultShape, { kind: 'value' }>): JsonSchema {
  const schema = typeSchema(column.type);
  if (media === 'json') return nullableSchema(schema);
  return column.type.json === 'number'
    ? { type: ['number', 'string', 'null'] }
    : nullableSchema(textSchema(column.type));
}

function textSchema(type: NamedType): JsonSchema {
  return type.json === 'boolean' || type.labels !== undefined ? typeSchema(type) : { type: 'string' };
}
