import type { Column, TypeFacts } from '../catalog/type-facts.ts';
import { display } from './diagnostic.ts';

/** A type with the names by which clients know the fields of it, at any depth. */
export interface NamedType extends Omit<TypeFacts, 'element' | 'fields'> {
  readonly element?: NamedType;
  readonly fields?: readonly NamedColumn[];
}

export interface NamedColumn extends Omit<Column, 'type'> {
  /** The converted name. */
  readonly key: string;
  readonly type: NamedType;
}

/** Types are shared by many columns: each is converted once. */
export function createTypeConverter(convert: (name: string) => string): (type: TypeFacts) => NamedType {
  const known = new Map<TypeFacts, NamedType>();
  const keyed = (type: TypeFacts): NamedType => {
    const { element, fields, ...plain } = type;
    if (element === undefined && fields === undefined) return type as NamedType;
    const found = known.get(type);
    if (found !== undefined) return found;
    const made: NamedType = {
      ...plain,
      ...(element === undefined ? {} : { element: keyed(element) }),
      ...(fields === undefined ? {} : { fields: fields.map((field) => keyedColumn(field)) }),
    };
    known.set(type, made);
    return made;
  };
  const keyedColumn = (column: Column): NamedColumn => ({
    name: column.name,
    key: convert(column.name) || column.name,
    type: keyed(column.type),
  });
  return keyed;
}

/**
 * Says which two fields of a composite type share a name, be it of the type itself or of one inside it at any depth; null
 * when none do. `namesOf` gives the names that count: in an object with one key twice, nobody could tell which field is meant.
 */
export function describeDuplicateName(
  type: NamedType,
  namesOf: (field: NamedColumn) => readonly string[],
): string | null {
  if (type.element !== undefined) return describeDuplicateName(type.element, namesOf);
  const byName = new Map<string, NamedColumn>();
  for (const field of type.fields ?? []) {
    for (const name of new Set(namesOf(field))) {
      const other = byName.get(name);
      if (other !== undefined) {
        return `${display(name)} is a name of two fields of ${type.display}, ${display(other.name)} and ${display(field.name)}; rename one of them`;
      }
      byName.set(name, field);
    }
    const inside = describeDuplicateName(field.type, namesOf);
    if (inside !== null) return inside;
  }
  return null;
}
