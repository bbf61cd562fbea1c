/** The statements that save the rows of a call with it, and return them later. */
import { quoteFreeName } from '../catalog/quote.ts';
import { resultColumnTypes } from './statement.ts';
import type { Endpoint } from './endpoint.ts';

/** The functions that save and return rows. */
export interface RowStorage {
  /** Qualified and quoted: `(bytea, text) returns boolean`. */
  readonly save: string;
  /** Qualified and quoted: `(bytea, bytea) returns json`, an array of arrays of texts. */
  readonly read: string;
  /** Larger rows are saved as NULL. */
  readonly maxBytes: number;
}

/**
 * Returns a query that runs the call of a function and saves its rows, each value in PostgreSQL's text format. The id of the stored response
 * is the parameter after those of the call.
 * @param mainStart where the main query begins in the call, behind queries of WITH; 0 without them
 * @param parameters the number of the parameters of the call
 */
export function buildStoringStatement(
  endpoint: Endpoint,
  { call, mainStart, parameters }: { readonly call: string; readonly mainStart: number; readonly parameters: number },
  { save, maxBytes }: RowStorage,
): string {
  const names = resultColumnTypes(endpoint).map((_, index) => `"c${index + 1}"`);
  // `format` calls the output function of any type. `is null` is true for a composite value whose fields are all NULL.
  const texts = names.map(
    (name) =>
      `case when pg_catalog.num_nulls(${name}) operator(pg_catalog.=) 0 then pg_catalog.format('%s', ${name}) end`,
  );
  // The condition without columns is evaluated once. `case` reads the sizes before it collects the rows.
  // A query of WITH that changes data must not be nested.
  const before = mainStart === 0 ? 'with' : `${call.slice(0, mainStart)},`;
  // The queries of WITH before them have names of their own.
  const [rows, stored] = [quoteFreeName('call', call), quoteFreeName('stored', call)];
  return `${before} ${rows}${names.length === 0 ? '' : ` (${names.join(', ')})`} as materialized (${call.slice(mainStart)}
), ${stored} ("v") as materialized (
  select pg_catalog.array_to_json(array[${texts.join(', ')}]::pg_catalog.text[])::pg_catalog.text from ${rows}
)
select ${rows}.* from ${rows} where (select ${save}($${parameters + 1}::pg_catalog.bytea, case
  when (select coalesce(pg_catalog.sum(pg_catalog.octet_length("v")), 0) from ${stored}) operator(pg_catalog.<=) ${maxBytes}
  then (select '[' operator(pg_catalog.||) coalesce(pg_catalog.string_agg("v", ','), '') operator(pg_catalog.||) ']' from ${stored}) end))`;
}

/** Returns the query for saved rows: `$1` is the id, `$2` the shape of the rows. */
export function buildReadStatement(endpoint: Endpoint, { read }: RowStorage): string {
  const call = `${read}($1::pg_catalog.bytea, $2::pg_catalog.bytea)`;
  if (endpoint.result.kind === 'nothing') return `select ${call}`;
  const columns = resultColumnTypes(endpoint).map((_, index) => `"r"."v" operator(pg_catalog.->>) ${index}`);
  return `select ${columns.join(', ')} from pg_catalog.json_array_elements(${call}) with ordinality as "r"("v", "n") order by "r"."n"`;
}
