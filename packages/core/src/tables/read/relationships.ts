import type { TextTable } from '../../postgres/port.ts';
import { groupBy } from '../../endpoints/group-by.ts';
import { parseJsonObject, readArray, readBoolean, readText } from '../../catalog/json-object.ts';
import type { PossibleRelationship } from './read-fault.ts';
import { type Relation, relationKey } from './relation.ts';
import { qualifiedName, type RowFunction } from './row-function.ts';
import { type Representation, representedColumn } from './representations.ts';
import { createViewKeys, type KeyInView, type ViewColumn } from './view-keys.ts';

export interface ForeignKey {
  readonly name: string;
  readonly schema: string;
  readonly table: string;
  readonly columns: readonly string[];
  readonly targetSchema: string;
  readonly targetTable: string;
  readonly targetColumns: readonly string[];
  /** Whether at most one row references a row. */
  readonly unique: boolean;
  /** Whether the referencing columns are part of the primary key. */
  readonly inPrimaryKey: boolean;
}

/** The facts of a database that relationships follow from. */
export interface KeyFacts {
  readonly foreignKeys: readonly ForeignKey[];
  readonly viewColumns: readonly ViewColumn[];
  /** By the quoted and qualified name of a domain. */
  readonly representations: ReadonlyMap<string, Representation>;
}

/** Equal columns of two relations. */
type ColumnPair = readonly [left: string, right: string];

/** A table whose rows connect the rows of two others. */
export interface Junction {
  readonly relation: Relation;
  /** Columns of the junction with those of the outer relation. */
  readonly outer: readonly ColumnPair[];
  /** Columns of the junction with those of the target. */
  readonly inner: readonly ColumnPair[];
}

/** A way from the rows of one relation to those of another. */
export interface Relationship {
  /** How many rows of the target belong to a row. */
  readonly cardinality: 'one' | 'many';
  /** For messages. */
  readonly kind: PossibleRelationship['kind'];
  readonly target: Relation;
  /** Columns of the outer relation with those of the target; empty with a junction. */
  readonly pairs: readonly ColumnPair[];
  /** Whether the rows of the target have the foreign key. */
  readonly targetHasKey: boolean;
  readonly junction: Junction | null;
  /** The function that returns the rows of the target; null: columns connect them. */
  readonly computedBy: RowFunction | null;
  /** Whether a request can select it by the name of the target. */
  readonly hasTargetName: boolean;
  /** The names by which a request can select it instead of the target: a foreign key, or its only column. */
  readonly ownNames: ReadonlySet<string>;
  /** The names that a hint can have. */
  readonly hints: ReadonlySet<string>;
  /** Names that mean it if no other relationship has them. */
  readonly lesserNames: ReadonlySet<string>;
  /** The only column that the foreign key references: a hint, too, if no relationship has it among its own. Null: none. */
  readonly referencedColumn: string | null;
  /** Whether a request selects it by a hint only: another junction connects the same rows. */
  readonly needsHint: boolean;
  /** For messages. */
  readonly description: string;
}

/** The relations that requests can read, and their relationships. */
export interface ReadModel {
  readonly relations: ReadonlyMap<string, Relation>;
  /** By the key of the outer relation. */
  readonly relationships: ReadonlyMap<string, readonly Relationship[]>;
  /** The functions with a value, by the key of the relation and their name. */
  readonly computed: ReadonlyMap<string, ReadonlyMap<string, RowFunction>>;
}

export function decodeForeignKeys(rows: TextTable): readonly ForeignKey[] {
  return rows.map(([text], index) => {
    const facts = parseJsonObject(`foreign key ${index + 1}`, text ?? null);
    const names = (member: string): readonly string[] => readArray(facts, member, (_, value) => String(value));
    return {
      name: readText(facts, 'name'),
      schema: readText(facts, 'schema'),
      table: readText(facts, 'table'),
      columns: names('columns'),
      targetSchema: readText(facts, 'targetSchema'),
      targetTable: readText(facts, 'targetTable'),
      targetColumns: names('targetColumns'),
      unique: readBoolean(facts, 'unique'),
      inPrimaryKey: readBoolean(facts, 'inPrimaryKey'),
    };
  });
}

/** Joins the relations by the foreign keys between them. A view has the keys whose columns it shows. */
export function createReadModel(
  relations: readonly Relation[],
  facts: KeyFacts,
  rowFunctions: readonly RowFunction[] = [],
): ReadModel {
  const byKey = new Map(relations.map((relation) => [relationKey(relation), relation]));
  const links = listLinks(byKey, facts);
  const relationships = new Map<string, Relationship[]>();
  const add = (outer: Relation, relationship: Relationship): void => {
    const known = relationships.get(relationKey(outer));
    if (known === undefined) relationships.set(relationKey(outer), [relationship]);
    else known.push(relationship);
  };
  for (const link of links) {
    add(link.from.relation, toOne(link));
    add(link.to.relation, fromTarget(link));
  }
  const inKeys = links.filter((link) => link.base.inPrimaryKey && isCertain(link));
  for (const siblings of groupBy(inKeys, ({ from }) => from.relation).values()) {
    const [{ base, from }] = siblings as [Link, ...Link[]];
    // A view of a readable junction would make plain requests ambiguous.
    const needsHint = from.isView && byKey.has(relationKey({ schema: base.schema, name: base.table }));
    const pairs = siblings.flatMap((left) => siblings.map((right) => [left, right] as const));
    for (const [left, right] of pairs) {
      if (!connectsRows(left, right) || (needsHint && isSelf(left, right))) continue;
      add(left.to.relation, throughJunction(left, right, needsHint));
    }
  }
  return {
    relations: byKey,
    relationships,
    computed: addRowFunctions(relations, represented(rowFunctions, facts), add),
  };
}

function represented(rowFunctions: readonly RowFunction[], { representations }: KeyFacts): readonly RowFunction[] {
  return rowFunctions.map((called) =>
    called.column === null ? called : { ...called, column: representedColumn(called.column, representations) },
  );
}

/** Adds the relationships of functions, and returns the functions that have a value. */
function addRowFunctions(
  relations: readonly Relation[],
  rowFunctions: readonly RowFunction[],
  add: (outer: Relation, relationship: Relationship) => void,
): ReadModel['computed'] {
  const byRowType = new Map(relations.map((relation) => [qualifiedName(relation), relation]));
  const computed = new Map<string, Map<string, RowFunction>>();
  for (const called of rowFunctions) {
    const outer = byRowType.get(called.rowType);
    // The schema of the relation has the function.
    if (outer === undefined || outer.schema !== called.schema) continue;
    const target = called.target === null ? undefined : byRowType.get(called.target);
    if (target !== undefined) add(outer, byFunction(target, called));
    if (called.column === null) continue;
    const named = computed.get(relationKey(outer)) ?? new Map<string, RowFunction>();
    computed.set(relationKey(outer), named.set(called.name, called));
  }
  return computed;
}

function byFunction(target: Relation, called: RowFunction): Relationship {
  return {
    cardinality: called.isOne ? 'one' : 'many',
    kind: called.isOne ? 'many-to-one' : 'one-to-many',
    target,
    pairs: [],
    targetHasKey: false,
    junction: null,
    computedBy: called,
    hasTargetName: false,
    ownNames: new Set([called.name]),
    hints: new Set(),
    lesserNames: new Set(),
    referencedColumn: null,
    needsHint: false,
    description: `the function ${called.name}`,
  };
}

/** A relation with the columns of one end of a foreign key. */
interface End {
  readonly relation: Relation;
  readonly columns: readonly string[];
  readonly isView: boolean;
  /** As in `KeyInView`. */
  readonly ambiguity: KeyInView['ambiguity'];
}

/** A foreign key between two tables, or between views that show its columns. */
interface Link {
  readonly base: ForeignKey;
  readonly from: End;
  readonly to: End;
}

/** Whether the columns of the key are known: otherwise a request that names it is ambiguous. */
function isCertain({ from, to }: Link): boolean {
  return from.ambiguity === 'none' && to.ambiguity === 'none';
}

function listLinks(byKey: ReadonlyMap<string, Relation>, { foreignKeys, viewColumns }: KeyFacts): readonly Link[] {
  const keysInViews = createViewKeys(viewColumns);
  const ends = (schema: string, name: string, columns: readonly string[]): readonly End[] => {
    const toEnd = (key: KeyInView, isView: boolean): readonly End[] => {
      const relation = byKey.get(relationKey(key));
      return relation === undefined ? [] : [{ relation, columns: key.columns, isView, ambiguity: key.ambiguity }];
    };
    const views = keysInViews(schema, name, columns).flatMap((key) => toEnd(key, true));
    return [...toEnd({ schema, name, columns, ambiguity: 'none' }, false), ...views];
  };
  return foreignKeys.flatMap((base) => {
    const targets = ends(base.targetSchema, base.targetTable, base.targetColumns);
    // Two views that are both ambiguous need no more relationships than one of them to be so.
    return ends(base.schema, base.table, base.columns).flatMap((from) =>
      targets.filter((to) => to.ambiguity !== 'other' || from.ambiguity === 'none').map((to) => ({ base, from, to })),
    );
  });
}

/** A foreign key of a table, or of a view that shows its columns. */
export interface RelationKey {
  readonly name: string;
  readonly columns: readonly string[];
  /** Whether at most one row references a row. */
  readonly isOneToOne: boolean;
  readonly target: Relation;
  readonly targetColumns: readonly string[];
}

/** Returns the foreign keys of relations that reference one of the others, by the key of the relation that has them. */
export function listForeignKeys(
  relations: readonly Relation[],
  facts: KeyFacts,
): ReadonlyMap<string, readonly RelationKey[]> {
  const byKey = new Map(relations.map((relation) => [relationKey(relation), relation]));
  const certain = groupBy(listLinks(byKey, facts).filter(isCertain), ({ from }) => relationKey(from.relation));
  return new Map([...certain].map(([key, links]) => [key, links.map(toRelationKey)]));
}

function toRelationKey({ base, from, to }: Link): RelationKey {
  return {
    name: base.name,
    columns: from.columns,
    isOneToOne: base.unique,
    target: to.relation,
    targetColumns: to.columns,
  };
}

/** Whether a row of the junction connects rows by two foreign keys of one table. */
function connectsRows({ base: left }: Link, { base: right }: Link): boolean {
  return left.name !== right.name && left.schema === right.schema && left.table === right.table;
}

function pairsOf({ from, to }: Link): readonly ColumnPair[] {
  return from.columns.map((column, index) => [column, to.columns[index]!]);
}

const reversed = ([left, right]: ColumnPair): ColumnPair => [right, left];

function namesOf({ base: { name }, from: { columns } }: Link): ReadonlySet<string> {
  return new Set(columns.length === 1 ? [name, columns[0]!] : [name]);
}

/** A view can show the referenced column twice: its name tells which one is meant. */
function hintsOf(link: Link): ReadonlySet<string> {
  const { to } = link;
  return new Set([...namesOf(link), ...(to.isView && to.columns.length === 1 ? to.columns : [])]);
}

/** Whether a table and a view of it are related by a key of the table: the column means one direction, the key the other one. */
function isSelfThroughView({ base, from, to }: Link): boolean {
  return base.schema === base.targetSchema && base.table === base.targetTable && from.relation !== to.relation;
}

function referencedColumn({ to: { columns } }: Link): string | null {
  return columns.length === 1 ? columns[0]! : null;
}

function columnsText({ relation, columns }: End): string {
  return `${relation.name}(${columns.join(', ')})`;
}

function toOne(link: Link): Relationship {
  const { base, from, to } = link;
  const names = namesOf(link);
  const hints = isSelfThroughView(link) ? new Set(from.columns) : hintsOf(link);
  return {
    cardinality: 'one',
    kind: base.unique ? 'one-to-one' : 'many-to-one',
    target: to.relation,
    pairs: pairsOf(link),
    targetHasKey: false,
    junction: null,
    computedBy: null,
    // Within one table, its name means the rows that reference a row.
    hasTargetName: from.relation !== to.relation,
    ownNames: to.isView ? new Set() : names,
    // Within one table, the hint selects the other direction.
    hints: from.relation === to.relation ? new Set() : hints,
    lesserNames: to.isView && from.relation === to.relation ? names : new Set(),
    referencedColumn: from.relation === to.relation ? null : referencedColumn(link),
    needsHint: false,
    description: `${base.name} using ${columnsText(from)} and ${columnsText(to)}`,
  };
}

function fromTarget(link: Link): Relationship {
  const { base, from, to } = link;
  const referenced = from.relation === to.relation ? null : referencedColumn(link);
  return {
    cardinality: base.unique ? 'one' : 'many',
    kind: base.unique ? 'one-to-one' : 'one-to-many',
    target: from.relation,
    pairs: pairsOf(link).map(reversed),
    targetHasKey: true,
    junction: null,
    computedBy: null,
    hasTargetName: true,
    ownNames: new Set(from.relation === to.relation || from.isView ? [] : [base.name]),
    hints: isSelfThroughView(link) ? new Set([base.name]) : hintsOf(link),
    // A column of the outer row names the only row that references it.
    lesserNames: new Set(base.unique && !from.isView && referenced !== null ? [referenced] : []),
    referencedColumn: referenced,
    needsHint: false,
    description: `${base.name} using ${columnsText(to)} and ${columnsText(from)}`,
  };
}

/** Whether a junction connects the rows of one table. */
function isSelf({ base: outer }: Link, { base: inner }: Link): boolean {
  return outer.targetSchema === inner.targetSchema && outer.targetTable === inner.targetTable;
}

function throughJunction(outer: Link, inner: Link, needsHint: boolean): Relationship {
  const junction = outer.from.relation;
  const keys = needsHint ? [] : [outer.base.name, inner.base.name];
  return {
    cardinality: 'many',
    kind: 'many-to-many',
    target: inner.to.relation,
    pairs: [],
    targetHasKey: false,
    junction: { relation: junction, outer: pairsOf(outer), inner: pairsOf(inner) },
    computedBy: null,
    hasTargetName: true,
    ownNames: new Set(),
    // Within one table, the foreign key of the outer row selects the direction.
    hints: new Set(isSelf(outer, inner) ? namesOf(outer) : [junction.name, ...keys]),
    lesserNames: new Set(),
    referencedColumn: null,
    needsHint,
    description: `${junction.name} using ${keyText(outer)} and ${keyText(inner)}`,
  };
}

function keyText({ base: { name }, from: { columns } }: Link): string {
  return `${name}(${columns.join(', ')})`;
}

/** Returns the functions of a row of a relation that have a value. */
export function computedOf({ computed }: ReadModel, relation: Relation): ReadonlyMap<string, RowFunction> | undefined {
  return computed.get(relationKey(relation));
}
