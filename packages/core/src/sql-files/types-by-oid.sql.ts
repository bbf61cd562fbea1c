import { reachedTypes, typeRows } from '../catalog/types.sql.ts';

/** Lists the types with the OIDs of `$1`, with every type that they reach. */
export const typesByOidSql: string = `with recursive wanted (oid) as (
    select pg_catalog.unnest($1::pg_catalog.oid[])
), ${reachedTypes}
  ${typeRows}`;

/**
 * Lists those of the columns `$2` of the tables `$1` that never have NULL. Not those of tables whose children may have another constraint, of
 * foreign tables, where PostgreSQL does not check it, and with a constraint that is not validated.
 */
export const notNullColumnsSql: string = `select distinct a.attrelid::text, a.attnum::text
  from unnest($1::pg_catalog.oid[], $2::pg_catalog.int2[]) as wanted (relation, attribute)
    join pg_catalog.pg_attribute a on a.attrelid = wanted.relation and a.attnum = wanted.attribute
    join pg_catalog.pg_class c on c.oid = a.attrelid
  where a.attnotnull
    and case c.relkind
      when 'r' then not c.relhassubclass
      when 'p' then not exists (
        select from pg_catalog.pg_partition_tree(c.oid) p join pg_catalog.pg_class l on l.oid = p.relid where l.relkind = 'f')
      else false
    end
    and not exists (
      select from pg_catalog.pg_constraint k
      where k.conrelid = a.attrelid and k.contype = 'n' and not k.convalidated and a.attnum = any (k.conkey))`;
