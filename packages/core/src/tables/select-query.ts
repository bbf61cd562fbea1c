import type { QueryBuilder, QueryInput, Query } from '../ports/ports.ts';
import type { Endpoint, Listing } from '../endpoints/endpoint.ts';
import { buildSelectList } from '../endpoints/statement.ts';
import { checkConditionCount, equalityConditions, whereClause } from './condition.ts';
import { type Fragment, joinFragments, toStatement } from './fragment.ts';
import { type ProvidedColumn, listProvidedColumns, rowAlias, aliasedTable, requireTable } from './provided-columns.ts';
import { parseColumnFilters } from './listing/column-filters.ts';
import { listingHeaders } from './listing/head.ts';
import { parsePage } from './listing/page.ts';
import { planModeSettings } from './plan-mode.ts';

/** All rows that equal the given columns, in no order; where the table has a listing, what the client chooses of them. */
export const buildSelect: QueryBuilder = (parts) => {
  const { listing } = requireTable(parts.endpoint);
  if (listing !== null) return listed(parts, listing);
  const given = listProvidedColumns(parts);
  const statement = joinFragments(
    [selectFrom(parts.endpoint), whereClause(checkConditionCount(equalityConditions(given)))],
    '',
  );
  return { ...toStatement('select', statement), ...planModeSettings(parts.endpoint, given, statement.values.length) };
};

function selectFrom(endpoint: Endpoint): Fragment {
  return {
    form: '',
    text: () => `select ${buildSelectList(endpoint, rowAlias)} from ${aliasedTable(endpoint)}`,
    values: [],
  };
}

function listed(parts: QueryInput, listing: Listing): Query {
  const { endpoint } = parts;
  const { conditions, equal } = parseColumnFilters(listProvidedColumns(parts), endpoint.queryStringNullHandling);
  const page = parsePage(parts, listing);
  const statement = joinFragments(
    [selectFrom(endpoint), whereClause([...checkConditionCount(conditions), ...page.after]), page.order, page.limit],
    '',
  );
  return {
    ...toStatement('select', statement),
    ...planModeSettings(
      endpoint,
      page.after.length === 0 && isOnly(equal, conditions) ? equal : [],
      statement.values.length,
    ),
    ...listingHeaders(parts, conditions, equal),
  };
}

/** Whether all conditions are equalities. */
function isOnly(equal: readonly ProvidedColumn[], conditions: readonly Fragment[]): boolean {
  return equal.length === conditions.length;
}
