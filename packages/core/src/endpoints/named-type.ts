import type { Column, TypeFacts } from '../catalog/type-facts.ts';

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
export function typeKeyer(convert: (name: string) => string): (type: TypeFacts) => NamedType {
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
