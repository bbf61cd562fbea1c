/** Parts of statements that older versions of PostgreSQL do not have. */

const features: readonly (readonly [version: number, pattern: RegExp, name: string])[] = [
  [14, /^CREATE OR REPLACE (?:FUNCTION|PROCEDURE)[^]*\n(?:BEGIN ATOMIC|RETURN )/, 'functions with an SQL body'],
  [14, / SET COMPRESSION /, 'the compression of columns'],
  [14, /MULTIRANGE_TYPE_NAME = /, 'multiranges'],
  [15, / SET ACCESS METHOD /, 'a change of the access method'],
  [15, / NULLS NOT DISTINCT/, 'NULLS NOT DISTINCT'],
  [15, /^CREATE (?:OR REPLACE )?VIEW [^]* WITH \([^)]*security_invoker=/, 'views with security_invoker'],
  [15, /^CREATE PUBLICATION [^]* (?:TABLES IN SCHEMA |WHERE \()/, 'publications of schemas, and with conditions'],
  [15, /^(?:CREATE UNLOGGED SEQUENCE|ALTER SEQUENCE [^]* SET (?:UNLOGGED|LOGGED)$)/, 'unlogged sequences'],
  [16, /^CREATE COLLATION [^]*rules = /, 'rules of collations'],
  [17, /^(?:GRANT|REVOKE) [^]*\bMAINTAIN\b/, 'the privilege MAINTAIN'],
  [17, /^CREATE COLLATION [^]*provider = builtin/, 'builtin collations'],
  [18, /\) VIRTUAL\b/, 'virtual generated columns'],
  [18, / WITHOUT OVERLAPS|, PERIOD /, 'temporal keys'],
  [18, / NOT ENFORCED/, 'constraints that are not enforced'],
  [18, /publish_generated_columns/, 'publications of generated columns'],
];

/** Returns which version the statement needs, and for what; null: nothing is known. */
export function missingFeature(sql: string, version: number): string | null {
  const found = features.find(([since, pattern]) => version < since && pattern.test(sql));
  return found === undefined ? null : `the server is older than PostgreSQL ${found[0]}: ${found[2]}`;
}
