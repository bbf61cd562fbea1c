/** Returns an expression: the names of the columns of an index, in its order, as JSON; null without such an index. */
function indexColumns(condition: string): string {
  return `(
        select pg_catalog.json_agg(a.attname order by k.place)
        from pg_catalog.pg_index i
          cross join lateral pg_catalog.unnest((i.indkey::int2[])[0:i.indnkeyatts - 1]) with ordinality k (number, place)
          join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number
        where i.indrelid = c.oid and i.indisvalid and i.indimmediate and ${condition})`;
}

const allColumns = `(
        select pg_catalog.json_agg(a.attname order by a.attnum)
        from pg_catalog.pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '')`;

/**
 * Common table expressions of a recursive query that has `listed` and `entries`: the last one, `change_sources`, has a list of tables for each relation whose
 * comment has the word "changes". For others, views need not be read.
 */
export const changeSourcesSql: string = `watched (oid, relkind) as (
    select listed.oid, listed.relkind
    from listed join pg_catalog.pg_description d
      on d.objoid = listed.oid and d.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.objsubid = 0
    -- Before the regular expression, so that it is not evaluated for the descriptions of thousands of built-in objects.
    where d.objoid = any (array(select listed.oid from listed)) and d.description ~* 'changes'
), shown (relation, number, source, source_number) as (
    select watched.oid, a.attnum, watched.oid, a.attnum
    from watched join pg_catalog.pg_attribute a on a.attrelid = watched.oid and a.attnum > 0 and not a.attisdropped
    where watched.relkind <> 'v'
  union
    select watched.oid, e.number, e.origin, e.origin_number
    from watched join entries e on e.view = watched.oid
), origin_columns (relation, number, source, source_number) as (
    select shown.relation, shown.number, shown.source, shown.source_number from shown
  union
    select o.relation, o.number, e.origin, e.origin_number
    from origin_columns o join entries e on e.view = o.source and e.number = o.source_number
), change_sources (relation, list) as (
    select o.relation, pg_catalog.json_agg(pg_catalog.json_build_object(
      'schema', n.nspname,
      'name', c.relname,
      'kind', c.relkind,
      'unlogged', c.relpersistence <> 'p',
      'inherited', c.relkind = 'r' and exists (select from pg_catalog.pg_inherits h where h.inhparent = c.oid),
      'identity', c.relreplident,
      'identityColumns', case c.relreplident
        when 'd' then ${indexColumns('i.indisprimary')}
        when 'i' then ${indexColumns('i.indisreplident')}
        when 'f' then ${allColumns} end,
      'primaryKey', ${indexColumns('i.indisprimary')},
      'shown', o.columns) order by n.nspname::text, c.relname::text)
    from (
      select first.relation, first.source, pg_catalog.json_object_agg(s.attname, v.attname order by first.number) as columns
      from (
        select o.relation, o.source, o.source_number, pg_catalog.min(o.number) as number
        from origin_columns o
        group by o.relation, o.source, o.source_number
      ) first
        join pg_catalog.pg_attribute s on s.attrelid = first.source and s.attnum = first.source_number
        join pg_catalog.pg_attribute v on v.attrelid = first.relation and v.attnum = first.number
      group by first.relation, first.source
    ) o
      join pg_catalog.pg_class c on c.oid = o.source and c.relkind <> 'v'
      join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    group by o.relation
)`;
