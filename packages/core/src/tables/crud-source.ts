import { filterValues } from '../catalog/filters.sql.ts';
import { readFingerprint } from '../catalog/fingerprint.ts';
import type { RoutineSource } from '../catalog/routine-source.ts';
import { type TableOperation, tableOperations } from '../catalog/table.ts';
import type { QueryBuilder, QuerySource } from '../ports/ports.ts';
import { buildChangeStatements } from './change-query.ts';
import { type CrudOptions, type ResolvedCrudOptions, resolveCrudOptions } from './crud-options.ts';
import type { Table } from './decode-table.ts';
import { operationDefinitions, toRoutine } from './operations.ts';
import { requireTable } from './provided-columns.ts';
import { listRoutines, readTables, resolveFilters } from './read-tables.ts';
import { createReadTargets, keyFactsSql, readKeyFacts } from './read-targets.ts';
import { buildSelect } from './select-query.ts';
import { tablesSql } from './tables.sql.ts';
import { buildDelete, buildUpdate, createInsertBuilder } from './write-queries.ts';

/** A source of endpoints that builds the query of each request. */
export type CrudSource = RoutineSource &
  Pick<QuerySource, 'buildQuery' | 'buildChanges' | 'readsTables' | 'endpointsLoaded'>;

/**
 * Returns the source of tables and views: up to eleven operations each, ordered by schema, name and operation. Reading throws
 * `MalformedRow` for an invalid row of a custom query, and errors of the database.
 * @throws RangeError that names an invalid option
 */
export function crudSource(options: CrudOptions = {}): CrudSource {
  const resolved = resolveCrudOptions(options);
  const { query } = resolved;
  return Object.freeze({
    name: 'crud',
    readsTables: true,
    ...(query === null
      ? {
          fingerprint: (database, filters) =>
            readFingerprint(database, fingerprintSql, filterValues(resolveFilters(resolved, filters))),
        }
      : {}),
    async read(database, filters) {
      const tables = await readTables(database, resolveFilters(resolved, filters), { query, keepsDefaults: false });
      const routines = await listRoutines(
        tables,
        (table) => availableOperations(table, resolved),
        (table, operation) => toRoutine(table, operation, resolved),
        resolved.created,
      );
      await readKeyFacts(database, routines);
      return routines;
    },
    buildQuery,
    buildChanges: buildChangeStatements,
    endpointsLoaded: createReadTargets,
  } satisfies CrudSource);
}

const fingerprintSql = `${tablesSql} union all ${keyFactsSql}`;

const builders: Readonly<Record<TableOperation, QueryBuilder>> = {
  select: buildSelect,
  update: buildUpdate,
  updateReturning: buildUpdate,
  delete: buildDelete,
  deleteReturning: buildDelete,
  insert: createInsertBuilder(null),
  insertReturning: createInsertBuilder(null),
  insertOnConflictDoNothing: createInsertBuilder('nothing'),
  insertOnConflictDoNothingReturning: createInsertBuilder('nothing'),
  insertOnConflictDoUpdate: createInsertBuilder('update'),
  insertOnConflictDoUpdateReturning: createInsertBuilder('update'),
};

const buildQuery: QueryBuilder = (input) => builders[requireTable(input.endpoint).operation](input);

function availableOperations(table: Table, { operations }: ResolvedCrudOptions): readonly TableOperation[] {
  return tableOperations.filter(
    (operation) => operations.has(operation) && operationDefinitions[operation].isAvailable(table),
  );
}
