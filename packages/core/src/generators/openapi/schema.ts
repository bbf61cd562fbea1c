import type { ResultColumn } from '../../endpoints/endpoint.ts';
import type { NamedType } from '../../endpoints/named-type.ts';

/** JSON Schema of draft 2020-12, as OpenAPI 3.1 has it. */
export type Schema = { readonly [key: string]: unknown };

/** What JSON has in place of PostgreSQL's own types, where the text has a known format. */
const formats: Readonly<Record<string, Schema>> = {
  int2: { type: 'integer', minimum: -32_768, maximum: 32_767 },
  int4: { type: 'integer', format: 'int32' },
  int8: { type: 'integer', format: 'int64' },
  float4: { type: 'number', format: 'float' },
  float8: { type: 'number', format: 'double' },
  uuid: { type: 'string', format: 'uuid' },
  date: { type: 'string', format: 'date' },
};

/** A value of the type in JSON; not NULL. */
export function typeSchema(type: NamedType): Schema {
  const known = type.builtin === null ? undefined : formats[type.builtin];
  switch (type.json) {
    case 'number':
      return known ?? { type: 'number' };
    case 'boolean':
      return { type: 'boolean' };
    case 'timestamp':
      return { type: 'string', examples: ['2025-01-31T12:30:00'] };
    case 'timestamptz':
      return { type: 'string', format: 'date-time' };
    case 'json':
      return {};
    case 'string':
      return enumSchema(type.labels) ?? known ?? { type: 'string' };
    case 'converted':
      return convertedSchema(type);
  }
}

function enumSchema(labels: readonly string[] = []): Schema | null {
  return labels.length === 0 ? null : { type: 'string', enum: labels };
}

function convertedSchema({ element, fields }: NamedType): Schema {
  if (element !== undefined) return { type: 'array', items: nullableSchema(typeSchema(element)) };
  if (fields === undefined) return {};
  return objectSchema(
    fields.map(({ key, type }) => ({ key, schema: nullableSchema(typeSchema(type)), required: false })),
  );
}

/** The same or null. A schema without a type allows null already. */
export function nullableSchema(schema: Schema): Schema {
  if (typeof schema['type'] !== 'string') return schema;
  const values = schema['enum'];
  return {
    ...schema,
    type: [schema['type'], 'null'],
    ...(Array.isArray(values) ? { enum: [...(values as readonly unknown[]), null] } : {}),
  };
}

export interface SchemaProperty {
  readonly key: string;
  readonly schema: Schema;
  readonly required: boolean;
}

export function objectSchema(members: readonly SchemaProperty[]): Schema {
  const required = [...new Set(members.filter((member) => member.required).map(({ key }) => key))];
  return {
    type: 'object',
    properties: Object.fromEntries(members.map(({ key, schema }) => [key, schema])),
    ...(required.length === 0 ? {} : { required }),
  };
}

/** Rows: every column is there, and may be NULL unless it is known better. */
export function rowSchema(columns: readonly ResultColumn[], notNull: ReadonlySet<string>): Schema {
  return objectSchema(
    columns.map(({ name, parentColumn, key, type }) => ({
      key,
      schema: parentColumn === undefined && notNull.has(name) ? typeSchema(type) : nullableSchema(typeSchema(type)),
      required: true,
    })),
  );
}
