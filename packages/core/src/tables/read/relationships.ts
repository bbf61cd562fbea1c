import type { TextTable } from '../../postgres/port.ts';
import { groupBy } from '../../endpoints/group-by.ts';
import { parseJsonObject, readArray, readBoolean, readText } from '../../catalog/json-object.ts';
import { type PossibleRelationship, ReadFault } from './read-fault.ts';
import type { SelectedRelation } from './query.ts';
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
  // A view is a junction only in place of its table.
  const inKeys = links.filter(
    ({ base, from }) =>
      base.inPrimaryKey && !(from.isView && byKey.has(relationKey({ schema: base.schema, name: base.table }))),
  );
  for (const siblings of groupBy(inKeys, ({ from }) => from.relation).values()) {
    const pairs = siblings.flatMap((left) => siblings.map((right) => [left, right] as const));
    for (const [left, right] of pairs) {
      if (connectsRows(left, right)) add(left.to.relation, throughJunction(left, right));
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
    if (target !== undefined) add(outer, byFunction(outer, target, called));
    if (called.column === null) continue;
    const named = computed.get(relationKey(outer)) ?? new Map<string, RowFunction>();
    computed.set(relationKey(outer), named.set(called.name, called));
  }
  return computed;
}

function byFunction(outer: Relation, target: Relation, called: RowFunction): Relationship {
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
    description: `${outer.name} with ${called.isOne ? 'one' : 'many'} ${target.name} by the function ${called.name}`,
  };
}

/** A relation with the columns of one end of a foreign key. */
interface End {
  readonly relation: Relation;
  readonly columns: readonly string[];
  readonly isView: boolean;
}

/** A foreign key between two tables, or between views that show its columns. */
interface Link {
  readonly base: ForeignKey;
  readonly from: End;
  readonly to: End;
}

function listLinks(byKey: ReadonlyMap<string, Relation>, { foreignKeys, viewColumns }: KeyFacts): readonly Link[] {
  const keysInViews = createViewKeys(viewColumns);
  const ends = (schema: string, name: string, columns: readonly string[]): readonly End[] => {
    const toEnd = (key: KeyInView, isView: boolean): readonly End[] => {
      const relation = byKey.get(relationKey(key));
      return relation === undefined ? [] : [{ relation, columns: key.columns, isView }];
    };
    const views = keysInViews(schema, name, columns).flatMap((key) => toEnd(key, true));
    return [...toEnd({ schema, name, columns }, false), ...views];
  };
  return foreignKeys.flatMap((base) => {
    const targets = ends(base.targetSchema, base.targetTable, base.targetColumns);
    return ends(base.schema, base.table, base.columns).flatMap((from) => targets.map((to) => ({ base, from, to })));
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

/** Returns the foreign keys of a relation that reference one of the others. */
export function foreignKeysOf(
  { schema, name }: Pick<Relation, 'schema' | 'name'>,
  relations: readonly Relation[],
  facts: KeyFacts,
): readonly RelationKey[] {
  const byKey = new Map(relations.map((relation) => [relationKey(relation), relation]));
  return listLinks(byKey, facts)
    .filter(({ from }) => from.relation.schema === schema && from.relation.name === name)
    .map(({ base, from, to }) => ({
      name: base.name,
      columns: from.columns,
      isOneToOne: base.unique,
      target: to.relation,
      targetColumns: to.columns,
    }));
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
    description: `${from.relation.name} with one ${to.relation.name} by ${base.name}(${from.columns.join(', ')})`,
  };
}

function fromTarget(link: Link): Relationship {
  const { base, from, to } = link;
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
    description: `${to.relation.name} with ${base.unique ? 'one' : 'many'} ${from.relation.name} by ${base.name}(${from.columns.join(', ')})`,
  };
}

function throughJunction(outer: Link, inner: Link): Relationship {
  const junction = outer.from.relation;
  const isSelf =
    outer.base.targetSchema === inner.base.targetSchema && outer.base.targetTable === inner.base.targetTable;
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
    hints: new Set(isSelf ? namesOf(outer) : [junction.name, outer.base.name, inner.base.name]),
    description: `${outer.to.relation.name} with many ${inner.to.relation.name} by ${junction.name}, from ${outer.base.name}`,
  };
}

/** Returns the functions of a row of a relation that have a value. */
export function computedOf({ computed }: ReadModel, relation: Relation): ReadonlyMap<string, RowFunction> | undefined {
  return computed.get(relationKey(relation));
}

/** Whether a request can mean a relationship by the name. */
export function hasRelationship(model: ReadModel, outer: Relation, name: string): boolean {
  const known = model.relationships.get(relationKey(outer)) ?? [];
  return known.some((relationship) => isNamed(relationship, outer, name));
}

function isNamed({ target, hasTargetName, ownNames }: Relationship, outer: Relation, name: string): boolean {
  return (hasTargetName && target.name === name && target.schema === outer.schema) || ownNames.has(name);
}

/** How a request names a relationship. */
type RelationshipName = Pick<SelectedRelation, 'name' | 'hint' | 'position'>;

/**
 * Returns the relationship that a request means.
 * @throws ReadFault for none and for several
 */
export function findRelationship(
  { relationships }: ReadModel,
  outer: Relation,
  wanted: RelationshipName,
  parameter = 'select',
): Relationship {
  const { name, hint } = wanted;
  const known = relationships.get(relationKey(outer)) ?? [];
  const named = known.filter((relationship) => isNamed(relationship, outer, name));
  const computed = named.find(({ computedBy }) => computedBy !== null);
  // A function replaces the relationships of its name.
  if (computed !== undefined && hint === null) return computed;
  const found = hint === null ? preferOwnNames(named, name) : named.filter(({ hints }) => hints.has(hint));
  if (found.length === 1) return found[0]!;
  throw found.length === 0
    ? noRelationship(outer, wanted, known, parameter)
    : ambiguous(outer, wanted, found, parameter);
}

/** The name of a table wins over that of a foreign key or column. */
function preferOwnNames(named: readonly Relationship[], name: string): readonly Relationship[] {
  const byTarget = named.filter(({ target }) => target.name === name);
  return byTarget.length > 0 ? byTarget : named;
}

function noRelationship(
  outer: Relation,
  { name, hint, position }: RelationshipName,
  known: readonly Relationship[],
  parameter: string,
): ReadFault {
  const related = [...new Set(known.map(({ target }) => target.name))];
  return new ReadFault({ kind: 'no-relationship', parameter, position, outer: outer.name, name, hint, related });
}

function ambiguous(
  outer: Relation,
  { name, position }: RelationshipName,
  found: readonly Relationship[],
  parameter: string,
): ReadFault {
  return new ReadFault({
    kind: 'several-relationships',
    parameter,
    position,
    outer: outer.name,
    name,
    found: found.map(({ kind, target, description, hints }) => ({
      kind,
      target: target.name,
      description,
      hints: [...hints],
    })),
    choices: found.flatMap((each) => distinctHint(each, found)).map((hint) => `${name}!${hint}`),
  });
}

/** A hint that no other relationship has, if there is one. */
function distinctHint({ hints }: Relationship, found: readonly Relationship[]): readonly string[] {
  const distinct = [...hints].filter((hint) => found.filter((other) => other.hints.has(hint)).length === 1);
  return [...distinct, ...hints].slice(0, 1);
}
