/** What the user may not read of the catalogs: definitions leave it out, and say so. */
import type { Client } from 'pg';
import type { ObjectKind } from './objects.sql.ts';

export interface Omission {
  /** The objects whose definitions have gaps; null: parts of objects of other kinds. */
  readonly kind: ObjectKind | null;
  readonly text: string;
}

interface Access {
  readonly defaultPrivileges: boolean;
  readonly initialPrivileges: boolean;
  readonly subscriptions: boolean;
  readonly userMappings: boolean;
}

/**
 * PostgreSQL 13 shows the oids of subscriptions to superusers only, and all versions the options of a user mapping to its
 * user, the owner of the server and superusers.
 */
const accessSql = `
select has_table_privilege('pg_catalog.pg_default_acl', 'select') as "defaultPrivileges",
  has_table_privilege('pg_catalog.pg_init_privs', 'select') as "initialPrivileges",
  has_column_privilege('pg_catalog.pg_subscription', 'oid', 'select') as subscriptions,
  current_setting('is_superuser') = 'on'
    or not exists (select from pg_catalog.pg_user_mappings m where m.umoptions is null) as "userMappings"`;

const omissions: readonly (readonly [access: keyof Access, omission: Omission])[] = [
  ['defaultPrivileges', { kind: 'DEFAULT PRIVILEGES', text: 'default privileges' }],
  [
    'initialPrivileges',
    { kind: null, text: 'privileges on public, on members of extensions and on objects of PostgreSQL' },
  ],
  ['subscriptions', { kind: 'SUBSCRIPTION', text: 'subscriptions' }],
  ['userMappings', { kind: 'USER MAPPING', text: 'options of user mappings' }],
];

export async function readOmissions(client: Client): Promise<readonly Omission[]> {
  const { rows } = await client.query<Access>(accessSql);
  return omissions.filter(([access]) => !rows[0]![access]).map(([, omission]) => omission);
}

export function omissionNote(text: string): string {
  return `${text} are left out: the user may not read them`;
}
