import { quoteIdentifier } from '../../catalog/quote.ts';
import { sql, type SqlText, text } from '../parts/sql-text.ts';
import type { Aliased } from './filter-sql.ts';
import type { SelectedRelation } from './query.ts';
import type { Relationship } from './relationships.ts';
import { callOfRow } from './row-function.ts';

export function joinSql({ join }: SelectedRelation, condition: string, lateral: SqlText): SqlText {
  return join === 'inner' ? sql` join ${lateral} on ${text(condition)}` : sql` left join ${lateral} on true`;
}

export function tableSql({ relation, alias }: Aliased): SqlText {
  return text(`${quoteIdentifier(relation.schema)}.${quoteIdentifier(relation.name)} as ${alias}`);
}

/** Returns the related rows: a table, or those that a function returns for the outer row. */
export function relatedSql(outer: Aliased, { computedBy }: Pick<Relationship, 'computedBy'>, inner: Aliased): SqlText {
  return computedBy === null ? tableSql(inner) : text(`${callOfRow(outer, computedBy)} as ${inner.alias}`);
}

export function equalColumns(left: Aliased, right: Aliased, pairs: readonly (readonly [string, string])[]): string {
  return pairs
    .map(([a, b]) => {
      const own = left.relation.columns.get(a)?.operators?.names['='];
      const operator = own ?? 'operator(pg_catalog.=)';
      return `${left.alias}.${quoteIdentifier(a)} ${operator} ${right.alias}.${quoteIdentifier(b)}`;
    })
    .join(' and ');
}
