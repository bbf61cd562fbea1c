import { filterCondition, filterParameters } from '../catalog/filters.sql.ts';
import { reachedTypes, typeRows } from '../catalog/types.sql.ts';
import { changeSourcesSql } from './change-sources.sql.ts';
import { viewEntriesSql } from './view-entries.sql.ts';

/** Whether a column of a view is a column of the relation it selects from that can be written through it. */
const isUpdatable = (entry: string): string => `
      case when ${entry}.view in (select unreachable.oid from unreachable) then false
        else pg_catalog.pg_column_is_updatable(${entry}.view, ${entry}.number, false) end`;

/** Whether an INSTEAD OF trigger or a rule decides what becomes of a written row. */
const redirected = (relation: string): string => `(exists (
      select from pg_catalog.pg_trigger t where t.tgrelid = ${relation} and t.tgtype & 64 <> 0
    ) or exists (
      select from pg_catalog.pg_rewrite r where r.ev_class = ${relation} and r.ev_type <> '1'
    ))`;

/**
 * The default operator class of a type, B-tree before hash. It is safe to run its operators: only a superuser can create an operator
 * class or a binary-coercible cast.
 */
const defaultClassOf = (type: string): string => `
      select m.amname::text, o.opcfamily, o.opcintype
      from pg_catalog.pg_opclass o join pg_catalog.pg_am m on m.oid = o.opcmethod
      where o.opcdefault and m.amname::text in ('btree', 'hash') and (o.opcintype = ${type} or exists (
        select from pg_catalog.pg_cast k
        where k.castsource = ${type} and k.casttarget = o.opcintype and k.castmethod = 'b' and k.castcontext = 'i'))
      order by m.amname::text, o.opcintype <> ${type}
      limit 1`;

/** The events (bits of `pg_relation_is_updatable`) that INSTEAD OF triggers or unconditional INSTEAD rules of a view handle. */
const redirectedEvents = (view: string): string => `(
      select coalesce(pg_catalog.bit_or(event.bits), 0)
      from (
        select (t.tgtype & 4) * 2 + (t.tgtype & 16) / 4
        from pg_catalog.pg_trigger t where t.tgrelid = ${view} and t.tgtype & 64 <> 0
        union all
        select case r.ev_type when '2' then 4 when '3' then 8 else 0 end
        from pg_catalog.pg_rewrite r where r.ev_class = ${view} and r.is_instead and r.ev_qual::text = '<>'
      ) event (bits))`;

/**
 * The default of an identity column. `pg_get_serial_sequence` takes a name, which fails in a schema whose USAGE the login role does not have:
 * the sequence is found by its OID.
 */
const identityDefault = (relation: string, number: string): string => `
          select pg_catalog.format('pg_catalog.nextval(%L::pg_catalog.regclass)', pg_catalog.format('%I.%I', sn.nspname, s.relname))
          from pg_catalog.pg_depend owned
            join pg_catalog.pg_class s on s.oid = owned.objid and s.relkind = 'S'
            join pg_catalog.pg_namespace sn on sn.oid = s.relnamespace
          where owned.classid = 'pg_catalog.pg_class'::pg_catalog.regclass and owned.deptype = 'i'
            and owned.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass and owned.refobjid = ${relation}
            and owned.refobjsubid = ${number}`;

/**
 * Lists tables, partitioned tables (without their partitions), foreign tables, views and materialized views with all types that they
 * use, on PostgreSQL 13 and later. Members of extensions, `information_schema` and schemas `pg_*` are excluded. The parameters are
 * those of `filterValues`. The columns are `kind` and `facts`; see `customTablesSql`.
 */
export const tablesSql: string = `with recursive listed as (
    select c.oid, c.relname, c.relkind, n.nspname
    from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'f', 'v', 'm')
    and not c.relispartition
    and n.nspname::text !~ '^pg_'
    and n.nspname::text <> 'information_schema'
    and ${filterCondition('n.nspname::text', 'c.relname::text')}
    and not exists (
      select from pg_catalog.pg_depend d
      where d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.objid = c.oid and d.deptype = 'e')
), wanted (oid) as (
    select a.atttypid from listed join pg_catalog.pg_attribute a on a.attrelid = listed.oid
    where a.attnum > 0 and not a.attisdropped
), unreachable (oid) as (
    select f.ftrelid
    from pg_catalog.pg_foreign_table f
      join pg_catalog.pg_foreign_server s on s.oid = f.ftserver
      join pg_catalog.pg_foreign_data_wrapper w on w.oid = s.srvfdw
    where w.fdwhandler = 0
  union
    select r.ev_class
    from unreachable
      join pg_catalog.pg_depend d
        on d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.refobjid = unreachable.oid
        and d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
      join pg_catalog.pg_rewrite r on r.oid = d.objid
), opened (oid) as (
    select listed.oid from listed where listed.relkind = 'v'
  union
    select d.refobjid
    from opened
      join pg_catalog.pg_rewrite r on r.ev_class = opened.oid and r.ev_type = '1'
      join pg_catalog.pg_depend d
        on d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass and d.objid = r.oid
        and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
      join pg_catalog.pg_class c on c.oid = d.refobjid and c.relkind = 'v'
), entries (view, number, origin, origin_number) as materialized (
    select entry.view, entry.number, entry.origin, entry.origin_number
    from (${viewEntriesSql('r.ev_class = any (array(select opened.oid from opened))')}) entry
), origins (view, number, source, source_number) as (
    select e.view, e.number, e.origin, e.origin_number
    from listed join entries e on e.view = listed.oid
    where ${isUpdatable('e')}
  union
    select origins.view, origins.number, e.origin, e.origin_number
    from origins join entries e on e.view = origins.source and e.number = origins.source_number
    where ${isUpdatable('e')}
), base_columns (view, number, source, source_number, again) as (
    select origins.view, origins.number, origins.source, origins.source_number, pg_catalog.row_number()
      over (partition by origins.view, origins.source, origins.source_number order by origins.number) > 1
    from origins join pg_catalog.pg_class c on c.oid = origins.source and c.relkind <> 'v'
), plain_views (oid) as (
    select origins.view from origins
    group by origins.view
    having not ${redirected('origins.view')} and not pg_catalog.bool_or(${redirected('origins.source')})
), primary_keys (relation, numbers, arbiter) as (
    select i.indrelid, (i.indkey::int2[])[0:i.indnkeyatts - 1], i.indimmediate and not i.indisexclusion and not ${redirected('i.indrelid')}
    from pg_catalog.pg_index i
    where i.indisprimary and i.indisvalid
), keys (relation, numbers, arbiter) as (
    select k.relation, k.numbers, k.arbiter from primary_keys k
  union all
    select b.view, pg_catalog.array_agg(b.number), k.arbiter and b.view in (select plain_views.oid from plain_views)
    from base_columns b join primary_keys k on k.relation = b.source and b.source_number = any (k.numbers)
    where not b.again
    group by b.view, k.relation, k.numbers, k.arbiter
    having pg_catalog.count(*) = pg_catalog.cardinality(k.numbers)
), not_null_domains (oid) as (
    select t.oid from pg_catalog.pg_type t where t.typtype = 'd' and t.typnotnull
  union
    select t.oid from not_null_domains n join pg_catalog.pg_type t on t.typtype = 'd' and t.typbasetype = n.oid
), inherited (parent, oid, relation, name) as (
    select o.conparentid, o.oid, o.conrelid, o.conname from pg_catalog.pg_constraint o where o.conparentid <> 0
  union all
    select p.oid, o.oid, o.conrelid, o.conname
    from pg_catalog.pg_inherits i
      join pg_catalog.pg_constraint o on o.conrelid = i.inhrelid and o.contype = 'c'
      join pg_catalog.pg_constraint p on p.conrelid = i.inhparent and p.conname = o.conname
), commented (oid, relation, referenced, place, name, description, level) as (
    select o.oid, o.conrelid, o.confrelid, o.conrelid, o.conname, d.description, 0
    from pg_catalog.pg_description d join pg_catalog.pg_constraint o on o.oid = d.objoid
    where d.classoid = 'pg_catalog.pg_constraint'::pg_catalog.regclass and o.conrelid <> 0
  union
    select i.oid, c.relation, c.referenced, i.relation, i.name, c.description, c.level + 1
    from commented c join inherited i on i.parent = c.oid
), messages (relation, list) as (
    select concerned.oid, pg_catalog.json_agg(pg_catalog.json_build_object(
      'schema', rn.nspname, 'table', r.relname, 'name', c.name, 'comment', c.description)
        order by c.level desc, rn.nspname::text, r.relname::text, c.name::text)
    from (
      select listed.oid, listed.oid as source from listed
      union
      select origins.view, origins.source from origins
    ) concerned
      join (
        select c.relation as about, c.place, c.name, c.description, c.level from commented c
        union
        select c.referenced, c.place, c.name, c.description, c.level from commented c
      ) c on c.about = concerned.source
      join pg_catalog.pg_class r on r.oid = c.place
      join pg_catalog.pg_namespace rn on rn.oid = r.relnamespace
    group by concerned.oid
), columns (relation, list) as (
    select listed.oid, pg_catalog.json_agg(pg_catalog.json_build_object(
      'name', a.attname,
      'type', a.atttypid::int8,
      'display', case when a.atttypmod >= 0 then pg_catalog.format_type(a.atttypid, a.atttypmod) end,
      'notNull', case when base.attrelid is not null then base.attnotnull
        else listed.relkind <> 'v' and (a.attnotnull or n.oid is not null) end
        and not exists (
          select from pg_catalog.pg_constraint o
          where o.conrelid = coalesce(base.attrelid, a.attrelid) and o.contype = 'n' and not o.convalidated
            and o.conkey = array[coalesce(base.attnum, a.attnum)]),
      'default', (a.atthasdef and a.attgenerated = '') or t.typdefault is not null
        or coalesce(base.atthasdef and base.attgenerated = '', false),
      'defaultExpression', case when coalesce(base.attgenerated, a.attgenerated) <> '' then null
        when coalesce(base.attidentity, a.attidentity) <> '' then (${identityDefault('coalesce(base.attrelid, a.attrelid)', 'coalesce(base.attnum, a.attnum)')})
        else coalesce(pg_catalog.pg_get_expr(own_default.adbin, own_default.adrelid),
          pg_catalog.pg_get_expr(base_default.adbin, base_default.adrelid), pg_catalog.pg_get_expr(t.typdefaultbin, 0)) end,
      'identity', coalesce(base.attidentity, a.attidentity),
      'generated', coalesce(base.attgenerated, a.attgenerated) <> '',
      'writable', listed.relkind <> 'v' or (u.oid is null and (
        (events.possible & events.redirected <> 0 and events.possible & ~events.redirected = 0)
        or (b.again is not true and pg_catalog.pg_column_is_updatable(listed.oid, a.attnum, true)))),
      'key', a.attnum = any (k.numbers) is true
    ) order by a.attnum)
    from listed
      cross join lateral (
        select case when listed.relkind <> 'v' or listed.oid in (select unreachable.oid from unreachable) then 0
          else pg_catalog.pg_relation_is_updatable(listed.oid, true) & 12 end as possible,
          case when listed.relkind <> 'v' then 0 else ${redirectedEvents('listed.oid')} end as redirected
      ) events
      join pg_catalog.pg_attribute a on a.attrelid = listed.oid and a.attnum > 0 and not a.attisdropped
      join pg_catalog.pg_type t on t.oid = a.atttypid
      left join unreachable u on u.oid = listed.oid
      left join keys k on k.relation = listed.oid
      left join not_null_domains n on n.oid = a.atttypid
      left join base_columns b on b.view = listed.oid and b.number = a.attnum
      left join plain_views p on p.oid = b.view
      left join pg_catalog.pg_attribute base on p.oid is not null and base.attrelid = b.source and base.attnum = b.source_number
      left join pg_catalog.pg_attrdef own_default on own_default.adrelid = a.attrelid and own_default.adnum = a.attnum
      left join pg_catalog.pg_attrdef base_default on base_default.adrelid = base.attrelid and base_default.adnum = base.attnum
    group by listed.oid
), replaced (relation, events) as (
    -- Rules and INSTEAD OF triggers replace the statement, and triggers BEFORE DELETE may replace the deletion of a row, as by a mark.
    select concerned.oid, pg_catalog.bit_or(event.bits)
    from (
      select listed.oid, listed.oid as source from listed
      union all
      select origins.view, origins.source from origins
    ) concerned
      join (
        select r.ev_class as relation, case r.ev_type when '2' then 4 when '4' then 16 end as bits
        from pg_catalog.pg_rewrite r where r.ev_type in ('2', '4')
        union all
        select t.tgrelid, case when t.tgtype & 64 <> 0 then 20 else 16 end
        from pg_catalog.pg_trigger t where t.tgtype & 64 <> 0 or t.tgtype & 11 = 11
      ) event on event.relation = concerned.source
    group by concerned.oid
), ${changeSourcesSql}, ${reachedTypes}
  ${typeRows}
union all
  select 'comparable', pg_catalog.json_build_object(
    'ordered', coalesce(pg_catalog.json_agg(t.oid::int8 order by t.oid::int8::text) filter (where c.ordered), '[]'),
    'equal', coalesce(pg_catalog.json_agg(t.oid::int8 order by t.oid::int8::text) filter (where c.hashed), '[]'))::text
  from pg_catalog.pg_type t
    cross join lateral (
      select pg_catalog.bool_or(m.amname::text = 'btree') as ordered, pg_catalog.bool_or(m.amname::text = 'hash') as hashed
      from pg_catalog.pg_opclass o join pg_catalog.pg_am m on m.oid = o.opcmethod
      where o.opcdefault and (o.opcintype = t.oid or exists (
        select from pg_catalog.pg_cast k
        where k.castsource = t.oid and k.casttarget = o.opcintype and k.castmethod = 'b' and k.castcontext = 'i'))
    ) c
  where t.oid = any (array(select reached.oid from reached)) and t.typtype = 'b'
union all
  select 'operators', pg_catalog.json_build_object(
    'type', t.oid::int8,
    'inputSchema', tn.nspname,
    'input', i.typname,
    'names', pg_catalog.json_object_agg(case when p.strategy is null then p.name
      when c.amname = 'hash' then '=' else (array['<', '<=', '=', '>=', '>'])[p.strategy] end,
      array[pn.nspname::text, p.name] || p.value order by pn.nspname::text, p.name, p.strategy))::text
  from pg_catalog.pg_type t
    cross join lateral (${defaultClassOf('t.oid')}) c
    join pg_catalog.pg_type i on i.oid = c.opcintype
    join pg_catalog.pg_namespace tn on tn.oid = i.typnamespace
    cross join lateral (
      select o.oprnamespace, o.oprname::text, a.amopstrategy, array[]::text[]
      from pg_catalog.pg_amop a join pg_catalog.pg_operator o on o.oid = a.amopopr
      where a.amopfamily = c.opcfamily and a.amoppurpose = 's'
        and a.amoplefttype = c.opcintype and a.amoprighttype = c.opcintype
      union all
      select o.oprnamespace, o.oprname::text, null, array[]::text[]
      from pg_catalog.pg_operator o
      where o.oprname::text in ('~~', '~~*', '~', '~*', '@>', '<@', '&&', '<<', '>>', '&<', '&>', '-|-')
        and o.oprleft = i.oid and o.oprright = i.oid and o.oprowner = i.typowner
      union all
      select o.oprnamespace, o.oprname::text, null, array[vn.nspname::text, v.typname::text]
      from pg_catalog.pg_operator o
        join pg_catalog.pg_type v on v.oid = o.oprright and v.typowner = i.typowner
        join pg_catalog.pg_namespace vn on vn.oid = v.typnamespace and vn.nspname::text <> 'pg_catalog'
      where o.oprname::text = '~' and o.oprleft = i.oid and o.oprright <> i.oid and o.oprowner = i.typowner
        and not exists (
          select from pg_catalog.pg_operator s where s.oprname = o.oprname and s.oprleft = i.oid and s.oprright = i.oid)
    ) p (namespace, name, strategy, value)
    join pg_catalog.pg_namespace pn on pn.oid = p.namespace
  where t.oid = any (array(select reached.oid from reached)) and t.typtype = 'b' and pn.nspname::text <> 'pg_catalog'
  group by t.oid, tn.nspname, i.typname
union all
  select 'table', pg_catalog.json_build_object(
    'kind', listed.relkind,
    'schema', listed.nspname,
    'name', listed.relname,
    'comment', d.description,
    'writable', case when u.oid is null then pg_catalog.pg_relation_is_updatable(listed.oid, true) else 0 end,
    'arbiter', coalesce(k.arbiter, false),
    'counted', case when listed.relkind = 'f' then 0 else 20 & ~coalesce(replaced.events, 0) end,
    'columns', coalesce(columns.list, '[]'),
    'constraints', messages.list,
    'changes', change_sources.list
  )::text
  from listed
    left join unreachable u on u.oid = listed.oid
    left join keys k on k.relation = listed.oid
    left join columns on columns.relation = listed.oid
    left join replaced on replaced.relation = listed.oid
    left join messages on messages.relation = listed.oid
    left join change_sources on change_sources.relation = listed.oid
    left join pg_catalog.pg_description d
      on d.objoid = listed.oid and d.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.objsubid = 0`;

/**
 * Returns the statement of a custom catalog query. The query is one `select` (or `with … select`, or `values`), may use the parameters
 * of the filters, and returns rows of two columns in any order:
 *
 * - `kind`: `type`, `comparable`, `operators` or `table`
 * - `facts`: a JSON object (json, jsonb or text); members that are null may be missing
 *
 * Facts of a type are those of the query for routines. Every column type needs a row.
 *
 * Facts of `comparable`, at most one row: `ordered` and `equal`, arrays of OIDs of the types that PostgreSQL can order, or compare by
 * `=`. Other types are compared as text.
 *
 * Facts of `operators`, one row per type whose operators are not in `pg_catalog`:
 * - `type`: OID of the column type
 * - `inputSchema`, `input`: schema and name of the operand type, in most cases the column type
 * - `names`: object with an array of schema and name of the operator for `<`, `<=`, `=`, `>=`, `>` and, where there are some, `~~` (LIKE),
 *   `~~*` (ILIKE), `~`, `~*`, `@>`, `<@`, `&&`, `<<`, `>>`, `&<`, `&>` and `-|-`; schema and name of the type of its second operand follow if
 *   it is another one
 *
 * Facts of a table:
 * - `kind`: `pg_class.relkind`, `r` table, `p` partitioned table, `f` foreign table, `v` view, `m` materialized view
 * - `schema`, `name`: without quotes
 * - `comment`: `obj_description(oid, 'pg_class')`, or null
 * - `writable`: `pg_relation_is_updatable(oid, true)`, the sum of 4 (update), 8 (insert) and 16 (delete)
 * - `arbiter`: whether the primary key can be the target of ON CONFLICT
 * - `counted`: the sum of 4 (update) and 16 (delete) if RETURNING returns each row that the statement finds, or null
 * - `columns`: array of objects with `name`, `type` (OID), `display` (null, or the type with its modifiers), `notNull`,
 *   `default`, `defaultExpression` (null or SQL), `identity` (`pg_attribute.attidentity`), `generated`, `writable`, `key`
 * - `constraints`: array of objects with `schema`, `table`, `name` and `comment` of the constraints with a comment, or null
 * - `changes`: null, or, for the annotation `changes`, an array of the tables whose columns the relation shows (a table: itself), with
 *   `schema`, `name`, `kind`, `unlogged`, `inherited` (by tables that are not partitions), `identity` (`pg_class.relreplident`),
 *   `identityColumns` (of the replica identity, or null), `primaryKey` (its columns unless it is deferrable, or null) and `shown`, an object
 *   with the name of the column of the relation for each column of the table that it shows unchanged
 */
export function customTablesSql(query: string): string {
  return `select custom.kind, custom.facts from (select ${filterParameters}) as filters, (
${query.replace(/[;\s]+$/, '')}
) as custom`;
}
