import type { DefaultRoute, Routine, TableOperation } from '@pgway/core';
import { displayIdentifier, type Table, toParameter, toRoutine } from '@pgway/core/internal';
import type { ResolvedPostgrestOptions } from './options.ts';
import { toTransactionOptions } from './transaction-options.ts';

/** The method of an operation, and the operations of `crudTypes` that publish it. */
interface MethodDefinition {
  readonly method: DefaultRoute['method'];
  readonly title: string;
  readonly enabledBy: readonly TableOperation[];
  readonly isAvailable: (table: Table) => boolean;
}

const canInsert = ({ insertable, columns }: Table): boolean => insertable && columns.length > 0;
const hasKey = ({ columns }: Table): boolean => columns.some(({ key }) => key);

/** One operation stands for each method: its query builder reads the preferences of a request. */
export type PostgrestOperation = Extract<
  TableOperation,
  'select' | 'insertReturning' | 'insertOnConflictDoUpdateReturning' | 'updateReturning' | 'deleteReturning'
>;

const ignoring: readonly TableOperation[] = ['insertOnConflictDoNothing', 'insertOnConflictDoNothingReturning'];
const merging: readonly TableOperation[] = ['insertOnConflictDoUpdate', 'insertOnConflictDoUpdateReturning'];

const methods: Readonly<Record<PostgrestOperation, MethodDefinition>> = {
  select: {
    method: 'GET',
    title: 'select',
    enabledBy: ['select'],
    isAvailable: ({ columns }) => columns.length > 0,
  },
  insertReturning: {
    method: 'POST',
    title: 'insert',
    enabledBy: ['insert', 'insertReturning'],
    isAvailable: canInsert,
  },
  insertOnConflictDoUpdateReturning: {
    method: 'PUT',
    title: 'upsert',
    enabledBy: merging,
    isAvailable: (table) => canInsert(table) && table.updatable && table.arbiter && hasKey(table),
  },
  updateReturning: {
    method: 'PATCH',
    title: 'update',
    enabledBy: ['update', 'updateReturning'],
    isAvailable: ({ updatable, columns }) => updatable && columns.length > 0,
  },
  deleteReturning: {
    method: 'DELETE',
    title: 'delete',
    enabledBy: ['delete', 'deleteReturning'],
    isAvailable: ({ deletable, columns }) => deletable && columns.length > 0,
  },
};

const operations = Object.keys(methods) as readonly PostgrestOperation[];

/** Returns the operations of a table, one for each method. */
export function postgrestOperations(table: Table, options: ResolvedPostgrestOptions): readonly PostgrestOperation[] {
  return operations.filter((operation) => {
    const { enabledBy, isAvailable } = methods[operation];
    return isAvailable(table) && isEnabled(options, enabledBy);
  });
}

function isEnabled({ operations: enabled }: ResolvedPostgrestOptions, types: readonly TableOperation[]): boolean {
  return types.some((type) => enabled.has(type));
}

/** Describes the operation as a routine at the path of PostgREST: the exact name of the table. */
export function toPostgrestRoutine(
  table: Table,
  operation: PostgrestOperation,
  options: ResolvedPostgrestOptions,
): Routine {
  const routine = toRoutine(table, operation, options);
  const { method, title } = methods[operation];
  const { path, allowAggregates, allowUnfilteredUpdate, planEnabled } = options;
  const canMerge = table.updatable && isEnabled(options, merging);
  return Object.freeze({
    ...routine,
    route: { method, urlPattern: `${path}/${encodeURIComponent(table.name)}` },
    table: {
      ...routine.table!,
      requiresRow: false,
      sourceData: {
        path,
        transaction: toTransactionOptions(options),
        allowAggregates,
        allowUnfilteredUpdate,
        planEnabled,
        conflictActions: [
          ...(canMerge ? (['merge'] as const) : []),
          ...(isEnabled(options, ignoring) ? (['ignore'] as const) : []),
        ],
        maxRows: options.limits.maxLimit,
      },
    },
    // All of them: a query builder needs their types.
    parameters: table.columns.map(toParameter),
    signature: `postgrest ${title} ${displayIdentifier(table.schema)}.${displayIdentifier(table.name)}`,
  });
}
