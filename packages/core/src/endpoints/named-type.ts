import type { Column, TypeFacts } from '../catalog/type-facts.ts';
import { display } from './diagnostic.ts';

/** A type whose fields, at any depth, have the converted names that clients use. */
export interface NamedType extends Omit<TypeFacts, 'element' | 'fields'> {
  readonly element?: NamedType;
  readonly fields?: readonly NamedColumn[];
}

export interface NamedColumn extends Omit<Column, 'type'> {
  /** The converted name. */
  readonly key: string;
  readonly type: NamedType;
}

/** Returns a function that adds converted names to a type. It converts each type once, as columns share types. */
export function createTypeConverter(convertName: (name: string) => string): (type: TypeFacts) => NamedType {
  const known = new Map<TypeFacts, NamedType>();
  const convertType = (type: TypeFacts): NamedType => {
    if (type.element === undefined && type.fields === undefined) return type as NamedType;
    const found = known.get(type);
    if (found !== undefined) return found;
    const { element, fields, ...plain } = type;
    const made: NamedType = {
      ...plain,
      ...(element === undefined ? {} : { element: convertType(element) }),
      ...(fields === undefined ? {} : { fields: fields.map((field) => convertColumn(field)) }),
    };
    known.set(type, made);
    return made;
  };
  const convertColumn = (column: Column): NamedColumn => ({
    name: column.name,
    key: convertName(column.name) || column.name,
    type: convertType(column.type),
    ...(column.notNull === true ? { notNull: true } : {}),
  });
  return convertType;
}

/** Returns a function that adds converted names to columns. It converts each list once, as routines share the fields of a type. */
export function createColumnConverter(
  convertName: (name: string) => string,
  convertType: (type: TypeFacts) => NamedType,
): (columns: readonly Column[]) => readonly NamedColumn[] {
  const known = new Map<readonly Column[], readonly NamedColumn[]>();
  return (columns) => {
    const found = known.get(columns);
    if (found !== undefined) return found;
    const made = columns.map(({ name, type, notNull }) => ({
      name,
      key: convertName(name) || name,
      type: convertType(type),
      ...(notNull === true ? { notNull } : {}),
    }));
    known.set(columns, made);
    return made;
  };
}

/**
 * Returns a message about two fields of a composite type, at any depth, that share a name, or null.
 *
 * @param namesOf returns the names of a field that must be unique
 */
export function describeDuplicateName(
  type: NamedType,
  namesOf: (field: NamedColumn) => readonly string[],
): string | null {
  if (type.element !== undefined) return describeDuplicateName(type.element, namesOf);
  if (type.fields === undefined) return null;
  const byName = new Map<string, NamedColumn>();
  for (const field of type.fields) {
    for (const name of new Set(namesOf(field))) {
      const other = byName.get(name);
      if (other !== undefined) {
        return `${display(name)} is the name of two fields of ${type.display}, ${display(other.name)} and ${display(field.name)}; rename one of them`;
      }
      byName.set(name, field);
    }
    const nested = describeDuplicateName(field.type, namesOf);
    if (nested !== null) return nested;
  }
  return null;
}
