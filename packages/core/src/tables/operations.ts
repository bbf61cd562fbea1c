import { displayIdentifier as label } from '../catalog/quote.ts';
import type { DefaultRoute, Routine, RoutineParameter, RoutineResult } from '../catalog/routine.ts';
import type { TableColumn, TableOperation } from '../catalog/table.ts';
import type { ResolvedCrudOptions } from './crud-options.ts';
import type { Table } from './decode-table.ts';

/** What is the same for an operation on every table. */
interface OperationDefinition {
  readonly method: DefaultRoute['method'];
  /** For people: `insert on conflict do nothing returning`. */
  readonly title: string;
  readonly tags: readonly string[];
  readonly isAvailable: (table: Table) => boolean;
  /** The columns that a request may name. */
  readonly acceptsColumn: (column: TableColumn) => boolean;
}

const hasKey = ({ columns }: Table): boolean => columns.some(({ key }) => key);
const canUpdate = (table: Table): boolean => table.updatable && hasKey(table);
const canUpsert = (table: Table): boolean => table.insertable && table.arbiter && hasKey(table);
/** SQL knows no RETURNING of nothing. */
const hasColumns = ({ columns }: Table): boolean => columns.length > 0;

/** Whether `set` may name the column. */
export function isSettable(column: Omit<TableColumn, 'type'>): boolean {
  return !column.key && column.writable && !column.generated && column.identity !== 'always';
}

const any = (): boolean => true;
const isInsertable = (column: TableColumn): boolean => column.writable && !column.generated;
const conditionOrSet = (column: TableColumn): boolean => column.key || isSettable(column);

const insertTags = ['insert', 'put', 'create'];
const conflictTags = (kind: 'do_nothing' | 'do_update', suffix: '' | '_returning'): readonly string[] => [
  ...insertTags,
  'on_conflict',
  `on_conflict_${kind}`,
  `insert_on_conflict_${kind}`,
  ...(suffix === '' ? [] : [`insert_on_conflict_${kind}${suffix}`, 'returning']),
];

const write = { select: any, update: conditionOrSet, delete: any, insert: isInsertable };

export const operationDefinitions: Readonly<Record<TableOperation, OperationDefinition>> = {
  select: {
    method: 'GET',
    title: 'select',
    tags: ['select', 'read', 'get'],
    isAvailable: any,
    acceptsColumn: write.select,
  },
  update: {
    method: 'POST',
    title: 'update',
    tags: ['update', 'post'],
    isAvailable: canUpdate,
    acceptsColumn: write.update,
  },
  updateReturning: {
    method: 'POST',
    title: 'update returning',
    tags: ['update', 'post', 'update_returning', 'returning'],
    isAvailable: canUpdate,
    acceptsColumn: write.update,
  },
  delete: {
    method: 'DELETE',
    title: 'delete',
    tags: ['delete'],
    isAvailable: ({ deletable }) => deletable,
    acceptsColumn: write.delete,
  },
  deleteReturning: {
    method: 'DELETE',
    title: 'delete returning',
    tags: ['delete', 'delete_returning', 'returning'],
    isAvailable: (table) => table.deletable && hasColumns(table),
    acceptsColumn: write.delete,
  },
  insert: {
    method: 'PUT',
    title: 'insert',
    tags: insertTags,
    isAvailable: ({ insertable: can }) => can,
    acceptsColumn: write.insert,
  },
  insertReturning: {
    method: 'PUT',
    title: 'insert returning',
    tags: [...insertTags, 'insert_returning', 'returning'],
    isAvailable: (table) => table.insertable && hasColumns(table),
    acceptsColumn: write.insert,
  },
  insertOnConflictDoNothing: {
    method: 'PUT',
    title: 'insert on conflict do nothing',
    tags: conflictTags('do_nothing', ''),
    isAvailable: canUpsert,
    acceptsColumn: write.insert,
  },
  insertOnConflictDoNothingReturning: {
    method: 'PUT',
    title: 'insert on conflict do nothing returning',
    tags: conflictTags('do_nothing', '_returning'),
    isAvailable: canUpsert,
    acceptsColumn: write.insert,
  },
  insertOnConflictDoUpdate: {
    method: 'PUT',
    title: 'insert on conflict do update',
    tags: conflictTags('do_update', ''),
    isAvailable: (table) => canUpsert(table) && table.updatable,
    acceptsColumn: write.insert,
  },
  insertOnConflictDoUpdateReturning: {
    method: 'PUT',
    title: 'insert on conflict do update returning',
    tags: conflictTags('do_update', '_returning'),
    isAvailable: (table) => canUpsert(table) && table.updatable,
    acceptsColumn: write.insert,
  },
};

/** Whether the operation answers with rows. */
export function returnsRows(operation: TableOperation): boolean {
  return operation === 'select' || operation.endsWith('Returning');
}

/** The operation on the table as a routine: its columns are the parameters, all of which may be left out. */
export function toRoutine(table: Table, operation: TableOperation, settings: ResolvedCrudOptions): Routine {
  const { method, title, tags, acceptsColumn: takes } = operationDefinitions[operation];
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
  if (!returnsRows(operation)) return { kind: 'void', set: false, columns: [], named: false, display: 'void' };
  return { kind: 'composite', set: true, columns, named: false, display: `SETOF ${shown}` };
}

function parameterOf({ name, type }: TableColumn, index: number): RoutineParameter {
  return Object.freeze({ name, position: index + 1, type, hasDefault: true, variadic: false, mode: 'in' });
}
