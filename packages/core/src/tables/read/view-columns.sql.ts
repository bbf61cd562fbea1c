import { viewEntriesSql } from '../view-entries.sql.ts';

/**
 * Lists the columns of views and materialized views that show a column of a foreign key unchanged, also through other views, on PostgreSQL 13
 * and later. Expressions, aggregates, and columns of a UNION are left out: PostgreSQL records no origin of them.
 * - `schema`, `view`, `column`: the column of the view
 * - `tableSchema`, `table`, `tableColumn`: the column that it shows
 */
export const viewColumnsSql: string = `with recursive views as materialized (
    select c.oid
    from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('v', 'm') and n.nspname::text !~ '^pg_' and n.nspname <> 'information_schema'
  ), origins as materialized (${viewEntriesSql('r.ev_class = any (array(select views.oid from views))')}
  ), followed as (
    select view, number, origin, origin_number from origins
    -- UNION ends for views that select from each other.
    union
    select f.view, f.number, o.origin, o.origin_number
    from followed f join origins o on o.view = f.origin and o.number = f.origin_number
  ), keyed (relation, number) as (
    select k.conrelid, pg_catalog.unnest(k.conkey) from pg_catalog.pg_constraint k where k.contype = 'f'
    union
    select k.confrelid, pg_catalog.unnest(k.confkey) from pg_catalog.pg_constraint k where k.contype = 'f'
  )
  select pg_catalog.json_build_object(
    'schema', vn.nspname,
    'view', v.relname,
    'column', a.attname,
    'tableSchema', n.nspname,
    'table', t.relname,
    'tableColumn', b.attname
  )::pg_catalog.text
  from followed f
    join keyed k on k.relation = f.origin and k.number = f.origin_number
    join pg_catalog.pg_class t on t.oid = f.origin and t.relkind in ('r', 'p')
    join pg_catalog.pg_namespace n on n.oid = t.relnamespace
    join pg_catalog.pg_class v on v.oid = f.view
    join pg_catalog.pg_namespace vn on vn.oid = v.relnamespace
    join pg_catalog.pg_attribute a on a.attrelid = f.view and a.attnum = f.number
    join pg_catalog.pg_attribute b on b.attrelid = f.origin and b.attnum = f.origin_number
  order by vn.nspname::text, v.relname::text, f.number`;
