import type { Value } from '../../postgres/port.ts';
import { compareColumn, equalityCondition, operationOf } from '../condition.ts';
import { type Condition, writeCondition, writeConditions, writeOperand } from '../parts/condition.ts';
import type { SqlText } from '../parts/sql-text.ts';
import type { OrderTerm } from './order.ts';

/** An order term, and its value in the last row of the previous page. */
export interface KeysetValue extends OrderTerm {
  readonly value: Value;
}

/** Returns the conditions of keyset pagination: the rows after the given one. */
export function afterRow(keyset: readonly KeysetValue[]): readonly Condition[] {
  const [first] = keyset;
  const uniform = keyset.every(({ column, descending }) => column.facts.notNull && descending === first!.descending);
  const termByTerm: Condition = { kind: 'written', write: (sql) => writeTermByTerm(sql, keyset) };
  if (!uniform) return [termByTerm];
  const operators = new Set(keyset.map(({ column }) => operationOf(column, '>').operator));
  return operators.size === 1
    ? [{ kind: 'written', write: (sql) => writeRows(sql, keyset) }]
    : [notBefore(first!), termByTerm];
}

/** `(a, b) > ($1, $2)`, which an index on these columns supports. */
function writeRows(sql: SqlText, keyset: readonly KeysetValue[]): void {
  const symbol = keyset[0]!.descending ? '<' : '>';
  const terms = keyset.map(({ column, operand, value }) => {
    const { type, operator } = operationOf(column, symbol);
    return { parameter: column.parameter, operand, value, operator, cast: type === null ? '' : `::${type}` };
  });
  let separator = '(';
  for (const { operand, cast } of terms) {
    writeOperand(sql.add(separator), operand);
    sql.add(cast, '');
    separator = ', ';
  }
  sql.add(`) ${terms[0]!.operator} `, `)${symbol}`);
  separator = '(';
  for (const { parameter, value, cast } of terms) {
    sql.add(separator).bind(value, parameter.type.sql, parameter, '$').add(cast, '');
    separator = ', ';
  }
  sql.add(')');
}

/** Repeats what `writeTermByTerm` implies, as a condition that an index on the first column supports. */
function notBefore({ column, descending, value }: KeysetValue): Condition {
  return compareColumn(column, descending ? '<=' : '>=', value);
}

/** `(a > $1) or (a = $2 and b < $3)`, for orders with several directions or with NULLs. */
function writeTermByTerm(sql: SqlText, keyset: readonly KeysetValue[]): void {
  const equal = keyset.map(({ column, value }) => equalityCondition(column, value));
  for (const [index, entry] of keyset.entries()) {
    sql.add(index === 0 ? '((' : ' or (');
    for (const condition of equal.slice(0, index)) {
      writeCondition(sql, condition);
      sql.add(' and ');
    }
    writeComesAfter(sql, entry);
    sql.add(')');
  }
  sql.add(')');
}

function writeComesAfter(sql: SqlText, { column, operand, descending, nullsFirst, value }: KeysetValue): void {
  if (value === null) {
    if (nullsFirst) writeCondition(sql, { kind: 'state', operand, state: 'not_null' });
    else sql.add('false');
    return;
  }
  const comparison = compareColumn(column, descending ? '<' : '>', value);
  if (nullsFirst || column.facts.notNull) return writeCondition(sql, comparison);
  sql.add('(');
  writeConditions(sql, [comparison, { kind: 'state', operand, state: 'null' }], ' or ');
  sql.add(')');
}
