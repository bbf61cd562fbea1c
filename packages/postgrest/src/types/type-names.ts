/** TypeScript types of PostgreSQL types, as the type `Database` of Supabase has them. */
import type { NamedType, TypeFacts } from '@pgway/core';

/** A type of endpoints or of columns. */
export type AnyType = NamedType | TypeFacts;

/** A named type of an exposed schema: an enum or a composite type. */
interface QualifiedType {
  readonly schema: string;
  readonly name: string;
  readonly type: AnyType;
}

/** Returns schema and name of a quoted and qualified name. */
export function splitName(sql: string): readonly [schema: string, name: string] | null {
  const [, schema, name] = /^"((?:[^"]|"")+)"\."((?:[^"]|"")+)"$/.exec(sql) ?? [];
  return schema === undefined ? null : [schema.replaceAll('""', '"'), name!.replaceAll('""', '"')];
}

/** A member of an object type, with quotes where its name is not an identifier. */
export function memberName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

/** Collects the enums and composite types that columns and arguments have. */
export class TypeNames {
  readonly #schemas: ReadonlySet<string>;
  readonly #sectionOf: (schema: string, name: string) => 'Tables' | 'Views' | null;
  readonly #found = new Map<string, QualifiedType>();

  /**
   * @param schemas whose types have names; those of others are written out
   * @param sectionOf where the relation is whose rows a composite type describes; null: it is a type of its own
   */
  constructor(schemas: ReadonlySet<string>, sectionOf: (schema: string, name: string) => 'Tables' | 'Views' | null) {
    this.#schemas = schemas;
    this.#sectionOf = sectionOf;
  }

  /** Returns the types of a schema that have been used so far, by name. */
  ofSchema(schema: string, kind: 'enum' | 'composite'): readonly QualifiedType[] {
    return [...this.#found.values()]
      .filter((found) => found.schema === schema && found.type.kind === kind)
      .toSorted((left, right) => (left.name < right.name ? -1 : 1));
  }

  text(type: AnyType): string {
    if (type.element !== undefined) return this.list(type.element);
    if (type.labels !== undefined || type.fields !== undefined) return this.#named(type);
    switch (type.json) {
      case 'number':
      case 'numberText':
        return 'number';
      case 'boolean':
        return 'boolean';
      case 'json':
        return 'Json';
      case 'converted':
        return 'unknown';
      default:
        return 'string';
    }
  }

  /** A list of values. */
  list(type: AnyType): string {
    const element = this.text(type);
    return element.includes(' ') ? `(${element})[]` : `${element}[]`;
  }

  /** The members of a composite type. */
  fields({ fields = [] }: AnyType): string {
    const members = fields.map(({ name, type }) => `${memberName(name)}: ${this.text(type)} | null`);
    return members.length === 0 ? 'Record<never, never>' : `{ ${members.join('; ')} }`;
  }

  #named(type: AnyType): string {
    const [schema, name] = splitName(type.sql) ?? [];
    if (schema === undefined || !this.#schemas.has(schema)) {
      return type.labels === undefined ? this.fields(type) : labelsText(type);
    }
    const relation = this.#sectionOf(schema, name!);
    if (relation !== null) return `Database[${JSON.stringify(schema)}]["${relation}"][${JSON.stringify(name)}]["Row"]`;
    const isEnum = type.labels !== undefined;
    if (!this.#found.has(type.sql)) {
      this.#found.set(type.sql, { schema, name: name!, type });
      // Its fields may have named types of their own.
      if (!isEnum) this.fields(type);
    }
    const section = isEnum ? 'Enums' : 'CompositeTypes';
    return `Database[${JSON.stringify(schema)}]["${section}"][${JSON.stringify(name)}]`;
  }
}

export function labelsText({ labels = [] }: AnyType): string {
  return labels.length === 0 ? 'never' : labels.map((label) => JSON.stringify(label)).join(' | ');
}
