import { decodeCode, type JsonObject, parseJsonObject } from '../catalog/json-object.ts';
import { filterValues } from '../catalog/filters.sql.ts';
import { readFingerprint } from '../catalog/fingerprint.ts';
import { queryCatalog } from '../catalog/query-catalog.ts';
import type { Database, TextTable } from '../postgres/port.ts';
import type { Routine } from '../catalog/routine.ts';
import type { Filters } from '../catalog/options.ts';
import type { RoutineSource } from '../catalog/routine-source.ts';
import { mapInSlices, runInSlices } from '../catalog/slices.ts';
import type { Steps } from '../catalog/steps.ts';
import { type TableOperation, tableOperations } from '../catalog/table.ts';
import { createTypeLookup, decodeTypeRow } from '../catalog/type-lookup.ts';
import type { DerivingSource } from '../endpoints/deriving-source.ts';
import type { QueryBuilder, QuerySource } from '../ports/ports.ts';
import { type CrudOptions, type ResolvedCrudOptions, resolveCrudOptions } from './crud-options.ts';
import {
  type ComparableTypes,
  decodeComparableTypes,
  decodeTable,
  decodeTypeOperators,
  type Table,
} from './decode-table.ts';
import { operationDefinitions, toRoutine } from './operations.ts';
import { buildPostgrestQuery } from './postgrest/build-query.ts';
import { createRpcEndpoints } from './postgrest/rpc/rpc-endpoints.ts';
import { createReadModels, keepKeyFacts } from './postgrest/read-models.ts';
import { foreignKeysSql } from './postgrest/read/foreign-keys.sql.ts';
import { decodeForeignKeys } from './postgrest/read/relationships.ts';
import { viewColumnsSql } from './postgrest/read/view-columns.sql.ts';
import { decodeViewColumns } from './postgrest/read/view-keys.ts';
import { postgrestOperations, toPostgrestRoutine } from './postgrest/postgrest-routines.ts';
import { compareSchemas } from './postgrest/schema-order.ts';
import { requireTable } from './provided-columns.ts';
import { buildSelect } from './select-query.ts';
import { customTablesSql, tablesSql } from './tables.sql.ts';
import { buildDelete, buildUpdate, createInsertBuilder } from './write-queries.ts';

/** A source of endpoints that builds the query of each request. */
export type CrudSource = RoutineSource & Pick<QuerySource, 'buildQuery'> & Partial<QuerySource> & DerivingSource;

/**
 * Returns the source of tables and views: up to eleven operations each, ordered by schema, name and operation. Reading throws
 * `MalformedRow` for an invalid row of a custom query, and errors of the database.
 * @throws RangeError that names an invalid option
 */
export function crudSource(options: CrudOptions = {}): CrudSource {
  const resolved = resolveCrudOptions(options);
  const isPostgrest = resolved.dialect === 'postgrest';
  const customSql = resolved.query === null ? null : customTablesSql(resolved.query);
  return Object.freeze({
    name: isPostgrest ? 'postgrest' : 'crud',
    ...(customSql === null
      ? {
          fingerprint: (database: Database, filters: Filters) =>
            readFingerprint(database, fingerprintSql(isPostgrest), filterValues(resolveFilters(resolved, filters))),
        }
      : {}),
    async read(database, filters) {
      const applied = resolveFilters(resolved, filters);
      const values = filterValues(applied);
      // A custom query runs with the `search_path` of the connection.
      const rows = await (customSql === null
        ? queryCatalog(database, tablesSql, values)
        : database.query(customSql, values));
      const tables = await runInSlices(decodeRows(rows, isPostgrest));
      if (!isPostgrest) return listRoutines(tables, resolved);
      // The first schema with a name has the requests that name no schema.
      const routines = await listRoutines(tables.toSorted(compareSchemas(applied.includeSchemas ?? null)), resolved);
      await readKeyFacts(database, routines);
      return routines;
    },
    ...(isPostgrest
      ? {
          buildQuery: buildPostgrestQuery,
          endpointsLoaded: createReadModels,
          deriveEndpoints: (endpoints, routines, includeSchemas) => {
            const order = compareSchemas(resolved.includeSchemas ?? includeSchemas ?? null);
            return createRpcEndpoints(endpoints.toSorted(order), routines, resolved);
          },
        }
      : { buildQuery }),
  } satisfies CrudSource);
}

/** Foreign keys, and the views that show their columns, are part of what the endpoints depend on. */
function fingerprintSql(isPostgrest: boolean): string {
  return isPostgrest
    ? `${tablesSql} union all select 'foreign key', keys.facts from (${foreignKeysSql}) keys (facts)
      union all select 'view column', columns.facts from (${viewColumnsSql}) columns (facts)`
    : tablesSql;
}

async function readKeyFacts(database: Database, routines: readonly Routine[]): Promise<void> {
  const foreignKeys = decodeForeignKeys(await queryCatalog(database, foreignKeysSql, []));
  const viewColumns = decodeViewColumns(await queryCatalog(database, viewColumnsSql, []));
  keepKeyFacts(
    routines.map(({ table }) => table!.postgrest!),
    { foreignKeys, viewColumns },
  );
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

function* decodeRows(rows: TextTable, keepsDefaults: boolean): Steps<readonly Table[]> {
  const factsOf: Readonly<Record<keyof typeof rowKinds, JsonObject[]>> = {
    type: [],
    comparable: [],
    operators: [],
    table: [],
  };
  for (const [index, [kind, facts]] of rows.entries()) {
    const rowKind = decodeCode(`row ${index + 1}, kind`, kind, rowKinds);
    factsOf[rowKind].push(parseJsonObject(`row ${index + 1}, facts`, facts ?? null));
    yield;
  }
  const findType = createTypeLookup(factsOf.type.map(decodeTypeRow));
  const comparable = mergeComparableTypes(factsOf.comparable.map(decodeComparableTypes));
  const operators = new Map(factsOf.operators.map(decodeTypeOperators));
  const tables: Table[] = [];
  for (const facts of factsOf.table) {
    tables.push(decodeTable(facts, { findType, comparable, operators, keepsDefaults }));
    yield;
  }
  return tables.toSorted((left, right) => compareText(left.schema, right.schema) || compareText(left.name, right.name));
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

function availableOperations(table: Table, { operations }: ResolvedCrudOptions): readonly TableOperation[] {
  return tableOperations.filter(
    (operation) => operations.has(operation) && operationDefinitions[operation].isAvailable(table),
  );
}

async function listRoutines(tables: readonly Table[], options: ResolvedCrudOptions): Promise<readonly Routine[]> {
  const available = tables.flatMap((table) =>
    (options.dialect === 'postgrest' ? postgrestOperations(table, options) : availableOperations(table, options)).map(
      (operation) => ({ table, operation }),
    ),
  );
  const create = options.dialect === 'postgrest' ? toPostgrestRoutine : toRoutine;
  // The host's callback is called in order, one routine at a time.
  const routines = await mapInSlices(available, async ({ table, operation }) => {
    const routine = create(table, operation, options);
    return options.created === null || (await options.created(routine, operation)) ? [routine] : [];
  });
  return routines.flat();
}
