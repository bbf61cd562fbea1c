import type { PostgrestTable } from './dialect-table.ts';
import type { KeyFacts } from './read/relationships.ts';

/** The keys and casts in the database of a table. By an object that endpoints keep. */
const keyFacts = new WeakMap<PostgrestTable, KeyFacts>();

/** Keeps the keys for the tables that were read with them. */
export function keepKeyFacts(tables: readonly PostgrestTable[], facts: KeyFacts): void {
  for (const table of tables) keyFacts.set(table, facts);
}

/** Returns the keys of the database of a table; null for one that was read without them. */
export function keyFactsOf(table: PostgrestTable): KeyFacts | null {
  return keyFacts.get(table) ?? null;
}

export const noKeyFacts: KeyFacts = { foreignKeys: [], viewColumns: [], representations: new Map(), handlers: [] };
