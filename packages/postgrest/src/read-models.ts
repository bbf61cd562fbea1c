import type { Endpoint } from '@pgway/core';
import { groupBy } from '@pgway/core/internal';
import { type PostgrestTable, postgrestTable } from './dialect-table.ts';
import { createReadModel, type KeyFacts, type ReadModel, type Relation, relationKey } from './read/relationships.ts';
import { functionOf, rowFunctionsOf } from './rpc/function-target.ts';
import { keepSchemas, type Target, targetOf } from './target.ts';

/** The keys in the database of a table, and the tables that requests to it may read. By an object that endpoints keep. */
const keyFacts = new WeakMap<PostgrestTable, KeyFacts>();
const models = new WeakMap<PostgrestTable, ReadModel>();

/** Keeps the keys for the tables that were read with them. */
export function keepKeyFacts(tables: readonly PostgrestTable[], facts: KeyFacts): void {
  for (const table of tables) keyFacts.set(table, facts);
}

/**
 * Makes the models of the published tables and functions. Related rows come from tables whose endpoint is published with the same authorization,
 * connection, limits and settings: a request must not read by a foreign key what its caller cannot read directly, and policies of the
 * related table may read the settings of its endpoint.
 */
export function createReadModels(endpoints: readonly Endpoint[]): void {
  keepSchemas(endpoints.map(optionsOf), new Set(endpoints.map(({ schema }) => schema)));
  for (const group of groupBy(endpoints, accessKey).values()) {
    const readable = group.filter(({ table }) => table?.operation === 'select').map(targetOf);
    const options = group.map(optionsOf);
    const facts = options.map((each) => keyFacts.get(each)).find((known) => known !== undefined);
    const model = createReadModel(readable, facts ?? { foreignKeys: [], viewColumns: [] }, rowFunctionsOf(group));
    const inserted = group.filter(({ table }) => table?.operation === 'insertReturning').map(targetOf);
    const byKey = new Map(inserted.map((target) => [relationKey(target), target]));
    for (const each of options) {
      models.set(each, model);
      insertTargets.set(each, byKey);
    }
  }
}

/** Returns the keys of the database of a table; null for one that was read without them. */
export function keyFactsOf(table: PostgrestTable): KeyFacts | null {
  return keyFacts.get(table) ?? null;
}

function optionsOf(endpoint: Endpoint): PostgrestTable {
  return endpoint.table === null ? functionOf(endpoint)!.options : postgrestTable(endpoint.table);
}

function accessKey(endpoint: Endpoint): string {
  const { authorization, basicAuthentication, connection, requestHeaders, userContext, rateLimit } = endpoint;
  const roles = [...authorization.roles].toSorted();
  return JSON.stringify([
    authorization.required,
    roles,
    basicAuthentication,
    connection,
    requestHeaders,
    userContext,
    rateLimit,
  ]);
}

/** Returns the tables that requests to a table or function may read. */
export function readModelOf({ options }: Target): ReadModel {
  return models.get(options) ?? noRelations;
}

/** The targets of inserts, by the table that a request is sent to and the key of the inserted relation. */
const insertTargets = new WeakMap<PostgrestTable, ReadonlyMap<string, Target>>();

/**
 * Returns the target of inserts of related rows in a request to another table; null where the table has none, or the request would pass by
 * what the comment of the table says of its inserts.
 */
export function insertTargetOf(outer: Target, related: Relation): Target | null {
  const target = insertTargets.get(outer.options)?.get(relationKey(related)) ?? null;
  if (target === null) return null;
  const { idempotency, invalidates } = target.endpoint;
  const isSame = idempotency === outer.endpoint.idempotency;
  return isSame && invalidates.every((name) => outer.endpoint.invalidates.includes(name)) ? target : null;
}

const noRelations: ReadModel = { relations: new Map(), relationships: new Map(), computed: new Map() };
