/**
 * A name as PostgreSQL reads it back unchanged, whatever it holds. Throws a RangeError for what can be no name at all:
 * the empty string and NUL.
 */
export function quoteIdentifier(name: string): string {
  if (name === '' || name.includes('\0')) throw new RangeError('A name in SQL is not empty and holds no NUL');
  return `"${name.replaceAll('"', '""')}"`;
}

/** A name for people, quoted when it would be misread otherwise. */
export function displayIdentifier(name: string): string {
  return /^[\p{Ll}_][\p{Ll}\d_$]*$/u.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

/**
 * A text as a literal of SQL, for what an author has written: whatever a request sends is bound and never written. Throws a
 * RangeError for NUL, which no text of PostgreSQL can hold.
 */
export function quoteLiteral(text: string): string {
  if (text.includes('\0')) throw new RangeError('A text in SQL holds no NUL');
  // With `E`, backslashes mean the same whatever `standard_conforming_strings` says.
  return `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
