/** The relationship that a request means by the names that it gives. */
import type { SelectedRelation, SelectItem } from './query.ts';
import { ReadFault } from './read-fault.ts';
import { type Relation, relationKey } from './relation.ts';
import type { ReadModel, Relationship } from './relationships.ts';

/** Whether a request can mean a relationship by the name. */
export function hasRelationship(model: ReadModel, outer: Relation, name: string): boolean {
  return relationshipsOf(model, outer).some((relationship) => isNamed(relationship, outer, name));
}

function relationshipsOf({ relationships }: ReadModel, outer: Relation): readonly Relationship[] {
  return relationships.get(relationKey(outer)) ?? [];
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
  model: ReadModel,
  outer: Relation,
  wanted: RelationshipName,
  parameter = 'select',
): Relationship {
  const { name, hint } = wanted;
  const known = relationshipsOf(model, outer);
  const named = known.filter((relationship) => isNamed(relationship, outer, name));
  const computed = named.find(({ computedBy }) => computedBy !== null);
  // A function replaces the relationships of its name.
  if (computed !== undefined && hint === null) return computed;
  const found = hint === null ? withoutHint(named, known, name) : withHint(named, hint);
  if (found.length === 1) return found[0]!;
  if (found.length === 0) throw noRelationship(outer, wanted, known, parameter);
  throw ambiguous(outer, wanted, hint === null ? preferTarget(named, name) : found, parameter);
}

/**
 * Finds the relationships of all levels. An unknown relation is reported before an unknown column, which may well be one of the
 * table that was meant.
 * @throws as `findRelationship`
 */
export function checkRelationships(model: ReadModel, outer: Relation, items: readonly SelectItem[]): void {
  for (const item of items) {
    if (item.kind === 'relation') checkRelationships(model, findRelationship(model, outer, item).target, item.items);
  }
}

function withHint(named: readonly Relationship[], hint: string): readonly Relationship[] {
  const own = named.filter(({ hints }) => hints.has(hint));
  return own.length > 0 ? own : named.filter(({ referencedColumn }) => referencedColumn === hint);
}

function withoutHint(
  named: readonly Relationship[],
  known: readonly Relationship[],
  name: string,
): readonly Relationship[] {
  if (named.length > 0) return preferTarget(named, name).filter(({ needsHint }) => !needsHint);
  return known.filter(({ lesserNames }) => lesserNames.has(name));
}

/** The name of a table wins over that of a foreign key or column. */
function preferTarget(named: readonly Relationship[], name: string): readonly Relationship[] {
  const byTarget = named.filter(({ target }) => target.name === name);
  return byTarget.length > 0 ? byTarget : named;
}

function noRelationship(
  { schema, name: outer }: Relation,
  { name, hint, position }: RelationshipName,
  known: readonly Relationship[],
  parameter: string,
): ReadFault {
  const related = [...new Set(known.map(({ target }) => target.name))];
  return new ReadFault({ kind: 'no-relationship', parameter, position, schema, outer, name, hint, related });
}

/** The order of PostgREST. */
const kinds: readonly Relationship['kind'][] = ['one-to-many', 'many-to-one', 'one-to-one', 'many-to-many'];

function ambiguous(
  outer: Relation,
  { name, position }: RelationshipName,
  found: readonly Relationship[],
  parameter: string,
): ReadFault {
  const listed = found.toSorted((left, right) => kinds.indexOf(left.kind) - kinds.indexOf(right.kind));
  return new ReadFault({
    kind: 'several-relationships',
    parameter,
    position,
    outer: outer.name,
    name,
    found: listed.map(({ kind, target, description }) => ({ kind, target: target.name, description })),
    choices: listed.map((each) => [name, ...distinctHint(each, listed)].join('!')),
  });
}

/** A hint that no other relationship has; the first one if there is none. */
function distinctHint({ hints }: Relationship, found: readonly Relationship[]): readonly string[] {
  const distinct = [...hints].filter((hint) => found.filter((other) => other.hints.has(hint)).length === 1);
  return [...distinct, ...hints].slice(0, 1);
}
