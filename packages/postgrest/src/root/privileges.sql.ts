/**
 * Returns what the current role may do with tables and functions, on PostgreSQL 13 and later, as one JSON array. Those that it may not use at
 * all, and those that do not exist any more, are left out.
 *
 * `$1` is a JSON array of objects: `place`, `schema`, `name`, and `types` of the arguments of a function as quoted and qualified names, null
 * for a table. The result has their `place`, and of a table the names of the columns that the role may `select`, `insert` and `update`, and
 * whether it may `delete` rows, and the `comments` of the columns.
 *
 * `$2` is the name of a schema, whose comment is the second column.
 */
export const privilegesSql: string = documentSql((check) => check);

/** Returns the same as if the role had all privileges. */
export const allColumnsSql: string = documentSql(() => 'true');

function documentSql(allows: (check: string) => string): string {
  const usesSchema = allows("pg_catalog.has_schema_privilege(n.oid, 'usage')");
  return `with "wanted" as materialized (
    select w.* from pg_catalog.json_to_recordset($1::pg_catalog.json)
      w ("place" pg_catalog.int4, "schema" pg_catalog.text, "name" pg_catalog.text, "types" pg_catalog.text[])
  ), "tables" as (
    select w."place", pg_catalog.json_build_object(
      'place', w."place",
      'delete', ${allows("pg_catalog.has_table_privilege(c.oid, 'delete')")},
      'select', ${columnsSql('select', allows)},
      'insert', ${columnsSql('insert', allows)},
      'update', ${columnsSql('update', allows)},
      'comments', (
        select pg_catalog.json_object_agg(a.attname, d.description) from pg_catalog.pg_attribute a
          join pg_catalog.pg_description d on d.objoid = c.oid and d.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass
            and d.objsubid = a.attnum
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped)) as "facts"
    from "wanted" w
      join pg_catalog.pg_namespace n on n.nspname = w."schema"::pg_catalog.name
      join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = w."name"::pg_catalog.name
    where w."types" is null and ${usesSchema}
  ), "functions" as (
    select w."place", pg_catalog.json_build_object('place', w."place") as "facts"
    from "wanted" w
      join pg_catalog.pg_namespace n on n.nspname = w."schema"::pg_catalog.name
      join pg_catalog.pg_proc p on p.pronamespace = n.oid and p.proname = w."name"::pg_catalog.name
    where ${usesSchema} and ${allows("pg_catalog.has_function_privilege(p.oid, 'execute')")}
      and w."types" = array(
        select pg_catalog.format('"%s"."%s"',
          pg_catalog.replace(tn.nspname::pg_catalog.text, '"', '""'), pg_catalog.replace(t.typname::pg_catalog.text, '"', '""'))
        from pg_catalog.unnest(p.proargtypes::pg_catalog.oid[]) with ordinality a ("type", "number")
          join pg_catalog.pg_type t on t.oid = a."type" join pg_catalog.pg_namespace tn on tn.oid = t.typnamespace
        order by a."number")
  )
  select coalesce(pg_catalog.json_agg(r."facts" order by r."place"), '[]')::pg_catalog.text,
    (select pg_catalog.obj_description(n.oid, 'pg_namespace') from pg_catalog.pg_namespace n where n.nspname = $2::pg_catalog.name)
  from (select * from "tables" union all select * from "functions") r`;
}

function columnsSql(privilege: 'select' | 'insert' | 'update', allows: (check: string) => string): string {
  return `(
        select coalesce(pg_catalog.json_agg(a.attname), '[]') from pg_catalog.pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
          and ${allows(`pg_catalog.has_column_privilege(c.oid, a.attnum, '${privilege}')`)})`;
}
