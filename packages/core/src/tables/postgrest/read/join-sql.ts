import { quoteIdentifier } from '../../../catalog/quote.ts';
import type { Fragment } from '../../fragment.ts';
import { type Aliased, sql, text } from './filter-sql.ts';
import type { SelectedRelation } from './query.ts';

export function joinSql({ join }: SelectedRelation, condition: string, lateral: Fragment): Fragment {
  return join === 'inner' ? sql` join ${lateral} on ${text(condition)}` : sql` left join ${lateral} on true`;
}

export function tableSql({ relation, alias }: Aliased): Fragment {
  return text(`${quoteIdentifier(relation.schema)}.${quoteIdentifier(relation.name)} as ${alias}`);
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
