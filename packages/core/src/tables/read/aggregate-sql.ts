import { quoteIdentifier } from '../../catalog/quote.ts';
import { type SqlText, text } from '../parts/sql-text.ts';
import { ReadFault } from './read-fault.ts';
import { castSql, valueSql } from './column-sql.ts';
import type { Aliased } from './filter-sql.ts';
import type { SelectedAggregate, SelectedRelation, SelectItem } from './query.ts';
import { findColumn, type Relation } from './relation.ts';

/** Returns the value of all rows, or of a group, with its name. */
export function aggregateSql(aliased: Aliased, item: SelectedAggregate): SqlText {
  return calledSql(item, item.argument === null ? text('*') : valueSql(aliased, item.argument));
}

/** @param value the argument */
export function calledSql({ function: name, cast, name: member }: SelectedAggregate, value: SqlText): SqlText {
  const type = cast === null ? '' : castSql(cast);
  return text(`pg_catalog.${name}(`)
    .append(value)
    .add(`)${type} as ${quoteIdentifier(member)}`);
}

/** Returns ` group by …` with the positions of the columns that are not aggregates; empty without aggregates. */
export function groupSql(columns: readonly { readonly isAggregate: boolean }[]): SqlText {
  if (!columns.some(({ isAggregate }) => isAggregate)) return text('');
  const positions = columns.flatMap(({ isAggregate }, index) => (isAggregate ? [] : [index + 1]));
  // By position: the keys of a JSON path are other parameters at each place, so that equal expressions would differ.
  return text(positions.length === 0 ? '' : ` group by ${positions.join(', ')}`);
}

/** Whether the rows of a level are grouped. */
export function hasAggregate(items: readonly SelectItem[]): boolean {
  return items.some((item) => item.kind === 'aggregate' || (isSpread(item) && hasAggregate(item.items)));
}

function isSpread(item: SelectItem): item is SelectedRelation {
  return item.kind === 'relation' && item.spread;
}

/** Returns `count` as an aggregate if it is the only item and no column has this name; null otherwise. It needs no permission. */
export function soleCount(relation: Relation, items: readonly SelectItem[]): SelectedAggregate | null {
  const [item] = items;
  if (items.length !== 1 || item?.kind !== 'column') return null;
  const { field, name, cast } = item;
  if (field.column !== 'count' || field.path.length > 0 || findColumn(relation, 'count') !== undefined) return null;
  return { kind: 'aggregate', function: 'count', argument: null, name, cast };
}

/** @throws ReadFault */
export function requireAggregates(isAllowed: boolean): void {
  if (isAllowed) return;
  throw new ReadFault({ kind: 'aggregates-disabled', parameter: 'select' });
}

/** The aggregates of a spread relation: they are those of the outer rows. */
export interface SpreadAggregates {
  /** The items of the relation, with the arguments of aggregates in their place. */
  readonly items: readonly SelectItem[];
  /** By the name of their argument. */
  readonly byName: ReadonlyMap<string, SelectedAggregate>;
  /** Aggregates without argument. */
  readonly counts: readonly SelectedAggregate[];
}

/** Returns the aggregates of a spread relation, and of those that are spread within it. */
export function spreadAggregates({ items }: Pick<SelectedRelation, 'items'>): SpreadAggregates {
  const byName = new Map<string, SelectedAggregate>();
  const counts: SelectedAggregate[] = [];
  const kept = items.flatMap((item): readonly SelectItem[] => {
    if (isSpread(item) && hasAggregate(item.items)) {
      const inner = spreadAggregates(item);
      for (const [name, aggregate] of inner.byName) byName.set(name, aggregate);
      counts.push(...inner.counts);
      return [{ ...item, items: inner.items, isAggregated: true }];
    }
    if (item.kind !== 'aggregate') return [item];
    if (item.argument === null) {
      counts.push(item);
      return [];
    }
    byName.set(item.name, item);
    return [{ kind: 'column', ...item.argument, name: item.name }];
  });
  return { items: kept, byName, counts };
}
