import { type Condition, type Operand, writeConditions, writeOperand } from '../parts/condition.ts';
import { type Order, writeOrder } from '../parts/order.ts';
import { quoteIdentifier } from '../../catalog/quote.ts';
import { sql, SqlText, text } from '../parts/sql-text.ts';
import { writePage } from '../parts/page.ts';
import { ReadFault, syntaxFault } from './read-fault.ts';
import {
  aggregateSql,
  calledSql,
  groupSql,
  hasAggregate,
  requireAggregates,
  soleCount,
  spreadAggregates,
} from './aggregate-sql.ts';
import { columnSql, formOf, type ValueForm } from './column-sql.ts';
import {
  type ColumnOrigin,
  fieldNamed,
  findRelation,
  isEmptyRelation,
  type Joined,
  markedRows,
  markerOf,
  positionOf,
  requireDistinct,
  requireNewName,
  writeColumns,
} from './joined-columns.ts';
import { type Aliased, conditionsOf, orderedField } from './filter-sql.ts';
import { checkRelationships, findRelationship, hasRelationship } from './find-relationship.ts';
import { equalColumns, joinSql, relatedSql, tableSql } from './join-sql.ts';
import {
  emptyLevel,
  type Field,
  filteredNames,
  type Level,
  type OrderTerm,
  type ReadQuery,
  type SelectedRelation,
  type SelectItem,
} from './query.ts';
import { pageOf } from './page-sql.ts';
import { bytesOf, emptyRowJson, listOfRows, listSql, rowJson, withinListLimit } from './related-lists.ts';
import { computedOf, type ReadModel, type Relationship } from './relationships.ts';
import { columnKey, type Relation } from './relation.ts';
import { checkPaths, notSelected } from './unknown-paths.ts';

export interface ReadLimits {
  /** Rows of the outer relation, and of each list of related rows. */
  readonly maxRows: number;
  /** Whether requests may select aggregates. */
  readonly allowAggregates: boolean;
}

/** A relation to read, with what the request says of it. */
export interface Read {
  readonly model: ReadModel;
  readonly relation: Relation;
  readonly query: ReadQuery;
  readonly limits: ReadLimits;
  /** The form of values of domains with representations. Absent: JSON. */
  readonly valuesAs?: 'json' | 'text' | 'stored';
  /** The quoted name of a CTE with the rows of the relation; absent: its table. */
  readonly source?: string;
}

const someRows = 'pg_catalog.count(*) operator(pg_catalog.>) 0';

/** Related rows in one request. */
const maxRelations = 30;
/** Columns of all levels; PostgreSQL allows 1,664 in one. */
const maxColumns = 1_000;

/** The parts of a statement that reads rows of one relation. */
export interface LevelSql {
  /** The columns of a row. */
  readonly columns: readonly Operand[];
  /** The names of the columns. */
  readonly names: readonly string[];
  /** The forms of their values. */
  readonly forms: readonly ValueForm[];
  /** `"schema"."name" as "t1"` with the joins of related rows. */
  readonly from: SqlText;
  readonly where: readonly Condition[];
  /** ` group by …`; empty for none. */
  readonly group: SqlText;
  readonly order: readonly Order[];
}

interface LevelInput {
  readonly items: readonly SelectItem[];
  readonly level: Level;
  readonly path: string;
  /** Whether outer rows are grouped by the columns: json has no equality. */
  readonly isGroupedOutside?: boolean;
}

interface SpreadInput {
  readonly item: SelectedRelation;
  readonly relationship: Relationship;
  readonly path: string;
}

/** Builds the parts of one statement: its limits hold for all of its relations. */
export class SelectBuilder {
  readonly #model: ReadModel;
  readonly #query: ReadQuery;
  readonly #limits: ReadLimits;
  readonly #valuesAs: Read['valuesAs'];
  /** The paths of levels that a relation of `select` has. */
  readonly #usedPaths = new Set<string>(['']);
  #columns = 0;
  #aliases = 0;
  #relations = 0;

  constructor({ model, query, limits, valuesAs }: Read) {
    this.#model = model;
    this.#query = query;
    this.#limits = limits;
    this.#valuesAs = valuesAs;
  }

  aliased(relation: Relation): Aliased {
    return {
      relation,
      alias: quoteIdentifier(`t${++this.#aliases}`),
      computed: computedOf(this.#model, relation),
      valuesAs: this.#valuesAs,
    };
  }

  outerLevel({ relation, source }: Read, items: readonly SelectItem[], level: Level): LevelSql {
    checkRelationships(this.#model, relation, items);
    const aliased = { ...this.aliased(relation), isDerived: source !== undefined };
    const rows = source === undefined ? tableSql(aliased) : text(`${source} as ${aliased.alias}`);
    return this.level(aliased, { items, level, path: '' }, rows);
  }

  /** @param source the relation in SQL; absent: the table with its alias */
  level(aliased: Aliased, input: LevelInput, source: SqlText = tableSql(aliased)): LevelSql {
    const { items, level, path, isGroupedOutside = false } = input;
    const count = soleCount(aliased.relation, items);
    const isGrouped = count !== null || hasAggregate(items) || isGroupedOutside;
    const filtered = filteredNames(level.filters);
    const joined: Joined = { columns: [], joins: [], related: new Map(), isGrouped, filtered };
    if (count !== null) this.#addAggregate(joined, count.name, aggregateSql(aliased, count));
    else for (const item of items) this.#addItem(joined, aliased, item, path);
    // One row has no order.
    const order = count === null ? this.#order(joined, aliased, level.order, path) : [];
    return {
      columns: joined.columns.map(({ column }) => column),
      names: joined.columns.map(({ name }) => name),
      forms: joined.columns.map(({ form }) => form),
      from: joined.joins.reduce((from, join) => from.append(join), source),
      where: conditionsOf({ ...aliased, related: joined.related }, level.filters),
      group: groupSql(joined.columns),
      order,
    };
  }

  #addItem(joined: Joined, aliased: Aliased, item: SelectItem, path: string): void {
    switch (item.kind) {
      case 'all':
        for (const column of aliased.relation.columns.keys()) {
          const field = { column, path: [] };
          const name = columnKey(aliased.relation, column);
          const selected = { kind: 'column', field, name, cast: null } as const;
          this.#addColumn(joined, name, columnSql(aliased, selected, joined.isGrouped), {
            field,
            form: formOf(aliased, selected),
          });
        }
        return;
      case 'column':
        this.#addColumn(joined, item.name, columnSql(aliased, item, joined.isGrouped), {
          field: item.field,
          form: formOf(aliased, item),
        });
        return;
      case 'aggregate':
        requireAggregates(this.#limits.allowAggregates);
        this.#addAggregate(joined, item.name, aggregateSql(aliased, item));
        return;
      case 'relation':
        this.#addRelation(joined, aliased, item, path);
    }
  }

  #addColumn(joined: Joined, name: string, column: Operand, origin: ColumnOrigin = {}): void {
    this.#countColumn();
    joined.columns.push({ name, column, isAggregate: false, form: 'json', field: null, relation: null, ...origin });
  }

  #addAggregate(joined: Joined, name: string, column: SqlText): void {
    this.#addColumn(joined, name, { sql: column }, { isAggregate: true });
  }

  #countColumn(): void {
    if (++this.#columns > maxColumns) throw syntaxFault('select', `there are more than ${maxColumns} columns`);
  }

  #addRelation(joined: Joined, outer: Aliased, item: SelectedRelation, path: string): void {
    const relationship = this.#findRelationship(outer, item);
    const name = item.alias;
    const innerPath = path === '' ? name : `${path}.${name}`;
    if (item.spread) return this.#spread(joined, outer, { item, relationship, path: innerPath });
    requireNewName(joined, outer, item);
    const { rows, names, givesObject } = this.#relatedRows(outer, relationship, item, innerPath);
    const alias = quoteIdentifier(`e${++this.#aliases}`);
    const row = names.length === 0 ? emptyRowJson : rowJson;
    const hasLists = item.items.some(({ kind }) => kind === 'relation');
    const value = givesObject
      ? sql`select ${text(row)} as "value" from (${rows}) "row"`
      : listOfRows(rows, row, hasLists);
    const lateral = sql`lateral (${value}) ${text(alias)}`;
    joined.joins.push(joinSql(item, givesObject ? 'true' : `${alias}."value" is not null`, lateral));
    joined.related.set(name, `${alias}."value"`);
    if (isEmptyRelation(item)) return;
    const list = `${alias}."value"`;
    const result = givesObject ? list : withinListLimit(`coalesce(${list}, '[]')`, bytesOf(list));
    this.#addColumn(joined, name, { sql: `${this.#jsonOf(joined, result)} as ${quoteIdentifier(name)}` });
  }

  /** Returns JSON of related rows. Where rows are grouped it is `jsonb`, and within a row as text, which PostgREST writes so. */
  #jsonOf({ isGrouped }: Joined, value: string): string {
    const isText = this.#valuesAs !== undefined && this.#valuesAs !== 'json';
    return isGrouped || isText ? `(${value})::pg_catalog.jsonb` : value;
  }

  #findRelationship(
    outer: Aliased,
    item: Pick<SelectedRelation, 'name' | 'hint' | 'position'>,
    parameter?: string,
  ): Relationship {
    if (++this.#relations > maxRelations) throw syntaxFault('select', `there are more than ${maxRelations} relations`);
    return findRelationship(this.#model, outer.relation, item, parameter);
  }

  /** The query of the rows that belong to an outer row. */
  #relatedRows(
    outer: Aliased,
    relationship: Relationship,
    {
      items,
      join,
      isGroupedOutside = false,
    }: Pick<SelectedRelation, 'items' | 'join'> & Pick<LevelInput, 'isGroupedOutside'>,
    path: string,
  ): Pick<LevelSql, 'names' | 'forms'> & { readonly rows: SqlText; readonly givesObject: boolean } {
    this.#usedPaths.add(path);
    const inner = { ...this.aliased(relationship.target), depth: (outer.depth ?? 0) + 1 };
    const level = this.#query.levels.get(path) ?? emptyLevel;
    const input = { items, level, path, isGroupedOutside };
    const parts = this.level(inner, input, relatedSql(outer, relationship, inner));
    const { from, condition } = this.#link(relationship, outer, inner, parts.from);
    const isOne = relationship.cardinality === 'one';
    const isCount = soleCount(inner.relation, items) !== null;
    // Without groups, there is a row for no related rows, too.
    const isOneGroup = isCount || (hasAggregate(items) && parts.group.isEmpty);
    const having = isOneGroup && join === 'inner' ? ` having ${someRows}` : '';
    const rows = text('select ');
    writeColumns(rows, parts.columns, 'null as "none"');
    rows.add(' from ').append(from).add(` where ${condition}`);
    if (parts.where.length > 0) rows.add(' and ');
    writeConditions(rows, parts.where, ' and ');
    rows.append(parts.group).add(having);
    writeOrder(rows, parts.order);
    const page = pageOf(level, this.#limits.maxRows);
    writePage(rows, isOne ? { ...page, limit: 1 } : page);
    return { rows, names: parts.names, forms: parts.forms, givesObject: isOne };
  }

  /** The columns of the related row become columns of the outer one, and its aggregates those of the outer rows. */
  #spread(joined: Joined, outer: Aliased, { item, relationship, path }: SpreadInput): void {
    if (relationship.cardinality === 'many') return this.#spreadMany(joined, outer, { item, relationship, path });
    if (hasAggregate(item.items)) requireAggregates(this.#limits.allowAggregates);
    const { items, byName, counts } = spreadAggregates(item);
    const inner = { items, join: item.join, isGroupedOutside: joined.isGrouped };
    const { rows, names, forms } = this.#relatedRows(outer, relationship, inner, path);
    requireDistinct(names, item);
    const alias = quoteIdentifier(`e${++this.#aliases}`);
    const marker = markerOf(joined, item, names);
    if (marker !== null) joined.related.set(item.alias, `${alias}.${quoteIdentifier(marker)}`);
    joined.joins.push(joinSql(item, 'true', sql`lateral (${markedRows(rows, marker)}) ${text(alias)}`));
    for (const [index, name] of names.entries()) {
      const value = `${alias}.${quoteIdentifier(name)}`;
      const aggregate = byName.get(name);
      const origin = { field: fieldNamed(items, name), relation: item.alias, form: forms[index]! };
      if (aggregate === undefined) this.#addColumn(joined, name, { sql: value }, origin);
      else this.#addAggregate(joined, name, calledSql(aggregate, text(value)));
    }
    for (const count of counts) this.#addAggregate(joined, count.name, calledSql(count, text('*')));
  }

  /** The columns of related rows become lists of the outer one, which have the order of the rows. */
  #spreadMany(joined: Joined, outer: Aliased, { item, relationship, path }: SpreadInput): void {
    if (item.isAggregated === true || hasAggregate(item.items)) {
      requireAggregates(this.#limits.allowAggregates);
      const { name: relation, position } = item;
      throw new ReadFault({ kind: 'spread-aggregates', parameter: 'select', position, relation });
    }
    const { rows, names } = this.#relatedRows(outer, relationship, item, path);
    requireDistinct(names, item);
    const alias = quoteIdentifier(`e${++this.#aliases}`);
    const lists = names.map(quoteIdentifier).map((name) => `${listSql(`"row".${name}`, item)} as ${name}`);
    const marker = markerOf(joined, item, names);
    if (marker !== null) {
      joined.related.set(item.alias, `${alias}.${quoteIdentifier(marker)}`);
      lists.push(`case when ${someRows} then true end as ${quoteIdentifier(marker)}`);
    }
    const list = text(lists.length === 0 ? 'pg_catalog.count(*) as "none"' : lists.join(', '));
    const having = text(item.join === 'inner' ? ` having ${someRows}` : '');
    joined.joins.push(
      joinSql(item, 'true', sql`lateral (select ${list} from (${rows}) "row"${having}) ${text(alias)}`),
    );
    for (const name of names) {
      const list = `${alias}.${quoteIdentifier(name)}`;
      const value = this.#jsonOf(joined, withinListLimit(list, bytesOf(list)));
      this.#addColumn(joined, name, { sql: `${value} as ${quoteIdentifier(name)}` });
    }
  }

  /** The condition that connects the related rows with the outer row. */
  #link(
    { pairs, junction, computedBy }: Relationship,
    outer: Aliased,
    inner: Aliased,
    from: SqlText,
  ): { readonly from: SqlText; readonly condition: string } {
    if (computedBy !== null) return { from, condition: 'true' };
    if (junction === null) return { from, condition: equalColumns(outer, inner, pairs) };
    const middle = this.aliased(junction.relation);
    const connected = sql`${from} join ${tableSql(middle)} on ${text(equalColumns(middle, inner, junction.inner))}`;
    return { from: connected, condition: equalColumns(middle, outer, junction.outer) };
  }

  #order(joined: Joined, aliased: Aliased, terms: readonly OrderTerm[], path: string): readonly Order[] {
    const parameter = path === '' ? 'order' : `${path}.order`;
    return terms.map(({ relation, field, descending, nulls }) => {
      const operand =
        relation === null
          ? this.#ownValue(joined, aliased, field, parameter)
          : this.#relatedValue(joined, aliased, { relation, field, parameter, path });
      return { operand, descending, nullsFirst: nulls === null ? descending : nulls === 'first' };
    });
  }

  /** Grouped rows are ordered by the position of a selected column, as they are grouped by it. */
  #ownValue({ columns, isGrouped }: Joined, aliased: Aliased, field: Field, parameter: string): Operand {
    const value = orderedField(aliased, field, parameter);
    if (!isGrouped) return value;
    return positionOf(columns, null, field) ?? value;
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
  ): Operand {
    const position = joined.isGrouped ? positionOf(joined.columns, relation, field) : null;
    if (position !== null) return position;
    const selected = this.#selectedRelation(path, relation);
    if (selected === null && !hasRelationship(this.#model, outer.relation, relation)) {
      throw notSelected(parameter, relation);
    }
    const relationship = this.#findRelationship(outer, selected ?? { name: relation, hint: null }, parameter);
    if (relationship.cardinality === 'many') {
      const { position } = field;
      throw new ReadFault({ kind: 'order-by-many', parameter, position, outer: outer.relation.name, relation });
    }
    const inner = this.aliased(relationship.target);
    const alias = quoteIdentifier(`e${++this.#aliases}`);
    const value = new SqlText();
    writeOperand(value, orderedField(inner, field, parameter));
    const { from, condition } = this.#link(relationship, outer, inner, relatedSql(outer, relationship, inner));
    joined.joins.push(
      sql` left join lateral (select ${value} as "value" from ${from} where ${text(condition)} limit 1) ${text(alias)} on true`,
    );
    return { sql: `${alias}."value"` };
  }

  #selectedRelation(path: string, name: string): SelectedRelation | null {
    let items = this.#query.items;
    for (const step of path === '' ? [] : path.split('.')) items = findRelation(items, step)?.items ?? [];
    return findRelation(items, name);
  }

  /** @throws ReadFault for filters, orders and pages of relations that are not selected */
  checkPaths(): void {
    checkPaths(this.#query.levels.keys(), this.#usedPaths, this.#query.items);
  }
}
