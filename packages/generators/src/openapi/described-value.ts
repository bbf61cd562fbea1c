import type { DescribedMember, DescribedValue } from '@pgway/core/internal';
import { escapeMarkdown } from './escape-markdown.ts';
import { type JsonSchema, nullableSchema, objectSchema, typeSchema } from './schema.ts';

/** Returns the schema of a value that a dialect describes. */
export function describedSchema(value: DescribedValue): JsonSchema {
  switch (value.kind) {
    case 'type':
      return value.nullable ? nullableSchema(typeSchema(value.type)) : typeSchema(value.type);
    case 'text':
      return described(textSchema(value));
    case 'integer':
      return described({ type: 'integer', minimum: value.minimum, maximum: value.maximum });
    case 'list':
      return { type: 'array', items: describedSchema(value.items) };
    case 'oneOf':
      return { anyOf: value.values.map(describedSchema) };
    case 'object':
      return {
        ...objectSchema(value.members.map(toProperty)),
        ...(value.open === true ? {} : { additionalProperties: false }),
      };
    case 'shared':
      return { $ref: `#/components/schemas/${value.name}` };
    case 'any':
      return {};
  }
}

function textSchema({ values, example, nullable = false }: Extract<DescribedValue, { kind: 'text' }>): JsonSchema {
  return {
    type: nullable ? ['string', 'null'] : 'string',
    enum: values,
    examples: example === undefined ? undefined : [example],
  };
}

/** Leaves out members without a value. */
function described(schema: JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([, member]) => member !== undefined));
}

function toProperty({
  name,
  description,
  required,
  value,
}: DescribedMember): Parameters<typeof objectSchema>[0][number] {
  return { key: name, schema: { ...describedSchema(value), description: escapeMarkdown(description) }, required };
}
