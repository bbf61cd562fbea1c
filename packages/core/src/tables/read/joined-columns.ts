import { type Operand, writeOperand } from '../parts/condition.ts';
import { quoteIdentifier } from '../../catalog/quote.ts';
import { sql, type SqlText, text } from '../parts/sql-text.ts';
import { ReadFault, syntaxFault } from './read-fault.ts';
import type { ValueForm } from './column-sql.ts';
import type { Aliased } from './filter-sql.ts';
import { type Field, isSameField, type SelectedRelation, type SelectItem } from './query.ts';

/** The columns of a level, and its joins with related rows. */
export interface Joined {
  readonly columns: JoinedColumn[];
  readonly joins: SqlText[];
  /** The SQL of related rows by their name, NULL for none. */
  readonly related: Map<string, string>;
  /** Whether the rows are grouped by the columns that are not aggregates, here or in an outer relation. */
  readonly isGrouped: boolean;
  /** The names that filters of the rows compare. */
  readonly filtered: ReadonlySet<string>;
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
export type ColumnOrigin = Partial<Pick<JoinedColumn, 'field' | 'relation' | 'form' | 'isAggregate'>>;

/**
 * Returns the position of a selected column; null for one that is not selected.
 * @param relation the name of the spread relation that has it, by its field or its name in the result; null: the relation itself
 */
export function positionOf(columns: readonly JoinedColumn[], relation: string | null, field: Field): Operand | null {
  const isNamed = relation !== null && field.path.length === 0;
  const own = columns.filter((column) => column.relation === relation && column.field !== null);
  const found =
    own.find((column) => isSameField(column.field!, field)) ??
    (isNamed ? own.find(({ name }) => name === field.column) : undefined);
  return found === undefined ? null : { sql: String(columns.indexOf(found) + 1) };
}

/** Returns the field that is selected with a name; null for none. */
export function fieldNamed(items: readonly SelectItem[], name: string): Field | null {
  const found = items.find((item) => item.kind === 'column' && item.name === name);
  if (found?.kind === 'column') return found.field;
  return items.some(({ kind }) => kind === 'all') ? { column: name, path: [] } : null;
}

/** Returns the name of a column that tells whether there are related rows, if a filter asks for it; null: none does. */
export function markerOf({ filtered }: Joined, { alias }: SelectedRelation, names: readonly string[]): string | null {
  if (!filtered.has(alias)) return null;
  let marker = 'found';
  while (names.includes(marker)) marker += '_';
  return marker;
}

/** Returns rows with the column that tells whether there are any. */
export function markedRows(rows: SqlText, marker: string | null): SqlText {
  return marker === null ? rows : sql`select "row".*, true as ${text(quoteIdentifier(marker))} from (${rows}) "row"`;
}

/** Whether a relation has no columns, nor those within it: it is a condition only. */
export function isEmptyRelation({ items }: SelectedRelation): boolean {
  return items.every((item) => item.kind === 'relation' && isEmptyRelation(item));
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

/** @throws ReadFault for a name that another relation of the level has */
export function requireNewName(
  { related }: Joined,
  { relation: outer, depth = 0 }: Pick<Aliased, 'relation' | 'depth'>,
  { alias: name, position }: SelectedRelation,
): void {
  if (!related.has(name)) return;
  throw new ReadFault({
    kind: 'repeated-relation',
    parameter: 'select',
    position,
    outer: outer.name,
    name,
    depth: depth + 1,
  });
}
