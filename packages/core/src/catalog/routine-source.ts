import type { Database } from '../postgres/port.ts';
import type { Routine } from './routine.ts';

/** Which names are wanted; each null or empty member lets everything pass. Patterns are PostgreSQL's SIMILAR TO. */
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

/** The seam for whatever can supply routines: the built-in functions and procedures, and others by plug-in. */
export interface RoutineSource {
  readonly name: string;
  read(database: Database, filters: Filters): Promise<readonly Routine[]>;
}
