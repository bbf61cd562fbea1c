import { displayIdentifier } from '../catalog/quote.ts';
import type { DefaultRoute, Routine, RoutineParameter, RoutineResult } from '../catalog/routine.ts';
import type { TableColumn, TableOperation } from '../catalog/table.ts';
import type { ResolvedCrudOptions } from './crud-options.ts';
import type { Table } from './decode-table.ts';

/** The properties of an operation that are equal for all tables. */
interface OperationDefinition {
  readonly method: DefaultRoute['method'];
  /** The first part of the signature: `insert on conflict do nothing returning`. */
  readonly title: string;
  readonly tags: readonly string[];
  readonly isAvailable: (table: Table) => boolean;
  /** Whether requests may provide the column. */
  readonly acceptsColumn: (column: TableColumn) => boolean;
}

const hasKey = ({ columns }: Table): boolean => columns.some(({ key }) => key);
const canUpdate = (table: Table): boolean => table.updatable && hasKey(table);
const canUpsert = (table: Table): boolean => table.insertable && table.arbiter && hasKey(table);
/** RETURNING needs a column. */
const hasColumns = ({ columns }: Table): boolean => columns.length > 0;

/** Returns whether an UPDATE may set the column. */
export function isSettable(column: Omit<TableColumn, 'type'>): boolean {
  return !column.key && column.writable && !column.generated && column.identity !== 'always';
}

const any = (): boolean => true;
const isInsertable = (column: TableColumn): boolean => column.writable && !column.generated;
const isKeyOrSettable = (column: TableColumn): boolean => column.key || isSettable(column);

const insertTags = ['insert', 'put', 'create'];
const conflictTags = (kind: 'do_nothing' | 'do_update', suffix: '' | '_returning'): readonly string[] => [
  ...insertTags,
  'on_conflict',
  `on_conflict_${kind}`,
  `insert_on_conflict_${kind}`,
  ...(suffix === '' ? [] : [`insert_on_conflict_${kind}${suffix}`, 'returning']),
];

const accepts = { select: any, update: isKeyOrSettable, delete: any, insert: isInsertable };

export const operationDefinitions: Readonly<Record<TableOperation, OperationDefinition>> = {
  select: {
    method: 'GET',
    title: 'select',
    tags: ['select', 'read', 'get'],
    isAvailable: any,
    acceptsColumn: accepts.select,
  },
  update: {
    method: 'POST',
    title: 'update',
    tags: ['update', 'post'],
    isAvailable: canUpdate,
    acceptsColumn: accepts.update,
  },
  updateReturning: {
    method: 'POST',
    title: 'update returning',
    tags: ['update', 'post', 'update_returning', 'returning'],
    isAvailable: canUpdate,
    acceptsColumn: accepts.update,
  },
  delete: {
    method: 'DELETE',
    title: 'delete',
    tags: ['delete'],
    isAvailable: ({ deletable }) => deletable,
    acceptsColumn: accepts.delete,
  },
  deleteReturning: {
    method: 'DELETE',
    title: 'delete returning',
    tags: ['delete', 'delete_returning', 'returning'],
    isAvailable: (table) => table.deletable && hasColumns(table),
    acceptsColumn: accepts.delete,
  },
  insert: {
    method: 'PUT',
    title: 'insert',
    tags: insertTags,
    isAvailable: ({ insertable: can }) => can,
    acceptsColumn: accepts.insert,
  },
  insertReturning: {
    method: 'PUT',
    title: 'insert returning',
    tags: [...insertTags, 'insert_returning', 'returning'],
    isAvailable: (table) => table.insertable && hasColumns(table),
    acceptsColumn: accepts.insert,
  },
  insertOnConflictDoNothing: {
    method: 'PUT',
    title: 'insert on conflict do nothing',
    tags: conflictTags('do_nothing', ''),
    isAvailable: canUpsert,
    acceptsColumn: accepts.insert,
  },
  insertOnConflictDoNothingReturning: {
    method: 'PUT',
    title: 'insert on conflict do nothing returning',
    tags: conflictTags('do_nothing', '_returning'),
    isAvailable: canUpsert,
    acceptsColumn: accepts.insert,
  },
  insertOnConflictDoUpdate: {
    method: 'PUT',
    title: 'insert on conflict do update',
    tags: conflictTags('do_update', ''),
    isAvailable: (table) => canUpsert(table) && table.updatable,
    acceptsColumn: accepts.insert,
  },
  insertOnConflictDoUpdateReturning: {
    method: 'PUT',
    title: 'insert on conflict do update returning',
    tags: conflictTags('do_update', '_returning'),
    isAvailable: (table) => canUpsert(table) && table.updatable,
    acceptsColumn: accepts.insert,
  },
};

function returnsRows(operation: TableOperation): boolean {
  return operation === 'select' || operation.endsWith('Returning');
}

/** Describes an operation on a table as a routine. The columns are its parameters, all of them optional. */
export function toRoutine(table: Table, operation: TableOperation, options: ResolvedCrudOptions): Routine {
  const { method, title, tags, acceptsColumn } = operationDefinitions[operation];
  const { columns, constraintMessages, changeSources } = table;
  const displayName = `${displayIdentifier(table.schema)}.${displayIdentifier(table.name)}`;
  return Object.freeze({
    kind: table.kind,
    schema: table.schema,
    name: table.name,
    route: { method, urlPattern: options.patterns[operation] },
    tags,
    ...(options.commentsMode === null ? {} : { commentsMode: options.commentsMode }),
    table: {
      operation,
      columns,
      versioned: table.kind === 'table' || table.kind === 'partitioned table',
      listing: options.listing ? options.limits : null,
      listingLimits: options.limits,
      allowUnfilteredDelete: options.allowUnfilteredDelete,
      requiresRow:
        !options.allowMissingRow && (operation === 'update' || operation === 'delete') && table.counted[operation],
      constraintMessages,
      ...(changeSources === null ? {} : { changeSources }),
      ...(operation === 'select' ? { sourceData: {} } : {}),
    },
    parameters: columns.filter(acceptsColumn).map(toParameter),
    outputs: [],
    result: toResult(operation, columns, displayName),
    volatility: operation === 'select' ? 'stable' : 'volatile',
    strict: false,
    language: 'sql',
    comment: table.comment,
    signature: `${title} ${displayName}`,
  });
}

function toResult(operation: TableOperation, columns: readonly TableColumn[], displayName: string): RoutineResult {
  if (!returnsRows(operation)) return { kind: 'void', set: false, columns: [], named: false, display: 'void' };
  return { kind: 'composite', set: true, columns, named: false, display: `SETOF ${displayName}` };
}

/** Describes a column as an optional parameter. */
export function toParameter({ name, type }: TableColumn, index: number): RoutineParameter {
  return Object.freeze({ name, position: index + 1, type, hasDefault: true, variadic: false, mode: 'in' });
}
