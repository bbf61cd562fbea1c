/** The tables and views of the dialect, with the ways to the rows of others. */
import type { Endpoint } from '@pgway/core';
import {
  computedOf,
  type DescribedRelation,
  type DescribedTable,
  findRelationship,
  groupBy,
  ReadFault,
  type ReadModel,
  relationKey,
  type Relationship,
} from '@pgway/core/internal';
import { readModelOf } from '../read-models.ts';
import { type Target, targetOf } from '../target.ts';
import { exactType, isRequired, isWritable, representedType } from './values.ts';

/** Returns the tables and views of endpoints of the dialect, in their order. */
export function describeTables(endpoints: readonly Endpoint[]): readonly DescribedTable[] {
  const tables = endpoints.filter(({ table }) => table !== null);
  const byTable = groupBy(tables, ({ schema, name }) => JSON.stringify([schema, name]));
  const views = new Set(tables.filter(({ kind }) => kind.endsWith('view')).map(relationKey));
  return [...byTable.values()].map((own) => describeTable(own, views));
}

function describeTable(endpoints: readonly Endpoint[], views: ReadonlySet<string>): DescribedTable {
  const readable = endpoints.find(({ method }) => method === 'GET');
  const target = targetOf(readable ?? endpoints[0]!);
  const model = readModelOf(target);
  const inserting = endpoints.find(({ method }) => method === 'POST');
  return {
    schema: target.schema,
    name: target.name,
    path: target.endpoint.path,
    description: target.endpoint.description,
    methods: endpoints.map(({ method }) => method),
    conflictActions: inserting === undefined ? [] : targetOf(inserting).options.conflictActions,
    columns: [...target.columns.values()].map((column) => ({
      name: column.name,
      type: representedType(column),
      notNull: column.notNull,
      writable: isWritable(column),
      required: isRequired(column),
    })),
    computed: [...(computedOf(model, target)?.values() ?? [])]
      .filter(({ name, column }) => column !== null && !target.columns.has(name))
      .map(({ name, column }) => ({ name, type: exactType(column!.type) })),
    relations: describeRelations(target, model, views),
  };
}

function describeRelations(target: Target, model: ReadModel, views: ReadonlySet<string>): readonly DescribedRelation[] {
  const taken = new Set([...target.columns.keys(), ...(computedOf(model, target)?.keys() ?? [])]);
  return (model.relationships.get(relationKey(target)) ?? []).flatMap((relationship) => {
    const selection = selectionOf(model, target, relationship);
    // Each request that names it means another one, or several.
    if (selection === null) return [];
    const { schema, name: other } = relationship.target;
    const name = takeName(taken, selection, other);
    return [
      {
        name,
        selector: selectorText(selection),
        target: { schema, name: other },
        rows: rowsOf(target, relationship, views),
      },
    ];
  });
}

interface Selection {
  readonly name: string;
  readonly hint: string | null;
}

/** Returns the shortest name with which a request selects the relationship and no other one; null for none. */
function selectionOf(model: ReadModel, target: Target, relationship: Relationship): Selection | null {
  const { target: related, ownNames, hints } = relationship;
  const candidates: readonly Selection[] = [
    { name: related.name, hint: null },
    ...[...hints].toSorted(byLength).map((hint) => ({ name: related.name, hint })),
    ...[...ownNames].toSorted(byLength).map((name) => ({ name, hint: null })),
  ];
  return candidates.find((candidate) => means(model, target, candidate, relationship)) ?? null;
}

/** A column is a shorter hint than the constraint of its key. */
function byLength(left: string, right: string): number {
  return left.length - right.length || (left < right ? -1 : 1);
}

function means(model: ReadModel, target: Target, selection: Selection, relationship: Relationship): boolean {
  try {
    return findRelationship(model, target, selection) === relationship;
  } catch (error) {
    if (error instanceof ReadFault) return false;
    throw error;
  }
}

/** The name of the other table; with a hint, or where a column has that name, it says by which key. */
function takeName(taken: Set<string>, { name, hint }: Selection, related: string): string {
  const withKey = `${related}_by_${hint ?? name}`;
  const preferred = hint === null && !taken.has(name) ? name : withKey;
  let free = preferred;
  for (let number = 2; taken.has(free); number++) free = `${preferred}_${number}`;
  taken.add(free);
  return free;
}

function selectorText({ name, hint }: Selection): string {
  return hint === null ? quoteName(name) : `${quoteName(name)}!${quoteName(hint)}`;
}

function quoteName(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : `"${name.replaceAll(/["\\]/g, '\\$&')}"`;
}

/** A key whose columns are not null leads to a row of a table, unless a policy hides it. A view may leave rows out. */
function rowsOf(
  { columns }: Target,
  { target, cardinality, kind, pairs }: Relationship,
  views: ReadonlySet<string>,
): DescribedRelation['rows'] {
  if (cardinality === 'many') return 'many';
  const isKey = kind === 'many-to-one' && pairs.length > 0 && !views.has(relationKey(target));
  return isKey && pairs.every(([left]) => columns.get(left)?.notNull === true) ? 'one' : 'optional';
}
