import { displayIdentifier as label } from '../catalog/quote.ts';
import type { DefaultRoute, Routine, RoutineParameter, RoutineResult } from '../catalog/routine.ts';
import type { TableColumn, TableOperation } from '../catalog/table.ts';
import type { CrudSettings } from './options.ts';
import type { Table } from './table-row.ts';

/** What is the same for an operation on every table. */
interface Operation {
  readonly method: DefaultRoute['method'];
  /** For people: `insert on conflict do nothing returning`. */
  readonly title: string;
  readonly tags: readonly string[];
  readonly exists: (table: Table) => boolean;
  /** The columns that a request may name. */
  readonly takes: (column: TableColumn) => boolean;
}

const hasKey = ({ columns }: Table): boolean => columns.some(({ key }) => key);
const canUpdate = (table: Table): boolean => table.updatable && hasKey(table);
const canUpsert = (table: Table): boolean => table.insertable && table.arbiter && hasKey(table);
/** SQL knows no RETURNING of nothing. */
const hasColumns = ({ columns }: Table): boolean => columns.length > 0;

/** Whether `set` may name the column. */
export function settable(column: Omit<TableColumn, 'type'>): boolean {
  return !column.key && column.writable && !column.generated && column.identity !== 'always';
}

const any = (): boolean => true;
const insertable = (column: TableColumn): boolean => column.writable && !column.generated;
const conditionOrSet = (column: TableColumn): boolean => column.key || settable(column);

const insertTags = ['insert', 'put', 'create'];
const conflictTags = (kind: 'do_nothing' | 'do_update', suffix: '' | '_returning'): readonly string[] => [
  ...insertTags,
  'on_conflict',
  `on_conflict_${kind}`,
  `insert_on_conflict_${kind}`,
  ...(suffix === '' ? [] : [`insert_on_conflict_${kind}${suffix}`, 'returning']),
];

const write = { select: any, update: conditionOrSet, delete: any, insert: insertable };

export const operations: Readonly<Record<TableOperation, Operation>> = {
  select: { method: 'GET', title: 'select', tags: ['select', 'read', 'get'], exists: any, takes: write.select },
  update: { method: 'POST', title: 'update', tags: ['update', 'post'], exists: canUpdate, takes: write.update },
  updateReturning: {
    method: 'POST',
    title: 'update returning',
    tags: ['update', 'post', 'update_returning', 'returning'],
    exists: canUpdate,
    takes: write.update,
  },
  delete: {
    method: 'DELETE',
    title: 'delete',
    tags: ['delete'],
    exists: ({ deletable }) => deletable,
    takes: write.delete,
  },
  deleteReturning: {
    method: 'DELETE',
    title: 'delete returning',
    tags: ['delete', 'delete_returning', 'returning'],
    exists: (table) => table.deletable && hasColumns(table),
    takes: write.delete,
  },
  insert: {
    method: 'PUT',
    title: 'insert',
    tags: insertTags,
    exists: ({ insertable: can }) => can,
    takes: write.insert,
  },
  insertReturning: {
    method: 'PUT',
    title: 'insert returning',
    tags: [...insertTags, 'insert_returning', 'returning'],
    exists: (table) => table.insertable && hasColumns(table),
    takes: write.insert,
  },
  insertOnConflictDoNothing: {
    method: 'PUT',
    title: 'insert on conflict do nothing',
    tags: conflictTags('do_nothing', ''),
    exists: canUpsert,
    takes: write.insert,
  },
  insertOnConflictDoNothingReturning: {
    method: 'PUT',
    title: 'insert on conflict do nothing returning',
    tags: conflictTags('do_nothing', '_returning'),
    exists: canUpsert,
    takes: write.insert,
  },
  insertOnConflictDoUpdate: {
    method: 'PUT',
    title: 'insert on conflict do update',
    tags: conflictTags('do_update', ''),
    exists: (table) => canUpsert(table) && table.updatable,
    takes: write.insert,
  },
  insertOnConflictDoUpdateReturning: {
    method: 'PUT',
    title: 'insert on conflict do update returning',
    tags: conflictTags('do_update', '_returning'),
    exists: (table) => canUpsert(table) && table.updatable,
    takes: write.insert,
  },
};

/** Whether the operation answers with rows. */
export function answersRows(operation: TableOperation): boolean {
  return operation === 'select' || operation.endsWith('Returning');
}

/** The operation on the table as a routine: its columns are the parameters, all of which may be left out. */
export function routineOf(table: Table, operation: TableOperation, settings: CrudSettings): Routine {
  const { method, title, tags, takes } = operations[operation];
  const { columns, constraintMessages } = table;
  const shown = `${label(table.schema)}.${label(table.name)}`;
  return Object.freeze({
    kind: table.kind,
    schema: table.schema,
    name: table.name,
    route: { method, urlPattern: settings.patterns[operation] },
    tags,
    ...(settings.commentsMode === null ? {} : { commentsMode: settings.commentsMode }),
    table: {
      operation,
      columns,
      versioned: table.kind === 'table' || table.kind === 'partitioned table',
      listing: settings.listing ? settings.limits : null,
      listingLimits: settings.limits,
      allowUnfilteredDelete: settings.allowUnfilteredDelete,
      constraintMessages,
    },
    parameters: columns.filter(takes).map(parameterOf),
    outputs: [],
    result: resultOf(operation, columns, shown),
    volatility: operation === 'select' ? 'stable' : 'volatile',
    strict: false,
    language: 'sql',
    comment: table.comment,
    signature: `${title} ${shown}`,
  });
}

function resultOf(operation: TableOperation, columns: readonly TableColumn[], shown: string): RoutineResult {
  if (!answersRows(operation)) return { kind: 'void', set: false, columns: [], named: false, display: 'void' };
  return { kind: 'composite', set: true, columns, named: false, display: `SETOF ${shown}` };
}

function parameterOf({ name, type }: TableColumn, index: number): RoutineParameter {
  return Object.freeze({ name, position: index + 1, type, hasDefault: true, variadic: false, mode: 'in' });
}
