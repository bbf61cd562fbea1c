import type { ValueSource } from '../../../ports/ports.ts';
import { sql, SqlText, text } from '../../parts/sql-text.ts';
import type { Level } from './query.ts';

const numberSource: ValueSource = { name: 'limit', key: 'limit', type: { sql: 'pg_catalog.int8', display: 'bigint' } };

/** Returns a number as a parameter: a client that reads page after page has one statement. */
export function numberParameter(value: number): SqlText {
  return new SqlText().bind(String(value), numberSource.type.sql, numberSource);
}

/**
 * Returns ` limit …` and ` offset …`. A limit that the request does not give is part of the text: a generic plan is made for a tenth of
 * the rows where the limit is a parameter.
 */
export function pageSql({ limit, offset }: Level, maxRows: number): SqlText {
  const rows = limit === null || limit >= maxRows ? text(String(maxRows)) : numberParameter(limit);
  const page = sql` limit ${rows}`;
  return offset === 0 ? page : sql`${page} offset ${numberParameter(offset)}`;
}
