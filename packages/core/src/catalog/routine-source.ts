import type { Database } from '../postgres/port.ts';
import type { Routine } from './routine.ts';

/** Filters on names; a null or empty member has no effect. Patterns are those of SIMILAR TO. */
export interface Filters {
  readonly includeSchemas?: readonly string[] | null;
  readonly excludeSchemas?: readonly string[] | null;
  readonly includeNames?: readonly string[] | null;
  readonly excludeNames?: readonly string[] | null;
  readonly schemaSimilarTo?: string | null;
  readonly schemaNotSimilarTo?: string | null;
  readonly nameSimilarTo?: string | null;
  readonly nameNotSimilarTo?: string | null;
}

/** A source of routines: the built-in one for functions and procedures, the one for tables, or a custom one. */
export interface RoutineSource {
  readonly name: string;
  read(database: Database, filters: Filters): Promise<readonly Routine[]>;
  /**
   * Returns a hash of all that `read` depends on, so that databases with the same hash have the same routines, except for the OIDs of
   * types. Absent: the hash of what `read` returns.
   */
  fingerprint?(database: Database, filters: Filters): Promise<string>;
}
