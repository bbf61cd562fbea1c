/** Owners and privileges. */

/** Grantee, privilege, whether it can be granted further, and the grantor if it is not the owner. */
export type Grant = readonly [grantee: string, privilege: string, isGrantable: boolean, grantor: string | null];

/** The privileges of an object, and those that it has when it is created. */
export interface Privileges {
  readonly owner: string;
  readonly granted: readonly Grant[];
  readonly initial: readonly Grant[];
}

/** Returns an expression for {@link Privileges}; null for an object with its initial privileges. */
export function privilegesSql(acl: string, initial: string, owner: string): string {
  return `case when ${acl} is not null then pg_catalog.json_build_object(
    'owner', ${roleSql(owner)}, 'granted', ${explodeSql(acl, owner)}, 'initial', ${explodeSql(initial, owner)}) end`;
}

/** Returns an expression for the initial privileges of a kind of objects. */
export function defaultAclSql(kind: string, owner: string): string {
  return `pg_catalog.acldefault('${kind}'::"char", ${owner})`;
}

function explodeSql(acl: string, owner: string): string {
  return `(select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(
      case x.grantee when 0 then 'PUBLIC' else quote_ident(pg_catalog.pg_get_userbyid(x.grantee)) end, x.privilege_type, x.is_grantable,
      case when x.grantor <> ${owner} then quote_ident(pg_catalog.pg_get_userbyid(x.grantor)) end)), '[]')
    from pg_catalog.aclexplode(${acl}) x)`;
}

/** Returns an expression for the quoted name of a role. */
export function roleSql(oid: string): string {
  return `quote_ident(pg_catalog.pg_get_userbyid(${oid}))`;
}

/** Privileges with the object to which they belong. */
export interface ObjectGrants {
  /** The object as in `GRANT … ON`, such as `TABLE public.film`. */
  readonly target: string;
  readonly column: string | null;
  readonly privileges: Privileges;
  /** The text before `GRANT`, such as `ALTER DEFAULT PRIVILEGES FOR ROLE jane`. */
  readonly prefix: string;
}

/** Returns the privileges as list: none when they are the initial ones. */
export function objectGrants(
  target: string,
  privileges: Privileges | null,
  column: string | null = null,
): readonly ObjectGrants[] {
  return privileges === null ? [] : [{ target, column, privileges, prefix: '' }];
}

/** Returns the statements that give an object with its initial privileges those of the list. */
export function grantStatements(grants: readonly ObjectGrants[]): readonly string[] {
  return grants.flatMap((object) => {
    const { granted, initial } = object.privileges;
    return privilegeStatements(object, {
      revoked: initial.filter((grant) => !granted.some((other) => isSame(grant, other))),
      granted: granted.filter((grant) => !initial.some((other) => isSame(grant, other))),
    });
  });
}

/** Returns the statements of revoked and granted privileges of an object. */
export function privilegeStatements(
  { target, column, prefix }: Pick<ObjectGrants, 'target' | 'column' | 'prefix'>,
  changes: { readonly revoked: readonly Grant[]; readonly granted: readonly Grant[] },
): readonly string[] {
  const suffix = column === null ? '' : ` (${column})`;
  const list = (grants: readonly Grant[]): string => grants.map(([, privilege]) => `${privilege}${suffix}`).join(', ');
  return [
    // A privilege is revoked after the grants that depend on it.
    ...groups(changes.revoked)
      .toReversed()
      .flatMap((group) => asGrantor(group, `${prefix}REVOKE ${list(group)} ON ${target} FROM ${group[0]![0]}`)),
    ...groups(changes.granted).flatMap((group) => {
      const [grantee, , isGrantable] = group[0]!;
      const option = isGrantable ? ' WITH GRANT OPTION' : '';
      return asGrantor(group, `${prefix}GRANT ${list(group)} ON ${target} TO ${grantee}${option}`);
    }),
  ];
}

function asGrantor(group: readonly Grant[], statement: string): readonly string[] {
  const grantor = group[0]![3];
  if (grantor === null) return [statement];
  return [`SET SESSION AUTHORIZATION ${grantor}`, statement, 'RESET SESSION AUTHORIZATION'];
}

export function isSame(left: Grant, right: Grant): boolean {
  return left.every((value, index) => value === right[index]);
}

/** Groups the privileges that one statement grants. */
function groups(grants: readonly Grant[]): readonly (readonly Grant[])[] {
  const found = new Map<string, Grant[]>();
  for (const grant of grants) {
    const [grantee, , isGrantable, grantor] = grant;
    const key = JSON.stringify([grantee, isGrantable, grantor]);
    found.set(key, [...(found.get(key) ?? []), grant]);
  }
  // The grantor of a group needs the grants of the owner first.
  return [...found.values()].toSorted((left, right) => Number(left[0]![3] !== null) - Number(right[0]![3] !== null));
}

/** @param target the object as in `ALTER`, such as `TABLE public.film` */
export function ownerStatements(target: string, owner: string): readonly string[] {
  return [`ALTER ${target} OWNER TO ${owner}`];
}
