import type { TableColumn } from '@pgway/core';
import { computedOf, findRelationship, type OrderTerm, type Read, type SelectItem } from '@pgway/core/internal';

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
  // A function takes the whole row.
  const takesRow = [...names].some((name) => !columns.has(name) && computedOf(read.model, read.relation)?.has(name));
  return [...columns.values()].filter(({ name }) => takesRow || names.has(name));
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
      const { pairs, junction, computedBy } = findRelationship(model, relation, item);
      if (computedBy !== null) return [...relation.columns.keys()];
      return junction === null ? pairs.map(([outer]) => outer) : junction.outer.map(([, outer]) => outer);
    }
  }
}
