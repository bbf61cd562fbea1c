import { display } from './display.ts';
import type { NamedColumn, NamedType } from './named-type.ts';

/**
 * Says which two fields of a composite type share a name, be it of the type itself or of one inside it at any depth; null
 * when none do. `namesOf` gives the names that count: in an object with one key twice, nobody could tell which field is meant.
 */
export function sharedName(type: NamedType, namesOf: (field: NamedColumn) => readonly string[]): string | null {
  if (type.element !== undefined) return sharedName(type.element, namesOf);
  const byName = new Map<string, NamedColumn>();
  for (const field of type.fields ?? []) {
    for (const name of new Set(namesOf(field))) {
      const other = byName.get(name);
      if (other !== undefined) {
        return `${display(name)} is a name of two fields of ${type.display}, ${display(other.name)} and ${display(field.name)}; rename one of them`;
      }
      byName.set(name, field);
    }
    const inside = sharedName(field.type, namesOf);
    if (inside !== null) return inside;
  }
  return null;
}
