import type { QueryInput, Query } from '../../ports/ports.ts';
import { whereClause } from '../condition.ts';
import { type Fragment, joinFragments, textFragment, toStatement } from '../fragment.ts';
import { type ProvidedColumn, aliasedTable, requireTable } from '../provided-columns.ts';
import { coversKey } from '../plan-mode.ts';
import { rowVersionSql } from '../row-version.ts';

/** A header that a query tells. */
interface QueryHeader {
  readonly name: string;
  readonly value: Fragment;
}

/** How many rows there are in all, where the client prefers to know; and the version of the row, where it is one. */
export function listingHeaders(
  parts: QueryInput,
  conditions: readonly Fragment[],
  equal: readonly ProvidedColumn[],
): Pick<Query, 'headerQuery'> {
  const told = [...countOf(parts, conditions), ...versionOf(parts, conditions, equal)];
  if (told.length === 0) return {};
  const list = joinFragments(
    told.map(({ value }) => value),
    ', ',
  );
  const statement = toStatement('head', joinFragments([textFragment('', 'select '), list], ''));
  return { headerQuery: { ...statement, names: told.map(({ name }) => name) } };
}

const wantsCount = /(?:^|[\s,;])count\s*=\s*"?exact"?(?=$|[\s,;])/i;

function countOf({ endpoint, request }: QueryInput, conditions: readonly Fragment[]): readonly QueryHeader[] {
  if (!wantsCount.test(request.header('prefer') ?? '')) return [];
  const from = textFragment('count', `(select pg_catalog.count(*) from ${aliasedTable(endpoint)}`);
  return [
    { name: 'x-total-count', value: joinFragments([from, whereClause(conditions), textFragment('', ')')], '') },
    { name: 'preference-applied', value: textFragment('', "'count=exact'") },
  ];
}

/**
 * Read before the row itself, so that it is never newer than what the client gets: a stale tag is refused, never believed.
 * Of two rows (a key is unique within a table, not among those that inherit from it) there is no version.
 */
function versionOf(
  { endpoint }: QueryInput,
  conditions: readonly Fragment[],
  equal: readonly ProvidedColumn[],
): readonly QueryHeader[] {
  if (!requireTable(endpoint).versioned || !coversKey(endpoint, equal)) return [];
  const tag = `case when pg_catalog.count(*) operator(pg_catalog.=) 1 then pg_catalog.min(${rowVersionSql}) end`;
  const from = textFragment('version', `(select ${tag} from ${aliasedTable(endpoint)}`);
  return [{ name: 'etag', value: joinFragments([from, whereClause(conditions), textFragment('', ')')], '') }];
}
