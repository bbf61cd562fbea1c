/** The part of JSON Schema (draft 2020-12) that describes the values of options. */
export interface Schema {
  readonly type?: 'boolean' | 'string' | 'integer' | 'number' | 'array' | 'object' | 'null';
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | false;
  readonly propertyNames?: Schema;
  readonly default?: unknown;
  readonly description?: string;
  /** Whether messages must not show the value. */
  readonly writeOnly?: boolean;
}

const nullSchema: Schema = { type: 'null' };

/** Returns the schema of lists or maps; their values are secret as a whole. */
export function containerSchema(item: Schema, contain: (item: Schema) => Schema): Schema {
  const { writeOnly, ...rest } = item;
  return writeOnly === true ? { ...contain(rest), writeOnly } : contain(item);
}

/** @returns null for values that a file cannot contain */
export function nullableSchema(schema: Schema | null): Schema | null {
  return schema === null ? null : unionSchema(schema, nullSchema);
}

/** Returns the schema of the values of a union that a file can contain. */
export function unionSchema(first: Schema | null, second: Schema | null): Schema | null {
  if (first === null || second === null) return first ?? second;
  const isSecret = first.writeOnly === true || second.writeOnly === true;
  const anyOf = [first, second].map(withoutSecrecy).flatMap((schema) => schema.anyOf ?? [schema]);
  return { anyOf, ...(isSecret ? { writeOnly: true } : {}) };
}

/** A union is secret as a whole. */
function withoutSecrecy(schema: Schema): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => keyword !== 'writeOnly'));
}

/** Whether a text in the place of these values may be a secret. */
export function hasSecrets(schema: Schema | null): boolean {
  if (schema === null || schema.writeOnly === true || schema.properties !== undefined) return true;
  const { items, additionalProperties, anyOf = [] } = schema;
  return [...anyOf, items, additionalProperties].some((inner) => typeof inner === 'object' && hasSecrets(inner));
}
