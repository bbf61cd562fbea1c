/** Queries for tables, their columns and constraints. `$1` has the oids of the tables. */
import { defaultAclSql, privilegesSql, roleSql } from '../privileges.ts';

export const tablesSql: string = `
select c.oid::text as oid, format('%I.%I', n.nspname, c.relname) as name, c.relname::text as "plainName", c.relkind::text as kind,
  c.relpersistence = 'u' as "isUnlogged", c.relispartition as "isPartition", c.reltype::text as "rowType",
  pg_catalog.pg_get_partkeydef(c.oid) as "partitionKey", pg_catalog.pg_get_expr(c.relpartbound, c.oid) as bound,
  array(select format('%I.%I', pn.nspname, p.relname) from pg_catalog.pg_inherits i join pg_catalog.pg_class p on p.oid = i.inhparent
    join pg_catalog.pg_namespace pn on pn.oid = p.relnamespace where i.inhrelid = c.oid order by i.inhseqno) as parents,
  array(select i.inhparent::text from pg_catalog.pg_inherits i where i.inhrelid = c.oid) as "parentOids",
  array(select i.inhrelid::text from pg_catalog.pg_inherits i where i.inhparent = c.oid and c.relkind = 'p') as partitions,
  case when c.reloftype <> 0 then pg_catalog.format_type(c.reloftype, null) end as "ofType",
  c.reloptions as options, t.reloptions as "toastOptions", quote_ident(a.amname) as "accessMethod", quote_ident(s.spcname) as tablespace,
  c.relreplident::text as "replicaIdentity", c.relrowsecurity as "hasRowSecurity", c.relforcerowsecurity as "forcesRowSecurity",
  quote_ident(f.srvname) as server, ft.ftoptions as "foreignOptions", ${roleSql('c.relowner')} as owner,
  ${privilegesSql('c.relacl', defaultAclSql('r', 'c.relowner'), 'c.relowner')} as privileges
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
left join pg_catalog.pg_class t on t.oid = c.reltoastrelid
left join pg_catalog.pg_am a on a.oid = c.relam and a.amname <> 'heap'
left join pg_catalog.pg_tablespace s on s.oid = c.reltablespace
left join pg_catalog.pg_foreign_table ft on ft.ftrelid = c.oid
left join pg_catalog.pg_foreign_server f on f.oid = ft.ftserver
where c.oid = any($1::oid[]) and c.relkind in ('r', 'p', 'f')`;

/** The columns of relations, of the kinds of `pg_class.relkind`: tables (`rpf`), views (`vm`) or composite types (`c`). */
export const columnsSql = (version: number, kinds: 'rpf' | 'vm' | 'c'): string => `
select a.attrelid::text as "table", a.attnum as number, quote_ident(a.attname) as name, a.attname::text as "plainName",
  pg_catalog.format_type(a.atttypid, a.atttypmod) as type, a.attnotnull as "isNotNull", a.attislocal as "isLocal",
  a.attinhcount > 0 as "isInherited", case when a.attcollation <> t.typcollation then
    (select format('%I.%I', n.nspname, l.collname) from pg_catalog.pg_collation l join pg_catalog.pg_namespace n on n.oid = l.collnamespace
      where l.oid = a.attcollation) end as collation,
  a.attidentity::text as identity, a.attgenerated::text as generated, d.oid::text as "defaultOid",
  pg_catalog.pg_get_expr(d.adbin, d.adrelid) as "defaultText",
  case when a.attstorage <> t.typstorage then a.attstorage::text end as storage, t.typstorage::text as "typeStorage",
  ${version >= 14 ? `nullif(a.attcompression::text, '')` : 'null'} as compression,
  nullif(a.attstattarget, -1) as statistics, a.attoptions as options, a.attfdwoptions as "foreignOptions",
  exists (select from pg_catalog.pg_inherits i join pg_catalog.pg_attribute p on p.attrelid = i.inhparent
    where i.inhrelid = a.attrelid and p.attname = a.attname and p.atthasdef) as "parentHasDefault",
  exists (select from pg_catalog.pg_inherits i join pg_catalog.pg_attribute p on p.attrelid = i.inhparent
    where i.inhrelid = a.attrelid and p.attname = a.attname and p.attnotnull) as "parentIsNotNull",
  ${
    version >= 16
      ? 'false'
      : `a.attgenerated <> '' and exists (select from pg_catalog.pg_inherits i join pg_catalog.pg_attribute p on p.attrelid = i.inhparent
    where i.inhrelid = a.attrelid and p.attname = a.attname and p.attgenerated <> '')`
  } as "hasExpressionOfParent",
  ${privilegesSql('a.attacl', `null::pg_catalog.aclitem[]`, 'c.relowner')} as privileges
from pg_catalog.pg_attribute a
join pg_catalog.pg_class c on c.oid = a.attrelid
join pg_catalog.pg_type t on t.oid = a.atttypid
left join pg_catalog.pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
where a.attrelid = any($1::oid[]) and a.attnum > 0 and not a.attisdropped and c.relkind = any (string_to_array('${kinds}', null)::"char"[])
order by a.attrelid, a.attnum`;

export const constraintsSql = (version: number): string => `
select k.oid::text as oid, k.conrelid::text as "table", quote_ident(k.conname) as name, k.conname::text as "plainName",
  k.contype::text as type, pg_catalog.pg_get_constraintdef(k.oid) as definition, k.convalidated as "isValidated",
  ${version >= 18 ? 'k.conenforced' : 'true'} as "isEnforced",
  k.conislocal as "isLocal", k.connoinherit as "isNoInherit", k.conparentid <> 0 as "isClone",
  k.conindid::text as index, k.conkey[1] as column,
  case when k.contype in ('p', 'u', 'x') then i.reloptions end as options,
  case when k.contype in ('p', 'u', 'x') then quote_ident(s.spcname) end as tablespace,
  x.indisclustered as "isClustered", x.indisreplident as "isReplicaIdentity",
  case when i.oid is not null then format('%I.%I', n.nspname, i.relname) end as "indexName",
  case when k.contype in ('p', 'u', 'x') then (select h.inhparent::text from pg_catalog.pg_inherits h where h.inhrelid = k.conindid) end as "parentIndex",
  case when k.contype in ('p', 'u', 'x') then (select format('%I.%I', pn.nspname, p.relname) from pg_catalog.pg_inherits h
    join pg_catalog.pg_class p on p.oid = h.inhparent join pg_catalog.pg_namespace pn on pn.oid = p.relnamespace
    where h.inhrelid = k.conindid) end as "parentIndexName"
from pg_catalog.pg_constraint k
left join pg_catalog.pg_class i on i.oid = k.conindid
left join pg_catalog.pg_namespace n on n.oid = i.relnamespace
left join pg_catalog.pg_index x on x.indexrelid = k.conindid and k.contype in ('p', 'u', 'x')
left join pg_catalog.pg_tablespace s on s.oid = i.reltablespace
where k.conrelid = any($1::oid[]) and k.contype in ('p', 'u', 'x', 'c', 'f', 'n')
order by k.conrelid, array_position('{n,c,p,u,x,f}', k.contype::text), k.conname collate "C"`;

/** The sequences of identity columns. Before PostgreSQL 15, they have the persistence of their table. */
export const identitySql: string = `
select d.refobjid::text as "table", d.refobjsubid as column, c.oid::text as oid, format('%I.%I', n.nspname, c.relname) as name,
  c.relname::text as "plainName", case when pg_catalog.current_setting('server_version_num')::int >= 150000 then c.relpersistence else r.relpersistence end = 'u' as "isUnlogged",
  q.seqstart::text as start, q.seqincrement::text as increment,
  q.seqmin::text as min, q.seqmax::text as max, q.seqcache::text as cache, q.seqcycle as "isCycle",
  pg_catalog.format_type(q.seqtypid, null) as type,
  ${privilegesSql('c.relacl', defaultAclSql('s', 'c.relowner'), 'c.relowner')} as privileges
from pg_catalog.pg_depend d
join pg_catalog.pg_class c on c.oid = d.objid and c.relkind = 'S'
join pg_catalog.pg_class r on r.oid = d.refobjid
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
join pg_catalog.pg_sequence q on q.seqrelid = c.oid
where d.classid = 'pg_catalog.pg_class'::regclass and d.refclassid = 'pg_catalog.pg_class'::regclass and d.deptype = 'i'
  and d.refobjid = any($1::oid[])`;

/** The indexes of tables and materialized views that belong to no constraint. */
export const indexesSql: string = `
select i.oid::text as oid, x.indrelid::text as "table", format('%I.%I', n.nspname, i.relname) as name, quote_ident(i.relname) as "plainName",
  pg_catalog.pg_get_indexdef(i.oid) as definition, t.relkind = 'p' as "isPartitioned", quote_ident(s.spcname) as tablespace,
  format('%I.%I', tn.nspname, t.relname) as "tableName", t.relkind = 'm' as "isOfMaterializedView",
  x.indisclustered as "isClustered", x.indisreplident as "isReplicaIdentity", x.indexprs is null and x.indpred is null as "isPlain",
  (select h.inhparent::text from pg_catalog.pg_inherits h where h.inhrelid = i.oid) as "parentIndex",
  (select format('%I.%I', pn.nspname, p.relname) from pg_catalog.pg_inherits h join pg_catalog.pg_class p on p.oid = h.inhparent
    join pg_catalog.pg_namespace pn on pn.oid = p.relnamespace where h.inhrelid = i.oid) as "parentIndexName",
  (select pg_catalog.json_agg(pg_catalog.json_build_array(a.attnum, a.attstattarget) order by a.attnum) from pg_catalog.pg_attribute a
    where a.attrelid = i.oid and a.attstattarget >= 0) as statistics
from pg_catalog.pg_index x
join pg_catalog.pg_class i on i.oid = x.indexrelid
join pg_catalog.pg_namespace n on n.oid = i.relnamespace
join pg_catalog.pg_class t on t.oid = x.indrelid
join pg_catalog.pg_namespace tn on tn.oid = t.relnamespace
left join pg_catalog.pg_tablespace s on s.oid = i.reltablespace
where x.indrelid = any($1::oid[]) and (x.indisvalid or t.relkind = 'p')
  and not exists (select from pg_catalog.pg_constraint k where k.conindid = i.oid and k.contype in ('p', 'u', 'x'))
order by i.relname collate "C"`;

/** Triggers of partitions whose state differs from that of the parent's trigger. */
export const clonedTriggersSql: string = `
select t.oid::text as oid, t.tgrelid::text as "table", quote_ident(t.tgname) as name,
  array(select 'attach/' || a::oid from pg_catalog.pg_partition_ancestors(t.tgrelid) a)
    || array['pg_trigger/' || t.tgparentid] || array(select 'pg_trigger/' || r.oid from pg_catalog.pg_trigger r where r.tgparentid = 0 and r.tgname = t.tgname
      and r.tgrelid in (select a from pg_catalog.pg_partition_ancestors(t.tgrelid) a)) as requires,
  format('%I.%I', n.nspname, c.relname) as "tableName", t.tgenabled::text as state
from pg_catalog.pg_trigger t
join pg_catalog.pg_trigger p on p.oid = t.tgparentid and p.tgenabled <> t.tgenabled
join pg_catalog.pg_class c on c.oid = t.tgrelid
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where t.tgrelid = any($1::oid[]) and exists (select from pg_catalog.pg_trigger r where r.tgparentid = 0 and not r.tgisinternal
  and r.tgname = t.tgname and r.tgrelid in (select a from pg_catalog.pg_partition_ancestors(t.tgrelid) a))`;
