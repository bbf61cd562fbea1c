import { type DatabaseError, toPointer } from '@pgway/core/internal';
import { commonStart, type NestedLevel } from './nested-rows.ts';

type Diagnostics = DatabaseError['diagnostics'];
type Row = Readonly<Record<string, unknown>>;

/**
 * Returns the JSON Pointer of the smallest value with the rows that can have caused an error of the statement of a level: one row, if only one can,
 * and all rows when the error does not tell. PostgreSQL names the values of a key only to callers who may read its columns.
 */
export function failedPointer(level: NestedLevel, diagnostics: Diagnostics): string {
  const mayBeCause = causeTest(level, diagnostics);
  if (mayBeCause === null) return level.pointer;
  const causes = level.pointers.filter((_, index) => mayBeCause(JSON.parse(level.rows[index]!) as Row));
  return causes.length === 0 ? level.pointer : toPointer(...causes.reduce(commonStart));
}

/** Returns null for an error that does not tell, and for one of another table, which a trigger has written. */
function causeTest({ target }: NestedLevel, { code, schema, table, column, detail }: Diagnostics) {
  if (schema !== target.schema || table !== target.name) return null;
  if (code === '23502') return column === undefined ? null : (row: Row) => (row[column] ?? null) === null;
  if (code !== '23505' && code !== '23503') return null;
  const key = keyOf(detail ?? '');
  if (key === null || !key.every(([name]) => target.columns.has(name))) return null;
  // A value that the row does not have is that of a default or of its outer row, which is not known here.
  return (row: Row) => key.every(([name, value]) => row[name] === undefined || textOf(row[name]) === value);
}

/** Returns the columns and values of `Key (a, b)=(1, x) already exists.`; null if they cannot be told apart. */
function keyOf(detail: string): readonly (readonly [name: string, value: string])[] | null {
  const [, columns = '', found = ''] =
    /^Key \((.+?)\)=\((.*)\) (?:already exists\.|is not present in table )/s.exec(detail) ?? [];
  const names = columns.split(', ');
  const values = names.length === 1 ? [found] : found.split(', ');
  if (columns === '' || names.length !== values.length) return null;
  return names.map((name, index) => [name.replace(/^"(.*)"$/s, '$1').replaceAll('""', '"'), values[index]!]);
}

/** The text of PostgreSQL for a value of a body. A number of another form, such as `1e2`, is equal to no text. */
function textOf(value: unknown): string {
  if (typeof value === 'boolean') return value ? 't' : 'f';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
