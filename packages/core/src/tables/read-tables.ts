/** Reads tables and views from the catalog, for the sources that publish them. */
import { filterValues } from '../catalog/filters.sql.ts';
import { decodeCode, type JsonObject, parseJsonObject } from '../catalog/json-object.ts';
import type { Filters } from '../catalog/options.ts';
import { queryCatalog } from '../catalog/query-catalog.ts';
import type { Routine } from '../catalog/routine.ts';
import { mapInSlices, runInSlices } from '../catalog/slices.ts';
import type { Steps } from '../catalog/steps.ts';
import type { TableOperation } from '../catalog/table.ts';
import { createTypeLookup, decodeTypeRow } from '../catalog/type-lookup.ts';
import type { Database, TextTable } from '../postgres/port.ts';
import type { ResolvedCrudOptions } from './crud-options.ts';
import {
  type ComparableTypes,
  decodeComparableTypes,
  decodeTable,
  decodeTypeOperators,
  type Table,
} from './decode-table.ts';
import { customTablesSql, tablesSql } from './tables.sql.ts';

/**
 * Reads the tables and views that the filters select, ordered by schema and name. Throws `MalformedRow` for an invalid row of a custom
 * query, and errors of the database.
 * @param query replaces the query of the catalog; null: none does
 * @param keepsDefaults whether columns have the expressions of their defaults
 */
export async function readTables(
  database: Database,
  filters: Filters,
  { query, keepsDefaults }: { readonly query: string | null; readonly keepsDefaults: boolean },
): Promise<readonly Table[]> {
  const values = filterValues(filters);
  // A custom query runs with the `search_path` of the connection.
  const rows = await (query === null
    ? queryCatalog(database, tablesSql, values)
    : database.query(customTablesSql(query), values));
  return runInSlices(decodeRows(rows, keepsDefaults));
}

/** Describes the operations of tables as routines, without those that the host's callback leaves out. */
export async function listRoutines<Operation extends TableOperation>(
  tables: readonly Table[],
  operationsOf: (table: Table) => readonly Operation[],
  toRoutine: (table: Table, operation: Operation) => Routine,
  created: ResolvedCrudOptions['created'],
): Promise<readonly Routine[]> {
  const available = tables.flatMap((table) => operationsOf(table).map((operation) => ({ table, operation })));
  // The host's callback is called in order, one routine at a time.
  const routines = await mapInSlices(available, async ({ table, operation }) => {
    const routine = toRoutine(table, operation);
    return created === null || (await created(routine, operation)) ? [routine] : [];
  });
  return routines.flat();
}

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
export function resolveFilters(options: ResolvedCrudOptions, filters: Filters): Filters {
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
