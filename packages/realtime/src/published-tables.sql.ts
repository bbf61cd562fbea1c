/** Returns an expression: the names of the columns of an index, in its order, as JSON; null without such an index. */
function indexColumns(condition: string): string {
  return `(
    select pg_catalog.json_agg(a.attname order by k.place)
    from pg_catalog.pg_index i
      cross join lateral pg_catalog.unnest((i.indkey::int2[])[0:i.indnkeyatts - 1]) with ordinality k (number, place)
      join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number
    where i.indrelid = c.oid and i.indisvalid and i.indimmediate and ${condition})`;
}

/** `$1`: the publication. The tables whose changes it sends, with their keys and the names of the types of their columns. */
export const publishedTablesSql: string = `
  select pg_catalog.json_build_object(
    'schema', n.nspname,
    'name', c.relname,
    'identity', c.relreplident,
    'primaryKey', ${indexColumns('i.indisprimary')},
    'identityKey', ${indexColumns('i.indisreplident')},
    'types', (
      select pg_catalog.json_object_agg(a.attname, t.typname)
      from pg_catalog.pg_attribute a join pg_catalog.pg_type t on t.oid = a.atttypid
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped))
  from pg_catalog.pg_publication_tables p
    join pg_catalog.pg_namespace n on n.nspname = p.schemaname
    join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = p.tablename
  where p.pubname = $1
  order by n.nspname::text, c.relname::text`;
