import { decodeCode, parseJsonObject } from '../catalog/json-object.ts';
import { filterValues } from '../catalog/filters.sql.ts';
import { queryCatalog } from '../catalog/query-catalog.ts';
import type { Routine } from '../catalog/routine.ts';
import type { Filters, RoutineSource } from '../catalog/routine-source.ts';
import { tableOperations } from '../catalog/table.ts';
import { decodeTypeRow, createTypeLookup } from '../catalog/type-lookup.ts';
import type { QueryBuilder } from '../ports/ports.ts';
import { buildTableQuery } from './build-table-query.ts';
import { operationDefinitions, toRoutine } from './operations.ts';
import { type CrudOptions, type ResolvedCrudOptions, resolveCrudOptions } from './crud-options.ts';
import {
  type ComparableTypes,
  decodeComparableTypes,
  decodeTypeOperators,
  decodeTable,
  type Table,
} from './decode-table.ts';
import { customTablesSql, tablesSql } from './tables.sql.ts';

/** A source of endpoints that makes their commands itself. */
export interface CrudSource extends RoutineSource {
  readonly buildQuery: QueryBuilder;
}

const rowKinds = { type: 'type', comparable: 'comparable', operators: 'operators', table: 'table' } as const;

/**
 * The tables and views of a database: for each one up to eleven operations, ordered by schema, name and operation.
 * Reading throws `MalformedRow` for a row that is not as documented, and what the database answers to the query itself.
 * @throws RangeError for an option that cannot be, which it names
 */
export function crudSource(options: CrudOptions = {}): CrudSource {
  const settings = resolveCrudOptions(options);
  const custom = settings.query === null ? null : customTablesSql(settings.query);
  return Object.freeze({
    name: 'crud',
    async read(database, filters) {
      const values = filterValues(ownFilters(settings, filters));
      // An author's query finds names as everything else on the connection does.
      const rows = await (custom === null ? queryCatalog(database, tablesSql, values) : database.query(custom, values));
      return routinesOf(decodeRows(rows), settings);
    },
    buildQuery: buildTableQuery,
  } satisfies CrudSource);
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

/** Each filter of its own takes the place of the gateway's. */
function ownFilters(settings: ResolvedCrudOptions, filters: Filters): Filters {
  return Object.fromEntries(filterNames.map((name) => [name, settings[name] ?? filters[name] ?? null]));
}

function decodeRows(rows: readonly (readonly (string | null)[])[]): readonly Table[] {
  const read = rows.map(([kind, facts], index) => ({
    kind: decodeCode(`row ${index + 1}, kind`, kind, rowKinds),
    facts: parseJsonObject(`row ${index + 1}, facts`, facts ?? null),
  }));
  const factsOf = (wanted: keyof typeof rowKinds): readonly (typeof read)[number]['facts'][] =>
    read.filter(({ kind }) => kind === wanted).map(({ facts }) => facts);
  const typeOf = createTypeLookup(factsOf('type').map(decodeTypeRow));
  const comparable = joined(factsOf('comparable').map(decodeComparableTypes));
  const operatorsOf = new Map(factsOf('operators').map(decodeTypeOperators));
  return factsOf('table')
    .map((facts) => decodeTable(facts, { typeOf, comparable, operators: operatorsOf }))
    .toSorted((left, right) => compare(left.schema, right.schema) || compare(left.name, right.name));
}

function joined(parts: readonly ComparableTypes[]): ComparableTypes {
  return {
    ordered: new Set(parts.flatMap(({ ordered }) => [...ordered])),
    equal: new Set(parts.flatMap(({ equal }) => [...equal])),
  };
}

/** By code units, so that the order does not depend on a locale. */
function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

async function routinesOf(tables: readonly Table[], settings: ResolvedCrudOptions): Promise<readonly Routine[]> {
  const routines: Routine[] = [];
  for (const table of tables) {
    for (const operation of tableOperations) {
      if (!settings.operations.has(operation) || !operationDefinitions[operation].isAvailable(table)) continue;
      const routine = toRoutine(table, operation, settings);
      // In order, so that a host sees what it would see of a list.
      // oxlint-disable-next-line no-await-in-loop
      if (settings.created === null || (await settings.created(routine, operation))) routines.push(routine);
    }
  }
  return routines;
}
