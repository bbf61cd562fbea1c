import type { Column } from './type-facts.ts';

/** Tables and views as the catalog describes them, and the operations on their rows. */

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
 * The comparison operators of a type.
 * - `ordered`: `=` and `<`
 * - `equal`: `=` only
 * - `none`: no equality (json, xml, points); the text of values is compared
 */
export type Comparison = 'ordered' | 'equal' | 'none';

/** The operators of a type that is not built in: those of its default operator class, and others of its owner. */
export interface TypeOperators {
  /** The operand type in SQL, to which columns of other types are cast. */
  readonly type: string;
  /** Qualified operators such as `operator("public".=)`, by symbol: `=`, `<`, `<=`, `>`, `>=`, `~~` (LIKE), `~~*` (ILIKE), `@>`. */
  readonly names: Readonly<Record<string, string>>;
  /** By symbol, the type of the second operand in SQL where it is another one: that of `~` of `ltree` is `lquery`. */
  readonly values: Readonly<Record<string, string>>;
}

export interface TableColumn extends Column {
  /** No row can have NULL. In a view, only when its only table guarantees it. */
  readonly notNull: boolean;
  /** Whether the column or its domain has a default. */
  readonly hasDefault: boolean;
  /** The SQL of the default; null without one; absent where no statement has it. */
  readonly defaultExpression?: string | null;
  readonly identity: 'always' | 'byDefault' | null;
  /** Whether the column is generated and cannot be written. */
  readonly generated: boolean;
  /** False for a column of a view that is an expression. */
  readonly writable: boolean;
  /** Whether the column is part of the primary key; in a view, of that of its table. */
  readonly key: boolean;
  readonly comparison: Comparison;
  /** Absent: the operators of `pg_catalog` apply. */
  readonly operators?: TypeOperators;
}

/** Limits on the rows of one response with pagination. */
export interface PageLimits {
  /** The limit without a request of the client. */
  readonly defaultLimit: number;
  /** The highest limit that the client may request. */
  readonly maxLimit: number;
}

/** How PostgreSQL identifies changed rows in its log: `pg_class.relreplident`. */
export type ReplicaIdentity = 'default' | 'nothing' | 'full' | 'index';

/** A table whose changes concern the rows of a table or view: the table itself, or one whose columns the view shows. */
export interface ChangeSource {
  readonly schema: string;
  readonly name: string;
  readonly kind: RelationKind;
  readonly unlogged: boolean;
  /** Whether other tables inherit from it, whose rows it shows. Partitions do not count. */
  readonly inherited: boolean;
  readonly identity: ReplicaIdentity;
  /** The columns of the replica identity; all columns for `full`. Empty: it has none. */
  readonly identityColumns: readonly string[];
  /** The columns of the primary key. Empty without one, or when it is deferrable, which no replica identity can use. */
  readonly primaryKey: readonly string[];
  /** The columns of the relation that show its columns unchanged, by the names of the latter. */
  readonly shown: Readonly<Record<string, string>>;
}

/** The table operation of a routine. */
export interface TableAccess {
  readonly operation: TableOperation;
  readonly columns: readonly TableColumn[];
  /** Whether the rows include `xmin`, which changes with every update. */
  readonly versioned: boolean;
  /** Limits of a listing by default; null: only comments enable listings. */
  readonly listing: PageLimits | null;
  /** Limits of a listing that a comment enables. */
  readonly listingLimits: PageLimits;
  readonly allowUnfilteredDelete: boolean;
  /** Whether an update or delete by the complete key is refused when it finds no row. */
  readonly requiresRow: boolean;
  /** What the source needs in the endpoint for its queries. */
  readonly sourceData?: object;
  /** Messages for constraint violations: the comments on the constraints, by `schema.table.constraint`. */
  readonly constraintMessages: Readonly<Record<string, string>>;
  /** The tables whose changes concern its rows. Absent: unknown, as the comment has no word "changes". */
  readonly changeSources?: readonly ChangeSource[];
}
