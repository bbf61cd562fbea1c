import type { QueryInput, Query } from '../../ports/ports.ts';
import { where } from '../condition.ts';
import { type Fragment, join, plain, statementOf } from '../fragment.ts';
import { type GivenColumn, tableName, tableOf } from '../provided-columns.ts';
import { byKey } from '../plan-mode.ts';
import { versionTag } from '../row-version.ts';

/** A header that a query tells. */
interface Told {
  readonly name: string;
  readonly value: Fragment;
}

/** How many rows there are in all, where the client prefers to know; and the version of the row, where it is one. */
export function listingHead(
  parts: QueryInput,
  conditions: readonly Fragment[],
  equal: readonly GivenColumn[],
): Pick<Query, 'headerQuery'> {
  const told = [...countOf(parts, conditions), ...versionOf(parts, conditions, equal)];
  if (told.length === 0) return {};
  const list = join(
    told.map(({ value }) => value),
    ', ',
  );
  const statement = statementOf('head', join([plain('', 'select '), list], ''));
  return { headerQuery: { ...statement, names: told.map(({ name }) => name) } };
}

const wantsCount = /(?:^|[\s,;])count\s*=\s*"?exact"?(?=$|[\s,;])/i;

function countOf({ endpoint, request }: QueryInput, conditions: readonly Fragment[]): readonly Told[] {
  if (!wantsCount.test(request.header('prefer') ?? '')) return [];
  const from = plain('count', `(select pg_catalog.count(*) from ${tableName(endpoint)}`);
  return [
    { name: 'x-total-count', value: join([from, where(conditions), plain('', ')')], '') },
    { name: 'preference-applied', value: plain('', "'count=exact'") },
  ];
}

/**
 * Read before the row itself, so that it is never newer than what the client gets: a stale tag is refused, never believed.
 * Of two rows (a key is unique within a table, not among those that inherit from it) there is no version.
 */
function versionOf(
  { endpoint }: QueryInput,
  conditions: readonly Fragment[],
  equal: readonly GivenColumn[],
): readonly Told[] {
  if (!tableOf(endpoint).versioned || !byKey(endpoint, equal)) return [];
  const tag = `case when pg_catalog.count(*) operator(pg_catalog.=) 1 then pg_catalog.min(${versionTag}) end`;
  const from = plain('version', `(select ${tag} from ${tableName(endpoint)}`);
  return [{ name: 'etag', value: join([from, where(conditions), plain('', ')')], '') }];
}
