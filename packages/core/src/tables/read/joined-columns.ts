import { type Operand, writeOperand } from '../parts/condition.ts';
import type { SqlText } from '../parts/sql-text.ts';
import { syntaxFault } from './read-fault.ts';
import type { ValueForm } from './column-sql.ts';
import { type Field, isSameField, type SelectedRelation, type SelectItem } from './query.ts';

/** The columns of a level, and its joins with related rows. */
export interface Joined {
  readonly columns: JoinedColumn[];
  readonly joins: SqlText[];
  /** The SQL of related rows by their name, NULL for none. */
  readonly related: Map<string, string>;
  /** Whether the rows are grouped by the columns that are not aggregates. */
  readonly isGrouped: boolean;
}

export interface JoinedColumn {
  readonly name: string;
  readonly column: Operand;
  readonly isAggregate: boolean;
  readonly form: ValueForm;
  /** Null: not a column of the relation itself, or of one that is spread. */
  readonly field: Field | null;
  /** The name of the spread relation that has the field; null: the relation itself. */
  readonly relation: string | null;
}

/** Where a column comes from. */
export type ColumnOrigin = Partial<Pick<JoinedColumn, 'field' | 'relation' | 'form'>>;

/**
 * Returns the position of a selected column; null for one that is not selected.
 * @param relation the name of the spread relation that has it; null: the relation itself
 */
export function positionOf(columns: readonly JoinedColumn[], relation: string | null, field: Field): Operand | null {
  const position = columns.findIndex(
    (column) => column.relation === relation && column.field !== null && isSameField(column.field, field),
  );
  return position === -1 ? null : { sql: String(position + 1) };
}

/** Returns the field that is selected with a name; null for none. */
export function fieldNamed(items: readonly SelectItem[], name: string): Field | null {
  const found = items.find((item) => item.kind === 'column' && item.name === name);
  if (found?.kind === 'column') return found.field;
  return items.some(({ kind }) => kind === 'all') ? { column: name, path: [] } : null;
}

/** @param ifNone the text without columns */
export function writeColumns(sql: SqlText, columns: readonly Operand[], ifNone = ''): void {
  if (columns.length === 0) sql.add(ifNone);
  for (const [index, column] of columns.entries()) writeOperand(index === 0 ? sql : sql.add(', '), column);
}

export function findRelation(items: readonly SelectItem[], name: string): SelectedRelation | null {
  const found = items.find((item) => item.kind === 'relation' && item.alias === name);
  return (found as SelectedRelation | undefined) ?? null;
}

/** @throws ReadFault */
export function requireDistinct(names: readonly string[], { name: relation }: SelectedRelation): void {
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) throw syntaxFault('select', `"${repeated}" appears twice in ...${relation}`);
}
