/** Parsers, templates, dictionaries and configurations of the text search. */
import { roleSql } from '../privileges.ts';
import type { SimpleQuery } from './simple-query.ts';

const parsersSql = `
select p.oid::text as oid, format('TEXT SEARCH PARSER %I.%I', n.nspname, p.prsname) as target,
  array[format('CREATE TEXT SEARCH PARSER %I.%I (START = %s, GETTOKEN = %s, END = %s, %sLEXTYPES = %s)', n.nspname, p.prsname, p.prsstart, p.prstoken,
    p.prsend, case when p.prsheadline <> 0 then 'HEADLINE = ' || p.prsheadline::text || ', ' else '' end, p.prslextype)] as statements
from pg_catalog.pg_ts_parser p join pg_catalog.pg_namespace n on n.oid = p.prsnamespace where p.oid = any($1::oid[])`;

const templatesSql = `
select t.oid::text as oid, format('TEXT SEARCH TEMPLATE %I.%I', n.nspname, t.tmplname) as target,
  array[format('CREATE TEXT SEARCH TEMPLATE %I.%I (%sLEXIZE = %s)', n.nspname, t.tmplname,
    case when t.tmplinit <> 0 then 'INIT = ' || t.tmplinit::text || ', ' else '' end, t.tmpllexize)] as statements
from pg_catalog.pg_ts_template t join pg_catalog.pg_namespace n on n.oid = t.tmplnamespace where t.oid = any($1::oid[])`;

const dictionariesSql = `
select d.oid::text as oid, format('TEXT SEARCH DICTIONARY %I.%I', n.nspname, d.dictname) as target,
  array[format('CREATE TEXT SEARCH DICTIONARY %I.%I (TEMPLATE = %I.%I%s)', n.nspname, d.dictname, tn.nspname, t.tmplname,
    coalesce(', ' || nullif(d.dictinitoption, ''), ''))] as statements,
  ${roleSql('d.dictowner')} as owner
from pg_catalog.pg_ts_dict d
join pg_catalog.pg_namespace n on n.oid = d.dictnamespace
join pg_catalog.pg_ts_template t on t.oid = d.dicttemplate
join pg_catalog.pg_namespace tn on tn.oid = t.tmplnamespace
where d.oid = any($1::oid[])`;

const configurationsSql = `
select c.oid::text as oid, format('TEXT SEARCH CONFIGURATION %I.%I', n.nspname, c.cfgname) as target,
  array[format('CREATE TEXT SEARCH CONFIGURATION %I.%I (PARSER = %I.%I)', n.nspname, c.cfgname, pn.nspname, p.prsname)] || array(
    select format('ALTER TEXT SEARCH CONFIGURATION %I.%I ADD MAPPING FOR %I WITH %s', n.nspname, c.cfgname, k.alias,
      string_agg(format('%I.%I', dn.nspname, d.dictname), ', ' order by m.mapseqno))
    from pg_catalog.pg_ts_config_map m
    join pg_catalog.ts_token_type(c.cfgparser) k on k.tokid = m.maptokentype
    join pg_catalog.pg_ts_dict d on d.oid = m.mapdict
    join pg_catalog.pg_namespace dn on dn.oid = d.dictnamespace
    where m.mapcfg = c.oid group by k.tokid, k.alias order by k.tokid) as statements,
  ${roleSql('c.cfgowner')} as owner
from pg_catalog.pg_ts_config c
join pg_catalog.pg_namespace n on n.oid = c.cfgnamespace
join pg_catalog.pg_ts_parser p on p.oid = c.cfgparser
join pg_catalog.pg_namespace pn on pn.oid = p.prsnamespace
where c.oid = any($1::oid[])`;

export const textSearchQueries: readonly SimpleQuery[] = [
  { catalog: 'pg_ts_parser', sql: parsersSql },
  { catalog: 'pg_ts_template', sql: templatesSql },
  { catalog: 'pg_ts_dict', sql: dictionariesSql },
  { catalog: 'pg_ts_config', sql: configurationsSql },
];
