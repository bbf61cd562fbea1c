import type { Database } from '../postgres/port.ts';
import { decodeCode, parseJsonObject } from './json-object.ts';
import { filterValues } from './filters.sql.ts';
import { customFunctionsSql, functionsSql, functionsWithDefinitionsSql } from './functions.sql.ts';
import { queryCatalog } from './query-catalog.ts';
import { decodeRoutine } from './decode-routine.ts';
import type { Routine } from './routine.ts';
import type { Filters, RoutineSource } from './routine-source.ts';
import { decodeTypeRow, createTypeLookup } from './type-lookup.ts';

export interface FunctionsOptions {
  /** A custom query in place of the built-in one; `customFunctionsSql` documents its parameters and columns. */
  readonly query?: string | null;
  /** Whether the built-in query also reads CREATE statements, which only generators need. */
  readonly definitions?: boolean;
}

const rowKinds = { type: 'type', routine: 'routine' } as const;

/**
 * Creates the source for functions and procedures, ordered by schema, name and argument types.
 * Its `read` throws `MalformedRow` for an invalid row, and the errors of the query.
 */
export function functionsSource(options: FunctionsOptions = {}): RoutineSource {
  const builtin = options.definitions === true ? functionsWithDefinitionsSql : functionsSql;
  const custom = options.query?.trim() ? customFunctionsSql(options.query) : null;
  return Object.freeze({
    name: 'functions',
    async read(database: Database, filters: Filters): Promise<readonly Routine[]> {
      const values = filterValues(filters);
      // A custom query uses the search_path of the connection.
      return decodeRows(
        await (custom === null ? queryCatalog(database, builtin, values) : database.query(custom, values)),
      );
    },
  });
}

function decodeRows(rows: readonly (readonly (string | null)[])[]): readonly Routine[] {
  const read = rows.map(([kind, facts], index) => ({
    kind: decodeCode(`row ${index + 1}, kind`, kind, rowKinds),
    facts: parseJsonObject(`row ${index + 1}, facts`, facts ?? null),
  }));
  const types = createTypeLookup(read.filter(({ kind }) => kind === 'type').map(({ facts }) => decodeTypeRow(facts)));
  const routines = read.filter(({ kind }) => kind === 'routine').map(({ facts }) => decodeRoutine(facts, types));
  return Object.freeze(routines.sort(byName));
}

/** Compares by code units, so that the order does not depend on a locale. */
function byName(left: Routine, right: Routine): number {
  return compare(left.schema, right.schema) || compare(left.name, right.name) || compare(inputs(left), inputs(right));
}

function inputs(routine: Routine): string {
  return routine.parameters.map(({ type }) => type.display).join(', ');
}

function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
