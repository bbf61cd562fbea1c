import type { KeyFacts } from '@pgway/core/internal';
import type { PostgrestTable } from './dialect-table.ts';
import type { MediaHandler } from './read/media-handlers.ts';
import type { TimeZones } from './time-zones.ts';

/** The facts of a database that the dialect needs of it. */
export interface DialectFacts extends KeyFacts {
  /** The ones of a type of rows first. */
  readonly handlers: readonly MediaHandler[];
  readonly timeZones: TimeZones;
}

/** The keys and casts in the database of a table. By an object that endpoints keep. */
const keyFacts = new WeakMap<PostgrestTable, DialectFacts>();

/** Keeps the keys for the tables that were read with them. */
export function keepKeyFacts(tables: readonly PostgrestTable[], facts: DialectFacts): void {
  for (const table of tables) keyFacts.set(table, facts);
}

/** Returns the keys of the database of a table; null for one that was read without them. */
export function keyFactsOf(table: PostgrestTable): DialectFacts | null {
  return keyFacts.get(table) ?? null;
}

export const noKeyFacts: DialectFacts = {
  foreignKeys: [],
  viewColumns: [],
  representations: new Map(),
  handlers: [],
  timeZones: new Set(),
};
