/** Indexes, constraints and columns, which are printed alone when a name is theirs. */
import type { Client } from 'pg';
import { identityText } from './definitions/columns.ts';
import type { SequenceOptions } from './definitions/sequence-options.ts';
import { type NamedObject, nameMatcher } from './select-objects.ts';
import { visibleSql } from './sql-text.ts';

export interface Member {
  readonly object: NamedObject;
  readonly statements: readonly string[];
}

interface MemberRow extends NamedObject {
  readonly definition: string;
  /** As in `COMMENT ON`. */
  readonly target: string;
  readonly comment: string | null;
  /** Of an identity column; it comes before the last words of the definition. */
  readonly identity: ColumnIdentity | null;
  readonly lastWords: string;
}

interface ColumnIdentity extends SequenceOptions {
  readonly kind: 'a' | 'd';
  readonly name: string;
  readonly plainName: string;
  /** The type of the column, and the name that PostgreSQL chooses. */
  readonly columnType: string;
  readonly defaultName: string;
}

/** Keys are constraints, and not indexes. */
const membersSql = `
with relation as (
  select c.oid, c.relname, c.relkind, n.nspname, quote_ident(n.nspname) || '.' || quote_ident(c.relname) as name
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where c.oid >= 16384 and c.relkind in ('r', 'p', 'f', 'm') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
    and not exists (select from pg_catalog.pg_depend d
      where d.classid = 'pg_catalog.pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
)
select 'INDEX' as kind, r.nspname as schema, r.relname as "table", i.relname as name, '' as signature, q.name as "qualifiedName",
  pg_catalog.pg_get_indexdef(i.oid) as definition, 'INDEX ' || q.name as target,
  pg_catalog.obj_description(i.oid, 'pg_class') as comment, null::json as identity, '' as "lastWords"
from relation r join pg_catalog.pg_index x on x.indrelid = r.oid join pg_catalog.pg_class i on i.oid = x.indexrelid
cross join lateral (select quote_ident(r.nspname) || '.' || quote_ident(i.relname) as name) q
where not exists (select from pg_catalog.pg_constraint k where k.conindid = i.oid and k.contype in ('p', 'u', 'x'))
union all
select 'CONSTRAINT', r.nspname, r.relname, k.conname, '', r.name || '.' || quote_ident(k.conname),
  'ALTER TABLE ' || r.name || ' ADD CONSTRAINT ' || quote_ident(k.conname) || ' ' || pg_catalog.pg_get_constraintdef(k.oid),
  'CONSTRAINT ' || quote_ident(k.conname) || ' ON ' || r.name, pg_catalog.obj_description(k.oid, 'pg_constraint'),
  null, ''
from relation r join pg_catalog.pg_constraint k on k.conrelid = r.oid
where k.contype <> 't'
union all
select 'COLUMN', r.nspname, r.relname, a.attname, '', r.name || '.' || quote_ident(a.attname),
  'ALTER TABLE ' || r.name || ' ADD COLUMN ' || quote_ident(a.attname) || ' ' || pg_catalog.format_type(a.atttypid, a.atttypmod)
    || case when a.attcollation <> t.typcollation and a.attcollation <> 0
      then ' COLLATE ' || (select quote_ident(n.nspname) || '.' || quote_ident(l.collname) from pg_catalog.pg_collation l
        join pg_catalog.pg_namespace n on n.oid = l.collnamespace where l.oid = a.attcollation) else '' end
    || case when d.oid is null then ''
      when a.attgenerated = '' then ' DEFAULT ' || pg_catalog.pg_get_expr(d.adbin, d.adrelid)
      else ' GENERATED ALWAYS AS (' || pg_catalog.pg_get_expr(d.adbin, d.adrelid) || ')'
        || case a.attgenerated when 's' then ' STORED' else ' VIRTUAL' end end,
  'COLUMN ' || r.name || '.' || quote_ident(a.attname), pg_catalog.col_description(r.oid, a.attnum),
  (select json_build_object('kind', a.attidentity, 'name', format('%I.%I', n.nspname, c.relname), 'plainName', c.relname,
      'columnType', pg_catalog.format_type(a.atttypid, null), 'defaultName', r.relname || '_' || a.attname || '_seq',
      'start', q.seqstart::text, 'increment', q.seqincrement::text, 'min', q.seqmin::text, 'max', q.seqmax::text,
      'cache', q.seqcache::text, 'isCycle', q.seqcycle, 'type', pg_catalog.format_type(q.seqtypid, null))
    from pg_catalog.pg_depend e join pg_catalog.pg_sequence q on q.seqrelid = e.objid join pg_catalog.pg_class c on c.oid = e.objid
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where e.classid = 'pg_catalog.pg_class'::regclass and e.refclassid = 'pg_catalog.pg_class'::regclass and e.deptype = 'i'
      and e.refobjid = a.attrelid and e.refobjsubid = a.attnum and a.attidentity <> ''),
  case when a.attnotnull then ' NOT NULL' else '' end
from relation r join pg_catalog.pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
join pg_catalog.pg_type t on t.oid = a.atttypid
left join pg_catalog.pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
where r.relkind <> 'm'
order by 2, 3, 1, 4`;

/** Returns the members that have one of the names, and the names that no member has. */
export async function selectMembers(
  client: Client,
  names: readonly string[],
): Promise<{ readonly members: readonly Member[]; readonly missing: readonly string[] }> {
  if (names.length === 0) return { members: [], missing: [] };
  const { rows } = await client.query<MemberRow>(membersSql);
  const found = new Set<MemberRow>();
  const missing: string[] = [];
  for (const name of names) {
    const hasName = nameMatcher(name);
    const matches = rows.filter((row) => (row.kind !== 'COLUMN' || isColumnName(name)) && hasName(row));
    for (const match of matches) found.add(match);
    if (matches.length === 0) missing.push(name);
  }
  return { members: rows.filter((row) => found.has(row)).map(toMember), missing };
}

/** Many tables can have a column of one name: the table is part of it. */
function isColumnName(name: string): boolean {
  return name.includes('.');
}

function toMember({ definition, target, comment, identity, lastWords, ...object }: MemberRow): Member {
  const text = comment === null ? [] : [`COMMENT ON ${target} IS '${comment.replaceAll("'", "''")}'`];
  const generated =
    identity === null
      ? ''
      : ` ${identityText({ identity: identity.kind, type: identity.columnType }, identity, identity.defaultName)}`;
  return { object, statements: [`${definition}${generated}${lastWords}`, ...text].map(visibleSql) };
}
