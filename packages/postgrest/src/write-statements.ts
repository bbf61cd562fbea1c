import type { TableColumn } from '@pgway/core';
import {
  bodyReference,
  bodyRows,
  bodyValue,
  type Condition,
  insertRowsSql,
  itemRecordSql,
  relationSql as relation,
  type WrittenColumn,
  type WrittenTable,
  conflictSql,
  type Order,
  type Page,
  quoteIdentifier,
  quoteLiteral,
  type RelationColumn,
  rowAlias,
  sql,
  type SqlText,
  text,
  writeOrder,
  writePage,
  writeWhere,
} from '@pgway/core/internal';

/** The columns that rows conflict on, and the result of a conflict. */
export interface ConflictAction {
  readonly action: 'merge' | 'ignore';
  readonly columns: readonly TableColumn[];
}

/** The setting of the transaction that counts the rows of an upsert that were there before. */
export const mergedRowsSetting = 'pgway.merged_rows';

/** An earlier statement of the transaction may have counted, where the host provides the connection. */
export const mergeSettings: readonly (readonly [name: string, value: string])[] = [[mergedRowsSetting, '']];

const columnName = ({ name }: TableColumn): string => quoteIdentifier(name);

/** The outer rows of a nested insert. */
export interface OuterRows {
  /** The placeholder of an array: for each row of the body the position of its outer row. */
  readonly positions: SqlText;
  /** The setting with their referenced columns, a JSON array of objects in the order of their positions. */
  readonly setting: string;
  /** Referenced columns with those that reference them. */
  readonly pairs: readonly (readonly [referenced: TableColumn, referencing: TableColumn])[];
}

export interface NestedInsertParts extends Omit<InsertParts, 'conditions'> {
  /** Null: the outermost rows. */
  readonly outer: OuterRows | null;
}

/** Returns the INSERT of rows in the order of the body, each with the columns that reference its outer row; without RETURNING. */
export function nestedInsertStatement(
  table: WrittenTable,
  { body, columns, conflict, outer }: NestedInsertParts,
): SqlText {
  const pairs = outer?.pairs ?? [];
  const names = [...columns.map(({ column }) => column), ...pairs.map(([, referencing]) => referencing)];
  const own = columns.map((column) => bodyValue(column, 'missing'));
  const values = [...own, ...pairs.map(([{ name }]) => `"outer".${quoteIdentifier(name)}`)];
  const list = names.length === 0 ? '' : ` (${names.map(columnName).join(', ')})`;
  const statement = text(`insert into ${relation(table)} as ${rowAlias}${list} select ${values.join(', ')}`);
  const rows = sql`pg_catalog.json_array_elements(${body})`;
  if (outer === null) statement.add(' from ').append(rows).add(' with ordinality as "item" ("row", "position")');
  else {
    statement.add(' from rows from (').append(rows).add(', pg_catalog.unnest(').append(outer.positions);
    statement.add(')) with ordinality as "item" ("row", "outer", "position")');
  }
  statement.add(itemRecordSql(columns));
  if (outer !== null) {
    const keys = keyRowsSql(
      outer.setting,
      pairs.map(([referenced]) => referenced),
      '"outer"',
    );
    statement.add(` join ${keys} on "key"."position" operator(pg_catalog.=) "item"."outer"`);
  }
  statement.add(' order by "item"."position"');
  const written = [...columns, ...pairs.map(([, column]): WrittenColumn => ({ column, ifMissing: 'null' }))];
  return statement.add(conflictClause(conflict, written, outer === null));
}

export interface InsertParts {
  /** The placeholder of the JSON text, with a cast to json. */
  readonly body: SqlText;
  readonly columns: readonly WrittenColumn[];
  /** Null: a conflict is an error. */
  readonly conflict: ConflictAction | null;
  /** Conditions on columns of `"body"`, of a PUT. */
  readonly conditions: readonly Condition[];
}

/** Returns the INSERT of all rows of a body, without RETURNING. */
export function insertStatement(table: WrittenTable, { conflict, ...parts }: InsertParts): SqlText {
  return insertRowsSql(table, parts).add(conflictClause(conflict, parts.columns));
}

/** Returns `"key"`, the rows of a setting with their position, and an alias with their columns. */
function keyRowsSql(setting: string, columns: readonly TableColumn[], alias: string): string {
  const json = `pg_catalog.current_setting(${quoteLiteral(setting)})::pg_catalog.json`;
  const rows = `pg_catalog.json_array_elements(${json}) with ordinality as "key" ("row", "position")`;
  if (columns.length === 0) return rows;
  const definitions = columns.map((column) => `${columnName(column)} ${column.type.sql}`).join(', ');
  return `(${rows} cross join lateral pg_catalog.json_to_record("key"."row") as ${alias} (${definitions}))`;
}

/**
 * Returns the statement of an INSERT that keeps columns of its rows in a setting of the transaction, in the order of the rows.
 * PostgreSQL returns inserted rows in the order in which it reads them.
 * @param guard a further column, which fails where rows were left out
 */
export function keepingStatement(
  insert: SqlText,
  setting: string,
  { columns, guard }: { readonly columns: readonly TableColumn[]; readonly guard: SqlText },
): SqlText {
  const returned = columns.map((column) => `${rowAlias}.${columnName(column)}`).join(', ');
  const members = columns.map(({ name }) => `${quoteLiteral(name)}, "kept".${quoteIdentifier(name)}`).join(', ');
  const rows = `pg_catalog.json_agg(pg_catalog.json_build_object(${members}))`;
  return text('with "kept" as (')
    .append(insert)
    .add(
      ` returning ${returned}) select pg_catalog.set_config(${quoteLiteral(setting)}, coalesce(${rows}::pg_catalog.text, '[]'), true)`,
    )
    .append(guard)
    .add(' from "kept"');
}

/** Returns a SELECT of the rows that a setting has the keys of, in their order. */
export function keptRows(
  table: WrittenTable,
  setting: string,
  { key, columns }: { readonly key: readonly TableColumn[]; readonly columns: readonly TableColumn[] },
): SqlText {
  const list = columns.map((column) => `${rowAlias}.${columnName(column)}`).join(', ');
  const keys = keyRowsSql(setting, key, '"kept"');
  if (list === '') return text(`select 1 from ${keys}`);
  const equal = key.map((column) => {
    const operator = column.operators?.names['='] ?? 'operator(pg_catalog.=)';
    return `${rowAlias}.${columnName(column)} ${operator} "kept".${columnName(column)}`;
  });
  return text(
    `select ${list} from ${keys} join ${relation(table)} as ${rowAlias} on ${equal.join(' and ')} order by "key"."position"`,
  );
}

/** @param counts whether rows that exist are counted */
function conflictClause(conflict: ConflictAction | null, written: readonly WrittenColumn[], counts = true): string {
  if (conflict === null) return '';
  const updated = conflict.action === 'merge' ? written.map(({ column }) => column.name) : [];
  const key = conflict.columns.map(({ name }) => name);
  return `${conflictSql(key, updated)}${updated.length === 0 || !counts ? '' : ` where ${countMerged}`}`;
}

/** True. Counts the row in a setting of the transaction: RETURNING cannot tell an inserted row from an updated one. */
const countMerged = `pg_catalog.set_config('${mergedRowsSetting}', ((coalesce(nullif(pg_catalog.current_setting('${mergedRowsSetting}', true), ''), '0'))::pg_catalog.int8 operator(pg_catalog.+) 1)::pg_catalog.text, true) is not null`;

/** The rows of an UPDATE or DELETE that has a limit. */
export interface AffectedRange {
  readonly order: readonly Order[];
  readonly page: Page;
  /** The primary key. */
  readonly key: readonly TableColumn[];
}

export interface ChangeParts {
  /** Conditions on columns of `"r"`. */
  readonly conditions: readonly Condition[];
  /** Null: all rows that meet the conditions. */
  readonly range: AffectedRange | null;
}

export interface UpdateParts extends ChangeParts {
  readonly body: SqlText;
  /** Those that the object has. */
  readonly columns: readonly RelationColumn[];
  /** Columns that get their default. */
  readonly defaults: readonly TableColumn[];
}

/** Returns the UPDATE of the rows that meet the conditions, without RETURNING. */
export function updateStatement(table: WrittenTable, parts: UpdateParts): SqlText {
  const { body, columns, defaults } = parts;
  const set = [
    ...columns.map((column) => `${columnName(column)} = ${bodyReference(column)}`),
    ...defaults.map((column) => `${columnName(column)} = default`),
  ];
  const statement = text(`update ${relation(table)} as ${rowAlias} set ${set.join(', ')}`);
  const written = columns.map((column): WrittenColumn => ({ column, ifMissing: 'null' }));
  if (written.length > 0) statement.append(bodyRows(body, written));
  return writeAffectedRows(statement, table, parts);
}

/** Returns the DELETE of the rows that meet the conditions, without RETURNING. */
export function deleteStatement(table: WrittenTable, parts: ChangeParts): SqlText {
  return writeAffectedRows(text(`delete from ${relation(table)} as ${rowAlias}`), table, parts);
}

function writeAffectedRows(sql: SqlText, table: WrittenTable, { conditions, range }: ChangeParts): SqlText {
  if (range === null) {
    writeWhere(sql, conditions);
    return sql;
  }
  const { key, order, page } = range;
  const columns = key.map((column) => `${rowAlias}.${columnName(column)}`).join(', ');
  sql.add(` where (${columns}) in (select ${columns} from ${relation(table)} as ${rowAlias}`);
  writeWhere(sql, conditions);
  writeOrder(sql, order);
  writePage(sql, page);
  return sql.add(')');
}
