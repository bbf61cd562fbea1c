/** Operators, operator classes and families, casts and transforms. */
import { roleSql } from '../privileges.ts';
import type { SimpleQuery } from './simple-query.ts';

const operatorReferenceSql = (column: string): string =>
  `(select format('OPERATOR(%I.%s)', rn.nspname, r.oprname) from pg_catalog.pg_operator r
    join pg_catalog.pg_namespace rn on rn.oid = r.oprnamespace where r.oid = ${column})`;

const operatorTargetSql = `format('OPERATOR %I.%s (%s, %s)', n.nspname, o.oprname,
  case o.oprleft when 0 then 'NONE' else pg_catalog.format_type(o.oprleft, null) end, pg_catalog.format_type(o.oprright, null))`;

/** An operator that exists only as the commutator or negator of another one has no function. */
const operatorsSql = `
select o.oid::text as oid, ${operatorTargetSql} as target,
  array[format('CREATE OPERATOR %I.%s (%s)', n.nspname, o.oprname, concat_ws(', ',
    'FUNCTION = ' || o.oprcode::regproc::text,
    case when o.oprleft <> 0 then 'LEFTARG = ' || pg_catalog.format_type(o.oprleft, null) end,
    case when o.oprright <> 0 then 'RIGHTARG = ' || pg_catalog.format_type(o.oprright, null) end,
    'COMMUTATOR = ' || ${operatorReferenceSql('o.oprcom')},
    'NEGATOR = ' || ${operatorReferenceSql('o.oprnegate')},
    case when o.oprrest <> 0 then 'RESTRICT = ' || o.oprrest::regproc::text end,
    case when o.oprjoin <> 0 then 'JOIN = ' || o.oprjoin::regproc::text end,
    case when o.oprcanhash then 'HASHES' end, case when o.oprcanmerge then 'MERGES' end))] as statements,
  ${roleSql('o.oprowner')} as owner
from pg_catalog.pg_operator o join pg_catalog.pg_namespace n on n.oid = o.oprnamespace
where o.oid = any($1::oid[]) and o.oprcode <> 0`;

/** The operators and functions that depend on a class or family: those of a class are created with it. */
const membersSql = (catalog: string, oid: string): string => {
  const types = (left: string, right: string): string =>
    `format('(%s, %s)', pg_catalog.format_type(${left}, null), pg_catalog.format_type(${right}, null))`;
  return `
    select 1, m.amopstrategy, format('OPERATOR %s %I.%s %s', m.amopstrategy, mn.nspname, mo.oprname, ${types('m.amoplefttype', 'm.amoprighttype')})
      || coalesce((select format(' FOR ORDER BY %I.%I', fn.nspname, f.opfname) from pg_catalog.pg_opfamily f
        join pg_catalog.pg_namespace fn on fn.oid = f.opfnamespace where f.oid = m.amopsortfamily), '')
    from pg_catalog.pg_amop m join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_amop'::regclass and d.objid = m.oid
      and d.refclassid = 'pg_catalog.${catalog}'::regclass and d.refobjid = ${oid}
    join pg_catalog.pg_operator mo on mo.oid = m.amopopr join pg_catalog.pg_namespace mn on mn.oid = mo.oprnamespace
    union all
    select 2, m.amprocnum, format('FUNCTION %s %s %s', m.amprocnum, ${types('m.amproclefttype', 'm.amprocrighttype')}, m.amproc::regprocedure)
    from pg_catalog.pg_amproc m join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_amproc'::regclass and d.objid = m.oid
      and d.refclassid = 'pg_catalog.${catalog}'::regclass and d.refobjid = ${oid}`;
};

const classesSql = `
select o.oid::text as oid, format('OPERATOR CLASS %I.%I USING %I', n.nspname, o.opcname, a.amname) as target,
  array[format(E'CREATE OPERATOR CLASS %I.%I\\n    %sFOR TYPE %s USING %I FAMILY %I.%I AS\\n    %s', n.nspname, o.opcname,
    case when o.opcdefault then 'DEFAULT ' else '' end, pg_catalog.format_type(o.opcintype, null), a.amname, fn.nspname, f.opfname,
    coalesce(nullif(concat_ws(E',\\n    ', case when o.opckeytype <> 0 then 'STORAGE ' || pg_catalog.format_type(o.opckeytype, null) end,
      (select string_agg(x.text, E',\\n    ' order by x.kind, x.number, x.text) from (${membersSql('pg_opclass', 'o.oid')}) x (kind, number, text))), ''),
      'STORAGE ' || pg_catalog.format_type(o.opcintype, null)))] as statements,
  ${roleSql('o.opcowner')} as owner
from pg_catalog.pg_opclass o
join pg_catalog.pg_namespace n on n.oid = o.opcnamespace
join pg_catalog.pg_am a on a.oid = o.opcmethod
join pg_catalog.pg_opfamily f on f.oid = o.opcfamily
join pg_catalog.pg_namespace fn on fn.oid = f.opfnamespace
where o.oid = any($1::oid[])`;

const familiesSql = `
select f.oid::text as oid, format('OPERATOR FAMILY %I.%I USING %I', n.nspname, f.opfname, a.amname) as target,
  array_remove(array[format('CREATE OPERATOR FAMILY %I.%I USING %I', n.nspname, f.opfname, a.amname),
    (select format(E'ALTER OPERATOR FAMILY %I.%I USING %I ADD\\n    %s', n.nspname, f.opfname, a.amname,
      string_agg(x.text, E',\\n    ' order by x.kind, x.number, x.text))
      from (${membersSql('pg_opfamily', 'f.oid')}) x (kind, number, text) having count(*) > 0)], null) as statements,
  ${roleSql('f.opfowner')} as owner
from pg_catalog.pg_opfamily f
join pg_catalog.pg_namespace n on n.oid = f.opfnamespace
join pg_catalog.pg_am a on a.oid = f.opfmethod
where f.oid = any($1::oid[])`;

const castsSql = `
select c.oid::text as oid, format('CAST (%s AS %s)', pg_catalog.format_type(c.castsource, null), pg_catalog.format_type(c.casttarget, null)) as target,
  array[format('CREATE CAST (%s AS %s) %s%s', pg_catalog.format_type(c.castsource, null), pg_catalog.format_type(c.casttarget, null),
    case c.castmethod when 'b' then 'WITHOUT FUNCTION' when 'i' then 'WITH INOUT' else 'WITH FUNCTION ' || c.castfunc::regprocedure::text end,
    case c.castcontext when 'a' then ' AS ASSIGNMENT' when 'i' then ' AS IMPLICIT' else '' end)] as statements
from pg_catalog.pg_cast c where c.oid = any($1::oid[])`;

const transformsSql = `
select t.oid::text as oid, format('TRANSFORM FOR %s LANGUAGE %I', pg_catalog.format_type(t.trftype, null), l.lanname) as target,
  array[format('CREATE TRANSFORM FOR %s LANGUAGE %I (%s)', pg_catalog.format_type(t.trftype, null), l.lanname, concat_ws(', ',
    case when t.trffromsql <> 0 then format('FROM SQL WITH FUNCTION %s', t.trffromsql::regprocedure) end,
    case when t.trftosql <> 0 then format('TO SQL WITH FUNCTION %s', t.trftosql::regprocedure) end))] as statements
from pg_catalog.pg_transform t join pg_catalog.pg_language l on l.oid = t.trflang where t.oid = any($1::oid[])`;

export const operatorQueries: readonly SimpleQuery[] = [
  { catalog: 'pg_operator', sql: operatorsSql },
  { catalog: 'pg_opfamily', sql: familiesSql },
  { catalog: 'pg_opclass', sql: classesSql },
  { catalog: 'pg_cast', sql: castsSql },
  { catalog: 'pg_transform', sql: transformsSql },
];
