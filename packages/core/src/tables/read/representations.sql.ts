/**
 * Lists the implicit casts between domains and `json` or `text` by functions, on PostgreSQL 13 and later. PostgreSQL itself ignores casts of
 * domains.
 * - `schema`, `domain`
 * - `direction`: `to` for a cast from the domain, `from` for a cast to it
 * - `format`: `json` or `text`
 * - `functionSchema`, `function`
 */
export const representationsSql: string = `select pg_catalog.json_build_object(
    'schema', n.nspname,
    'domain', t.typname,
    'direction', case when t.oid = c.castsource then 'to' else 'from' end,
    'format', f.typname,
    'functionSchema', pn.nspname,
    'function', p.proname
  )::pg_catalog.text
  from pg_catalog.pg_cast c
    join pg_catalog.pg_type t on t.oid in (c.castsource, c.casttarget) and t.typtype = 'd'
    join pg_catalog.pg_type f on f.oid in (c.castsource, c.casttarget)
      and f.oid in ('pg_catalog.json'::pg_catalog.regtype, 'pg_catalog.text'::pg_catalog.regtype)
    join pg_catalog.pg_namespace n on n.oid = t.typnamespace
    join pg_catalog.pg_proc p on p.oid = c.castfunc and p.pronargs = 1
    join pg_catalog.pg_namespace pn on pn.oid = p.pronamespace
  where c.castmethod = 'f' and c.castcontext = 'i'
  order by n.nspname::text, t.typname::text, t.oid = c.castsource, f.typname::text`;
