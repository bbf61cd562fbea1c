import type { Value } from '../postgres/port.ts';
import { Problem } from '../ports/ports.ts';
import type { ComparisonCondition, Condition, Operand } from './parts/condition.ts';
import { type ComparisonSymbol, type Operation, resolveOperation } from './parts/operation.ts';
import { type ColumnParameter, columnReference, invalidParameter, type ProvidedColumn } from './provided-columns.ts';

/** The conditions of the endpoints for rows: public names, values of the type of the column. */

export function operandOf(column: ColumnParameter): Operand {
  return { sql: columnReference(column), key: String(column.parameter.position) };
}

/** @throws Problem `invalid-parameter` for a type without an order */
export function operationOf({ facts, parameter }: ColumnParameter, symbol: ComparisonSymbol): Operation {
  const { type, key } = parameter;
  const operation = resolveOperation({ facts, type }, symbol);
  if (operation === null) throw invalidParameter(parameter, `"${key}" is ${type.display}, which has no order.`);
  return operation;
}

/**
 * Compares a column with a value of its type.
 * @throws Problem `invalid-parameter` for a type without an order
 */
export function compareColumn(column: ColumnParameter, symbol: ComparisonSymbol, value: Value): ComparisonCondition {
  const { parameter } = column;
  return {
    kind: 'comparison',
    operand: operandOf(column),
    symbol,
    operation: operationOf(column, symbol),
    value,
    type: parameter.type.sql,
    source: parameter,
    quantifier: null,
  };
}

/** Compares NULL with `is null`, which an index supports. */
export function equalityCondition(column: ColumnParameter, value: Value): Condition {
  return value === null
    ? { kind: 'state', operand: operandOf(column), state: 'null' }
    : compareColumn(column, '=', value);
}

export function inequalityCondition(column: ColumnParameter, value: Value): Condition {
  return value === null
    ? { kind: 'state', operand: operandOf(column), state: 'not_null' }
    : { kind: 'not', condition: compareColumn(column, '=', value) };
}

export function equalityConditions(provided: readonly ProvidedColumn[]): readonly Condition[] {
  return provided.map((column) => equalityCondition(column, column.value));
}

/** Each combination of conditions is a prepared statement, which takes memory on the server. */
export const maxConditions = 32;

/**
 * Returns the conditions of a client.
 * @throws Problem `too-many-conditions` for more than 32
 */
export function checkConditionCount(conditions: readonly Condition[]): readonly Condition[] {
  if (conditions.length <= maxConditions) return conditions;
  throw new Problem('too-many-conditions', {
    detail: `The request has ${conditions.length} conditions; give at most ${maxConditions}.`,
  });
}
