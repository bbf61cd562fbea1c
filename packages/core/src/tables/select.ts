import type { QueryBuilder, QueryInput, Query } from '../ports/ports.ts';
import type { Endpoint, Listing } from '../endpoints/endpoint.ts';
import { buildSelectList } from '../endpoints/statement.ts';
import { bounded, equalities, where } from './condition.ts';
import { type Fragment, join, statementOf } from './fragment.ts';
import { type GivenColumn, givenColumns, row, tableName, tableOf } from './provided-columns.ts';
import { readComparisons } from './listing/comparison.ts';
import { listingHead } from './listing/head.ts';
import { pageOf } from './listing/page.ts';
import { planning } from './plan-mode.ts';

/** All rows that equal the given columns, in no order; where the table has a listing, what the client chooses of them. */
export const selectCommand: QueryBuilder = (parts) => {
  const { listing } = tableOf(parts.endpoint);
  if (listing !== null) return listed(parts, listing);
  const given = givenColumns(parts);
  const statement = join([selectFrom(parts.endpoint), where(bounded(equalities(given)))], '');
  return { ...statementOf('select', statement), ...planning(parts.endpoint, given, statement.values.length) };
};

function selectFrom(endpoint: Endpoint): Fragment {
  return { form: '', text: () => `select ${buildSelectList(endpoint, row)} from ${tableName(endpoint)}`, values: [] };
}

function listed(parts: QueryInput, listing: Listing): Query {
  const { endpoint } = parts;
  const { conditions, equal } = readComparisons(givenColumns(parts), endpoint.queryStringNullHandling);
  const page = pageOf(parts, listing);
  const statement = join(
    [selectFrom(endpoint), where([...bounded(conditions), ...page.after]), page.order, page.limit],
    '',
  );
  return {
    ...statementOf('select', statement),
    ...planning(endpoint, page.after.length === 0 && isOnly(equal, conditions) ? equal : [], statement.values.length),
    ...listingHead(parts, conditions, equal),
  };
}

/** Whether all conditions are equalities. */
function isOnly(equal: readonly GivenColumn[], conditions: readonly Fragment[]): boolean {
  return equal.length === conditions.length;
}
