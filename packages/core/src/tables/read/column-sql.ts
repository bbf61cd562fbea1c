import { type Operand, writeOperand } from '../parts/condition.ts';
import { quoteIdentifier } from '../../catalog/quote.ts';
import { SqlText } from '../parts/sql-text.ts';
import { ReadFault } from './read-fault.ts';
import { type Aliased, fieldValue } from './filter-sql.ts';
import type { Field, SelectedColumn } from './query.ts';
import { findColumn } from './relation.ts';
import type { RelationColumn } from './representations.ts';

/** The types that a request can cast to. None of them reads the catalog. */
const castTypes: ReadonlySet<string> = new Set([
  ...(
    'bit bool boolean bytea char cidr date daterange float4 float8 inet int int2 int4 int4range int8 int8range integer interval json jsonb ' +
    'macaddr money name numeric numrange oid real smallint bigint text time timestamp timestamptz timetz tsquery tsrange tstzrange tsvector ' +
    'uuid varbit varchar'
  ).split(' '),
  'character varying',
  'double precision',
  'time with time zone',
  'time without time zone',
  'timestamp with time zone',
  'timestamp without time zone',
]);

/** How a selected value is written in a response: as that of a column, as JSON, or as text. */
export type ValueForm = RelationColumn | 'json' | 'text';

/** Returns the form of a selected value. */
export function formOf(aliased: Aliased, { field, cast }: Pick<SelectedColumn, 'field' | 'cast'>): ValueForm {
  if (cast !== null) return cast.endsWith('[]') || jsonCasts.has(cast) ? 'json' : 'text';
  return field.path.at(-1)?.gives ?? columnOf(aliased, field) ?? 'json';
}

/** The types to cast to whose values are not strings in JSON. */
const jsonCasts: ReadonlySet<string> = new Set(
  'bool boolean float4 float8 int int2 int4 int8 integer json jsonb numeric real smallint bigint'.split(' '),
).add('double precision');

/** @param isGrouped whether rows are grouped by the value: json has no equality */
export function columnSql(aliased: Aliased, { field, name, cast }: SelectedColumn, isGrouped = false): Operand {
  const comparable = isGrouped && isJson(aliased, { field, cast }) ? '::pg_catalog.jsonb' : '';
  const { sql } = shownValue(aliased, field);
  const end = `${cast === null ? '' : castSql(cast)}${comparable} as ${quoteIdentifier(name)}`;
  return { sql: typeof sql === 'string' ? sql + end : sql.add(end) };
}

/** Returns the value of a field in the form that the response has for its domain. */
function shownValue(aliased: Aliased, field: Field): Operand {
  const value = fieldValue(aliased, field, 'select');
  const formatter = formatterOf(aliased, field);
  return formatter === null || typeof value.sql !== 'string' ? value : { sql: `${formatter}(${value.sql})` };
}

function formatterOf(aliased: Aliased, field: Field): string | null {
  const representation = field.path.length > 0 ? undefined : columnOf(aliased, field)?.representation;
  switch (aliased.valuesAs ?? 'json') {
    case 'json':
      return representation?.toJson ?? null;
    case 'text':
      return representation?.toText ?? null;
    case 'stored':
      return null;
  }
}

function columnOf({ relation, computed }: Aliased, { column }: Field): RelationColumn | undefined {
  return findColumn(relation, column) ?? computed?.get(column)?.column ?? undefined;
}

/** Returns the value of a column, with its cast. */
export function valueSql(aliased: Aliased, { field, cast }: Pick<SelectedColumn, 'field' | 'cast'>): SqlText {
  const sql = new SqlText();
  writeOperand(sql, fieldValue(aliased, field, 'select'));
  return cast === null ? sql : sql.add(castSql(cast));
}

function isJson(aliased: Aliased, { field, cast }: Pick<SelectedColumn, 'field' | 'cast'>): boolean {
  if (cast !== null) return cast === 'json';
  const step = field.path.at(-1);
  if (step !== undefined) return step.gives === 'json';
  const column = columnOf(aliased, field);
  return (
    column?.type.builtin === 'json' ||
    ((aliased.valuesAs ?? 'json') === 'json' && Boolean(column?.representation?.toJson))
  );
}

/**
 * Returns the cast to a type of the client.
 * @throws ReadFault for an unknown type
 */
export function castSql(cast: string): string {
  // `_int4` is the name that PostgreSQL has for `int4[]`.
  const isArray = cast.endsWith('[]') || cast.startsWith('_');
  const type = cast.replace(/^_|\[\]$/, '').trim();
  if (!castTypes.has(type)) {
    throw new ReadFault({ kind: 'unknown-type', parameter: 'select', type: cast, types: [...castTypes] });
  }
  const builtin = standardNames[type] ?? type;
  return `::pg_catalog.${quoteIdentifier(builtin)}${isArray ? '[]' : ''}`;
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
  'character varying': 'varchar',
  'double precision': 'float8',
  'time with time zone': 'timetz',
  'time without time zone': 'time',
  'timestamp with time zone': 'timestamptz',
  'timestamp without time zone': 'timestamp',
};
