import type { Query, QueryBuilder, QueryInput } from '../ports/ports.ts';
import type { Endpoint, Listing } from '../endpoints/endpoint.ts';
import { buildSelectList } from '../endpoints/statement.ts';
import { checkConditionCount, equalityConditions, whereClause } from './condition.ts';
import { type Fragment, joinFragments, textFragment, toStatement } from './fragment.ts';
import { parseColumnFilters } from './listing/column-filters.ts';
import { parsePage } from './listing/page.ts';
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
  const statement = joinFragments([selectFrom(input.endpoint), whereClause(conditions)], '');
  return {
    ...toStatement('select', statement),
    ...choosePlanMode(input.endpoint, provided, statement.values.length),
  };
};

function selectFrom(endpoint: Endpoint): Fragment {
  return textFragment('', () => `select ${buildSelectList(endpoint, rowAlias)} from ${aliasedTable(endpoint)}`);
}

function buildListing(input: QueryInput, listing: Listing): Query {
  const { endpoint } = input;
  const { conditions, equal } = parseColumnFilters(listProvidedColumns(input), endpoint.queryStringNullHandling);
  const page = parsePage(input, listing);
  const where = whereClause([...checkConditionCount(conditions), ...page.after]);
  const statement = joinFragments([selectFrom(endpoint), where, page.order, page.limit], '');
  const onlyEqualities = page.after.length === 0 && equal.length === conditions.length;
  return {
    ...toStatement('select', statement),
    ...choosePlanMode(endpoint, onlyEqualities ? equal : [], statement.values.length),
    ...buildHeaderQuery(input, conditions, equal),
  };
}

/** A response header whose value is an SQL expression. */
interface QueryHeader {
  readonly name: string;
  readonly value: Fragment;
}

function buildHeaderQuery(
  input: QueryInput,
  conditions: readonly Fragment[],
  equal: readonly ProvidedColumn[],
): Pick<Query, 'headerQuery'> {
  const headers = [...countHeaders(input, conditions), ...versionHeaders(input, conditions, equal)];
  if (headers.length === 0) return {};
  const values = headers.map(({ value }) => value);
  const statement = joinFragments([textFragment('', 'select '), joinFragments(values, ', ')], '');
  return { headerQuery: { ...toStatement('head', statement), names: headers.map(({ name }) => name) } };
}

/** `Prefer: count=exact` (RFC 7240). */
const preferCount = /(?:^|[\s,;])count\s*=\s*"?exact"?(?=$|[\s,;])/i;

const onlyVersion = `case when pg_catalog.count(*) operator(pg_catalog.=) 1 then pg_catalog.min(${rowVersionSql}) end`;

function countHeaders({ endpoint, request }: QueryInput, conditions: readonly Fragment[]): readonly QueryHeader[] {
  const prefer = request.header('prefer');
  if (prefer === undefined || !preferCount.test(prefer)) return [];
  const count = textFragment('count', () => `(select pg_catalog.count(*) from ${aliasedTable(endpoint)}`);
  return [
    { name: 'x-total-count', value: joinFragments([count, whereClause(conditions), textFragment('', ')')], '') },
    { name: 'preference-applied', value: textFragment('', "'count=exact'") },
  ];
}

/**
 * The version is read before the row, so that the tag is never newer than the row. A key is not unique across tables that inherit: for
 * two rows there is no version.
 */
function versionHeaders(
  { endpoint }: QueryInput,
  conditions: readonly Fragment[],
  equal: readonly ProvidedColumn[],
): readonly QueryHeader[] {
  if (!requireTable(endpoint).versioned || !coversKey(endpoint, equal)) return [];
  const version = textFragment('version', () => `(select ${onlyVersion} from ${aliasedTable(endpoint)}`);
  return [{ name: 'etag', value: joinFragments([version, whereClause(conditions), textFragment('', ')')], '') }];
}
