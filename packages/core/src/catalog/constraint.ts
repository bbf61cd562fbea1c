/** A constraint of a table or domain, or a unique index. */
export interface Constraint {
  /** The columns that the constraint uses; empty for a domain. */
  readonly columns: readonly string[];
  /** The columns or parameters that its comment names in their place. */
  readonly fields: readonly string[];
  /** The text of its comment; null: none. */
  readonly message: string | null;
}

/** Constraints by `schema.relation.constraint`, those of domains by `schema.domain.constraint`. Not-null constraints: `schema.table..column`. */
export type Constraints = ReadonlyMap<string, Constraint>;
