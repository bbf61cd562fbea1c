import type { Endpoint, TableColumn } from '@pgway/core';
import {
  buildSelectList,
  type ChangeQuery,
  conditionsOf,
  createTypeConverter,
  display,
  type Filter,
  quoteIdentifier,
  resolveOperation,
  rowAlias,
  SqlText,
  writeConditions,
} from '@pgway/core/internal';
import type { PublishedTable } from './published-tables.ts';
import { Refusal } from './refusal.ts';

const exactType = createTypeConverter((name) => name);

/**
 * Returns the query of the rows with given keys.
 * @param endpoint the select of the table
 * @throws Refusal for a table without a key and for an unknown column, ReadFault for a filter that does not fit the columns
 */
export function buildChangeQuery(
  table: PublishedTable,
  { filters, select }: { readonly filters: readonly Filter[]; readonly select: readonly string[] | null },
  { sessionEffects }: Pick<Endpoint, 'sessionEffects'>,
): ChangeQuery {
  if (table.key.length === 0)
    throw new Refusal(
      `Rows of ${display(`${table.schema}.${table.name}`)} have no key that identifies them; add a primary key, or set the replica identity to a unique index`,
    );
  // First, as most tables of a binding with `*` may not have the column of its filter.
  const conditions = conditionsOf({ relation: table, alias: rowAlias }, filters);
  const keys = table.key.map(toResultColumn);
  const columns = selectColumns(table, select).map(toResultColumn);
  const list = (result: readonly ReturnType<typeof toResultColumn>[]): string =>
    buildSelectList({ result: { kind: 'objects', columns: result }, raw: null }, rowAlias);
  const sql = new SqlText().add(`select "k"."n", ${list(keys)}, ${list(columns)} from rows from (`);
  for (const [index, column] of table.key.entries()) {
    const source = { name: column.name, key: column.name, type: column.type };
    sql
      .add(`${index === 0 ? '' : ', '}pg_catalog.unnest(`)
      .bind('', `${column.type.sql}[]`, source)
      .add(')');
  }
  const names = table.key.map((_, index) => `"c${index}", `).join('');
  const from = `${quoteIdentifier(table.schema)}.${quoteIdentifier(table.name)} as ${rowAlias}`;
  sql.add(`) with ordinality as "k" (${names}"n") join ${from} on ${table.key.map(matchKey).join(' and ')}`);
  if (conditions.length > 0) writeConditions(sql.add(' where '), conditions, ' and ');
  const { sql: text, values } = sql.finish('changes');
  return {
    relation: { schema: table.schema, name: table.name },
    keyColumns: table.key.map(({ name }) => name),
    sql: text(),
    values: values.slice(table.key.length).map(toText),
    keys,
    columns,
    altersTransaction: sessionEffects?.altersTransaction === true || sessionEffects?.mayBlock === true,
    altersSession: sessionEffects?.alters ?? false,
  };
}

export function toResultColumn({ name, type }: TableColumn): ChangeQuery['columns'][number] {
  return { name, key: name, type: exactType(type) };
}

/** The key is always among the columns, as clients find their row by it. */
function selectColumns(table: PublishedTable, select: readonly string[] | null): readonly TableColumn[] {
  const columns = [...table.columns.values()];
  if (select === null) return columns;
  const unknown = select.find((name) => !table.columns.has(name));
  if (unknown !== undefined) throw new Refusal(`select: ${display(unknown)} is not a column of ${display(table.name)}`);
  const names = new Set(select);
  return columns.filter((column) => names.has(column.name) || table.key.includes(column));
}

function matchKey(column: TableColumn, index: number): string {
  const { type, operator } = resolveOperation({ facts: column, type: column.type }, '=')!;
  const cast = type === null ? '' : `::${type}`;
  return `${rowAlias}.${quoteIdentifier(column.name)}${cast} ${operator} "k"."c${index}"${cast}`;
}

function toText(value: string | Uint8Array | null): string | null {
  return value === null || typeof value === 'string' ? value : Buffer.from(value).toString();
}
