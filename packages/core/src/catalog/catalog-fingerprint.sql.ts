/**
 * Returns one row that is another one after each change of the catalog that the types, texts or effects of statements depend on: each new,
 * changed or removed row changes a count or a sum of hashes of transaction ids. Leaves out the rows of PostgreSQL itself and of temporary
 * tables, which calls may create.
 */
export const catalogFingerprintSql: string = `
  with relations as (
    select oid, xmin from pg_catalog.pg_class where oid operator(pg_catalog.>=) 16384 and relpersistence operator(pg_catalog.<>) 't'
  ), changes (xmin) as (
    select xmin from pg_catalog.pg_proc where oid operator(pg_catalog.>=) 16384
    union all select xmin from relations
    union all select xmin from pg_catalog.pg_attribute where attrelid operator(pg_catalog.=) any (select oid from relations)
    union all select xmin from pg_catalog.pg_attrdef where adrelid operator(pg_catalog.=) any (select oid from relations)
    union all select xmin from pg_catalog.pg_constraint where conrelid operator(pg_catalog.=) any (select oid from relations)
      or contypid operator(pg_catalog.>=) 16384
    union all select xmin from pg_catalog.pg_inherits
    union all select xmin from pg_catalog.pg_rewrite where ev_class operator(pg_catalog.=) any (select oid from relations)
    union all select t.xmin from pg_catalog.pg_type t where t.oid operator(pg_catalog.>=) 16384
      and not exists (
        select from pg_catalog.pg_class c
        where c.reltype operator(pg_catalog.=) any (array[t.oid, t.typelem]) and c.relpersistence operator(pg_catalog.=) 't'
      )
    union all select xmin from pg_catalog.pg_policy
    union all select xmin from pg_catalog.pg_enum
    union all select xmin from pg_catalog.pg_operator where oid operator(pg_catalog.>=) 16384
    union all select xmin from pg_catalog.pg_cast where oid operator(pg_catalog.>=) 16384
    union all select xmin from pg_catalog.pg_aggregate where aggfnoid::pg_catalog.oid operator(pg_catalog.>=) 16384
    union all select xmin from pg_catalog.pg_collation where oid operator(pg_catalog.>=) 16384
    union all select xmin from pg_catalog.pg_ts_config where oid operator(pg_catalog.>=) 16384
    union all select xmin from pg_catalog.pg_extension
    union all select xmin from pg_catalog.pg_auth_members
    union all select xmin from pg_catalog.pg_db_role_setting
    union all select xmin from pg_catalog.pg_namespace where nspname operator(pg_catalog.!~) '^pg_'
    union all select xmin from pg_catalog.pg_description where objoid operator(pg_catalog.>=) 16384
  )
  select pg_catalog.count(*), pg_catalog.sum(xmin::pg_catalog.text::pg_catalog.int8),
    pg_catalog.sum(pg_catalog.hashint8(xmin::pg_catalog.text::pg_catalog.int8)),
    pg_catalog.current_database(), current_user, pg_catalog.current_setting('search_path'), pg_catalog.version()
  from changes`;
