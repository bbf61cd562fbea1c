/** Schemas, extensions, languages and other objects outside of schemas; collations and conversions. */
import type { CatalogSource } from '../catalog-source.ts';
import { defaultAclSql, privilegesSql, roleSql } from '../privileges.ts';
import type { SimpleQuery } from './simple-query.ts';

/**
 * `public` is created with the database, with the privileges of `pg_init_privs`. It belongs to the superuser of the cluster, since
 * PostgreSQL 15 to `pg_database_owner`. Without its initial privileges, those that it has are not written.
 */
const schemasSql = (hasInitialPrivileges: boolean): string => `
select n.oid::text as oid, format('SCHEMA %I', n.nspname) as target, format('SCHEMA %I', n.nspname) as "grantTarget",
  array[format('CREATE SCHEMA %s%I', case when n.nspname = 'public' then 'IF NOT EXISTS ' else '' end, n.nspname)] as statements,
  case when n.nspname <> 'public' or case when pg_catalog.current_setting('server_version_num')::int < 150000 then n.nspowner <> 10
      else pg_catalog.pg_get_userbyid(n.nspowner) <> 'pg_database_owner' end
    then ${roleSql('n.nspowner')} end as owner,
  ${privilegesSql('n.nspacl', `coalesce(${hasInitialPrivileges ? initialSchemaPrivileges : `case n.nspname when 'public' then n.nspacl end`}, ${defaultAclSql('n', 'n.nspowner')})`, 'n.nspowner')} as privileges
from pg_catalog.pg_namespace n where n.oid = any($1::oid[])`;

const initialSchemaPrivileges = `(select i.initprivs from pg_catalog.pg_init_privs i
    where i.classoid = 'pg_catalog.pg_namespace'::regclass and i.objoid = n.oid)`;

const extensionsSql = `
select e.oid::text as oid, format('EXTENSION %I', e.extname) as target,
  array[format('CREATE EXTENSION %I WITH SCHEMA %I', e.extname, n.nspname)] as statements
from pg_catalog.pg_extension e join pg_catalog.pg_namespace n on n.oid = e.extnamespace where e.oid = any($1::oid[])`;

const languagesSql = `
select l.oid::text as oid, format('LANGUAGE %I', l.lanname) as target, format('LANGUAGE %I', l.lanname) as "grantTarget",
  array[format('CREATE %sLANGUAGE %I HANDLER %s', case when l.lanpltrusted then 'TRUSTED ' else '' end, l.lanname, l.lanplcallfoid::regproc)
    || case when l.laninline <> 0 then ' INLINE ' || l.laninline::regproc::text else '' end
    || case when l.lanvalidator <> 0 then ' VALIDATOR ' || l.lanvalidator::regproc::text else '' end] as statements,
  ${roleSql('l.lanowner')} as owner, ${privilegesSql('l.lanacl', defaultAclSql('l', 'l.lanowner'), 'l.lanowner')} as privileges
from pg_catalog.pg_language l where l.oid = any($1::oid[])`;

const accessMethodsSql = `
select a.oid::text as oid, format('ACCESS METHOD %I', a.amname) as target,
  array[format('CREATE ACCESS METHOD %I TYPE %s HANDLER %s', a.amname, case a.amtype when 'i' then 'INDEX' else 'TABLE' end, a.amhandler)] as statements
from pg_catalog.pg_am a where a.oid = any($1::oid[])`;

/** The names of the columns of `pg_collation` differ between versions. */
function collationsSql(version: number): string {
  const locale = version >= 17 ? 'l.colllocale' : version >= 15 ? 'l.colliculocale' : 'null::text';
  return `
select l.oid::text as oid, format('COLLATION %I.%I', n.nspname, l.collname) as target,
  array[format('CREATE COLLATION %I.%I (%s)', n.nspname, l.collname, concat_ws(', ',
    'provider = ' || case l.collprovider when 'c' then 'libc' when 'i' then 'icu' when 'b' then 'builtin' else 'default' end,
    case when not l.collisdeterministic then 'deterministic = false' end,
    case when ${locale} is not null then 'locale = ' || quote_literal(${locale})
      when l.collcollate = l.collctype then 'locale = ' || quote_literal(l.collcollate)
      else 'lc_collate = ' || quote_literal(l.collcollate) || ', lc_ctype = ' || quote_literal(l.collctype) end,
    ${version >= 16 ? `'rules = ' || quote_literal(l.collicurules)` : 'null'}))] as statements,
  ${roleSql('l.collowner')} as owner
from pg_catalog.pg_collation l join pg_catalog.pg_namespace n on n.oid = l.collnamespace where l.oid = any($1::oid[])`;
}

const conversionsSql = `
select o.oid::text as oid, format('CONVERSION %I.%I', n.nspname, o.conname) as target,
  array[format('CREATE %sCONVERSION %I.%I FOR %L TO %L FROM %s', case when o.condefault then 'DEFAULT ' else '' end, n.nspname, o.conname,
    pg_catalog.pg_encoding_to_char(o.conforencoding), pg_catalog.pg_encoding_to_char(o.contoencoding), o.conproc)] as statements,
  ${roleSql('o.conowner')} as owner
from pg_catalog.pg_conversion o join pg_catalog.pg_namespace n on n.oid = o.connamespace where o.oid = any($1::oid[])`;

const eventTriggersSql = `
select e.oid::text as oid, format('EVENT TRIGGER %I', e.evtname) as target,
  array_remove(array[
    format('CREATE EVENT TRIGGER %I ON %s%s EXECUTE FUNCTION %s()', e.evtname, e.evtevent,
      case when e.evttags is not null then ' WHEN TAG IN (' || (select string_agg(quote_literal(t), ', ') from unnest(e.evttags) t) || ')' else '' end,
      e.evtfoid::regproc),
    case e.evtenabled when 'D' then format('ALTER EVENT TRIGGER %I DISABLE', e.evtname)
      when 'R' then format('ALTER EVENT TRIGGER %I ENABLE REPLICA', e.evtname)
      when 'A' then format('ALTER EVENT TRIGGER %I ENABLE ALWAYS', e.evtname) end], null) as statements,
  ${roleSql('e.evtowner')} as owner
from pg_catalog.pg_event_trigger e where e.oid = any($1::oid[])`;

/** Column lists, conditions and schemas exist since PostgreSQL 15. */
function publicationsSql(version: number): string {
  const columns =
    version >= 15
      ? `coalesce((select ' (' || string_agg(quote_ident(a.attname), ', ' order by a.attnum) || ')' from pg_catalog.pg_attribute a
          where a.attrelid = r.prrelid and a.attnum = any(r.prattrs)), '')
        || coalesce(' WHERE (' || pg_catalog.pg_get_expr(r.prqual, r.prrelid) || ')', '')`
      : `''`;
  const schemas =
    version >= 15
      ? `select format('TABLES IN SCHEMA %I', n.nspname) from pg_catalog.pg_publication_namespace s
          join pg_catalog.pg_namespace n on n.oid = s.pnnspid where s.pnpubid = p.oid`
      : `select null::text where false`;
  const generated = version >= 18 ? `case p.pubgencols when 's' then 'publish_generated_columns = stored' end` : 'null';
  return `
select p.oid::text as oid, format('PUBLICATION %I', p.pubname) as target,
  array[format('CREATE PUBLICATION %I%s WITH (%s)', p.pubname, case when p.puballtables then ' FOR ALL TABLES' else
    coalesce((select ' FOR ${version >= 15 ? '' : 'TABLE '}' || string_agg(x.part, ', ' order by x.part) from (
      select format('${version >= 15 ? 'TABLE ' : ''}%s%I.%I', case when c.relkind = 'p' then '' else 'ONLY ' end, n.nspname, c.relname) || ${columns} as part
      from pg_catalog.pg_publication_rel r join pg_catalog.pg_class c on c.oid = r.prrelid
      join pg_catalog.pg_namespace n on n.oid = c.relnamespace where r.prpubid = p.oid
      union all ${schemas}) x), '') end,
    concat_ws(', ', format('publish = %L', concat_ws(', ', case when p.pubinsert then 'insert' end, case when p.pubupdate then 'update' end,
      case when p.pubdelete then 'delete' end, case when p.pubtruncate then 'truncate' end)),
      case when p.pubviaroot then 'publish_via_partition_root = true' end, ${generated}))] as statements,
  ${roleSql('p.pubowner')} as owner
from pg_catalog.pg_publication p where p.oid = any($1::oid[])`;
}

/** Without their content. */
const largeObjectsSql = `
select l.oid::text as oid, 'LARGE OBJECT ' || l.oid as target, 'LARGE OBJECT ' || l.oid as "grantTarget",
  array['SELECT pg_catalog.lo_create(' || l.oid || ')'] as statements, ${roleSql('l.lomowner')} as owner,
  ${privilegesSql('l.lomacl', defaultAclSql('L', 'l.lomowner'), 'l.lomowner')} as privileges
from pg_catalog.pg_largeobject_metadata l where l.oid = any($1::oid[])`;

export function databaseObjectQueries({
  version,
  hasInitialPrivileges,
}: Pick<CatalogSource, 'version' | 'hasInitialPrivileges'>): readonly SimpleQuery[] {
  return [
    { catalog: 'pg_namespace', sql: schemasSql(hasInitialPrivileges) },
    { catalog: 'pg_extension', sql: extensionsSql },
    { catalog: 'pg_language', sql: languagesSql },
    { catalog: 'pg_am', sql: accessMethodsSql },
    { catalog: 'pg_collation', sql: collationsSql(version) },
    { catalog: 'pg_conversion', sql: conversionsSql },
    { catalog: 'pg_event_trigger', sql: eventTriggersSql },
    { catalog: 'pg_publication', sql: publicationsSql(version) },
    { catalog: 'pg_largeobject', sql: largeObjectsSql },
  ];
}
