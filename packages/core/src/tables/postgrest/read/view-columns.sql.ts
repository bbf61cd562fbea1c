/** Returns an expression: the number of occurrences of a character. */
function countOf(character: string, text: string): string {
  return `pg_catalog.octet_length(${text}) - pg_catalog.octet_length(pg_catalog.replace(${text}, '${character}', ''))`;
}

/**
 * Lists the columns of views and materialized views that show a column of a foreign key unchanged, also through other views, on PostgreSQL 13
 * and later. Expressions, aggregates, and columns of a UNION are left out: PostgreSQL records no origin of them.
 * - `schema`, `view`, `column`: the column of the view
 * - `tableSchema`, `table`, `tableColumn`: the column that it shows
 */
export const viewColumnsSql: string = `with recursive views as materialized (
    select c.oid, n.nspname, c.relname
    from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('v', 'm') and n.nspname::text !~ '^pg_' and n.nspname <> 'information_schema'
  ), entries as materialized (
    select v.oid as view, pg_catalog.left(part.text, 400) as text,
      pg_catalog.sum(${countOf('{', 'part.text')} - (${countOf('}', 'part.text')})) over (
        partition by v.oid order by part.place rows between unbounded preceding and 1 preceding) as depth
    from views v
      join pg_catalog.pg_rewrite r on r.ev_class = v.oid and r.ev_type = '1' and r.is_instead
      -- Without the characters that a backslash escapes in names: the braces that are left are those of nodes. Functions of text take
      -- a tenth of the time of a regular expression.
      cross join lateral pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(r.ev_action::pg_catalog.text,
        E'\\\\\\\\', ''), E'\\\\{', ''), E'\\\\}', '') tree
      cross join lateral pg_catalog.unnest(pg_catalog.string_to_array(tree, ':resno ')) with ordinality part (text, place)
  ), origins as materialized (
    -- The number of the column of the view, and the table and column that it shows.
    select e.view, pg_catalog.split_part(e.text, ' ', 1)::pg_catalog.int2 as number,
      pg_catalog.split_part(pg_catalog.split_part(e.text, ' :resorigtbl ', 2), ' ', 1)::pg_catalog.oid as origin,
      pg_catalog.split_part(pg_catalog.split_part(e.text, ' :resorigcol ', 2), ' ', 1)::pg_catalog.int2 as origin_number
    from entries e
    -- The select list of the view itself, and not of a query within it.
    where e.depth = 2
  ), followed as (
    select view, number, origin, origin_number from origins
    -- UNION ends for views that select from each other.
    union
    select f.view, f.number, o.origin, o.origin_number
    from followed f join origins o on o.view = f.origin and o.number = f.origin_number
  )
  select pg_catalog.json_build_object(
    'schema', v.nspname,
    'view', v.relname,
    'column', a.attname,
    'tableSchema', n.nspname,
    'table', t.relname,
    'tableColumn', b.attname
  )::pg_catalog.text
  from followed f
    join views v on v.oid = f.view
    join pg_catalog.pg_attribute a on a.attrelid = f.view and a.attnum = f.number
    join pg_catalog.pg_class t on t.oid = f.origin and t.relkind in ('r', 'p')
    join pg_catalog.pg_namespace n on n.oid = t.relnamespace
    join pg_catalog.pg_attribute b on b.attrelid = f.origin and b.attnum = f.origin_number
  where exists (
    select from pg_catalog.pg_constraint k
    where k.contype = 'f' and ((k.conrelid = f.origin and f.origin_number = any (k.conkey))
      or (k.confrelid = f.origin and f.origin_number = any (k.confkey))))
  order by v.nspname::text, v.relname::text, f.number`;
