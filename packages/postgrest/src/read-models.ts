import type { Endpoint } from '@pgway/core';
import { createReadModel, groupByAccess, type ReadModel, type Relation, relationKey } from '@pgway/core/internal';
import { type PostgrestTable, postgrestTable } from './dialect-table.ts';
import { keepKeyFacts, keyFactsOf, noKeyFacts } from './key-facts.ts';
import { keepFunctionNames } from './rpc/function-names.ts';
import { functionOf, rowFunctionsOf } from './rpc/function-target.ts';
import { keepSchemas, type Target, targetOf } from './target.ts';

/** The tables that requests to a table may read. By an object that endpoints keep. */
const models = new WeakMap<PostgrestTable, ReadModel>();

/** Makes the models of the published tables and functions. */
export function createReadModels(endpoints: readonly Endpoint[]): void {
  keepFunctionNames(endpoints.filter((endpoint) => functionOf(endpoint) !== undefined));
  keepSchemas(endpoints.map(optionsOf), new Set(endpoints.map(({ schema }) => schema)));
  const facts =
    endpoints
      .map(optionsOf)
      .map(keyFactsOf)
      .find((known) => known !== null) ?? noKeyFacts;
  // Functions are read without keys.
  keepKeyFacts(
    endpoints.map(optionsOf).filter((options) => keyFactsOf(options) === null),
    facts,
  );
  for (const group of groupByAccess(endpoints)) {
    const readable = group.filter(({ table }) => table?.operation === 'select').map(targetOf);
    const options = group.map(optionsOf);
    const model = createReadModel(readable, facts, rowFunctionsOf(group));
    const inserted = group.filter(({ table }) => table?.operation === 'insertReturning').map(targetOf);
    const byKey = new Map(inserted.map((target) => [relationKey(target), target]));
    for (const each of options) {
      models.set(each, model);
      insertTargets.set(each, byKey);
    }
  }
}

function optionsOf(endpoint: Endpoint): PostgrestTable {
  return endpoint.table === null ? functionOf(endpoint)!.options : postgrestTable(endpoint.table);
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
