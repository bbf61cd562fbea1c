import type { runStatements } from '@pgway/core/internal';

/** The options of `runStatements`. */
export type Connection = Parameters<typeof runStatements>[0];

/** Objects that `pgway install` creates in the database. */
export interface Installation {
  /** Whether the statements are known for one database only: then `--print` reads it. Absent: no. */
  readonly dependsOnDatabase?: true;
  /** Returns the statements that create the objects, in place of earlier ones, for any database. */
  readonly install: () => readonly string[];
  /** Returns the statements that drop the objects, wherever they may be by default. */
  readonly uninstall: () => readonly string[];
  /** Returns the statements for a database that may have the objects already. */
  readonly readStatements: (connection: Connection, isUninstall: boolean) => Promise<readonly string[]>;
  /** Returns what a user without the privilege has to do. */
  readonly privilegeHint: (user: string) => string;
  /** Returns the success message. */
  readonly result: (database: string, isUninstall: boolean) => string;
}
