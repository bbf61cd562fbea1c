/**
 * Returns the condition that an object is in a schema of users: not in `information_schema`, and not in `pg_*`.
 *
 * PostgreSQL reads the schemas once and compares OIDs. With a join instead, it evaluates the costlier conditions first, for thousands of
 * built-in objects.
 * @param schema the column with the OID of the schema
 */
export function inUserSchema(schema: string): string {
  return `${schema} = any (array(
      select user_schema.oid from pg_catalog.pg_namespace user_schema
      where user_schema.nspname::pg_catalog.text !~ '^pg_' and user_schema.nspname::pg_catalog.text <> 'information_schema'))`;
}
