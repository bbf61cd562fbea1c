/** `ALTER DEFAULT PRIVILEGES`. */
import type { CatalogSource } from '../catalog-source.ts';
import { createItem, type Item } from '../item.ts';
import { objectGrants, type Privileges, privilegesSql, roleSql } from '../privileges.ts';

interface DefaultPrivileges {
  readonly oid: string;
  readonly role: string;
  readonly schema: string | null;
  readonly kind: keyof typeof kinds;
  readonly privileges: Privileges;
}

const kinds = { r: 'TABLES', S: 'SEQUENCES', f: 'FUNCTIONS', T: 'TYPES', n: 'SCHEMAS', L: 'LARGE OBJECTS' } as const;

/** Without a schema, the privileges replace those of PostgreSQL; within one, they are added. */
const defaultPrivilegesSql = `
select d.oid::text as oid, ${roleSql('d.defaclrole')} as role, quote_ident(n.nspname) as schema, d.defaclobjtype::text as kind,
  ${privilegesSql(
    'd.defaclacl',
    `case when d.defaclnamespace <> 0 then null::pg_catalog.aclitem[]
      else pg_catalog.acldefault(case d.defaclobjtype when 'S' then 's'::"char" else d.defaclobjtype end, d.defaclrole) end`,
    'd.defaclrole',
  )} as privileges
from pg_catalog.pg_default_acl d left join pg_catalog.pg_namespace n on n.oid = d.defaclnamespace where d.oid = any($1::oid[])`;

export async function readDefaultPrivileges(source: CatalogSource): Promise<readonly Item[]> {
  const rows = await source.read<DefaultPrivileges>('pg_default_acl', defaultPrivilegesSql);
  return rows.map(({ oid, role, schema, kind, privileges }) => {
    const prefix = `ALTER DEFAULT PRIVILEGES FOR ROLE ${role}${schema === null ? '' : ` IN SCHEMA ${schema}`} `;
    return createItem({
      key: `pg_default_acl/${oid}`,
      statements: [],
      grants: objectGrants(kinds[kind], privileges).map((grants) => ({ ...grants, prefix })),
    });
  });
}
