import type { Column, TypeFacts } from '../../catalog/type-facts.ts';
import type { Comparison, TableColumn } from '../../catalog/table.ts';

/** Returns a value of a function as a column. */
export function toTableColumn({ name, type }: Column): TableColumn {
  return {
    name,
    type,
    notNull: false,
    hasDefault: false,
    identity: null,
    generated: false,
    writable: false,
    key: false,
    comparison: comparisonOf(type),
  };
}

/** Types of `pg_catalog` that have no order. */
const unordered: ReadonlySet<string> = new Set(
  'json xml point line lseg box path polygon circle xid cid jsonpath tsquery pg_snapshot txid_snapshot'.split(' '),
);

/** The comparison of a type in `pg_catalog`. Values of types of extensions are compared as text. */
function comparisonOf({ kind, builtin, element }: TypeFacts): Comparison {
  if (element !== undefined) return comparisonOf(element);
  if (kind === 'enum' || kind === 'range') return 'ordered';
  return builtin === null || unordered.has(builtin) ? 'none' : 'ordered';
}
