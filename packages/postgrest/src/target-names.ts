/** Filters, orders and pages of related rows with an alias that name the table, as clients of PostgREST up to version 15 do. */
import type { Level, ReadQuery, SelectItem } from '@pgway/core/internal';

type SelectedRelation = Extract<SelectItem, { readonly kind: 'relation' }>;

/** Returns a query whose paths of related rows have the aliases of `select` in place of the names of tables. */
export function withAliases(query: ReadQuery): ReadQuery {
  const { items, levels } = query;
  const renamed = new Map<string, Level>();
  let isRenamed = false;
  for (const [path, level] of levels) {
    const alias = path === '' ? path : aliasPath(path, items);
    isRenamed ||= alias !== path;
    const other = renamed.get(alias);
    renamed.set(alias, other === undefined ? level : merged(other, level));
  }
  return isRenamed ? { ...query, levels: renamed } : query;
}

function aliasPath(path: string, items: readonly SelectItem[]): string {
  let level = items;
  const names = path.split('.').map((name) => {
    const relation = findNamed(level, name);
    level = relation?.items ?? [];
    return relation?.alias ?? name;
  });
  return names.join('.');
}

/** Returns the relation with an alias, or the only one of a table; null if there are several. */
function findNamed(items: readonly SelectItem[], name: string): SelectedRelation | null {
  let named: SelectedRelation | null = null;
  let count = 0;
  for (const item of items) {
    if (item.kind !== 'relation') continue;
    if (item.alias === name) return item;
    if (item.name !== name) continue;
    named = item;
    count++;
  }
  return count === 1 ? named : null;
}

/** Combines the filters, order and page that a request gives a relation by its alias with those by the name of its table. */
function merged(first: Level, second: Level): Level {
  const { limit, limitIndex } = first.limit === null ? second : first;
  const { offset, offsetIndex } = first.offset === 0 ? second : first;
  return {
    filters: [...first.filters, ...second.filters],
    order: first.order.length > 0 ? first.order : second.order,
    limit,
    offset,
    ...(limitIndex === undefined ? {} : { limitIndex }),
    ...(offsetIndex === undefined ? {} : { offsetIndex }),
  };
}
