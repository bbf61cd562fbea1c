/** The statements that drop an element. */
import type { Table } from '../ddl/definitions/tables.ts';
import type { Item } from '../ddl/item.ts';
import { grantChanges } from './attributes.ts';
import type { Part } from './elements.ts';

/** Returns no statements for an element that goes with another one. */
export function dropStatements(item: Item, part: Part): readonly string[] {
  const { structure } = item;
  if (structure?.kind === 'table' && part.kind !== 'item') return tablePartStatements(structure.table, part);
  // Default privileges are no object: their opposite is granted and revoked.
  const privileges = item.grants.filter(({ prefix }) => prefix !== '');
  return [...item.drop, ...privileges.flatMap((grants) => grantChanges(grants, undefined))];
}

function tablePartStatements({ row, alter }: Table, part: Part): readonly string[] {
  const alterAll = alter.replace(' ONLY ', ' ');
  switch (part.kind) {
    case 'column':
      return [`${alterAll} DROP COLUMN ${part.column.name}`];
    case 'default':
      // The expression of a generated column goes with the column.
      return part.column.generated === '' ? [`${alter} ALTER COLUMN ${part.column.name} DROP DEFAULT`] : [];
    case 'identity':
      return [`${alter} ALTER COLUMN ${part.column.name} DROP IDENTITY`];
    case 'constraint':
      return [`${alterAll} DROP CONSTRAINT ${part.constraint.name}`];
    case 'parent':
      return [`ALTER TABLE ${row.name} NO INHERIT ${part.parent}`];
    case 'row type':
      return [`ALTER TABLE ${row.name} NOT OF`];
    case 'item':
      return [];
  }
}
