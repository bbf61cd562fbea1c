/** Example values of JSON Schemas. */
import type { JsonSchema } from '@pgway/generators/internal';
import { asObject, type SharedSchemas } from './schema-text.ts';

const ofFormats: Readonly<Record<string, unknown>> = {
  date: '2030-01-31',
  'date-time': '2030-01-31T12:30:00Z',
  uuid: '0b9d6f0e-5a51-4b6c-9d3f-1f2e3d4c5b6a',
  int64: '1',
  decimal: '1.50',
};

const ofTypes: Readonly<Record<string, unknown>> = {
  integer: 1,
  number: 1.5,
  boolean: true,
  string: 'text',
  null: null,
};

/** Returns the JSON text of a value that has the schema. */
export function schemaExample(schema: unknown, shared: SharedSchemas = {}): string {
  return JSON.stringify(exampleOf(asObject(schema), shared, new Set()), null, 2);
}

/** @param open the names of the references around the schema */
function exampleOf(schema: JsonSchema, shared: SharedSchemas, open: ReadonlySet<string>): unknown {
  const { $ref, anyOf, oneOf } = schema;
  if (typeof $ref === 'string') {
    const name = $ref.split('/').at(-1)!;
    return open.has(name) ? {} : exampleOf(asObject(shared[name]), shared, new Set([...open, name]));
  }
  const [variant] = [anyOf ?? oneOf].flat();
  if (variant !== undefined) return exampleOf(asObject(variant), shared, open);
  return statedValue(schema) ?? typedValue(schema, (part) => exampleOf(asObject(part), shared, open));
}

/** Returns a value that the schema itself has. */
function statedValue({ examples, enum: values, const: only, default: preset }: JsonSchema): unknown {
  const [first] = [examples ?? values].flat();
  return first ?? only ?? preset;
}

/** @param toExample returns the example of a part of the schema */
function typedValue({ type, items, properties, format }: JsonSchema, toExample: (part: unknown) => unknown): unknown {
  const name = [type].flat().find((one) => one !== 'null');
  if (name === 'array') return [toExample(items)];
  if (typeof name !== 'string' || name === 'object') {
    return Object.fromEntries(Object.entries(asObject(properties)).map(([key, part]) => [key, toExample(part)]));
  }
  const formatted = name === 'string' && typeof format === 'string' ? ofFormats[format] : undefined;
  return formatted ?? ofTypes[name];
}
