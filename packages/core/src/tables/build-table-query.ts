import type { TableOperation } from '../catalog/table.ts';
import type { QueryBuilder } from '../ports/ports.ts';
import { deleteCommand } from './delete.ts';
import { tableOf } from './provided-columns.ts';
import { insertCommand } from './insert.ts';
import { selectCommand } from './select.ts';
import { updateCommand } from './update.ts';

const makers: Readonly<Record<TableOperation, QueryBuilder>> = {
  select: selectCommand,
  update: updateCommand,
  updateReturning: updateCommand,
  delete: deleteCommand,
  deleteReturning: deleteCommand,
  insert: insertCommand(null),
  insertReturning: insertCommand(null),
  insertOnConflictDoNothing: insertCommand('nothing'),
  insertOnConflictDoNothingReturning: insertCommand('nothing'),
  insertOnConflictDoUpdate: insertCommand('update'),
  insertOnConflictDoUpdateReturning: insertCommand('update'),
};

/** The statement of an operation on a table, for the columns that a request gives: made of the names of the catalog, values bound. */
export const buildTableQuery: QueryBuilder = (parts) => makers[tableOf(parts.endpoint).operation](parts);
