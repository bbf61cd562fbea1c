import { quoteFreeName, quoteIdentifier, quoteLiteral } from '../catalog/quote.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { NamedType } from '../endpoints/named-type.ts';
import { convertParts } from '../endpoints/statement.ts';
import type { NumberedText, ParsedFile } from './parse-file.ts';
import { isOneResult, listMembers, type StatementRows } from './results.ts';

const recordOid = 2249;

/** The queries of WITH, empty without any, and the main query. */
export type QueryParts = Pick<NumberedText, 'prefix' | 'main'>;

/**
 * Returns the statement, whose columns are converted to JSON where PostgreSQL has to do it, and whose first row alone is sent if it is
 * single.
 */
export function wholeQuery({ prefix, main }: QueryParts, endpoint: Endpoint, rows: StatementRows): QueryParts {
  const { isSingle, isQuery, kind } = rows;
  const { result, volatility } = endpoint;
  const row = freeName({ prefix, main });
  const converted = convertParts(endpoint, main, row);
  const parts = converted === null ? null : { ...converted, select: converted.select + checkComposites(rows, row) };
  const hasRows = result.kind !== 'nothing' && (kind === 'rows' || kind === 'values');
  if (isSingle && isQuery && hasRows) {
    const { query, select } = parts ?? { query: `${row} as (${main}\n)`, select: `select * from ${row}` };
    // A query of WITH runs as far as its rows are read: a count reads all, so that all effects happen.
    const limit = volatility === 'volatile' ? `(select least(pg_catalog.count(*), 1) from ${row})` : '1';
    return { prefix: withPrefix(prefix, query), main: ` ${select} limit ${limit}` };
  }
  return parts === null ? { prefix, main } : { prefix: withPrefix(prefix, parts.query), main: ` ${parts.select}` };
}

/**
 * Returns a condition that is true, and an error if a composite column has another type than the load has found: any type can be converted
 * to JSON, and the row would have the form of the old one.
 */
function checkComposites({ columns }: StatementRows, row: string): string {
  const values = columns.flatMap(({ name, type: { kind, oid, sql } }) =>
    name === '' || kind !== 'composite' || oid === recordOid
      ? []
      : [`coalesce(${row}.${quoteIdentifier(name)}, null::${sql}) is null`],
  );
  return values.length === 0 ? '' : ` where (true or ${values.join(' or ')})`;
}

/** Returns the statement that keeps its result as JSON. */
export function storingQuery(
  { prefix, main }: QueryParts,
  setting: string,
  { kind, isSingle, columns, names }: StatementRows,
  type: NamedType,
): string {
  const from = freeName({ prefix, main });
  const store = (value: string): string =>
    `select pg_catalog.set_config(${quoteLiteral(setting)}, ${value}, true) from ${from}`;
  if (kind === 'count') {
    const query = `${from} as (${main}\nreturning 1)`;
    return withPrefix(prefix, `${query} ${store('pg_catalog.count(*)::pg_catalog.text')}`);
  }
  const fields = (isSingle ? type : type.element)?.fields;
  const aliases = columns.map((_, index) => `"c${index}"`);
  // Another name or type of a column is an error: the object would be a mixture of the old and the new.
  const value = (index: number): string => {
    const name = names === null ? aliases[index]! : quoteIdentifier(names[index]!);
    const { oid, sql } = columns[index]!.type;
    return oid === recordOid ? `${from}.${name}` : `coalesce(${from}.${name}, null::${sql})`;
  };
  const row =
    fields === undefined
      ? `pg_catalog.to_json(${value(0)})`
      : `pg_catalog.json_build_object(${fields.map(({ key }, index) => `${quoteLiteral(key)}, ${value(index)}`).join(', ')})`;
  const all = isSingle
    ? `coalesce((pg_catalog.array_agg(${row}))[1]::pg_catalog.text, 'null')`
    : `coalesce(pg_catalog.json_agg(${row})::pg_catalog.text, '[]')`;
  return withPrefix(prefix, `${from}${names === null ? ` (${aliases.join(', ')})` : ''} as (${main}\n) ${store(all)}`);
}

/**
 * Returns the statements that are sent as queries of WITH, as such queries, by their index: PostgreSQL refuses some there, such as changes
 * of a table with certain rules.
 */
export function listTrialQueries(parsed: ParsedFile, rows: readonly StatementRows[]): ReadonlyMap<number, string> {
  const { statements, directives } = parsed;
  if (directives.isVoid) return new Map();
  const last = statements.length - 1;
  const indexes = isOneResult(parsed)
    ? isSentAsQuery(rows[last]!)
      ? [last]
      : []
    : listMembers(parsed, rows).map(({ index }) => index);
  const queries = indexes.filter((index) => rows[index]!.isQuery);
  return new Map(
    queries.map((index) => {
      const { prefix, main } = statements[index]!;
      const row = freeName({ prefix, main });
      const end = rows[index]!.kind === 'count' ? '\nreturning 1' : '\n';
      return [index, withPrefix(prefix, `${row} as (${main}${end}) select from ${row}`)];
    }),
  );
}

/** Whether the only result is the one of a query of WITH. */
function isSentAsQuery({ kind, isSingle, columns }: StatementRows): boolean {
  if (kind !== 'rows' && kind !== 'values') return false;
  return isSingle || columns.some(({ type }) => type.json === 'converted' || type.kind === 'composite');
}

/** Returns a quoted name for a query of WITH that the statement does not use. */
function freeName({ prefix, main }: QueryParts): string {
  return quoteFreeName('q', prefix + main);
}

/** Adds a query to those of WITH. */
function withPrefix(prefix: string, query: string): string {
  return prefix === '' ? `with ${query}` : `${prefix}, ${query}`;
}
