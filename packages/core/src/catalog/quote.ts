/**
 * Quotes an identifier for SQL.
 * @throws RangeError for an empty name or one with NUL
 */
export function quoteIdentifier(name: string): string {
  if (name === '' || name.includes('\0'))
    throw new RangeError(`an SQL identifier must not be empty or contain NUL: ${JSON.stringify(name)}`);
  return `"${name.replaceAll('"', '""')}"`;
}

/** Returns an identifier for display, quoted when it needs quotes in SQL. */
export function displayIdentifier(name: string): string {
  return /^[\p{Ll}_][\p{Ll}\d_$]*$/u.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

/**
 * Quotes a string literal for SQL; for text of database authors only, as values of requests are always bound.
 * @throws RangeError for text with NUL, which PostgreSQL cannot store
 */
export function quoteLiteral(text: string): string {
  if (text.includes('\0')) throw new RangeError('an SQL string literal must not contain NUL');
  // In an `E` string, backslashes do not depend on `standard_conforming_strings`.
  return `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

/** Returns a quoted name that does not appear in the SQL: `"q"`, or `"q_"` for an SQL with a q. */
export function quoteFreeName(name: string, sql: string): string {
  const lengths = Array.from(sql.matchAll(new RegExp(`${name}_*`, 'gi')), ([found]) => found.length);
  return quoteIdentifier(
    name + '_'.repeat(lengths.reduce((most, length) => Math.max(most, length - name.length + 1), 0)),
  );
}
