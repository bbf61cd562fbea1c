import type { NamedType, ResultColumn } from '@pgway/core';

/** A JSON Schema (draft 2020-12), or another object of an OpenAPI 3.1 document. */
export type JsonSchema = { readonly [key: string]: unknown };

/** Schemas by PostgreSQL type, where JSON Schema has a format. */
const formats: Readonly<Record<string, JsonSchema>> = {
  int2: { type: 'integer', minimum: -32_768, maximum: 32_767 },
  int4: { type: 'integer', format: 'int32' },
  int8: { type: 'integer', format: 'int64' },
  float4: { type: 'number', format: 'float' },
  float8: { type: 'number', format: 'double' },
  uuid: { type: 'string', format: 'uuid' },
  date: { type: 'string', format: 'date' },
};

const plainSchemas: Readonly<Record<'boolean' | 'timestamp' | 'timestamptz' | 'json', JsonSchema>> = {
  boolean: { type: 'boolean' },
  timestamp: { type: 'string', examples: ['2025-01-31T12:30:00'] },
  timestamptz: { type: 'string', format: 'date-time' },
  json: {},
};

/** Returns the schema of a type, without NULL. */
export function typeSchema(type: NamedType): JsonSchema {
  const known = formats[type.builtin ?? ''];
  switch (type.json) {
    case 'number':
      return known ?? { type: 'number' };
    case 'numberText':
      return numberTextSchema(type);
    case 'string':
      return enumSchema(type.labels) ?? known ?? { type: 'string' };
    case 'converted':
      return convertedSchema(type);
    default:
      return plainSchemas[type.json];
  }
}

/** The formats of the OpenAPI format registry. */
function numberTextSchema({ builtin }: NamedType): JsonSchema {
  return { type: 'string', format: builtin === 'int8' ? 'int64' : 'decimal' };
}

function enumSchema(labels: readonly string[] = []): JsonSchema | null {
  return labels.length === 0 ? null : { type: 'string', enum: labels };
}

function convertedSchema({ element, fields }: NamedType): JsonSchema {
  if (element !== undefined) return { type: 'array', items: nullableSchema(typeSchema(element)) };
  if (fields === undefined) return {};
  return objectSchema(fields.map((field) => ({ key: field.key, schema: columnSchema(field), required: false })));
}

/** Adds null to a schema. A schema without a type allows null already. */
export function nullableSchema(schema: JsonSchema): JsonSchema {
  if (typeof schema['type'] !== 'string') return schema;
  const values = schema['enum'];
  return {
    ...schema,
    type: [schema['type'], 'null'],
    ...(Array.isArray(values) ? { enum: [...(values as readonly unknown[]), null] } : {}),
  };
}

/** A property of an object schema. */
export interface SchemaProperty {
  readonly key: string;
  readonly schema: JsonSchema;
  readonly required: boolean;
}

export function objectSchema(properties: readonly SchemaProperty[]): JsonSchema {
  const required = [...new Set(properties.filter((property) => property.required).map(({ key }) => key))];
  return {
    type: 'object',
    properties: Object.fromEntries(properties.map(({ key, schema }) => [key, schema])),
    ...(required.length === 0 ? {} : { required }),
  };
}

/** Returns the schema of a row: all columns are present. */
export function rowSchema(columns: readonly ResultColumn[]): JsonSchema {
  return objectSchema(columns.map((column) => ({ key: column.key, schema: columnSchema(column), required: true })));
}

/** Returns the schema of the values of a column. */
export function columnSchema({ type, notNull }: Pick<ResultColumn, 'type' | 'notNull'>): JsonSchema {
  return notNull === true ? typeSchema(type) : nullableSchema(typeSchema(type));
}
