import type { Column, TypeFacts } from '../catalog/routine.ts';

/** A type with the names by which clients know the fields of it, at any depth. */
export interface KeyedType extends Omit<TypeFacts, 'element' | 'fields'> {
  readonly element?: KeyedType;
  readonly fields?: readonly KeyedColumn[];
}

export interface KeyedColumn extends Omit<Column, 'type'> {
  /** The converted name. */
  readonly key: string;
  readonly type: KeyedType;
}

/** Types are shared by many columns: each is converted once. */
export function typeKeyer(convert: (name: string) => string): (type: TypeFacts) => KeyedType {
  const known = new Map<TypeFacts, KeyedType>();
  const keyed = (type: TypeFacts): KeyedType => {
    const { element, fields, ...plain } = type;
    if (element === undefined && fields === undefined) return type as KeyedType;
    const found = known.get(type);
    if (found !== undefined) return found;
    const made: KeyedType = {
      ...plain,
      ...(element === undefined ? {} : { element: keyed(element) }),
      ...(fields === undefined ? {} : { fields: fields.map((field) => keyedColumn(field)) }),
    };
    known.set(type, made);
    return made;
  };
  const keyedColumn = (column: Column): KeyedColumn => ({
    name: column.name,
    key: convert(column.name) || column.name,
    type: keyed(column.type),
  });
  return keyed;
}
