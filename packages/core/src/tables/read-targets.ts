import type { Endpoint } from '../endpoints/endpoint.ts';
import type { Database } from '../postgres/port.ts';
import { queryCatalog } from '../catalog/query-catalog.ts';
import type { Routine } from '../catalog/routine.ts';
import { listColumnParameters, requireTable } from './provided-columns.ts';
import { groupByAccess } from './read/access-groups.ts';
import { findRelationship } from './read/find-relationship.ts';
import { foreignKeysSql } from './read/foreign-keys.sql.ts';
import { ReadFault } from './read/read-fault.ts';
import { columnKey, type Relation, relationKey } from './read/relation.ts';
import { createReadModel, decodeForeignKeys, type KeyFacts, type ReadModel } from './read/relationships.ts';
import { viewColumnsSql } from './read/view-columns.sql.ts';
import { decodeViewColumns } from './read/view-keys.ts';

/** The table of a listing, and the tables that its requests may read with it. */
export interface ReadTarget {
  readonly relation: Relation;
  readonly model: ReadModel;
}

/** The keys in the database of a table. By an object that endpoints keep. */
const keyFacts = new WeakMap<object, KeyFacts>();

const noKeys: KeyFacts = { foreignKeys: [], viewColumns: [], representations: new Map() };

/** What the endpoints of tables depend on besides the tables: foreign keys, and the views that show their columns. */
export const keyFactsSql: string = `select 'foreign key', keys.facts from (${foreignKeysSql}) keys (facts)
      union all select 'view column', columns.facts from (${viewColumnsSql}) columns (facts)`;

/** Reads the keys between tables, and keeps them for the endpoints of the routines. */
export async function readKeyFacts(database: Database, routines: readonly Routine[]): Promise<void> {
  const objects = routines.flatMap(({ table }) => table?.sourceData ?? []);
  if (objects.length === 0) return;
  const foreignKeys = decodeForeignKeys(await queryCatalog(database, foreignKeysSql, []));
  const viewColumns = decodeViewColumns(await queryCatalog(database, viewColumnsSql, []));
  for (const object of objects) keyFacts.set(object, { foreignKeys, viewColumns, representations: new Map() });
}

const targets = new WeakMap<Endpoint, ReadTarget>();

/** Makes the read targets of the published endpoints. */
export function createReadTargets(endpoints: readonly Endpoint[]): void {
  const selects = endpoints.filter(({ table }) => table?.operation === 'select');
  for (const group of groupByAccess(selects)) {
    const relations = new Map(group.map((endpoint) => [endpoint, toRelation(endpoint)]));
    const facts = group.map(({ table }) => keyFacts.get(table!.sourceData ?? {})).find((known) => known !== undefined);
    const readable = new Set(group.filter(readsAllRows).map((endpoint) => relations.get(endpoint)!));
    const model = restrict(createReadModel([...relations.values()], facts ?? noKeys), readable);
    for (const [endpoint, relation] of relations) targets.set(endpoint, { relation, model });
  }
}

/** Returns what requests to a listing may read. */
export function readTargetOf(endpoint: Endpoint): ReadTarget {
  const known = targets.get(endpoint);
  if (known !== undefined) return known;
  // The endpoint of a source that does not tell which endpoints are published.
  const relation = toRelation(endpoint);
  const target = { relation, model: createReadModel([relation], noKeys) };
  targets.set(endpoint, target);
  return target;
}

/** A table whose rows a request can select with those of a listing. */
export interface RelatedTable {
  /** Its name in `select`, without a hint. */
  readonly name: string;
  /** The keys of its columns. */
  readonly columns: readonly string[];
}

/** Returns the tables that `select` of a listing can name without a hint. */
export function relatedTables(endpoint: Endpoint): readonly RelatedTable[] {
  const { relation, model } = readTargetOf(endpoint);
  const known = model.relationships.get(relationKey(relation)) ?? [];
  const names = new Set(known.map(({ target }) => target.name));
  return [...names].flatMap((name) => {
    const target = unambiguousTarget({ relation, model }, name);
    if (target === null) return [];
    return [{ name, columns: [...target.columns.keys()].map((column) => columnKey(target, column)) }];
  });
}

function unambiguousTarget({ relation, model }: ReadTarget, name: string): Relation | null {
  try {
    return findRelationship(model, relation, { name, hint: null, position: 0 }).target;
  } catch (error) {
    if (error instanceof ReadFault) return null;
    throw error;
  }
}

/** Whether a request can read each row that its role may read. What the path gives or a rule requires is a condition that related rows would not meet. */
function readsAllRows({ parameters }: Endpoint): boolean {
  return parameters.every(({ optional, rules = [] }) => optional && rules.every(({ kind }) => kind !== 'required'));
}

/** Returns the model without relationships to other relations than the given ones, or through others. */
function restrict(model: ReadModel, readable: ReadonlySet<Relation>): ReadModel {
  const relationships = [...model.relationships].map(
    ([key, known]) =>
      [
        key,
        known.filter(
          ({ target, junction }) => readable.has(target) && (junction === null || readable.has(junction.relation)),
        ),
      ] as const,
  );
  const relations = new Map([...readable].map((relation) => [relationKey(relation), relation]));
  return { ...model, relations, relationships: new Map(relationships) };
}

function toRelation(endpoint: Endpoint): Relation {
  const { schema, name, result } = endpoint;
  requireTable(endpoint);
  const results = new Map(
    (result.kind === 'objects' ? result.columns : []).flatMap((column) =>
      column.parentColumn === undefined ? [[column.name, column] as const] : [],
    ),
  );
  const all = listColumnParameters(endpoint).map(({ facts, parameter }) => {
    const shown = results.get(facts.name) ?? parameter;
    return { column: { ...facts, type: shown.type }, keys: [shown.key, parameter.key] as const };
  });
  return {
    schema,
    name,
    columns: new Map(all.map(({ column }) => [column.name, column])),
    keys: {
      byName: new Map(all.map(({ column, keys: [key] }) => [column.name, key])),
      names: new Map(all.flatMap(({ column, keys }) => keys.map((key) => [key, column.name] as const))),
    },
  };
}
