import type { Query, QueryBuilder, QueryInput } from '../ports/ports.ts';
import type { Endpoint, Listing } from '../endpoints/endpoint.ts';
import { buildSelectList } from '../endpoints/statement.ts';
import { checkConditionCount, equalityConditions } from './condition.ts';
import { parseColumnFilters } from './listing/column-filters.ts';
import { parsePage, writeListingPage } from './listing/page.ts';
import { type Condition, writeWhere } from './parts/condition.ts';
import { SqlText } from './parts/sql-text.ts';
import {
  aliasedTable,
  coversKey,
  listProvidedColumns,
  choosePlanMode,
  type ProvidedColumn,
  requireTable,
  rowAlias,
} from './provided-columns.ts';
import { rowVersionSql } from './row-version.ts';

/** Builds a SELECT of the rows that equal all provided columns, or of a listing with filters, order and pages. */
export const buildSelect: QueryBuilder = (input) => {
  const { listing } = requireTable(input.endpoint);
  if (listing !== null) return buildListing(input, listing);
  const provided = listProvidedColumns(input);
  const conditions = checkConditionCount(equalityConditions(provided));
  const statement = selectRows(input.endpoint, conditions).finish('select');
  return { ...statement, ...choosePlanMode(input.endpoint, provided, statement.values.length) };
};

function selectRows(endpoint: Endpoint, conditions: readonly Condition[]): SqlText {
  const sql = new SqlText().addLazily(
    () => `select ${buildSelectList(endpoint, rowAlias)} from ${aliasedTable(endpoint)}`,
    '',
  );
  writeWhere(sql, conditions);
  return sql;
}

function buildListing(input: QueryInput, listing: Listing): Query {
  const { endpoint } = input;
  const { conditions, equal } = parseColumnFilters(listProvidedColumns(input), endpoint.queryStringNullHandling);
  const page = parsePage(input, listing);
  const sql = selectRows(endpoint, [...checkConditionCount(conditions), ...page.after]);
  writeListingPage(sql, page);
  const statement = sql.finish('select');
  const onlyEqualities = page.after.length === 0 && equal.length === conditions.length;
  return {
    ...statement,
    ...choosePlanMode(endpoint, onlyEqualities ? equal : [], statement.values.length),
    ...buildHeaderQuery(input, conditions, equal),
  };
}

/** A response header whose value is an SQL expression. */
interface QueryHeader {
  readonly name: string;
  readonly write: (sql: SqlText) => void;
}

function buildHeaderQuery(
  input: QueryInput,
  conditions: readonly Condition[],
  equal: readonly ProvidedColumn[],
): Pick<Query, 'headerQuery'> {
  const headers = [...countHeaders(input, conditions), ...versionHeaders(input, conditions, equal)];
  if (headers.length === 0) return {};
  const sql = new SqlText().add('select ', '');
  for (const [index, { write }] of headers.entries()) write(index === 0 ? sql : sql.add(', '));
  return { headerQuery: { ...sql.finish('head'), names: headers.map(({ name }) => name) } };
}

/** `Prefer: count=exact` (RFC 7240). */
const preferCount = /(?:^|[\s,;])count\s*=\s*"?exact"?(?=$|[\s,;])/i;

const onlyVersion = `case when pg_catalog.count(*) operator(pg_catalog.=) 1 then pg_catalog.min(${rowVersionSql}) end`;

function countHeaders({ endpoint, request }: QueryInput, conditions: readonly Condition[]): readonly QueryHeader[] {
  const prefer = request.header('prefer');
  if (prefer === undefined || !preferCount.test(prefer)) return [];
  return [
    {
      name: 'x-total-count',
      write: (sql) => {
        sql.addLazily(() => `(select pg_catalog.count(*) from ${aliasedTable(endpoint)}`, 'count(');
        writeWhere(sql, conditions);
        sql.add(')');
      },
    },
    { name: 'preference-applied', write: (sql) => sql.add("'count=exact'") },
  ];
}

/**
 * The version is read before the row, so that the tag is never newer than the row. A key is not unique across tables that inherit: for
 * two rows there is no version.
 */
function versionHeaders(
  { endpoint }: QueryInput,
  conditions: readonly Condition[],
  equal: readonly ProvidedColumn[],
): readonly QueryHeader[] {
  if (!requireTable(endpoint).versioned || !coversKey(endpoint, equal)) return [];
  return [
    {
      name: 'etag',
      write: (sql) => {
        sql.addLazily(() => `(select ${onlyVersion} from ${aliasedTable(endpoint)}`, 'version(');
        writeWhere(sql, conditions);
        sql.add(')');
      },
    },
  ];
}
