/** Types with fields that both schemas have: composite types, and the row types of tables. */
import type { Item } from '../ddl/item.ts';
import type { Column } from '../ddl/structure.ts';

export interface RecordType {
  readonly before: readonly Column[];
  readonly after: readonly Column[];
}

/** By qualified name. */
export type Records = ReadonlyMap<string, RecordType>;

export function readRecords(current: readonly Item[], wanted: readonly Item[]): Records {
  const old = fieldsByName(current);
  return new Map(
    [...fieldsByName(wanted)].flatMap(([name, after]) => {
      const before = old.get(name);
      return before === undefined ? [] : [[name, { before, after }] as const];
    }),
  );
}

function fieldsByName(items: readonly Item[]): ReadonlyMap<string, readonly Column[]> {
  return new Map(
    items.flatMap(({ structure, addresses }) => {
      if (structure?.kind === 'table') return [[structure.table.name, structure.table.columns] as const];
      if (structure?.kind !== 'composite') return [];
      return [[addresses[0]!.target!.replace('TYPE ', ''), structure.attributes] as const];
    }),
  );
}

/** Whether both schemas have the type, or the type of its elements, as a record. */
export function isRecord(type: string, records: Records): boolean {
  return records.has(elementType(type));
}

export function elementType(type: string): string {
  return type.replace(/(?:\[\])*$/, '');
}
