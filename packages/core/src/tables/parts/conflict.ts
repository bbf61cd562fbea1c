import { quoteIdentifier } from '../../catalog/quote.ts';

/**
 * Returns ` on conflict (…) do …`.
 * @param key the names of the columns that rows conflict on
 * @param updated the names of the columns to replace; empty: an existing row stays as it is
 */
export function conflictSql(key: readonly string[], updated: readonly string[]): string {
  const target = ` on conflict (${key.map(quoteIdentifier).join(', ')}) do`;
  if (updated.length === 0) return `${target} nothing`;
  const columns = updated.map(quoteIdentifier);
  return `${target} update set ${columns.map((column) => `${column} = excluded.${column}`).join(', ')}`;
}
