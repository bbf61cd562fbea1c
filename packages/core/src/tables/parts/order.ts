import type { SqlText } from './sql-text.ts';
import { type Operand, writeOperand } from './condition.ts';

/** A term of ORDER BY. */
export interface Order {
  readonly operand: Operand;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

/** Writes ` order by …`; nothing without terms. Omits the default position of NULLs, so that the text matches the order of an index. */
export function writeOrder(sql: SqlText, terms: readonly Order[]): void {
  let separator = ' order by ';
  for (const { operand, descending, nullsFirst } of terms) {
    const nulls = nullsFirst === descending ? '' : ` nulls ${nullsFirst ? 'first' : 'last'}`;
    writeOperand(sql.add(separator), operand);
    sql.add(descending ? ' desc' : '').add(nulls);
    separator = ', ';
  }
}
