import type { ValueSource } from '../../ports/ports.ts';
import type { Operation } from './operation.ts';
import type { BoundValue } from './request-value.ts';
import type { SqlText } from './sql-text.ts';

/** A value of a row, in SQL. */
export interface Operand {
  readonly sql: string | SqlText;
  /** Tells the operand from the others of the endpoint; absent: its text does. */
  readonly key?: string;
}

/** A condition on a row as data: several statements of a request have the same conditions. */
export type Condition = ComparisonCondition | StateTest | Group | Negation | WrittenCondition;

/** `column operator value` */
export interface ComparisonCondition {
  readonly kind: 'comparison';
  readonly operand: Operand;
  readonly symbol: string;
  readonly operation: Operation;
  readonly value: BoundValue;
  /** The type of the value in SQL, and that of its elements with a quantifier. */
  readonly type: string;
  readonly source: ValueSource;
  /** Compares with the elements of an array. */
  readonly quantifier: 'any' | 'all' | null;
}

/** `column is null` */
interface StateTest {
  readonly kind: 'state';
  readonly operand: Operand;
  readonly state: State;
}

interface Group {
  readonly kind: 'group';
  readonly operator: 'and' | 'or';
  readonly members: readonly Condition[];
}

/** `not (…)`, or `(…) is not true`, which NULL is, too. */
interface Negation {
  readonly kind: 'not' | 'notTrue';
  readonly condition: Condition;
}

/** A condition that its owner writes. */
export interface WrittenCondition {
  readonly kind: 'written';
  readonly write: (sql: SqlText) => void;
}

export const states = {
  null: 'is null',
  not_null: 'is not null',
  true: 'is true',
  false: 'is false',
  unknown: 'is unknown',
} as const;

export type State = keyof typeof states;

export function isState(word: string): word is State {
  return Object.hasOwn(states, word);
}

/** Writes ` where …`; nothing without conditions. */
export function writeWhere(sql: SqlText, conditions: readonly Condition[]): void {
  if (conditions.length === 0) return;
  sql.add(' where ');
  writeConditions(sql, conditions, ' and ');
}

export function writeConditions(
  sql: SqlText,
  conditions: readonly Condition[],
  separator: ` ${Group['operator']} `,
): void {
  let isFirst = true;
  for (const condition of conditions) {
    if (!isFirst) sql.add(separator);
    isFirst = false;
    writeCondition(sql, condition);
  }
}

export function writeCondition(sql: SqlText, condition: Condition): void {
  switch (condition.kind) {
    case 'comparison':
      writeComparison(sql, condition);
      return;
    case 'state':
      writeOperand(sql, condition.operand);
      sql.add(` ${states[condition.state]}`);
      return;
    case 'group':
      sql.add('(');
      writeConditions(sql, condition.members, ` ${condition.operator} `);
      sql.add(')');
      return;
    case 'not':
      sql.add('not (');
      writeCondition(sql, condition.condition);
      sql.add(')');
      return;
    case 'notTrue':
      sql.add('(');
      writeCondition(sql, condition.condition);
      sql.add(') is not true');
      return;
    case 'written':
      condition.write(sql);
  }
}

export function writeOperand(sql: SqlText, { sql: value, key }: Operand): void {
  if (typeof value === 'string') sql.add(value, key);
  else sql.append(value);
}

/** The casts and the operator are those of the operand's column, and follow from the symbol. */
function writeComparison(
  sql: SqlText,
  { operand, symbol, operation, value, type, source, quantifier }: ComparisonCondition,
): void {
  const cast = operation.type === null ? '' : `::${operation.type}`;
  const valueCast = operation.valueType === undefined ? cast : '';
  writeOperand(sql, operand);
  sql.add(`${cast} ${operation.operator} `, symbol);
  if (quantifier === null) {
    sql.bind(value, type, source, '$').add(valueCast, '');
    return;
  }
  sql
    .add(`${quantifier} (`)
    .bind(value, `${type}[]`, source, '$')
    .add(valueCast === '' ? '' : `${valueCast}[]`, '')
    .add(')');
}
