/**
 * A name as PostgreSQL reads it back unchanged, whatever it holds. Throws a RangeError for what can be no name at all:
 * the empty string and NUL.
 */
export function quoteIdentifier(name: string): string {
  if (name === '' || name.includes('\0')) throw new RangeError('A name in SQL is not empty and holds no NUL');
  return `"${name.replaceAll('"', '""')}"`;
}
