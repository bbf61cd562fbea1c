import type { Value } from '../postgres/port.ts';
import { Problem } from '../ports/ports.ts';
import { type Fragment, joinFragments, textFragment } from './fragment.ts';
import { type ProvidedColumn, columnReference, type ColumnParameter } from './provided-columns.ts';

/** What a comparison asks: LIKE is `~~`, ILIKE is `~~*`. */
export type ComparisonOperator = '=' | '<' | '<=' | '>' | '>=' | '~~' | '~~*';

/** How values of a column are compared. */
export interface ComparisonOperation {
  /** The type that column and value are cast to, as it stands in SQL; null: they are taken as they are. */
  readonly type: string | null;
  /** Qualified, so that no operator is run that somebody else has created in a schema of the `search_path`. */
  readonly operator: string;
}

/** A type without an equality of its own is compared by its text, json by its meaning. */
export function resolveComparison(
  { facts, parameter }: ColumnParameter,
  operator: ComparisonOperator,
): ComparisonOperation {
  const own = facts.operators?.names[operator];
  if (own !== undefined) return { type: facts.operators!.type, operator: own };
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

/** A column, or a value of its type, as its comparison takes it. */
export function castIfNeeded(type: string | null, sql: string, suffix: '' | '[]' = ''): string {
  return type === null ? sql : `${sql}::${type}${suffix}`;
}

/** A comparison of a column and a value of its type. */
export function comparisonSql(column: ColumnParameter, operator: ComparisonOperator, value: string): string {
  const by = resolveComparison(column, operator);
  return `${castIfNeeded(by.type, columnReference(column))} ${by.operator} ${castIfNeeded(by.type, value)}`;
}

/** `=` or `<>` of a column and a value. */
export function equalityCondition(column: ColumnParameter, operator: '=' | '<>', value: Value): Fragment {
  const { parameter } = column;
  const { position, type } = parameter;
  if (value === null) {
    const not = operator === '=' ? '' : 'not ';
    return textFragment(`${position}${operator}null`, `${columnReference(column)} is ${not}null`);
  }
  return {
    form: `${position}${operator}`,
    text: (next) => {
      const equal = comparisonSql(column, '=', `${next()}::${type.sql}`);
      return operator === '=' ? equal : `not (${equal})`;
    },
    values: [{ value, owner: parameter }],
  };
}

/** Every given column equals its value; NULL is asked for by `is null`, which an index can answer. */
export function equalityConditions(given: readonly ProvidedColumn[]): readonly Fragment[] {
  return given.map((column) => equalityCondition(column, '=', column.value));
}

/** Each combination of conditions is a statement of its own, which costs memory of the server. */
export const maxConditions = 32;

/**
 * Conditions that a client has chosen.
 * @throws Problem `too-many-conditions` past 32 of them
 */
export function checkConditionCount(conditions: readonly Fragment[]): readonly Fragment[] {
  if (conditions.length <= maxConditions) return conditions;
  throw new Problem('too-many-conditions', {
    detail: `The request has ${conditions.length} conditions; give at most ${maxConditions}.`,
  });
}

/** ` where …`, or nothing where there is no condition. */
export function whereClause(conditions: readonly Fragment[]): Fragment {
  if (conditions.length === 0) return textFragment('', '');
  const all = joinFragments(conditions, ' and ');
  return { ...all, text: (next) => ` where ${all.text(next)}` };
}
