import { queryCatalog } from '../catalog/query-catalog.ts';
import type { DescribedColumn, Database } from '../postgres/port.ts';
import type { FileStatement } from './scan.ts';
import { notNullColumnsSql } from './types-by-oid.sql.ts';

/** Whether the values of a column of a statement are certainly not NULL. */
export type NotNullTest = (statement: FileStatement, column: DescribedColumn) => boolean;

/**
 * Words of statements whose rows may have NULL in a column that is NOT NULL in its table: outer joins, grouping sets, set operations, and
 * rows before or after a change.
 */
const nullableWords: ReadonlySet<string> = new Set(
  'left right full union intersect except grouping rollup cube merge old new'.split(' '),
);

/** Reads which of the columns are NOT NULL in the table that PostgreSQL names as their origin. */
export async function readNotNullColumns(
  database: Database,
  columns: readonly DescribedColumn[],
): Promise<NotNullTest> {
  const ofTables = columns.filter(({ table, attribute }) => table > 0 && attribute > 0);
  if (ofTables.length === 0) return () => false;
  const list = (numbers: readonly number[]): string => `{${numbers.join(',')}}`;
  const values = [list(ofTables.map(({ table }) => table)), list(ofTables.map(({ attribute }) => attribute))];
  const rows = await queryCatalog(database, notNullColumnsSql, values);
  const known = new Set(rows.map(([table, attribute]) => `${table} ${attribute}`));
  return ({ tokens }, { table, attribute }) =>
    known.has(`${table} ${attribute}`) && !tokens.some(({ text }) => nullableWords.has(text));
}
