/** A schema, its rows, and the schema that it gets. */
export interface Migration {
  readonly name: string;
  readonly before: string;
  readonly rows?: string;
  readonly after: string;
  /** A part of the error with which the script ends. */
  readonly refusal?: string;
  /** A query and its rows, afterwards. */
  readonly values?: readonly [sql: string, rows: readonly Readonly<Record<string, unknown>>[]];
  /** The first version of PostgreSQL with the syntax. */
  readonly since?: number;
}

type Extra = Pick<Migration, 'refusal' | 'values' | 'since'>;

/** @param steps the schema, its rows, and the schema that it gets */
export function migration(
  name: string,
  [before, rows, after]: readonly [before: string, rows: string, after: string],
  extra: Extra = {},
): Migration {
  return { name, before, rows, after, ...extra };
}
