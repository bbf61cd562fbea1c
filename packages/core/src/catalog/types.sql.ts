/**
 * A common table expression with all types inside those of `wanted (oid)`: bases of domains, elements of arrays, fields of composites.
 * The query defines `wanted` before it: the types that its rows refer to.
 *
 * The OIDs pass through arrays: otherwise the planner estimates millions of rows, and JIT compilation takes twenty times as long as the
 * query.
 */
export const reachedTypes = `reached (oid) as (
    select w.oid from pg_catalog.unnest(array(select wanted.oid from wanted)) w (oid)
  union
    select inside.oid
    from reached
      join pg_catalog.pg_type t on t.oid = reached.oid
      cross join lateral (
        select t.typbasetype where t.typtype = 'd'
        union all
        select t.typelem where t.typlen = -1 and t.typelem <> 0
        union all
        select a.atttypid from pg_catalog.pg_attribute a
        where t.typtype = 'c' and a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped
      ) inside (oid)
)`;

/**
 * A comment that begins with an HTTP request, `GET https://example.com/films`, below directives such as `@timeout 5s`: NpgsqlRest sets
 * values of such a type to the response. Below a path there is nothing else than a version: "POST /films takes it" is prose.
 */
const requestComment =
  '^([[:space:]]*(#|@|timeout)[^\n]*\n)*[[:space:]]*(get|post|put|patch|delete)[[:blank:]]+' +
  '(([a-z][a-z0-9+.-]*://|[{])[^[:space:]]|/[^[:space:]]*[[:blank:]]*(http/[^[:space:]]+[[:blank:]]*)?([\r\n]|$))';

/**
 * Returns one row `('type', facts)` per reached type; `TypeRow` lists the members of the facts. The `display` of a field includes
 * type modifiers. As in `to_json`, `castToJson` considers only functions as casts, and only types that are not built in (OID 16384 or higher).
 */
export const typeRows: string = `select 'type' as kind, pg_catalog.json_build_object(
    'oid', t.oid::int8,
    'schema', n.nspname,
    'name', t.typname,
    'display', case
      when n.nspname = 'pg_catalog' then pg_catalog.format_type(t.oid, null)
      when e.oid is not null
        then pg_catalog.concat(pg_catalog.quote_ident(en.nspname), '.', pg_catalog.quote_ident(e.typname), '[]')
      else pg_catalog.concat(pg_catalog.quote_ident(n.nspname), '.', pg_catalog.quote_ident(t.typname)) end,
    'kind', t.typtype,
    'category', t.typcategory,
    'base', case when t.typtype = 'd' then t.typbasetype::int8 end,
    'delimiter', nullif(t.typdelim, ','),
    'element', case when t.typlen = -1 and t.typelem <> 0 then t.typelem::int8 end,
    'fields', case when t.typtype = 'c' then (
      select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
        'name', a.attname,
        'type', a.atttypid::int8,
        'display', case when a.atttypmod >= 0 then pg_catalog.format_type(a.atttypid, a.atttypmod) end
      ) order by a.attnum), '[]')
      from pg_catalog.pg_attribute a
      where a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped) end,
    'labels', case when t.typtype = 'e' then (
      select coalesce(pg_catalog.json_agg(l.enumlabel order by l.enumsortorder), '[]')
      from pg_catalog.pg_enum l where l.enumtypid = t.oid) end,
    'castToJson', t.oid >= 16384 and exists (
      select from pg_catalog.pg_cast c
      where c.castsource = t.oid and c.casttarget = 'pg_catalog.json'::pg_catalog.regtype and c.castmethod = 'f'),
    'isRequest', nullif(d.description ~* '${requestComment}', false)
  )::text as facts
  from pg_catalog.pg_type t
    join pg_catalog.pg_namespace n on n.oid = t.typnamespace
    left join pg_catalog.pg_type e on e.oid = t.typelem and e.typarray = t.oid
    left join pg_catalog.pg_namespace en on en.oid = e.typnamespace
    left join pg_catalog.pg_description d
      on t.typtype = 'c' and d.objoid = t.oid and d.classoid = 'pg_catalog.pg_type'::pg_catalog.regclass and d.objsubid = 0
  where t.oid = any (array(select reached.oid from reached))`;
