/**
 * Lists the aggregates of rows that return a domain, on PostgreSQL 13 and later. Their owner has the rights of the owner of their schema or of
 * the relation: an aggregate runs with the rights of the callers of a table, and a role that may only create objects in a schema must not
 * decide what it does.
 * - `schema`, `function`
 * - `rowSchema`, `rowType`: the type of the rows; null: every type
 * - `domain`: its name
 * - `isBytes`: whether the domain is one of `bytea`
 */
export const mediaHandlersSql: string = `select pg_catalog.json_build_object(
    'schema', n.nspname,
    'function', p.proname,
    'rowSchema', case when c.oid is not null then an.nspname end,
    'rowType', case when c.oid is not null then a.typname end,
    'domain', t.typname,
    'isBytes', t.typbasetype = 'pg_catalog.bytea'::pg_catalog.regtype
  )::pg_catalog.text
  from pg_catalog.pg_aggregate g
    join pg_catalog.pg_proc p on p.oid = g.aggfnoid and p.pronargs = 1
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    join pg_catalog.pg_type t on t.oid = p.prorettype and t.typtype = 'd' and t.typname::text like '%/%'
    join pg_catalog.pg_type a on a.oid = p.proargtypes[0]
    join pg_catalog.pg_namespace an on an.oid = a.typnamespace
    left join pg_catalog.pg_class c on c.oid = a.typrelid
  where g.aggkind = 'n' and (c.oid is not null or a.oid = 'pg_catalog.anyelement'::pg_catalog.regtype)
    and (pg_catalog.pg_has_role(p.proowner, n.nspowner, 'USAGE')
      or (c.oid is not null and pg_catalog.pg_has_role(p.proowner, c.relowner, 'USAGE')))
  order by c.oid is null, n.nspname::text, p.proname::text`;
