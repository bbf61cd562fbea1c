/** Whether the database has the extension Citus. Its tables are in `pg_catalog` only then. */
export const hasCitusSql: string = `select 1 from pg_catalog.pg_extension where extname operator(pg_catalog.=) 'citus'`;

/**
 * Lists the tables that Citus distributes or replicates, and their constraints and unique indexes: schema, table, name of the
 * constraint or index (null: the table itself), and the hash that Citus puts into the shard names of long names.
 */
export const citusNamesSql: string = `with tables as (
    select c.oid, n.nspname, c.relname
    from pg_catalog.pg_dist_partition p
      join pg_catalog.pg_class c on c.oid = p.logicalrelid
      join pg_catalog.pg_namespace n on n.oid = c.relnamespace
), names as (
    select nspname, relname, null::name as name, relname::text as hashed from tables
  union
    select t.nspname, t.relname, o.conname, o.conname::text
    from tables t join pg_catalog.pg_constraint o on o.conrelid = t.oid
  union
    select t.nspname, t.relname, x.relname, x.relname::text
    from tables t join pg_catalog.pg_index i on i.indrelid = t.oid join pg_catalog.pg_class x on x.oid = i.indexrelid
    where i.indisunique
)
  select nspname, relname, name, pg_catalog.lpad(pg_catalog.to_hex(pg_catalog.hashtext(hashed)), 8, '0') from names`;
