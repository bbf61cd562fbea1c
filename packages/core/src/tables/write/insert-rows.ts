/** The INSERT of rows that a request sends as one JSON parameter. */
import { quoteIdentifier, quoteLiteral } from '../../catalog/quote.ts';
import type { TableColumn } from '../../catalog/table.ts';
import { type Condition, writeWhere } from '../parts/condition.ts';
import { sql, type SqlText, text } from '../parts/sql-text.ts';
import { rowAlias } from '../provided-columns.ts';
import type { RelationColumn } from '../read/representations.ts';
import { qualifyDefault, sequenceCall } from './default-expression.ts';

/** The relation of a write. */
export interface WrittenTable {
  readonly schema: string;
  readonly name: string;
}

/** A column that a statement writes. */
export interface WrittenColumn {
  readonly column: RelationColumn;
  /**
   * The value of a row whose object lacks the key.
   * - `null`: NULL
   * - `default`: the default of the column, for columns that `qualifyDefault` accepts
   */
  readonly ifMissing: 'null' | 'default';
}

/** The alias of the rows of a body. */
export const bodyAlias = '"body"';

const columnName = ({ name }: TableColumn): string => quoteIdentifier(name);

export function relationSql({ schema, name }: WrittenTable): string {
  return `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`;
}

/** The SQL of the rows of a body: one JSON parameter, an array of objects. */
export function bodyRows(body: SqlText, written: readonly WrittenColumn[]): SqlText {
  const hasDefaults = written.some(({ ifMissing }) => ifMissing === 'default');
  if (written.length > 0 && !hasDefaults)
    return sql` from pg_catalog.json_to_recordset(${body}) as ${text(bodyDefinition(written))}`;
  const items = sql` from pg_catalog.json_array_elements(${body}) as "item" ("row")`;
  return sql`${items}${text(itemRecordSql(written))}`;
}

/** Returns the join of an object of the body with its columns; '' without columns. */
export function itemRecordSql(written: readonly WrittenColumn[]): string {
  const inRecord = written.filter((each) => !isReadAlone(each));
  if (inRecord.length === 0) return '';
  return ` cross join lateral pg_catalog.json_to_record("item"."row") as ${bodyDefinition(inRecord)}`;
}

/** Whether only objects with the key are read as the type: a record of an object without it has NULL, which a domain can refuse. */
function isReadAlone({ column, ifMissing }: WrittenColumn): boolean {
  const { oid, baseOid } = column.type;
  return ifMissing === 'default' && oid !== baseOid && !column.representation?.fromJson;
}

function bodyDefinition(written: readonly WrittenColumn[]): string {
  return `${bodyAlias} (${written.map(({ column }) => `${columnName(column)} ${bodyType(column)}`).join(', ')})`;
}

/** A function reads the JSON of a domain with a representation. */
function bodyType({ representation, type }: RelationColumn): string {
  return representation?.fromJson ? 'pg_catalog.json' : type.sql;
}

/** Returns the value of a column in the body. */
export function bodyReference(column: RelationColumn): string {
  const value = `${bodyAlias}.${columnName(column)}`;
  const parser = column.representation?.fromJson ?? null;
  return parser === null ? value : `${parser}(${value})`;
}

/**
 * Returns the value that a row of the body gives a column.
 * @param numbers whether a sequence gives a number to each row, as in PostgREST, or only to those that lack the key, as single inserts do
 */
export function bodyValue(written: WrittenColumn, numbers: 'each' | 'missing'): string {
  const { column, ifMissing } = written;
  if (ifMissing === 'null') return bodyReference(column);
  const value = isReadAlone(written) ? itemValueSql(column) : bodyReference(column);
  const key = `${quoteLiteral(column.name)}::pg_catalog.text`;
  // A JSON null is a value.
  const isMissing = `"item"."row" operator(pg_catalog.->) ${key} is null`;
  const missing = defaultSql(column);
  const number = numbers === 'each' ? sequenceCall(missing) : null;
  if (number === null) return `case when ${isMissing} then (${missing}) else ${value} end`;
  // A sequence never gives NULL.
  return `case when ${isMissing} then ${toColumn(missing, column)} when ${number} is not null then ${value} end`;
}

/** CASE has one type for all of its values. */
function toColumn(expression: string, { type }: TableColumn): string {
  const isInteger = type.builtin === 'int2' || type.builtin === 'int4' || type.builtin === 'int8';
  return isInteger ? expression : `(${expression})::${type.sql}`;
}

/** Returns one column of an object of the body, read where the expression is evaluated. */
function itemValueSql(column: RelationColumn): string {
  const name = columnName(column);
  return `(select "value".${name} from pg_catalog.json_to_record("item"."row") as "value" (${name} ${bodyType(column)}))`;
}

function defaultSql({ defaultExpression = null }: TableColumn): string {
  return defaultExpression === null ? 'null' : (qualifyDefault(defaultExpression) ?? 'null');
}

export interface InsertedRows {
  /** The placeholder of the JSON text, with a cast to json. */
  readonly body: SqlText;
  readonly columns: readonly WrittenColumn[];
  /** Conditions on columns of `"body"`. */
  readonly conditions: readonly Condition[];
  /** Whether values replace those of identity columns that are GENERATED ALWAYS. Default false. */
  readonly overridesIdentity?: boolean;
}

/** Returns the INSERT of all rows of a body, without ON CONFLICT and RETURNING. */
export function insertRowsSql(
  table: WrittenTable,
  { body, columns, conditions, overridesIdentity = false }: InsertedRows,
): SqlText {
  const names = columns.length === 0 ? '' : ` (${columns.map(({ column }) => columnName(column)).join(', ')})`;
  const values = columns.map((column) => bodyValue(column, 'each')).join(', ');
  const overriding = overridesIdentity ? ' overriding system value' : '';
  const statement = text(`insert into ${relationSql(table)} as ${rowAlias}${names}${overriding} select ${values}`);
  statement.append(bodyRows(body, columns));
  writeWhere(statement, conditions);
  return statement;
}
