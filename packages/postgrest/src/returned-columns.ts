import type { TableColumn } from '@pgway/core';
import type { OrderTerm, SelectItem } from './read/query.ts';
import { findRelationship } from './read/relationships.ts';
import type { Read } from './read/select-builder.ts';

/**
 * Returns the columns that the representation of written rows needs. RETURNING with other columns would need privileges on them.
 * @throws Problem PGRST200, PGRST201
 */
export function returnedColumns(read: Read): readonly TableColumn[] {
  const { columns } = read.relation;
  const order = read.query.levels.get('')?.order ?? [];
  // A related row may be joined by any column.
  if (order.some(({ relation }) => relation !== null)) return [...columns.values()];
  const names = new Set([...read.query.items.flatMap((item) => itemColumns(read, item)), ...order.map(orderColumn)]);
  return [...columns.values()].filter(({ name }) => names.has(name));
}

const orderColumn = ({ field }: OrderTerm): string => field.column;

function itemColumns({ model, relation }: Read, item: SelectItem): readonly string[] {
  switch (item.kind) {
    case 'all':
      return [...relation.columns.keys()];
    case 'column':
      return [item.field.column];
    case 'aggregate':
      return item.argument === null ? [] : [item.argument.field.column];
    case 'relation': {
      const { pairs, junction } = findRelationship(model, relation, item);
      return junction === null ? pairs.map(([outer]) => outer) : junction.outer.map(([, outer]) => outer);
    }
  }
}
