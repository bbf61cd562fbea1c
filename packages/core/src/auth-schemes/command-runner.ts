/** Runs a command of the host with text parameters, and returns the rows in PostgreSQL's text form. */
export type CommandRunner = (
  sql: string,
  values: readonly (string | null)[],
) => Promise<readonly (readonly (string | null)[])[]>;

/** Whether the first value of the first row is true. */
export function isTrueRow(rows: readonly (readonly (string | null)[])[]): boolean {
  const value = rows[0]?.[0];
  return value === 't' || value === 'true';
}
