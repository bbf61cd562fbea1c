/** Reads definitions from the catalog: statements in an order in which they can be run. */
import type { Client } from 'pg';
import type { DatabaseObject } from '../catalog/objects.ts';
import { readOmissions } from '../catalog/omissions.ts';
import { type CatalogSource, openCatalogSource } from './catalog-source.ts';
import { type Comment, commentStatement, readComments, readSecurityLabels } from './comments.ts';
import { readDefaultPrivileges } from './definitions/default-privileges.ts';
import { readMemberPrivileges } from './definitions/member-privileges.ts';
import { readRoutines } from './definitions/routines.ts';
import { readSequences } from './definitions/sequences.ts';
import { readSimpleObjects } from './definitions/simple-objects.ts';
import { readPolicies, readRules, readStatistics, readTriggers } from './definitions/table-rules.ts';
import { readSubscriptions } from './definitions/subscriptions.ts';
import { readTables } from './definitions/tables.ts';
import { readTypes } from './definitions/types.ts';
import { readViews } from './definitions/views.ts';
import { noProgress, type Progress } from '../output/progress.ts';
import { type CatalogDependencies, readDependencies } from './dependencies.ts';
import type { Item } from './item.ts';
import { orderItems } from './order.ts';
import { grantStatements } from './privileges.ts';
import { visibleSql } from './sql-text.ts';

/** Statements of one object. The statements of an object are in several definitions when others must come between them. */
export interface Definition {
  readonly object: DatabaseObject;
  readonly statements: readonly string[];
}

export interface DefinitionOptions {
  readonly hasOwners: boolean;
  readonly hasGrants: boolean;
}

const readers: Readonly<Record<string, (source: CatalogSource) => Promise<readonly Item[]>>> = {
  objects: readSimpleObjects,
  types: readTypes,
  sequences: readSequences,
  tables: readTables,
  views: readViews,
  routines: readRoutines,
  statistics: readStatistics,
  rules: readRules,
  triggers: readTriggers,
  policies: readPolicies,
  'default privileges': readDefaultPrivileges,
  subscriptions: readSubscriptions,
};

/** The items of the selected objects, in the order that they have without dependencies. */
export interface CatalogItems extends CatalogDependencies {
  readonly items: readonly Item[];
  /** By the key of the item. */
  readonly comments: ReadonlyMap<string, readonly Comment[]>;
  /** The statements of security labels, by the key of the item. */
  readonly securityLabels: ReadonlyMap<string, readonly string[]>;
}

/** @param objects the objects to define, system schemas included, in the order that they have without dependencies */
export async function readDefinitions(
  client: Client,
  objects: readonly DatabaseObject[],
  options: DefinitionOptions,
  progress: Progress = noProgress,
): Promise<readonly Definition[]> {
  const catalog = await readItems(client, objects, progress);
  const omissions = await readOmissions(client);
  const isReadable = !omissions.some(({ kind }) => kind === null);
  const members = isReadable ? await readMemberPrivileges(client, objects) : [];
  const byKey = new Map(objects.map((object) => [object.key, object]));
  const definitions = orderItems([...catalog.items, ...members], catalog.dependencies).map(
    ({ object, statements, item, isComplete }) => ({
      object: byKey.get(object)!,
      statements: [...statements, ...(isComplete ? attributeStatements(item, catalog, options) : [])].map(visibleSql),
    }),
  );
  return joinNeighbors(definitions.filter(({ statements }) => statements.length > 0));
}

export async function readItems(
  client: Client,
  objects: readonly DatabaseObject[],
  progress: Progress = noProgress,
): Promise<CatalogItems> {
  const source = await openCatalogSource(client, objects);
  const found: Item[] = [];
  for (const [name, read] of Object.entries(readers)) {
    progress.show(`reading ${name}`);
    // One connection runs one query after the other.
    found.push(...(await read(source)));
  }
  progress.show('reading comments and dependencies');
  const items = sortByObject(found, objects);
  const comments = await readComments(client, items);
  const securityLabels = await readSecurityLabels(client, items);
  return { items, comments, securityLabels, ...(await readDependencies(client, items)) };
}

/** Returns the statements that follow the creation of an item. */
export function attributeStatements(
  { key, owner, grants }: Item,
  { extensions, comments, securityLabels }: Pick<CatalogItems, 'extensions' | 'comments' | 'securityLabels'>,
  { hasOwners, hasGrants }: DefinitionOptions,
): readonly string[] {
  return [
    ...(extensions.get(key) ?? []),
    ...(comments.get(key) ?? []).map(commentStatement),
    ...(securityLabels.get(key) ?? []),
    ...(hasOwners ? owner : []),
    ...(hasGrants ? grantStatements(grants) : []),
  ];
}

function sortByObject(items: readonly Item[], objects: readonly DatabaseObject[]): readonly Item[] {
  const ranks = new Map(objects.map(({ key }, index) => [key, index]));
  return items
    .filter(({ object }) => ranks.has(object))
    .toSorted((left, right) => ranks.get(left.object)! - ranks.get(right.object)!);
}

function joinNeighbors(definitions: readonly Definition[]): readonly Definition[] {
  const joined: Definition[] = [];
  for (const definition of definitions) {
    const last = joined.at(-1);
    if (last?.object !== definition.object) joined.push(definition);
    else joined[joined.length - 1] = { ...last, statements: [...last.statements, ...definition.statements] };
  }
  return joined;
}
