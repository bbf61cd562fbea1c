import type { ValueSource } from '../../ports/ports.ts';
import type { BoundValue } from './request-value.ts';
import type { SqlText } from './sql-text.ts';

/** A number of rows that the client gives. */
export interface RowCount {
  readonly count: BoundValue;
  readonly source: ValueSource;
}

export interface Page {
  /** A number that the client does not give; null: all rows. */
  readonly limit: RowCount | number | null;
  /** Null: from the first row. */
  readonly offset: RowCount | null;
}

/**
 * Writes ` limit …` and ` offset …`. Numbers of the client are values: one that reads page after page has one statement. A limit that is
 * not the client's is part of the text: a generic plan is made for a tenth of the rows where the limit is a value.
 */
export function writePage(sql: SqlText, { limit, offset }: Page): void {
  if (typeof limit === 'number') sql.add(` limit ${limit}`);
  else if (limit !== null) sql.add(' limit ').bind(limit.count, 'pg_catalog.int8', limit.source, '$');
  if (offset !== null) sql.add(' offset ').bind(offset.count, 'pg_catalog.int8', offset.source, '$');
}
