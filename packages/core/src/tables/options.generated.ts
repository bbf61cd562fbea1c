import type { Routine } from '../catalog/routine.ts';
import type { TableOperation } from '../catalog/table.ts';
// Generated from the groups of options in this folder by `npm run options`. Do not edit.

/**
 * Tables and views as endpoints (CRUD). Each filter that is not null replaces the filter of the gateway of that name.
 */
export interface CrudOptions {
  /** The operations to publish, where PostgreSQL supports them. Default `all`. */
  readonly crudTypes?:
    | 'select'
    | 'update'
    | 'updateReturning'
    | 'delete'
    | 'deleteReturning'
    | 'insert'
    | 'insertReturning'
    | 'insertOnConflictDoNothing'
    | 'insertOnConflictDoNothingReturning'
    | 'insertOnConflictDoUpdate'
    | 'insertOnConflictDoUpdateReturning'
    | 'all'
    | readonly (
        | 'select'
        | 'update'
        | 'updateReturning'
        | 'delete'
        | 'deleteReturning'
        | 'insert'
        | 'insertReturning'
        | 'insertOnConflictDoNothing'
        | 'insertOnConflictDoNothingReturning'
        | 'insertOnConflictDoUpdate'
        | 'insertOnConflictDoUpdateReturning'
        | 'all'
      )[];
  /** Which tables become endpoints; null: the value of `gateway.commentsMode`. */
  readonly commentsMode?: 'onlyWithHttpTag' | 'parseAll' | 'ignore' | null;
  /** Publish tables of these schemas only; null: as the filter of the gateway. */
  readonly includeSchemas?: readonly string[] | null;
  /** Publish no table of these schemas; null: as the filter of the gateway. */
  readonly excludeSchemas?: readonly string[] | null;
  /** Publish tables of these names only; null: as the filter of the gateway. */
  readonly includeNames?: readonly string[] | null;
  /** Publish no table of these names; null: as the filter of the gateway. */
  readonly excludeNames?: readonly string[] | null;
  /**
   * Publish only tables whose schema is `SIMILAR TO` this pattern, for example `app_%`; null: as the filter of the
   * gateway.
   */
  readonly schemaSimilarTo?: string | null;
  /** Publish no table whose schema is `SIMILAR TO` this pattern; null: as the filter of the gateway. */
  readonly schemaNotSimilarTo?: string | null;
  /** Publish only tables whose name is `SIMILAR TO` this pattern; null: as the filter of the gateway. */
  readonly nameSimilarTo?: string | null;
  /** Publish no table whose name is `SIMILAR TO` this pattern; null: as the filter of the gateway. */
  readonly nameNotSimilarTo?: string | null;
  /**
   * The path of operations that return the affected rows; `{0}` is replaced by the path of the table. Default
   * `{0}/returning`.
   */
  readonly returningUrlPattern?: string;
  /**
   * The path of an insert that keeps an existing row unchanged; `{0}` is replaced by the path of the table. Default
   * `{0}/on-conflict-do-nothing`.
   */
  readonly onConflictDoNothingUrlPattern?: string;
  /**
   * The path of the same insert, returning the rows; `{0}` is replaced by the path of the table. Default
   * `{0}/on-conflict-do-nothing/returning`.
   */
  readonly onConflictDoNothingReturningUrlPattern?: string;
  /**
   * The path of an insert that updates an existing row (upsert); `{0}` is replaced by the path of the table. Default
   * `{0}/on-conflict-do-update`.
   */
  readonly onConflictDoUpdateUrlPattern?: string;
  /**
   * The path of the same upsert, returning the rows; `{0}` is replaced by the path of the table. Default
   * `{0}/on-conflict-do-update/returning`.
   */
  readonly onConflictDoUpdateReturningUrlPattern?: string;
  /** Called for each operation before its endpoint is built; false leaves it out. An error fails the start. */
  readonly created?: ((routine: Routine, crudType: TableOperation) => boolean | Promise<boolean>) | null;
  /** Replaces the query that lists tables and views. `customTablesSql` documents its parameters and columns. */
  readonly query?: string | null;
  /**
   * Allows a DELETE request without a filter, which deletes every row; false: only where the comment allows it. Default
   * false.
   */
  readonly allowUnfilteredDelete?: boolean;
  /**
   * Answers an update or delete by the complete key with 204 when no row has the key; false: with 404. Default false.
   */
  readonly allowMissingRow?: boolean;
  /**
   * Enables sorting, pagination, filter operators, counts and row versions for every table; false: where the comment
   * says `listing`. Default false.
   */
  readonly listing?: boolean;
  /** The size of pages of a listing. */
  readonly listingLimits?: Partial<ListingLimits>;
}

/** The size of pages of a listing. */
export interface ListingLimits {
  /** Rows in a page of a listing when the request sets no limit. Default 100. */
  readonly defaultLimit: number;
  /** Maximum rows in a page of a listing. Default 1,000. */
  readonly maxLimit: number;
}
