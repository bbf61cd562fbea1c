import type { Endpoint, Routine, RoutineResult, TypeFacts } from '@pgway/core';
import {
  quoteIdentifier,
  type ReadModel,
  type Relation,
  type RowFunction,
  toRowFunction,
  toTableColumn,
} from '@pgway/core/internal';
import type { ResolvedPostgrestOptions } from '../options.ts';
import type { PostgrestTable } from '../dialect-table.ts';
import { mediaTypeOf } from '../media-type-name.ts';
import type { Target } from '../target.ts';
import { toTransactionOptions } from '../transaction-options.ts';

/** The result of a function. `rows` have columns, `values` have not. */
export type FunctionResult = 'nothing' | 'value' | 'values' | 'row' | 'rows';

/** The function of a request. */
export interface FunctionTarget extends Target {
  readonly result: FunctionResult;
  /** The media type of the value, which its domain is named after; null: JSON. */
  readonly media: string | null;
  /** Whether it returns one row at most, though a set. */
  readonly isOne: boolean;
  /** The quoted and qualified type of its rows; null for others. */
  readonly rowType: string | null;
  /** Whether the value is bytes. */
  readonly isBytes: boolean;
  /** Whether the values are rows without declared columns. */
  readonly isRecord: boolean;
}

/** A function with the type of its value, or of the first column of its rows. */
interface KnownFunction {
  readonly target: FunctionTarget;
  readonly valueType: TypeFacts | null;
  /** Null: its argument is not a row. */
  readonly rowFunction: RowFunction | null;
}

/** By an object that copies of an endpoint keep. */
const functions = new WeakMap<Endpoint['parameters'], KnownFunction>();

/** Keeps the facts of a function that requests need. */
export function keepFunction(endpoint: Endpoint, routine: Routine, resolved: ResolvedPostgrestOptions): void {
  const { path, allowAggregates, planEnabled, limits } = resolved;
  const { name, result } = routine;
  const kind = resultKind(name, result);
  const value = result.columns[0]?.type ?? null;
  const options: PostgrestTable = {
    path,
    transaction: toTransactionOptions(resolved),
    allowAggregates,
    planEnabled,
    allowUnfilteredUpdate: false,
    conflictActions: [],
    maxRows: limits.maxLimit,
  };
  const hasColumns = kind === 'row' || kind === 'rows';
  const target: FunctionTarget = {
    endpoint,
    schema: endpoint.schema,
    name,
    columns: new Map(hasColumns ? result.columns.map((column) => [column.name, toTableColumn(column)]) : []),
    key: [],
    options,
    allowUnfilteredDelete: false,
    result: kind,
    isOne: routine.returnsOneRow === true,
    rowType: hasColumns ? rowTypeOf(result) : null,
    ...valueForm(kind === 'value' ? value : null),
    isRecord: result.kind === 'record',
  };
  functions.set(endpoint.parameters, {
    target,
    valueType: value,
    rowFunction: toRowFunction(endpoint, routine),
  });
}

/** Returns the quoted and qualified type of rows, which is that under a domain; null for columns of parameters. */
function rowTypeOf({ type }: RoutineResult): string | null {
  return type?.rowType ?? type?.sql ?? null;
}

/** @param type null: the result is not a single value, or it is a record */
function valueForm(type: TypeFacts | null): Pick<FunctionTarget, 'media' | 'isBytes'> {
  return type === null
    ? { media: null, isBytes: false }
    : { media: mediaTypeOf(type.sql), isBytes: type.builtin === 'bytea' };
}

/** A single output parameter is a column, as in PostgREST, unless it has the name of the function. */
function resultKind(name: string, { kind, set, columns, display }: RoutineResult): FunctionResult {
  if (kind === 'void') return 'nothing';
  // The columns of a record are unknown before the call: it is a value.
  if (kind === 'record') return set ? 'values' : 'value';
  const hasOutputParameter = display.startsWith('TABLE(') || columns[0]?.name !== name;
  if (kind === 'scalar' && !hasOutputParameter) return set ? 'values' : 'value';
  return set ? 'rows' : 'row';
}

/** Undefined for the endpoint of a table. */
export function functionOf(endpoint: Endpoint): FunctionTarget | undefined {
  return functions.get(endpoint.parameters)?.target;
}

/** Returns the type of the value, or of the first column; null without one. */
export function resultTypeOf(endpoint: Endpoint): TypeFacts | null {
  return functions.get(endpoint.parameters)?.valueType ?? null;
}

/** Returns the functions of rows that the endpoints call. */
export function rowFunctionsOf(endpoints: readonly Endpoint[]): readonly RowFunction[] {
  return endpoints.flatMap(({ table, method, parameters }) =>
    table === null && method === 'POST' ? (functions.get(parameters)?.rowFunction ?? []) : [],
  );
}

/** Returns the relation of the rows of a function: a table that its caller can read, or one with the columns of the function. */
export function relationOf(target: FunctionTarget, { relations }: ReadModel): Relation {
  const { rowType } = target;
  if (rowType === null) return target;
  for (const relation of relations.values()) {
    if (`${quoteIdentifier(relation.schema)}.${quoteIdentifier(relation.name)}` === rowType) return relation;
  }
  return target;
}
