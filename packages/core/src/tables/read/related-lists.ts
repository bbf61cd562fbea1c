import { sql, type SqlText, text } from '../parts/sql-text.ts';
import type { SelectedRelation } from './query.ts';

/** The JSON of a row of `"row"`. A row without columns cannot be named as a whole. */
export const rowJson = 'pg_catalog.row_to_json("row".*)';
export const emptyRowJson = "'{}'::pg_catalog.json";

/** Bytes of the rows of one relation, or of a whole response. */
export const maxBodyBytes: number = 64 * 1024 * 1024;

/** The text of the error of related rows that are too large. */
const listFault = 'pgway: bytes of related rows: ';
const listFaultNumber = new RegExp(`${listFault}(\\d+)`);

/**
 * Returns a value, or an error in place of one that is too large.
 * @param size the bytes of the value in SQL
 */
export function withinListLimit(value: string, size: string): string {
  return `case when ${size} operator(pg_catalog.>) ${maxBodyBytes} then pg_catalog.to_json(${fault(size)}) else ${value} end`;
}

/** Returns what raises the error: a text that is not a number. */
function fault(size: string): string {
  return `pg_catalog.concat('${listFault}', ${size})::pg_catalog.int4`;
}

/** Returns the size in the message of an error that `withinListLimit` has made; null for another error. */
export function listSize(message: string): string | null {
  return listFaultNumber.exec(message)?.[1] ?? null;
}

/** Returns the bytes of a JSON value in SQL, with those of its header: its length as text would need a copy of the value. */
export function bytesOf(value: string): string {
  return `pg_catalog.pg_column_size(${value})`;
}

/**
 * Returns the query of the list of rows, in the column `value`.
 * @param row the JSON of a row of `"row"`
 * @param isNested whether the rows have lists of their own, and so can be large: the list is not built beyond the limit
 */
export function listOfRows(rows: SqlText, row: string, isNested: boolean): SqlText {
  if (row !== rowJson) return sql`select pg_catalog.json_agg(${text(row)}) as "value" from (${rows}) "row"`;
  if (!isNested) return sql`select pg_catalog.json_agg("row".*) as "value" from (${rows}) "row"`;
  // The elements are rows here too: `json_agg` separates JSON values by other characters. The window keeps no JSON: PostgreSQL reads all rows
  // once those that it keeps exceed `work_mem`.
  const size = `pg_catalog.sum(${bytesOf(rowJson)}) over (rows unbounded preceding)`;
  const isWithinLimit = `case when "item"."size" operator(pg_catalog.<=) ${maxBodyBytes} then true else ${fault('"item"."size"')} is null end`;
  return sql`select pg_catalog.json_agg("item"."value") filter (where ${text(isWithinLimit)}) as "value" from (select "row" as "value", ${text(size)} as "size" from (${rows}) "row") "item"`;
}

/** Returns the list of a column of related rows. */
export function listSql(column: string, { distinct }: Pick<SelectedRelation, 'distinct'>): string {
  const list = distinct
    ? `pg_catalog.json_agg(distinct pg_catalog.to_jsonb(${column})) filter (where ${column} is distinct from null)`
    : `pg_catalog.json_agg(${column})`;
  return `coalesce(${list}, '[]')`;
}
