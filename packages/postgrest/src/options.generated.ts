import type { ListingLimits, Routine, TableOperation } from '@pgway/core';
// Generated from the groups of options in this folder by `npm run options`. Do not edit.

/** The TypeScript type `Database` of the dialect `postgrest`, for `createClient<Database>()`. */
export interface DatabaseTypesOptions {
  /** The file that `pgway generate` writes, such as `src/database.types.ts`. Null: no file is written. */
  readonly filePath: string | null;
  /** Overwrites an existing file with other content. Default false. */
  readonly fileOverwrite: boolean;
}

/** The dialect of PostgREST. */
export interface PostgrestOptions {
  /** The path of the tables: `/rest` has `/rest/<table>`. Default `/rest`. */
  readonly path: string;
  /** Allows a PATCH request without a filter, which changes every row. Default false. */
  readonly allowUnfilteredUpdate: boolean;
  /**
   * Allows `Accept: application/vnd.pgrst.plan`, which responds with the plan of the statement. It shows names, numbers
   * of rows and conditions of policies. Default false.
   */
  readonly planEnabled: boolean;
  /**
   * How the transaction of a request ends. With `allow-override`, `Prefer: tx=commit` and `Prefer: tx=rollback` decide:
   * a client can then undo its request, and with it what triggers have recorded. Default `commit`.
   */
  readonly txEnd: 'commit' | 'commit-allow-override' | 'rollback' | 'rollback-allow-override';
  /**
   * A function without arguments that each request calls in its transaction, before its statement, with the role of the
   * request.
   */
  readonly preRequest: string | null;
  /**
   * The `search_path` of a request: the schema of its table or function, then these schemas. Null: the `search_path` of
   * the connection.
   */
  readonly extraSearchPath: readonly string[] | null;
  /**
   * Settings of each request for functions and policies: `{ "region": "north" }` is
   * `current_setting('app.settings.region')`.
   */
  readonly appSettings: Readonly<Record<string, string>>;
  /**
   * What the OpenAPI 2 document at `path` describes: what the caller may do, or, with `ignore-privileges`, all tables
   * and functions, whatever privileges and `authorize` say. `disabled`: there is no document. Default
   * `follow-privileges`.
   */
  readonly openApiMode: 'follow-privileges' | 'ignore-privileges' | 'disabled';
  /** Allows aggregates in `select`, such as `amount.sum()`. They read all rows that meet the filters. Default false. */
  readonly allowAggregates: boolean;
}

/**
 * Tables, views and functions in the dialect of PostgREST. Each filter that is not null replaces the filter of the
 * gateway of that name.
 */
export interface PostgrestSourceOptions {
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
  /** Called for each operation before its endpoint is built; false leaves it out. An error fails the start. */
  readonly created?: ((routine: Routine, crudType: TableOperation) => boolean | Promise<boolean>) | null;
  /** Replaces the query that lists tables and views. `customTablesSql` documents its parameters and columns. */
  readonly query?: string | null;
  /**
   * Allows a DELETE request without a filter, which deletes every row; false: only where the comment allows it. Default
   * false.
   */
  readonly allowUnfilteredDelete?: boolean;
  /** The size of pages of a listing. */
  readonly listingLimits?: Partial<ListingLimits>;
  /** The path of the tables: `/rest` has `/rest/<table>`. Default `/rest`. */
  readonly path?: string;
  /** Allows a PATCH request without a filter, which changes every row. Default false. */
  readonly allowUnfilteredUpdate?: boolean;
  /**
   * Allows `Accept: application/vnd.pgrst.plan`, which responds with the plan of the statement. It shows names, numbers
   * of rows and conditions of policies. Default false.
   */
  readonly planEnabled?: boolean;
  /**
   * How the transaction of a request ends. With `allow-override`, `Prefer: tx=commit` and `Prefer: tx=rollback` decide:
   * a client can then undo its request, and with it what triggers have recorded. Default `commit`.
   */
  readonly txEnd?: 'commit' | 'commit-allow-override' | 'rollback' | 'rollback-allow-override';
  /**
   * A function without arguments that each request calls in its transaction, before its statement, with the role of the
   * request.
   */
  readonly preRequest?: string | null;
  /**
   * The `search_path` of a request: the schema of its table or function, then these schemas. Null: the `search_path` of
   * the connection.
   */
  readonly extraSearchPath?: readonly string[] | null;
  /**
   * Settings of each request for functions and policies: `{ "region": "north" }` is
   * `current_setting('app.settings.region')`.
   */
  readonly appSettings?: Readonly<Record<string, string>>;
  /**
   * What the OpenAPI 2 document at `path` describes: what the caller may do, or, with `ignore-privileges`, all tables
   * and functions, whatever privileges and `authorize` say. `disabled`: there is no document. Default
   * `follow-privileges`.
   */
  readonly openApiMode?: 'follow-privileges' | 'ignore-privileges' | 'disabled';
  /** Allows aggregates in `select`, such as `amount.sum()`. They read all rows that meet the filters. Default false. */
  readonly allowAggregates?: boolean;
  /**
   * The URL in front of `path` in the OpenAPI 2 document, such as that of a reverse proxy. Null: the document has no
   * host.
   */
  readonly serverUrl?: string | null;
}
