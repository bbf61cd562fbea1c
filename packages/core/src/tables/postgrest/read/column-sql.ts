import { quoteIdentifier } from '../../../catalog/quote.ts';
import type { Fragment } from '../../fragment.ts';
import { syntaxProblem } from '../postgrest-problem.ts';
import { type Aliased, fieldSql, sql, text } from './filter-sql.ts';
import type { SelectedColumn, SelectedCount } from './query.ts';

/** The types that a request can cast to. */
const castTypes: ReadonlySet<string> = new Set(
  (
    'bool boolean bytea char date float4 float8 inet int int2 int4 int8 integer interval json jsonb numeric real smallint bigint ' +
    'text time timestamp timestamptz timetz uuid varchar'
  ).split(' '),
).add('double precision');

export function columnSql(aliased: Aliased, { field, name, cast }: SelectedColumn): Fragment {
  const value = fieldSql(aliased, field, 'select');
  const as = text(` as ${quoteIdentifier(name)}`);
  return cast === null ? sql`${value}${as}` : sql`${value}::${castSql(cast)}${as}`;
}

export function countColumn({ name, cast }: SelectedColumn | SelectedCount): Fragment {
  const type = cast === null ? text('') : sql`::${castSql(cast)}`;
  return sql`pg_catalog.count(*)${type} as ${text(quoteIdentifier(name))}`;
}

function castSql(cast: string): Fragment {
  const isArray = cast.endsWith('[]');
  const type = (isArray ? cast.slice(0, -2) : cast).trim();
  if (!castTypes.has(type)) {
    throw syntaxProblem(
      'select',
      `"${cast.slice(0, 60)}" is no type to cast to; the types are ${[...castTypes].join(', ')}`,
    );
  }
  const builtin = standardNames[type] ?? type;
  return text(`pg_catalog.${quoteIdentifier(builtin)}${isArray ? '[]' : ''}`);
}

/** The names in `pg_catalog` of types with another name in SQL. */
const standardNames: Readonly<Record<string, string>> = {
  boolean: 'bool',
  char: 'bpchar',
  int: 'int4',
  integer: 'int4',
  real: 'float4',
  smallint: 'int2',
  bigint: 'int8',
  'double precision': 'float8',
};
