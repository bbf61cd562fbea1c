import {
  computedOf,
  emptyLevel,
  filteredNames,
  hasAggregate,
  type Level,
  type LevelSql,
  pageOf,
  type Read,
  SelectBuilder,
  sql,
  type SqlText,
  text,
  writeColumns,
  writeOrder,
  writePage,
  writeWhere,
} from '@pgway/core/internal';

/** The text of a row as JSON or CSV, for a statement that returns the rows one by one. */
export type RowFormat = 'json' | 'strippedJson' | 'csv';

const rowJson = 'pg_catalog.row_to_json("page".*)';

/** Returns the text of the row `"page"`. @param names its columns */
export function rowText(format: RowFormat, names: readonly string[]): string {
  if (format === 'csv') return csvLine;
  if (names.length === 0) return "'{}'::pg_catalog.json";
  return format === 'strippedJson' ? `pg_catalog.json_strip_nulls(${rowJson})` : rowJson;
}

/**
 * Writes the query of the rows, each of them as text in the column `text`, and returns the names of the columns.
 * @throws as `pageRows`
 */
export function writeRows(sql: SqlText, read: Read, format: RowFormat): readonly string[] {
  const { names, rows } = pageRows(read);
  sql
    .add(`select ${rowText(format, names)} as "text" from (`, `${format} (`)
    .append(rows)
    .add(') "page"', ')');
  return names;
}

/**
 * Returns the query of the rows of a page, with the names of their columns.
 * @throws Problem 400 for an unknown column or relation, and past a limit
 */
export function pageRows(read: Read): { readonly names: readonly string[]; readonly rows: SqlText } {
  const level = outerLevel(read);
  const builder = new SelectBuilder(read);
  const parts = builder.outerLevel(read, read.query.items, level);
  builder.checkPaths();
  const rows = text('select ');
  writeColumns(rows, parts.columns);
  rows.add(' from ').append(parts.from);
  writeWhere(rows, parts.where);
  rows.append(parts.group);
  writeOrder(rows, parts.order);
  writePage(rows, pageOf(level, read.limits.maxRows));
  return { names: parts.names, rows };
}

/** The text of a row quotes values as CSV does, within parentheses, and doubles backslashes. */
const rowFields = 'row("page".*)::pg_catalog.text';
const backslash = 'pg_catalog.chr(92)';
const csvLine = `pg_catalog.replace(pg_catalog.substr(pg_catalog.left(${rowFields}, -1), 2), pg_catalog.repeat(${backslash}, 2), ${backslash})`;

/**
 * Returns an expression: the number of rows without `limit` and `offset`.
 * @param atMost the number up to which rows are counted; null: all of them
 */
export function countSql(read: Read, atMost: number | null = null): SqlText {
  const limit = text(atMost === null ? '' : ` limit ${atMost}`);
  return sql`(select pg_catalog.count(*) from (${countedRowsSql(read)}${limit}) "counted")`;
}

/** Returns the query of the rows that are counted, without their columns. */
export function countedRowsSql(read: Read): SqlText {
  const builder = new SelectBuilder(read);
  const level = { ...outerLevel(read), order: [] };
  if (hasAggregate(read.query.items)) {
    const { columns, from, where, group } = builder.outerLevel(read, read.query.items, level);
    const rows = text('select ');
    writeColumns(rows, columns);
    rows.add(' from ').append(from);
    writeWhere(rows, where);
    return rows.append(group);
  }
  const named = filteredNames(level.filters);
  const items = read.query.items.filter(
    (item) => item.kind === 'relation' && (item.join === 'inner' || named.has(item.alias)),
  );
  const { from, where } = builder.outerLevel(read, items, level);
  const rows = sql`select 1 from ${from}`;
  writeWhere(rows, where);
  return rows;
}

/** Returns the columns of a row of a relation that has been written, with its related rows, and the joins that they need. */
export function writtenRowSql(
  read: Read,
  alias: string,
): Pick<LevelSql, 'columns' | 'names' | 'from' | 'group' | 'order'> {
  const builder = new SelectBuilder(read);
  const { order } = outerLevel(read);
  const level = { ...emptyLevel, order };
  const input = { items: read.query.items, level, path: '' };
  const computed = computedOf(read.model, read.relation);
  const aliased = { relation: read.relation, alias, computed, isDerived: true, valuesAs: read.valuesAs };
  const parts = builder.level(aliased, input, text(alias));
  builder.checkPaths();
  return parts;
}

function outerLevel({ query }: Read): Level {
  return query.levels.get('') ?? emptyLevel;
}
