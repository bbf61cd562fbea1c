/** Composite types, enums, ranges, base types and domains. */
import { groupBy } from '@pgway/core/internal';
import type { CatalogSource } from '../catalog-source.ts';
import { createItem, type Item } from '../item.ts';
import { defaultAclSql, objectGrants, ownerStatements, privilegesSql, roleSql } from '../privileges.ts';
import { quoteLiteral } from '../sql-text.ts';
import { type BaseType, baseTypeOptions, baseTypesSql } from './base-types.ts';
import { domainConstraintsSql, domainItems } from './domains.ts';
import { columnsSql } from './tables.sql.ts';
import type { Column, DomainConstraint, TypeRow } from '../structure.ts';

const typesSql = (version: number): string => `
select t.oid::text as oid, format('%I.%I', n.nspname, t.typname) as name, t.typname::text as "plainName", t.typtype::text as kind,
  t.typrelid::text as relation,
  pg_catalog.format_type(t.typbasetype, t.typtypmod) as "baseType",
  (select format('%I.%I', ln.nspname, l.collname) from pg_catalog.pg_type b, pg_catalog.pg_collation l
    join pg_catalog.pg_namespace ln on ln.oid = l.collnamespace
    where b.oid = t.typbasetype and l.oid = t.typcollation and l.oid <> b.typcollation) as collation,
  t.typnotnull as "isNotNull", t.typdefault as "defaultText",
  array(select e.enumlabel::text from pg_catalog.pg_enum e where e.enumtypid = t.oid order by e.enumsortorder) as labels,
  pg_catalog.format_type(r.rngsubtype, null) as subtype,
  case when r.rngtypid is not null then array_remove(array[
    'SUBTYPE = ' || pg_catalog.format_type(r.rngsubtype, null),
    case when not oc.opcdefault then format('SUBTYPE_OPCLASS = %I.%I', ocn.nspname, oc.opcname) end,
    case when r.rngcollation <> st.typcollation then format('COLLATION = %I.%I', cn.nspname, co.collname) end,
    case when r.rngcanonical <> 0 then 'CANONICAL = ' || r.rngcanonical::regproc::text end,
    case when r.rngsubdiff <> 0 then 'SUBTYPE_DIFF = ' || r.rngsubdiff::regproc::text end], null) end as "rangeOptions",
  ${version >= 14 ? `(select format('%I.%I', mn.nspname, m.typname) from pg_catalog.pg_type m join pg_catalog.pg_namespace mn on mn.oid = m.typnamespace where m.oid = r.rngmultitypid)` : 'null'} as multirange,
  ${version >= 14 ? 'r.rngmultitypid::text' : 'null'} as "multirangeOid",
  ${roleSql('t.typowner')} as owner, ${privilegesSql('t.typacl', defaultAclSql('T', 't.typowner'), 't.typowner')} as privileges
from pg_catalog.pg_type t
join pg_catalog.pg_namespace n on n.oid = t.typnamespace
left join pg_catalog.pg_range r on r.rngtypid = t.oid
left join pg_catalog.pg_opclass oc on oc.oid = r.rngsubopc
left join pg_catalog.pg_namespace ocn on ocn.oid = oc.opcnamespace
left join pg_catalog.pg_type st on st.oid = r.rngsubtype
left join pg_catalog.pg_collation co on co.oid = r.rngcollation
left join pg_catalog.pg_namespace cn on cn.oid = co.collnamespace
where t.oid = any($1::oid[])`;

/** The attributes of composite types are the columns of their relations. */
const attributesSql = (version: number): string =>
  columnsSql(version, 'c').replace(
    'a.attrelid = any($1::oid[])',
    'a.attrelid in (select t.typrelid from pg_catalog.pg_type t where t.oid = any($1::oid[]))',
  );

export async function readTypes(source: CatalogSource): Promise<readonly Item[]> {
  const types = await source.read<TypeRow>('pg_type', typesSql(source.version));
  if (types.length === 0) return [];
  const attributes = groupBy(await source.read<Column>('pg_type', attributesSql(source.version)), ({ table }) => table);
  const constraints = groupBy(await source.read<DomainConstraint>('pg_type', domainConstraintsSql), ({ type }) => type);
  const bases = await source.read<BaseType>('pg_type', baseTypesSql);
  const basesByOid = new Map(bases.map((base) => [base.oid, base]));
  return types.flatMap((type) =>
    type.kind === 'd'
      ? domainItems(type, constraints.get(type.oid) ?? [])
      : [typeItem(type, attributes.get(type.relation) ?? [], basesByOid.get(type.oid))],
  );
}

function typeItem(type: TypeRow, attributes: readonly Column[], base: BaseType | undefined): Item {
  const { oid, name, multirangeOid } = type;
  const shell = `CREATE TYPE ${name}`;
  const create = `${shell}${typeBody(type, attributes, base)}`;
  return createItem({
    key: `pg_type/${oid}`,
    target: `TYPE ${name}`,
    structure: typeStructure(type, attributes, base),
    addresses: [
      ...(type.relation === '0' ? [] : [{ key: `pg_class/${type.relation}`, target: null }]),
      ...(multirangeOid === null ? [] : [{ key: `pg_type/${multirangeOid}`, target: null }]),
    ],
    statements: [create],
    // Functions of the type need its name before it has functions.
    placeholder: type.kind === 'c' || type.kind === 'e' ? null : { statements: [shell], replacement: [create] },
    owner: ownerStatements(`TYPE ${name}`, type.owner),
    grants: objectGrants(`TYPE ${name}`, type.privileges),
  });
}

function typeStructure(
  { kind, labels, subtype, multirange }: TypeRow,
  attributes: readonly Column[],
  base: BaseType | undefined,
): Item['structure'] {
  if (base !== undefined) return { kind: 'base', options: baseTypeOptions(base) };
  if (kind === 'e') return { kind: 'enum', labels };
  if (kind === 'r') return { kind: 'range', range: { subtype: subtype!, multirange } };
  return kind === 'c' ? { kind: 'composite', attributes } : null;
}

function typeBody(type: TypeRow, attributes: readonly Column[], base: BaseType | undefined): string {
  switch (type.kind) {
    case 'c':
      return ` AS (${list(attributes.map(({ name, type: typeName, collation }) => `${name} ${typeName}${collation === null ? '' : ` COLLATE ${collation}`}`))})`;
    case 'e':
      return ` AS ENUM (${list(type.labels.map(quoteLiteral))})`;
    case 'r':
      return ` AS RANGE (${list([...(type.rangeOptions ?? []), ...(type.multirange === null ? [] : [`MULTIRANGE_TYPE_NAME = ${type.multirange}`])])})`;
    case 'b':
      return base === undefined ? '' : ` (${list(baseTypeOptions(base))})`;
    default:
      // A shell type.
      return '';
  }
}

function list(entries: readonly string[]): string {
  return entries.length === 0 ? '' : `\n${entries.map((entry) => `    ${entry}`).join(',\n')}\n`;
}
