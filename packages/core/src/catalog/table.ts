import type { Column } from './type-facts.ts';

/** What the catalog says of tables and views, and what can be done to their rows. */

export type RelationKind = 'table' | 'partitioned table' | 'foreign table' | 'view' | 'materialized view';

export const tableOperations = [
  'select',
  'update',
  'updateReturning',
  'delete',
  'deleteReturning',
  'insert',
  'insertReturning',
  'insertOnConflictDoNothing',
  'insertOnConflictDoNothingReturning',
  'insertOnConflictDoUpdate',
  'insertOnConflictDoUpdateReturning',
] as const;

export type TableOperation = (typeof tableOperations)[number];

/**
 * How two values of a type compare.
 * - `ordered`: by `=` and `<`
 * - `equal`: by `=` alone
 * - `none`: PostgreSQL has no equality of them (json, xml, points); their text is compared
 */
export type Comparison = 'ordered' | 'equal' | 'none';

/** The operators of a type that are not PostgreSQL's own, as the type's default operator class names them. */
export interface TypeOperators {
  /** The type that they take, as it stands in SQL; columns of other types have to be cast to it. */
  readonly type: string;
  /** `operator("public".=)`, by what it stands for: `=`, `<`, `<=`, `>`, `>=`, `~~` (LIKE), `~~*` (ILIKE). */
  readonly names: Readonly<Record<string, string>>;
}

export interface TableColumn extends Column {
  /** No row has NULL here, old ones included, and none can get one. Of a view only where its one table says so. */
  readonly notNull: boolean;
  /** By a default of its own or of its domain. */
  readonly hasDefault: boolean;
  readonly identity: 'always' | 'byDefault' | null;
  /** Computed from other columns: it cannot be written. */
  readonly generated: boolean;
  /** False for a column of a view that is an expression. */
  readonly writable: boolean;
  /** Among the primary key; of a view, among the columns that are its table's primary key. */
  readonly key: boolean;
  readonly comparison: Comparison;
  /** Absent: values are compared by the operators of `pg_catalog`. */
  readonly operators?: TypeOperators;
}

/** How far a listing goes: rows in one answer. */
export interface PageLimits {
  /** When the client says nothing. */
  readonly defaultLimit: number;
  /** What the client may ask for. */
  readonly maxLimit: number;
}

/** One operation on a table or view, for those routines that are one. */
export interface TableAccess {
  readonly operation: TableOperation;
  readonly columns: readonly TableColumn[];
  /** The rows carry `xmin`, which changes with every update. */
  readonly versioned: boolean;
  /** Order, pages and operators without a word in the comment; null: only where the comment says so. */
  readonly listing: PageLimits | null;
  /** The bounds where a comment asks for a listing. */
  readonly listingLimits: PageLimits;
  readonly allowUnfilteredDelete: boolean;
  /** What to say when a constraint is violated, by `schema.table.constraint`: the comments of the constraints. */
  readonly constraintMessages: Readonly<Record<string, string>>;
}
