import type { Database, TextTable } from '../postgres/port.ts';
import { decodeCode, type JsonObject, parseJsonObject } from './json-object.ts';
import { filterValues } from './filters.sql.ts';
import { customFunctionsSql, functionsSql, functionsWithDefinitionsSql } from './functions.sql.ts';
import { queryCatalog } from './query-catalog.ts';
import { readFingerprint } from './fingerprint.ts';
import { decodeRoutine } from './decode-routine.ts';
import type { Routine } from './routine.ts';
import type { Filters } from './options.ts';
import type { RoutineSource } from './routine-source.ts';
import { runInSlices } from './slices.ts';
import type { Steps } from './steps.ts';
import { decodeTypeRow, createTypeLookup, type TypeRow } from './type-lookup.ts';

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
    ...(custom === null
      ? {
          fingerprint: (database: Database, filters: Filters) =>
            readFingerprint(database, builtin, filterValues(filters)),
        }
      : {}),
    async read(database: Database, filters: Filters): Promise<readonly Routine[]> {
      const values = filterValues(filters);
      // A custom query uses the search_path of the connection.
      const rows = await (custom === null ? queryCatalog(database, builtin, values) : database.query(custom, values));
      return runInSlices(decodeRows(rows, custom === null));
    },
  });
}

function* decodeRows(rows: TextTable, isBuiltIn: boolean): Steps<readonly Routine[]> {
  const typeRows: TypeRow[] = [];
  const routineRows: number[] = [];
  for (const [index, [kind]] of rows.entries()) {
    const rowKind = decodeCode(`row ${index + 1}, kind`, kind, rowKinds);
    if (rowKind === 'type') typeRows.push(decodeTypeRow(parseFacts(rows, index)));
    else routineRows.push(index);
    yield;
  }
  const types = createTypeLookup(typeRows);
  const routines: Routine[] = [];
  // The facts of a routine are garbage before those of the next one are parsed.
  for (const index of routineRows) {
    routines.push(decodeRoutine(parseFacts(rows, index), types, isBuiltIn));
    yield;
  }
  return Object.freeze(routines.sort(byName));
}

function parseFacts(rows: TextTable, index: number): JsonObject {
  return parseJsonObject(`row ${index + 1}, facts`, rows[index]![1] ?? null);
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
