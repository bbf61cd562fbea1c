import type { CatalogSource } from '../catalog-source.ts';
import { createItem, type Item } from '../item.ts';
import { defaultAclSql, objectGrants, ownerStatements, privilegesSql, roleSql } from '../privileges.ts';
import { sequenceOptions } from './sequence-options.ts';
import type { Sequence } from '../structure.ts';

const sequencesSql = `
select c.oid::text as oid, format('%I.%I', n.nspname, c.relname) as name, c.relpersistence = 'u' as "isUnlogged",
  q.seqstart::text as start, q.seqincrement::text as increment, q.seqmin::text as min, q.seqmax::text as max, q.seqcache::text as cache,
  q.seqcycle as "isCycle", pg_catalog.format_type(q.seqtypid, null) as type, t.oid::text as table,
  case when t.oid is not null then format('%I.%I.%I', tn.nspname, t.relname, a.attname) end as column, ${roleSql('c.relowner')} as owner,
  ${privilegesSql('c.relacl', defaultAclSql('s', 'c.relowner'), 'c.relowner')} as privileges
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
join pg_catalog.pg_sequence q on q.seqrelid = c.oid
left join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_class'::regclass and d.objid = c.oid and d.deptype = 'a'
  and d.refclassid = 'pg_catalog.pg_class'::regclass and d.refobjsubid > 0
left join pg_catalog.pg_class t on t.oid = d.refobjid
left join pg_catalog.pg_namespace tn on tn.oid = t.relnamespace
left join pg_catalog.pg_attribute a on a.attrelid = t.oid and a.attnum = d.refobjsubid
where c.oid = any($1::oid[]) and c.relkind = 'S'`;

export async function readSequences(source: CatalogSource): Promise<readonly Item[]> {
  const rows = await source.read<Sequence>('pg_class', sequencesSql);
  return rows.flatMap((sequence) => {
    const { oid, name, type, isUnlogged, table, column } = sequence;
    const key = `pg_class/${oid}`;
    const options = [...(type === 'bigint' ? [] : [`AS ${type}`]), ...sequenceOptions(sequence, type)];
    const create = createItem({
      key,
      target: `SEQUENCE ${name}`,
      structure: { kind: 'sequence', sequence },
      statements: [[`CREATE ${isUnlogged ? 'UNLOGGED ' : ''}SEQUENCE ${name}`, ...options].join(' ')],
      owner: ownerStatements(`SEQUENCE ${name}`, sequence.owner),
      grants: objectGrants(`SEQUENCE ${name}`, sequence.privileges),
    });
    if (table === null) return [create];
    const owned = createItem({
      key: `owned/${oid}`,
      object: `pg_class/${table}`,
      part: `owner of ${name}`,
      drop: [`ALTER SEQUENCE ${name} OWNED BY NONE`],
      requires: [key, `pg_class/${table}`],
      statements: [`ALTER SEQUENCE ${name} OWNED BY ${column}`],
    });
    return [create, owned];
  });
}
