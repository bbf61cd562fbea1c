import type { Database } from '../postgres/port.ts';
import type { Filters } from './options.ts';
import type { Routine } from './routine.ts';

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
