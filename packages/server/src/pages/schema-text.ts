/** JSON Schemas in short, for readers. */
import type { JsonSchema } from '@pgway/generators/internal';

/** The Schema Objects that references name, by their name. */
export type SharedSchemas = Readonly<Record<string, unknown>>;

/** Returns a short form of a JSON Schema: `integer or null`, `array of { id: integer, … }`. A reference has the text of its schema, once. */
export function formatSchema(schema: unknown, shared: SharedSchemas = {}): string {
  return new SchemaText(shared).text(schema, '');
}

/** The first letter of a sentence, unless its first word is an abbreviation or a name with other capitals, such as URL. */
const capitalizedWord = /^\p{Lu}(?=\p{Ll}*(?![\p{L}\p{N}]))/u;

class SchemaText {
  readonly #shared: SharedSchemas;
  /** The names of the references around a schema. */
  readonly #open = new Set<string>();

  constructor(shared: SharedSchemas) {
    this.#shared = shared;
  }

  text(schema: unknown, indent: string): string {
    const { $ref, type, items, properties, required, enum: values, const: value, anyOf, format } = asObject(schema);
    if (typeof $ref === 'string') return this.#reference($ref.split('/').at(-1)!, indent);
    if (Array.isArray(anyOf)) return this.#variants(anyOf, indent);
    if (Array.isArray(values)) return values.map((one) => JSON.stringify(one)).join(' | ');
    if (value !== undefined) return JSON.stringify(value);
    const types = [type]
      .flat()
      .filter((name) => name !== undefined)
      .map(String);
    const words = types.map((name) => {
      if (name === 'array') return `array of ${this.text(items, indent)}`;
      if (name !== 'object' || properties === undefined)
        return name === 'string' && typeof format === 'string' ? format : name;
      return this.#members(asObject(properties), required, indent);
    });
    return words.length === 0 ? 'any JSON' : words.join(' or ');
  }

  #variants(schemas: readonly unknown[], indent: string): string {
    const texts = schemas.map((variant) => {
      const { type, description, properties } = asObject(variant);
      // Only the description tells something about this object.
      const isDescribed = type === 'object' && properties === undefined && typeof description === 'string';
      return isDescribed
        ? description.replace(capitalizedWord, (letter) => letter.toLowerCase())
        : this.text(variant, indent);
    });
    return [...new Set(texts)].join(' or ');
  }

  #reference(name: string, indent: string): string {
    const schema = this.#shared[name];
    if (schema === undefined || this.#open.has(name)) return name;
    this.#open.add(name);
    const text = this.text(schema, indent);
    this.#open.delete(name);
    return text;
  }

  #members(properties: JsonSchema, required: unknown, indent: string): string {
    const names = Array.isArray(required) ? required.map(String) : [];
    const inner = `${indent}  `;
    const lines = Object.entries(properties).map(
      ([key, schema]) => `${inner}${key}${names.includes(key) ? '' : '?'}: ${this.text(schema, inner)}`,
    );
    return `{\n${lines.join('\n')}\n${indent}}`;
  }
}

/** Returns the members of an object; none of another value. */
export function asObject(value: unknown): JsonSchema {
  return typeof value === 'object' && value !== null ? (value as JsonSchema) : {};
}

/** Returns a text of the document, which escapes `<` in Markdown. */
export function plainText(value: unknown): string {
  return typeof value === 'string' ? value.replaceAll('&lt;', '<') : '';
}
