import { emptyLevel, type Level, type Read, type ReadQuery, SqlText } from '@pgway/core/internal';
import { type ResponseMedia, valuesAs } from '../media.ts';
import { readModelOf } from '../read-models.ts';
import type { TargetRequest } from '../target.ts';
import { countSql, type RowFormat, writeRows } from './select-sql.ts';

/** Returns what a request reads of its table. */
export function toRead({ target, media }: TargetRequest, query: ReadQuery): Read {
  return {
    model: readModelOf(target),
    relation: target,
    query,
    limits: target.options,
    valuesAs: valuesAs(media),
  };
}

/**
 * Returns the statement whose rows are the texts of rows, with the number of all rows, and the names of the columns.
 * @param prefix the CTE before the statement; empty for none
 */
export function rowsSql(
  request: TargetRequest,
  read: Read,
  prefix: SqlText,
): { readonly sql: SqlText; readonly names: readonly string[] } {
  const total = totalSql(request, read);
  const sql = new SqlText().append(prefix);
  if (total !== null) {
    // The total is that of the snapshot of the rows. It has a row without rows, too.
    sql.add('select "page"."text", "total"."count" from (select ').append(total);
    sql.add(' as "count") "total" left join (');
  }
  const names = writeRows(sql, read, rowFormatOf(request.media));
  if (total !== null) sql.add(') "page" on true');
  return { sql, names };
}

export function rowFormatOf({ shape, stripsNulls }: ResponseMedia): RowFormat {
  if (shape === 'csv') return 'csv';
  return stripsNulls ? 'strippedJson' : 'json';
}

/** The number of all rows: exact, or up to a limit; null: not counted. */
export function totalSql({ preferences: { count } }: TargetRequest, read: Read): SqlText | null {
  switch (count) {
    case null:
    case 'planned':
      return null;
    case 'exact':
      return countSql(read);
    case 'estimated':
      return countSql(read, read.limits.maxRows + 1);
  }
}

export function outerLevel({ levels }: ReadQuery): Level {
  return levels.get('') ?? emptyLevel;
}
