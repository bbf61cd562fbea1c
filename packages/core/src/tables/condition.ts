import type { Value } from '../postgres/port.ts';
import { Problem } from '../ports/ports.ts';
import { type Fragment, joinFragments, textFragment } from './fragment.ts';
import { type ColumnParameter, columnReference, type ProvidedColumn } from './provided-columns.ts';

/** LIKE is `~~`, ILIKE is `~~*`. */
export type ComparisonOperator = '=' | '<' | '<=' | '>' | '>=' | '~~' | '~~*';

/** How values of a column are compared. */
export interface ComparisonOperation {
  /** The SQL type that both operands are cast to; null: no cast. */
  readonly type: string | null;
  /** Schema-qualified, so that an operator in another schema of the `search_path` is never run. */
  readonly operator: string;
}

/** Types without an equality operator are compared as text, json as jsonb. */
export function resolveComparison(
  { facts, parameter }: ColumnParameter,
  operator: ComparisonOperator,
): ComparisonOperation {
  const ownOperator = facts.operators?.names[operator];
  if (ownOperator !== undefined) return { type: facts.operators!.type, operator: ownOperator };
  return { type: operandType(facts, parameter, operator), operator: `operator(pg_catalog.${operator})` };
}

function operandType(
  { comparison }: ColumnParameter['facts'],
  { type }: ColumnParameter['parameter'],
  operator: ComparisonOperator,
): string | null {
  const isPattern = operator.startsWith('~~');
  if (isPattern) return type.textual && type.builtin !== null ? null : 'pg_catalog.text';
  if (comparison !== 'none') return null;
  return type.builtin === 'json' ? 'pg_catalog.jsonb' : 'pg_catalog.text';
}

export function castIfNeeded(type: string | null, sql: string, suffix: '' | '[]' = ''): string {
  return type === null ? sql : `${sql}::${type}${suffix}`;
}

/** Returns the SQL that compares a column with a value of its type. */
export function comparisonSql(column: ColumnParameter, operator: ComparisonOperator, value: string): string {
  const operation = resolveComparison(column, operator);
  return `${castIfNeeded(operation.type, columnReference(column))} ${operation.operator} ${castIfNeeded(operation.type, value)}`;
}

/** Compares NULL with `is null`, which an index supports. */
export function equalityCondition(column: ColumnParameter, operator: '=' | '<>', value: Value): Fragment {
  const { parameter } = column;
  const { position, type } = parameter;
  if (value === null) {
    const not = operator === '=' ? '' : 'not ';
    return textFragment(`${position}${operator}null`, `${columnReference(column)} is ${not}null`);
  }
  return {
    key: `${position}${operator}`,
    text: (next) => {
      const equal = comparisonSql(column, '=', `${next()}::${type.sql}`);
      return operator === '=' ? equal : `not (${equal})`;
    },
    values: [{ value, source: parameter }],
  };
}

export function equalityConditions(provided: readonly ProvidedColumn[]): readonly Fragment[] {
  return provided.map((column) => equalityCondition(column, '=', column.value));
}

/** Each combination of conditions is a prepared statement, which takes memory on the server. */
export const maxConditions = 32;

/**
 * Returns the conditions of a client.
 * @throws Problem `too-many-conditions` for more than 32
 */
export function checkConditionCount(conditions: readonly Fragment[]): readonly Fragment[] {
  if (conditions.length <= maxConditions) return conditions;
  throw new Problem('too-many-conditions', {
    detail: `The request has ${conditions.length} conditions; give at most ${maxConditions}.`,
  });
}

/** Returns ` where …`, or an empty text without conditions. */
export function whereClause(conditions: readonly Fragment[]): Fragment {
  if (conditions.length === 0) return textFragment('', '');
  const all = joinFragments(conditions, ' and ');
  return { ...all, text: (next) => ` where ${all.text(next)}` };
}
