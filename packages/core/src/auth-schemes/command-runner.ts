/**
 * Runs one command of the host's in the database: values are bound as text, `$1` being the first. Gives the rows, values in
 * PostgreSQL's text form. Fails as the database fails.
 */
export type CommandRunner = (
  sql: string,
  values: readonly (string | null)[],
) => Promise<readonly (readonly (string | null)[])[]>;

/** Whether a command's answer is a row whose first value is true. */
export function isTrueRow(rows: readonly (readonly (string | null)[])[]): boolean {
  const value = rows[0]?.[0];
  return value === 't' || value === 'true';
}
