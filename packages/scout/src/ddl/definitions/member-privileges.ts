import type { CatalogSource } from '../catalog-source.ts';
import { createItem, type Item } from '../item.ts';
import { objectGrants, type Privileges, privilegesSql } from '../privileges.ts';

interface Member {
  readonly extension: string;
  readonly key: string;
  /** The object as in `GRANT … ON`. */
  readonly target: string;
  readonly privileges: Privileges;
}

/** Returns a query for the members of one catalog whose privileges are not those that the extension has given them. */
function membersSql(
  catalog: string,
  {
    target,
    acl,
    owner,
    kind,
  }: { readonly target: string; readonly acl: string; readonly owner: string; readonly kind: string },
): string {
  const initial = `coalesce((select i.initprivs from pg_catalog.pg_init_privs i
    where i.classoid = d.classid and i.objoid = m.oid and i.objsubid = 0), pg_catalog.acldefault(${kind}, ${owner}))`;
  return `
select d.refobjid::text as extension, '${catalog}/' || m.oid as key, ${target} as target,
  ${privilegesSql(acl, initial, owner)} as privileges
from pg_catalog.pg_depend d join pg_catalog.${catalog} m on m.oid = d.objid
where d.classid = 'pg_catalog.${catalog}'::regclass and d.refclassid = 'pg_catalog.pg_extension'::regclass and d.deptype = 'e'
  and d.refobjid = any($1::oid[]) and ${acl} is not null and ${acl}::text <> ${initial}::text`;
}

const membersOfAllKinds = [
  membersSql('pg_proc', {
    target: `case m.prokind when 'p' then 'PROCEDURE ' else 'FUNCTION ' end || m.oid::regprocedure::text`,
    acl: 'm.proacl',
    owner: 'm.proowner',
    kind: `'f'::"char"`,
  }),
  membersSql('pg_class', {
    target: `case m.relkind when 'S' then 'SEQUENCE ' else 'TABLE ' end || m.oid::regclass::text`,
    acl: 'm.relacl',
    owner: 'm.relowner',
    kind: `case m.relkind when 'S' then 's' else 'r' end::"char"`,
  }),
  membersSql('pg_type', {
    target: `'TYPE ' || m.oid::regtype::text`,
    acl: 'm.typacl',
    owner: 'm.typowner',
    kind: `'T'::"char"`,
  }),
].join('\nunion all');

/** Reads the privileges of members of extensions that differ from those at the creation of the extension. */
export async function readMemberPrivileges(source: CatalogSource): Promise<readonly Item[]> {
  const rows = await source.read<Member>('pg_extension', `${membersOfAllKinds}\norder by 3`);
  return rows.map(({ extension, key, target, privileges }) =>
    createItem({
      key: `member/${key}`,
      object: `pg_extension/${extension}`,
      part: `privileges on ${target}`,
      requires: [`pg_extension/${extension}`],
      statements: [],
      grants: objectGrants(target, privileges),
    }),
  );
}
