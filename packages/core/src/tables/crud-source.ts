import { decodeCode, parseJsonObject } from '../catalog/json-object.ts';
import { filterValues } from '../catalog/filters.sql.ts';
import { queryCatalog } from '../catalog/query-catalog.ts';
import type { Routine } from '../catalog/routine.ts';
import type { Filters, RoutineSource } from '../catalog/routine-source.ts';
import { type TableOperation, tableOperations } from '../catalog/table.ts';
import { createTypeLookup, decodeTypeRow } from '../catalog/type-lookup.ts';
import type { QueryBuilder } from '../ports/ports.ts';
import { type CrudOptions, type ResolvedCrudOptions, resolveCrudOptions } from './crud-options.ts';
import {
  type ComparableTypes,
  decodeComparableTypes,
  decodeTable,
  decodeTypeOperators,
  type Table,
} from './decode-table.ts';
import { operationDefinitions, toRoutine } from './operations.ts';
import { requireTable } from './provided-columns.ts';
import { buildSelect } from './select-query.ts';
import { customTablesSql, tablesSql } from './tables.sql.ts';
import { buildDelete, buildUpdate, createInsertBuilder } from './write-queries.ts';

/** A source of endpoints that builds the query of each request. */
export interface CrudSource extends RoutineSource {
  readonly buildQuery: QueryBuilder;
}

/**
 * Returns the source of tables and views: up to eleven operations each, ordered by schema, name and operation. Reading throws
 * `MalformedRow` for an invalid row of a custom query, and errors of the database.
 * @throws RangeError that names an invalid option
 */
export function crudSource(options: CrudOptions = {}): CrudSource {
  const resolved = resolveCrudOptions(options);
  const customSql = resolved.query === null ? null : customTablesSql(resolved.query);
  return Object.freeze({
    name: 'crud',
    async read(database, filters) {
      const values = filterValues(resolveFilters(resolved, filters));
      // A custom query runs with the `search_path` of the connection.
      const rows = await (customSql === null
        ? queryCatalog(database, tablesSql, values)
        : database.query(customSql, values));
      return listRoutines(decodeRows(rows), resolved);
    },
    buildQuery,
  } satisfies CrudSource);
}

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

const filterNames = [
  'includeSchemas',
  'excludeSchemas',
  'includeNames',
  'excludeNames',
  'schemaSimilarTo',
  'schemaNotSimilarTo',
  'nameSimilarTo',
  'nameNotSimilarTo',
] as const;

/** The source's filters take precedence over the gateway's. */
function resolveFilters(options: ResolvedCrudOptions, filters: Filters): Filters {
  return Object.fromEntries(filterNames.map((name) => [name, options[name] ?? filters[name] ?? null]));
}

const rowKinds = { type: 'type', comparable: 'comparable', operators: 'operators', table: 'table' } as const;

function decodeRows(rows: readonly (readonly (string | null)[])[]): readonly Table[] {
  const parsed = rows.map(([kind, facts], index) => ({
    kind: decodeCode(`row ${index + 1}, kind`, kind, rowKinds),
    facts: parseJsonObject(`row ${index + 1}, facts`, facts ?? null),
  }));
  const factsOf = (kind: keyof typeof rowKinds): readonly (typeof parsed)[number]['facts'][] =>
    parsed.filter((row) => row.kind === kind).map(({ facts }) => facts);
  const findType = createTypeLookup(factsOf('type').map(decodeTypeRow));
  const comparable = mergeComparableTypes(factsOf('comparable').map(decodeComparableTypes));
  const operators = new Map(factsOf('operators').map(decodeTypeOperators));
  return factsOf('table')
    .map((facts) => decodeTable(facts, { findType, comparable, operators }))
    .toSorted((left, right) => compareText(left.schema, right.schema) || compareText(left.name, right.name));
}

function mergeComparableTypes(parts: readonly ComparableTypes[]): ComparableTypes {
  return {
    ordered: new Set(parts.flatMap(({ ordered }) => [...ordered])),
    equal: new Set(parts.flatMap(({ equal }) => [...equal])),
  };
}

/** Compares code units: the order does not depend on a locale. */
function compareText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

async function listRoutines(tables: readonly Table[], options: ResolvedCrudOptions): Promise<readonly Routine[]> {
  const routines: Routine[] = [];
  for (const table of tables) {
    for (const operation of tableOperations) {
      if (!options.operations.has(operation) || !operationDefinitions[operation].isAvailable(table)) continue;
      const routine = toRoutine(table, operation, options);
      // The host's callback is called in order, one routine at a time.
      // oxlint-disable-next-line no-await-in-loop
      if (options.created === null || (await options.created(routine, operation))) routines.push(routine);
    }
  }
  return routines;
}
