import { reachedTypes, typeRows } from '../catalog/types.sql.ts';

/** Lists the types with the OIDs of `$1`, with every type that they reach. */
export const typesByOidSql: string = `with recursive wanted (oid) as (
    select pg_catalog.unnest($1::pg_catalog.oid[])
), ${reachedTypes}
  ${typeRows}`;

/**
 * Lists those of the words `$1`, a JSON array, that may change data when they are called or read: functions that are volatile, unless PostgreSQL's own
 * ones that change nothing, and views that use one.
 */
export const volatileNamesSql: string = `with recursive volatile_function (oid, name) as (
    select p.oid, p.proname
    from pg_catalog.pg_proc p
    where p.provolatile = 'v'
      and not (p.pronamespace = 'pg_catalog'::pg_catalog.regnamespace and p.proname in (
        'random', 'clock_timestamp', 'timeofday', 'gen_random_uuid', 'uuidv4', 'uuidv7', 'pg_sleep', 'pg_sleep_for', 'pg_sleep_until'))
), dependent (oid) as (
    select r.ev_class
    from pg_catalog.pg_depend d
      join pg_catalog.pg_rewrite r on r.oid = d.objid
      join volatile_function f on f.oid = d.refobjid
    where d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass and d.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass
  union
    select r.ev_class
    from dependent
      join pg_catalog.pg_depend d on d.refobjid = dependent.oid and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
      join pg_catalog.pg_rewrite r on r.oid = d.objid
    where d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
), word (name) as (
    select pg_catalog.jsonb_array_elements_text($1::pg_catalog.jsonb)
)
select f.name::text from volatile_function f where f.name::text in (select name from word)
union
select c.relname::text from dependent join pg_catalog.pg_class c on c.oid = dependent.oid where c.relname::text in (select name from word)`;

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
