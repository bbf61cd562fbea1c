/**
 * Lists the foreign keys of tables, on PostgreSQL 13 and later. Those of partitions are left out, as their partitioned table has the same.
 * - `name`: the name of the constraint
 * - `schema`, `table`, `columns`: the referencing columns
 * - `targetSchema`, `targetTable`, `targetColumns`: the referenced columns, in the same order
 * - `unique`: whether at most one row references a row
 * - `inPrimaryKey`: whether the referencing columns are part of the primary key
 */
export const foreignKeysSql: string = `select pg_catalog.json_build_object(
    'name', k.conname,
    'schema', n.nspname,
    'table', c.relname,
    'columns', (
      select pg_catalog.json_agg(a.attname order by key.place)
      from pg_catalog.unnest(k.conkey) with ordinality key (number, place)
        join pg_catalog.pg_attribute a on a.attrelid = k.conrelid and a.attnum = key.number),
    'targetSchema', tn.nspname,
    'targetTable', t.relname,
    'targetColumns', (
      select pg_catalog.json_agg(a.attname order by key.place)
      from pg_catalog.unnest(k.confkey) with ordinality key (number, place)
        join pg_catalog.pg_attribute a on a.attrelid = k.confrelid and a.attnum = key.number),
    'unique', exists (
      select from pg_catalog.pg_index i
      where i.indrelid = k.conrelid and i.indisunique and i.indisvalid and i.indpred is null and i.indexprs is null
        and (i.indkey::int2[])[0:i.indnkeyatts - 1] <@ k.conkey),
    'inPrimaryKey', exists (
      select from pg_catalog.pg_index i
      where i.indrelid = k.conrelid and i.indisprimary and k.conkey <@ (i.indkey::int2[])[0:i.indnkeyatts - 1])
  )::pg_catalog.text
  from pg_catalog.pg_constraint k
    join pg_catalog.pg_class c on c.oid = k.conrelid
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    join pg_catalog.pg_class t on t.oid = k.confrelid
    join pg_catalog.pg_namespace tn on tn.oid = t.relnamespace
  where k.contype = 'f' and not c.relispartition and not t.relispartition
    and n.nspname::text !~ '^pg_' and tn.nspname::text !~ '^pg_'
  order by n.nspname::text, c.relname::text, k.conname::text`;
