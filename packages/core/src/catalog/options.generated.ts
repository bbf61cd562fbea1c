// Generated from the groups of options in this folder by `npm run options`. Do not edit.

/** Filters on names; a null or empty member has no effect. Patterns are those of SIMILAR TO. */
export interface Filters {
  /** Publish routines of these schemas only. */
  readonly includeSchemas?: readonly string[] | null;
  /** Publish no routine of these schemas. */
  readonly excludeSchemas?: readonly string[] | null;
  /** Publish routines of these names only. */
  readonly includeNames?: readonly string[] | null;
  /** Publish no routine of these names. */
  readonly excludeNames?: readonly string[] | null;
  /** Publish only routines whose schema is `SIMILAR TO` this pattern, for example `app_%`. */
  readonly schemaSimilarTo?: string | null;
  /** Publish no routine whose schema is `SIMILAR TO` this pattern. */
  readonly schemaNotSimilarTo?: string | null;
  /** Publish only routines whose name is `SIMILAR TO` this pattern. */
  readonly nameSimilarTo?: string | null;
  /** Publish no routine whose name is `SIMILAR TO` this pattern. */
  readonly nameNotSimilarTo?: string | null;
}
