import type { Privileges } from '../privileges.ts';

/** A query for objects of one catalog. */
export interface SimpleQuery {
  readonly catalog: string;
  /** Selects the columns of {@link SimpleObject} for the oids in `$1`. */
  readonly sql: string;
}

/** The columns of a query; those that are absent have no value. */
export interface SimpleObject {
  readonly oid: string;
  /** As in `COMMENT ON`; null for objects without comments. */
  readonly target: string | null;
  readonly statements: readonly string[];
  /** Null: `DROP` with the target. */
  readonly drop?: string;
  /** For objects with options: the statement that alters it, and the options as in the catalog. */
  readonly alter?: string;
  readonly options?: readonly string[] | null;
  /** Null: the same as `target`. */
  readonly ownerTarget?: string | null;
  readonly owner?: string | null;
  /** As in `GRANT … ON`. */
  readonly grantTarget?: string;
  readonly privileges?: Privileges | null;
}
