import { reachedTypes, typeRows } from '../catalog/types.sql.ts';

/** Lists the types with the OIDs of `$1`, with every type that they reach. */
export const typesByOidSql: string = `with recursive wanted (oid) as (
    select pg_catalog.unnest($1::pg_catalog.oid[])
), ${reachedTypes}
  ${typeRows}`;

/**
 * Lists those of the words `$1` that may change data when they are called or read: functions that are volatile, unless PostgreSQL's own
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
)
select f.name::text from volatile_function f where f.name = any ($1::text[])
union
select c.relname::text from dependent join pg_catalog.pg_class c on c.oid = dependent.oid where c.relname = any ($1::text[])`;
