import type { TableOperation } from '../catalog/table.ts';
import type { QueryBuilder } from '../ports/ports.ts';
import { buildDelete } from './delete.ts';
import { requireTable } from './provided-columns.ts';
import { insertBuilder } from './write-queries.ts';
import { buildSelect } from './select-query.ts';
import { buildUpdate } from './update.ts';

const makers: Readonly<Record<TableOperation, QueryBuilder>> = {
  select: buildSelect,
  update: buildUpdate,
  updateReturning: buildUpdate,
  delete: buildDelete,
  deleteReturning: buildDelete,
  insert: insertBuilder(null),
  insertReturning: insertBuilder(null),
  insertOnConflictDoNothing: insertBuilder('nothing'),
  insertOnConflictDoNothingReturning: insertBuilder('nothing'),
  insertOnConflictDoUpdate: insertBuilder('update'),
  insertOnConflictDoUpdateReturning: insertBuilder('update'),
};

/** The statement of an operation on a table, for the columns that a request gives: made of the names of the catalog, values bound. */
export const buildTableQuery: QueryBuilder = (parts) => makers[requireTable(parts.endpoint).operation](parts);
