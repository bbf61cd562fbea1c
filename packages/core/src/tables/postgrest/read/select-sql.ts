import { quoteIdentifier } from '../../../catalog/quote.ts';
import { type Fragment, joinFragments } from '../../fragment.ts';
import { queryProblem, syntaxProblem } from '../postgrest-problem.ts';
import { columnSql, countColumn } from './column-sql.ts';
import { type Aliased, conditionsSql, orderedFieldSql, sql, text } from './filter-sql.ts';
import {
  emptyLevel,
  type Filter,
  type Field,
  type Level,
  type OrderTerm,
  type ReadQuery,
  type SelectedRelation,
  type SelectedCount,
  type SelectItem,
} from './query.ts';
import { findRelationship, type ReadModel, type Relation, type Relationship } from './relationships.ts';

export interface ReadLimits {
  /** Rows of the outer relation, and of each list of related rows. */
  readonly maxRows: number;
}

/** A relation to read, with what the request says of it. */
export interface Read {
  readonly model: ReadModel;
  readonly relation: Relation;
  readonly query: ReadQuery;
  readonly limits: ReadLimits;
  /** The quoted name of a CTE with the rows of the relation; absent: its table. */
  readonly source?: string;
}

/** Related rows in one request. */
const maxRelations = 30;
/** Columns of all levels; PostgreSQL allows 1,664 in one. */
const maxColumns = 1_000;

/** The parts of a statement that reads rows of one relation. */
export interface LevelSql {
  /** The columns of a row; empty for none. */
  readonly list: Fragment;
  /** The names of the columns. */
  readonly names: readonly string[];
  /** `"schema"."name" as "t1"` with the joins of related rows. */
  readonly from: Fragment;
  /** Empty for none. */
  readonly where: Fragment;
  /** ` order by …`; empty for none. */
  readonly order: Fragment;
}

/** The statement of a read. */
export interface ReadStatement {
  /** One row: the rows as JSON or CSV in `body`, and their number in `count`. */
  readonly statement: Fragment;
  /** The names of the columns. */
  readonly names: readonly string[];
}

/**
 * Returns the statement that reads the rows. CSV is without the line of names.
 * @throws Problem 400 for an unknown column or relation, and past a limit
 */
export function readSql(read: Read, format: 'json' | 'csv' = 'json'): ReadStatement {
  const level = outerLevel(read);
  const builder = new SelectBuilder(read);
  const parts = builder.outerLevel(read, read.query.items, level);
  builder.checkPaths();
  const rows = sql`select ${parts.list} from ${parts.from}${whereSql(parts.where)}${parts.order}${pageSql(level, read.limits)}`;
  const body = format === 'csv' ? csvBody : parts.list.key === '' ? emptyRowsBody : jsonBody;
  const statement = sql`select ${text(body)} as "body", pg_catalog.count(*) as "count" from (${rows}) "page"`;
  return { statement, names: parts.names };
}

const jsonBody = `coalesce(pg_catalog.json_agg("page".*), '[]')::pg_catalog.text`;
/** A row without columns cannot be named as a whole. */
const emptyRowsBody = `coalesce(pg_catalog.json_agg('{}'::pg_catalog.json), '[]')::pg_catalog.text`;
/** The text of a row quotes values as CSV does, within parentheses, and doubles backslashes. */
const rowText = 'row("page".*)::pg_catalog.text';
const backslash = 'pg_catalog.chr(92)';
const csvLine = `pg_catalog.replace(pg_catalog.substr(${rowText}, 2, pg_catalog.length(${rowText}) - 2), ${backslash} || ${backslash}, ${backslash})`;
const csvBody = `coalesce(pg_catalog.string_agg(${csvLine}, pg_catalog.chr(10)), '')`;

/** Returns an expression: the number of rows without `limit` and `offset`. */
export function countSql(read: Read): Fragment {
  const builder = new SelectBuilder(read);
  const level = outerLevel(read);
  const named = new Set(columnsOf(level.filters));
  const items = read.query.items.filter(
    (item) => item.kind === 'relation' && (item.join === 'inner' || named.has(item.alias)),
  );
  const parts = builder.outerLevel(read, items, { ...level, order: [] });
  return sql`(select pg_catalog.count(*) from ${parts.from}${whereSql(parts.where)})`;
}

/** Returns the columns of a row of a relation that has been written, with its related rows, and the joins that they need. */
export function writtenRowSql(read: Read, alias: string): Pick<LevelSql, 'list' | 'from' | 'order'> {
  const builder = new SelectBuilder(read);
  const { order } = outerLevel(read);
  const level = { ...emptyLevel, order };
  const input = { items: read.query.items, level, path: '' };
  const parts = builder.level({ relation: read.relation, alias }, input, text(alias));
  builder.checkPaths();
  return parts;
}

function outerLevel({ query }: Read): Level {
  return query.levels.get('') ?? emptyLevel;
}

function whereSql(where: Fragment): Fragment {
  return where.key === '' ? where : sql` where ${where}`;
}

/** The numbers are part of the text: `limit` with a parameter would get a plan for a fraction of the rows. */
function pageSql({ limit, offset }: Level, { maxRows }: ReadLimits): Fragment {
  const rows = Math.min(limit ?? maxRows, maxRows);
  return text(` limit ${rows}${offset === 0 ? '' : ` offset ${offset}`}`);
}

interface LevelInput {
  readonly items: readonly SelectItem[];
  readonly level: Level;
  readonly path: string;
}

/** The columns of a level, and its joins with related rows. */
interface Joined {
  readonly columns: { readonly name: string; readonly sql: Fragment }[];
  readonly joins: Fragment[];
  /** The SQL of related rows by their name, NULL for none. */
  readonly related: Map<string, string>;
}

class SelectBuilder {
  readonly #model: ReadModel;
  readonly #query: ReadQuery;
  readonly #limits: ReadLimits;
  /** The paths of levels that a relation of `select` has. */
  readonly #usedPaths = new Set<string>(['']);
  #columns = 0;
  #aliases = 0;
  #relations = 0;

  constructor({ model, query, limits }: Read) {
    this.#model = model;
    this.#query = query;
    this.#limits = limits;
  }

  aliased(relation: Relation): Aliased {
    return { relation, alias: quoteIdentifier(`t${++this.#aliases}`) };
  }

  outerLevel({ relation, source }: Read, items: readonly SelectItem[], level: Level): LevelSql {
    const aliased = this.aliased(relation);
    const rows = source === undefined ? tableSql(aliased) : text(`${source} as ${aliased.alias}`);
    return this.level(aliased, { items, level, path: '' }, rows);
  }

  /** @param source the relation in SQL; absent: the table with its alias */
  level(aliased: Aliased, { items, level, path }: LevelInput, source: Fragment = tableSql(aliased)): LevelSql {
    const joined: Joined = { columns: [], joins: [], related: new Map() };
    const isCount = items.length === 1 && this.#isCount(aliased, items[0]!);
    for (const item of isCount ? [] : items) this.#addItem(joined, aliased, item, path);
    const order = isCount ? text('') : this.#order(joined, aliased, level.order, path);
    const columns = joined.columns.map((column) => column.sql);
    return {
      list: isCount ? countColumn(items[0] as SelectedCount) : joinFragments(columns, ', '),
      names: isCount ? [(items[0] as SelectedCount).name] : joined.columns.map(({ name }) => name),
      from: joinFragments([source, ...joined.joins], ''),
      where: conditionsSql({ ...aliased, related: joined.related }, level.filters),
      order,
    };
  }

  /** `count()`, or `count` where no column has this name. */
  #isCount({ relation }: Aliased, item: SelectItem): boolean {
    if (item.kind === 'count') return true;
    return (
      item.kind === 'column' &&
      item.field.column === 'count' &&
      item.field.path.length === 0 &&
      !relation.columns.has('count')
    );
  }

  #addItem(joined: Joined, aliased: Aliased, item: SelectItem, path: string): void {
    switch (item.kind) {
      case 'all':
        for (const name of aliased.relation.columns.keys()) {
          this.#addColumn(joined, name, text(`${aliased.alias}.${quoteIdentifier(name)}`));
        }
        return;
      case 'column':
        this.#addColumn(joined, item.name, columnSql(aliased, item));
        return;
      case 'count':
        throw syntaxProblem('select', 'count() has to be the only item of its relation');
      case 'relation':
        this.#addRelation(joined, aliased, item, path);
    }
  }

  #addColumn(joined: Joined, name: string, column: Fragment): void {
    if (++this.#columns > maxColumns) throw syntaxProblem('select', `there are more than ${maxColumns} columns`);
    joined.columns.push({ name, sql: column });
  }

  #addRelation(joined: Joined, outer: Aliased, item: SelectedRelation, path: string): void {
    const relationship = this.#findRelationship(outer, item);
    const name = item.alias;
    const { rows, names, givesObject } = this.#relatedRows(
      outer,
      relationship,
      item,
      path === '' ? name : `${path}.${name}`,
    );
    const alias = quoteIdentifier(`e${++this.#aliases}`);
    if (item.spread) return this.#spread(joined, { item, relationship, rows, names, alias });
    const value = givesObject ? 'pg_catalog.row_to_json("row".*)' : 'pg_catalog.json_agg("row".*)';
    const lateral = sql`lateral (select ${text(value)} as "value" from (${rows}) "row") ${text(alias)}`;
    joined.joins.push(joinSql(item, givesObject ? 'true' : `${alias}."value" is not null`, lateral));
    joined.related.set(name, `${alias}."value"`);
    if (item.items.length === 0) return;
    const result = givesObject ? `${alias}."value"` : `coalesce(${alias}."value", '[]')`;
    this.#addColumn(joined, name, text(`${result} as ${quoteIdentifier(name)}`));
  }

  #findRelationship(outer: Aliased, item: Pick<SelectedRelation, 'name' | 'hint'>): Relationship {
    if (++this.#relations > maxRelations)
      throw syntaxProblem('select', `there are more than ${maxRelations} relations`);
    return findRelationship(this.#model, outer.relation, item);
  }

  /** The query of the rows that belong to an outer row. */
  #relatedRows(
    outer: Aliased,
    relationship: Relationship,
    { items, join }: SelectedRelation,
    path: string,
  ): { readonly rows: Fragment; readonly names: readonly string[]; readonly givesObject: boolean } {
    this.#usedPaths.add(path);
    const inner = this.aliased(relationship.target);
    const level = this.#query.levels.get(path) ?? emptyLevel;
    const parts = this.level(inner, { items, level, path });
    const { from, condition } = this.#link(relationship, outer, inner, parts.from);
    const where = parts.where.key === '' ? condition : sql`${condition} and ${parts.where}`;
    const isOne = relationship.cardinality === 'one';
    const limit = isOne ? text(' limit 1') : pageSql(level, this.#limits);
    const list = parts.list.key === '' ? text('null as "none"') : parts.list;
    const isCount = items.length === 1 && this.#isCount(inner, items[0]!);
    const having = text(isCount && join === 'inner' ? ' having pg_catalog.count(*) operator(pg_catalog.>) 0' : '');
    return {
      rows: sql`select ${list} from ${from} where ${where}${having}${parts.order}${limit}`,
      names: parts.names,
      givesObject: isOne && !isCount,
    };
  }

  /** The columns of the related row become columns of the outer one. */
  #spread(
    joined: Joined,
    {
      item,
      relationship,
      rows,
      names,
      alias,
    }: {
      readonly item: SelectedRelation;
      readonly relationship: Relationship;
      readonly rows: Fragment;
      readonly names: readonly string[];
      readonly alias: string;
    },
  ): void {
    if (relationship.cardinality === 'many') {
      throw queryProblem({
        code: 'PGRST119',
        message: `A spread operation on '${item.name}' is not possible`,
        details: `'${item.name}' can have several rows (${relationship.description})`,
      });
    }
    joined.joins.push(joinSql(item, 'true', sql`lateral (${rows}) ${text(alias)}`));
    const repeated = names.find((name, index) => names.indexOf(name) !== index);
    if (repeated !== undefined) throw syntaxProblem('select', `"${repeated}" is twice in ...${item.name}`);
    for (const name of names) this.#addColumn(joined, name, text(`${alias}.${quoteIdentifier(name)}`));
  }

  /** The condition that connects the related rows with the outer row. */
  #link(
    { pairs, junction }: Relationship,
    outer: Aliased,
    inner: Aliased,
    from: Fragment,
  ): { readonly from: Fragment; readonly condition: Fragment } {
    if (junction === null) return { from, condition: text(equalColumns(outer, inner, pairs)) };
    const middle = this.aliased(junction.relation);
    const connected = sql`${from} join ${tableSql(middle)} on ${text(equalColumns(middle, inner, junction.inner))}`;
    return { from: connected, condition: text(equalColumns(middle, outer, junction.outer)) };
  }

  #order(joined: Joined, aliased: Aliased, terms: readonly OrderTerm[], path: string): Fragment {
    if (terms.length === 0) return text('');
    const parameter = path === '' ? 'order' : `${path}.order`;
    const list = terms.map(({ relation, field, descending, nulls }) => {
      const value =
        relation === null
          ? orderedFieldSql(aliased, field, parameter)
          : this.#relatedValue(joined, aliased, { relation, field, parameter, path });
      return sql`${value}${text(`${descending ? ' desc' : ''}${nulls === null ? '' : ` nulls ${nulls}`}`)}`;
    });
    return sql` order by ${joinFragments(list, ', ')}`;
  }

  /** Joins the related row whose field the rows are ordered by. */
  #relatedValue(
    joined: Joined,
    outer: Aliased,
    {
      relation,
      field,
      parameter,
      path,
    }: { readonly relation: string; readonly field: Field; readonly parameter: string; readonly path: string },
  ): Fragment {
    const selected = this.#selectedRelation(path, relation);
    const relationship = this.#findRelationship(outer, selected ?? { name: relation, hint: null });
    if (relationship.cardinality === 'many') {
      throw queryProblem({
        code: 'PGRST118',
        message: `A related order on '${relation}' is not possible`,
        details: `'${relation}' can have several rows (${relationship.description})`,
      });
    }
    const inner = this.aliased(relationship.target);
    const alias = quoteIdentifier(`e${++this.#aliases}`);
    const value = orderedFieldSql(inner, field, parameter);
    const condition = text(equalColumns(outer, inner, relationship.pairs));
    joined.joins.push(
      sql` left join lateral (select ${value} as "value" from ${tableSql(inner)} where ${condition} limit 1) ${text(alias)} on true`,
    );
    return text(`${alias}."value"`);
  }

  #selectedRelation(path: string, name: string): SelectedRelation | null {
    let items = this.#query.items;
    for (const step of path === '' ? [] : path.split('.')) items = findRelation(items, step)?.items ?? [];
    return findRelation(items, name);
  }

  /**
   * Refuses filters of relations that are not selected: they would have no effect.
   * @throws Problem PGRST108
   */
  checkPaths(): void {
    for (const path of this.#query.levels.keys()) {
      if (this.#usedPaths.has(path)) continue;
      throw queryProblem({
        code: 'PGRST108',
        message: `'${path.slice(0, 100)}' is not an embedded resource in this request`,
        hint: `Verify that '${path.slice(0, 100)}' is included in the 'select' query parameter.`,
      });
    }
  }
}

function columnsOf(filters: readonly Filter[]): readonly string[] {
  return filters.flatMap((filter) => (filter.kind === 'group' ? columnsOf(filter.members) : [filter.field.column]));
}

function findRelation(items: readonly SelectItem[], name: string): SelectedRelation | null {
  const found = items.find((item) => item.kind === 'relation' && item.alias === name);
  return (found as SelectedRelation | undefined) ?? null;
}

function joinSql({ join }: SelectedRelation, condition: string, lateral: Fragment): Fragment {
  return join === 'inner' ? sql` join ${lateral} on ${text(condition)}` : sql` left join ${lateral} on true`;
}

function tableSql({ relation, alias }: Aliased): Fragment {
  return text(`${quoteIdentifier(relation.schema)}.${quoteIdentifier(relation.name)} as ${alias}`);
}

function equalColumns(left: Aliased, right: Aliased, pairs: readonly (readonly [string, string])[]): string {
  return pairs
    .map(([a, b]) => {
      const own = left.relation.columns.get(a)?.operators?.names['='];
      const operator = own ?? 'operator(pg_catalog.=)';
      return `${left.alias}.${quoteIdentifier(a)} ${operator} ${right.alias}.${quoteIdentifier(b)}`;
    })
    .join(' and ');
}
