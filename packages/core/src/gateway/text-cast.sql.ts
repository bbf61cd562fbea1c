/**
 * Returns a row with the names of the types `$1` and `$2` (OIDs) if only their text connects them: a value of a string type becomes one of
 * another type by its input function, without an assignment cast, or `regclass`, whose cast quotes a name that it does not find. Arrays are
 * converted element by element.
 */
export const textCastSql: string = `select pg_catalog.format_type(a.source, null), pg_catalog.format_type(a.target, null)
  from (select $1::pg_catalog.oid as source, $2::pg_catalog.oid as target) a
    join pg_catalog.pg_type sa on sa.oid = a.source
    join pg_catalog.pg_type ta on ta.oid = a.target
    join pg_catalog.pg_type s on s.oid = case when sa.typcategory = 'A' and ta.typcategory = 'A' then sa.typelem else sa.oid end
    join pg_catalog.pg_type t on t.oid = case when sa.typcategory = 'A' and ta.typcategory = 'A' then ta.typelem else ta.oid end
  where s.typcategory = 'S' and t.typcategory <> 'S'
    and not exists (
      select from pg_catalog.pg_cast c where c.castsource = s.oid and c.casttarget = t.oid and c.castcontext in ('i', 'a')
        and c.casttarget <> 'pg_catalog.regclass'::pg_catalog.regtype)`;
