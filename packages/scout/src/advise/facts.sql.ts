/** What the rules read of the catalog. Objects of PostgreSQL and members of extensions are left out. */

const isOwn = (catalog: string, alias: string): string =>
  `n.nspname !~ '^pg_' and n.nspname <> 'information_schema' and not exists (select from pg_catalog.pg_depend e
    where e.classid = 'pg_catalog.${catalog}'::regclass and e.objid = ${alias}.oid and e.deptype = 'e')`;

/** The columns of a name: `schema`, `name`, and `sqlName` as in SQL. */
const names = (name: string): string =>
  `n.nspname as schema, ${name} as name, format('%I.%I', n.nspname, ${name}) as "sqlName"`;

export const relationsSql: string = `
select c.oid, c.relkind as "relationKind", ${names('c.relname')}, c.relowner as owner, pg_catalog.pg_get_userbyid(c.relowner) as "ownerName",
  c.relrowsecurity as "hasRowSecurity", c.relforcerowsecurity as "isForced", c.relispartition as "isPartition",
  coalesce(c.reloptions && array['security_invoker=true', 'security_invoker=on', 'security_invoker=1', 'security_invoker=yes'], false)
    as "isInvoker",
  c.reltuples::float8 as rows, pg_catalog.obj_description(c.oid, 'pg_class') as comment,
  exists (select from pg_catalog.pg_index i where i.indrelid = c.oid and i.indisprimary) as "hasPrimaryKey",
  array(select distinct d.refobjid from pg_catalog.pg_rewrite r
    join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_rewrite'::regclass and d.objid = r.oid
      and d.refclassid = 'pg_catalog.pg_class'::regclass and d.refobjid <> c.oid
    where r.ev_class = c.oid and c.relkind = 'v') as "shownRelations",
  (select coalesce(json_agg(json_build_object('number', a.attnum, 'name', a.attname, 'sqlName', quote_ident(a.attname),
      'isNotNull', a.attnotnull, 'category', t.typcategory, 'type', t.typname) order by a.attnum), '[]')
    from pg_catalog.pg_attribute a join pg_catalog.pg_type t on t.oid = a.atttypid
    where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns
from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'p', 'v', 'm', 'f') and ${isOwn('pg_class', 'c')}
order by n.nspname collate "C", c.relname collate "C"`;

/** Functions that a policy calls: stable ones have one value for the whole statement. `current_setting` has no entry in \`pg_depend\`. */
export const policiesSql: string = `
select p.polrelid as "table", ${names('p.polname')}, quote_ident(p.polname) as "policyName", p.polpermissive as "isPermissive",
  case p.polcmd when 'r' then array['SELECT'] when 'a' then array['INSERT'] when 'w' then array['UPDATE'] when 'd' then array['DELETE']
    else array['SELECT', 'INSERT', 'UPDATE', 'DELETE'] end as commands,
  p.polroles::oid[] as roles,
  array(select case r when 0 then 'PUBLIC' else quote_ident(pg_catalog.pg_get_userbyid(r)) end from unnest(p.polroles) r) as "roleNames",
  pg_catalog.pg_get_expr(p.polqual, p.polrelid) as using, pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid) as "check",
  array(select distinct format('%I.%I', fn.nspname, f.proname) from pg_catalog.pg_depend d
    join pg_catalog.pg_proc f on f.oid = d.refobjid join pg_catalog.pg_namespace fn on fn.oid = f.pronamespace
    where d.classid = 'pg_catalog.pg_policy'::regclass and d.objid = p.oid and d.refclassid = 'pg_catalog.pg_proc'::regclass
      and f.provolatile = 's') as "stableFunctions"
from pg_catalog.pg_policy p join pg_catalog.pg_class c on c.oid = p.polrelid join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where ${isOwn('pg_class', 'c')}
order by n.nspname collate "C", c.relname collate "C", p.polname collate "C"`;

/** The objects whose expressions run functions in sessions of any role. The body of a trigger runs so, too. */
const callers = `
  select d.refobjid as routine, case d.classid when 'pg_catalog.pg_policy'::regclass then 'a policy'
    when 'pg_catalog.pg_constraint'::regclass then 'a constraint' when 'pg_catalog.pg_attrdef'::regclass then 'a default or generated column'
    when 'pg_catalog.pg_trigger'::regclass then 'a trigger' else 'an index' end as caller
  from pg_catalog.pg_depend d
  left join pg_catalog.pg_class i on d.classid = 'pg_catalog.pg_class'::regclass and i.oid = d.objid
  where d.refclassid = 'pg_catalog.pg_proc'::regclass and d.deptype in ('n', 'a')
    and (d.classid in ('pg_catalog.pg_policy'::regclass, 'pg_catalog.pg_constraint'::regclass, 'pg_catalog.pg_attrdef'::regclass,
      'pg_catalog.pg_trigger'::regclass) or i.relkind in ('i', 'I'))`;

export const routinesSql = (hasSqlBodies: boolean): string => `
select p.oid, ${names('p.proname')}, '(' || pg_catalog.oidvectortypes(p.proargtypes) || ')' as signature,
  case p.prokind when 'p' then 'PROCEDURE' else 'FUNCTION' end as kind, l.lanname as language, p.prosecdef as "isDefiner",
  p.proowner as owner, pg_catalog.pg_get_userbyid(p.proowner) as "ownerName", 
  p.prorettype in ('pg_catalog.trigger'::regtype, 'pg_catalog.event_trigger'::regtype) as "isTrigger",
  (select c from unnest(p.proconfig) c where c like 'search\\_path=%' limit 1) is not null as "hasSearchPath",
  (select substr(c, 13) from unnest(p.proconfig) c where c like 'search\\_path=%' limit 1) as "searchPath",
  ${hasSqlBodies ? 'p.prosqlbody is not null' : 'false'} as "hasSqlBody",
  ${hasSqlBodies ? 'coalesce(pg_catalog.pg_get_function_sqlbody(p.oid), p.prosrc)' : 'p.prosrc'} as body,
  p.proargtypes::oid[] as "argumentTypes",
  coalesce((select array_agg(coalesce(p.proargnames[u.place], '') order by u.place)
    from unnest(coalesce(p.proargmodes, array_fill('i'::"char", array[greatest(p.pronargs, 1)]))) with ordinality u (mode, place)
    where u.mode in ('i', 'b', 'v') and u.place <= coalesce(array_length(p.proallargtypes, 1), p.pronargs)), '{}') as "argumentNames",
  exists (select from pg_catalog.aclexplode(coalesce(p.proacl, pg_catalog.acldefault('f', p.proowner))) x
    where x.grantee = 0 and x.privilege_type = 'EXECUTE') as "isPublic",
  array(select distinct c.caller from (${callers}) c where c.routine = p.oid order by 1) as callers,
  pg_catalog.obj_description(p.oid, 'pg_proc') as comment
from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace join pg_catalog.pg_language l on l.oid = p.prolang
where p.prokind in ('f', 'p', 'w') and ${isOwn('pg_proc', 'p')}
order by n.nspname collate "C", p.proname collate "C", 4`;

/** `definition` is the index without its name. */
export const indexesSql: string = `
select i.indexrelid as oid, i.indrelid as "table", ${names('x.relname')}, i.indisunique as "isUnique", i.indisprimary as "isPrimary", i.indisvalid as "isValid",
  i.indisreplident as "isReplicaIdentity", x.relispartition as "isPartition",
  (select quote_ident(k.conname) from pg_catalog.pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x')
    limit 1) as "constraint",
  exists (select from pg_catalog.pg_constraint k where k.conindid = i.indexrelid and k.contype = 'f') as "isReferenced",
  (i.indkey::int2[])[0:i.indnkeyatts - 1] as keys, i.indpred is not null as "isPartial",
  regexp_replace(pg_catalog.pg_get_indexdef(i.indexrelid), '^CREATE (UNIQUE )?INDEX .*? ON ', '') as definition,
  coalesce(s.idx_scan, 0)::float8 as scans, pg_catalog.pg_relation_size(i.indexrelid)::float8 as bytes
from pg_catalog.pg_index i join pg_catalog.pg_class x on x.oid = i.indexrelid join pg_catalog.pg_class c on c.oid = i.indrelid
join pg_catalog.pg_namespace n on n.oid = x.relnamespace
left join pg_catalog.pg_stat_user_indexes s on s.indexrelid = i.indexrelid
where c.relkind in ('r', 'p', 'm') and ${isOwn('pg_class', 'c')}
order by n.nspname collate "C", x.relname collate "C"`;

/** The foreign keys of partitions belong to those of their tables. */
export const foreignKeysSql: string = `
select k.conrelid as "table", ${names('k.conname')}, quote_ident(k.conname) as "constraintName", k.conkey as keys,
  format('%I.%I', fn.nspname, f.relname) as target
from pg_catalog.pg_constraint k join pg_catalog.pg_class c on c.oid = k.conrelid join pg_catalog.pg_namespace n on n.oid = c.relnamespace
join pg_catalog.pg_class f on f.oid = k.confrelid join pg_catalog.pg_namespace fn on fn.oid = f.relnamespace
where k.contype = 'f' and k.conparentid = 0 and ${isOwn('pg_class', 'c')}
order by n.nspname collate "C", c.relname collate "C", k.conname collate "C"`;

/** The schemas in which every role may create objects. */
export const openSchemasSql: string = `
select n.nspname as name, quote_ident(n.nspname) as "sqlName"
from pg_catalog.pg_namespace n
where ${isOwn('pg_namespace', 'n')} and exists (
  select from pg_catalog.aclexplode(coalesce(n.nspacl, pg_catalog.acldefault('n', n.nspowner))) x
  where x.grantee = 0 and x.privilege_type = 'CREATE')
order by n.nspname collate "C"`;

/**
 * `$1` the names of the roles of calls. `ownerOf` are the roles whose privileges a role has: as an owner, it is not subject to policies.
 */
export const rolesSql = `
select r.oid, r.rolname as name, quote_ident(r.rolname) as "sqlName", r.rolsuper as "isSuperuser", r.rolbypassrls as "isBypassing",
  r.rolname = any ($1) as "isCaller",
  array(select o.oid from pg_catalog.pg_roles o where o.oid in (select c.relowner from pg_catalog.pg_class c)
    and pg_catalog.pg_has_role(r.oid, o.oid, 'USAGE')) as "ownerOf"
from pg_catalog.pg_roles r
where r.rolname = any ($1) or r.oid in (select c.relowner from pg_catalog.pg_class c union select p.proowner from pg_catalog.pg_proc p
  union select unnest(p.polroles) from pg_catalog.pg_policy p)`;

/** `isStatisticsOld` is false when the statistics are younger than a week. Without a reset, they are at least as old as the start of the server. */
export const serverSql = `
select current_setting('server_version_num')::int as version, current_user::text as "user",
  (select extract(epoch from now() - coalesce(d.stats_reset, pg_catalog.pg_postmaster_start_time())) / 86400
    from pg_catalog.pg_stat_database d where d.datname = current_database())::float8 as "statisticsDays",
  (select quote_ident(n.nspname) from pg_catalog.pg_extension e join pg_catalog.pg_namespace n on n.oid = e.extnamespace
    where e.extname = 'hypopg') as "hypopgSchema"`;

/** `$1` the oids of served routines, `$2` of relations with `$3` the privileges of their operations, `$4` the names of roles. */
export const missingGrantsSql = `
with used as (
  select 'routine' as object, p.oid, p.pronamespace as space, 'EXECUTE' as privilege from pg_catalog.pg_proc p where p.oid = any ($1::oid[])
  union all
  select 'relation', c.oid, c.relnamespace, w.privilege
  from unnest($2::oid[], $3::text[]) w (oid, privilege) join pg_catalog.pg_class c on c.oid = w.oid
), granted as (
  select u.object, u.oid, u.privilege, pg_catalog.has_schema_privilege(r.name, u.space, 'USAGE') as "hasSchema",
    case when u.object = 'routine' then pg_catalog.has_function_privilege(r.name, u.oid, 'EXECUTE')
      when u.privilege = 'DELETE' then pg_catalog.has_table_privilege(r.name, u.oid, 'DELETE')
      else pg_catalog.has_any_column_privilege(r.name, u.oid, u.privilege) end as "hasObject"
  from used u cross join unnest($4::text[]::name[]) r (name)
)
select object, oid, privilege, bool_or("hasSchema") as "hasSchema", bool_or("hasObject") as "hasObject"
from granted group by object, oid, privilege
having not bool_or("hasSchema" and "hasObject")
order by object, oid, privilege`;
