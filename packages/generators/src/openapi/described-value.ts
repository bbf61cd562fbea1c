import type { DescribedMember, DescribedValue } from '@pgway/core/internal';
import { escapeMarkdown } from './escape-markdown.ts';
import { type JsonSchema, nullableSchema, objectSchema, typeSchema } from './schema.ts';

/** Returns the schema of a value that a dialect describes. */
export function describedSchema(value: DescribedValue): JsonSchema {
  switch (value.kind) {
    case 'type':
      return value.nullable ? nullableSchema(typeSchema(value.type)) : typeSchema(value.type);
    case 'text': {
      const { values, example, nullable = false } = value;
      return {
        type: nullable ? ['string', 'null'] : 'string',
        ...(values === undefined ? {} : { enum: values }),
        ...(example === undefined ? {} : { examples: [example] }),
      };
    }
    case 'integer': {
      const { minimum, maximum } = value;
      return {
        type: 'integer',
        ...(minimum === undefined ? {} : { minimum }),
        ...(maximum === undefined ? {} : { maximum }),
      };
    }
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

function toProperty({
  name,
  description,
  required,
  value,
}: DescribedMember): Parameters<typeof objectSchema>[0][number] {
  return { key: name, schema: { ...describedSchema(value), description: escapeMarkdown(description) }, required };
}
