/** Privileges on members of extensions and on objects of PostgreSQL that are not those of their creation. */
import type { Client } from 'pg';
import type { DatabaseObject } from '../../catalog/objects.ts';
import { createItem, type Item } from '../item.ts';
import { objectGrants, type Privileges, privilegesSql } from '../privileges.ts';

interface Member {
  readonly key: string;
  /** The key of its extension, or of {@link systemSchema}. */
  readonly object: string;
  /** The object as in `GRANT … ON`. */
  readonly target: string;
  readonly column: string | null;
  readonly privileges: Privileges;
}

interface MemberKind {
  readonly catalog: string;
  readonly target: string;
  readonly acl: string;
  readonly owner: string;
  /** As in `acldefault`. */
  readonly kind: string;
  /** The column with the schema; null: outside of schemas. */
  readonly schema: string | null;
}

const kinds: readonly MemberKind[] = [
  {
    catalog: 'pg_proc',
    target: `case m.prokind when 'p' then 'PROCEDURE ' else 'FUNCTION ' end
      || format('%I.%I(%s)', n.nspname, m.proname, pg_catalog.oidvectortypes(m.proargtypes))`,
    acl: 'm.proacl',
    owner: 'm.proowner',
    kind: `'f'`,
    schema: 'm.pronamespace',
  },
  {
    catalog: 'pg_class',
    target: `case m.relkind when 'S' then 'SEQUENCE ' else 'TABLE ' end || format('%I.%I', n.nspname, m.relname)`,
    acl: 'm.relacl',
    owner: 'm.relowner',
    kind: `case m.relkind when 'S' then 's' else 'r' end`,
    schema: 'm.relnamespace',
  },
  {
    catalog: 'pg_type',
    target: `'TYPE ' || format('%I.%I', n.nspname, m.typname)`,
    acl: 'm.typacl',
    owner: 'm.typowner',
    kind: `'T'`,
    schema: 'm.typnamespace',
  },
  {
    catalog: 'pg_namespace',
    target: `'SCHEMA ' || quote_ident(m.nspname)`,
    acl: 'm.nspacl',
    owner: 'm.nspowner',
    kind: `'n'`,
    schema: null,
  },
  {
    catalog: 'pg_language',
    target: `'LANGUAGE ' || quote_ident(m.lanname)`,
    acl: 'm.lanacl',
    owner: 'm.lanowner',
    kind: `'l'`,
    schema: null,
  },
  {
    catalog: 'pg_foreign_data_wrapper',
    target: `'FOREIGN DATA WRAPPER ' || quote_ident(m.fdwname)`,
    acl: 'm.fdwacl',
    owner: 'm.fdwowner',
    kind: `'F'`,
    schema: null,
  },
  {
    catalog: 'pg_foreign_server',
    target: `'FOREIGN SERVER ' || quote_ident(m.srvname)`,
    acl: 'm.srvacl',
    owner: 'm.srvowner',
    kind: `'S'`,
    schema: null,
  },
];

/**
 * The schema of PostgreSQL, as an object whose definition has privileges only. Those of `information_schema` have no initial state to
 * compare them with.
 */
export const systemSchema: DatabaseObject = {
  key: 'system/pg_catalog',
  kind: 'SCHEMA',
  schema: null,
  table: null,
  tableKey: null,
  name: 'pg_catalog',
  signature: '',
  qualifiedName: 'pg_catalog',
};

const extensionSql = (catalog: string): string => `(select d.refobjid from pg_catalog.pg_depend d
  where d.classid = 'pg_catalog.${catalog}'::regclass and d.objid = m.oid and d.objsubid = 0 and d.deptype = 'e')`;

/** What the extensions of a new database have belongs to PostgreSQL. */
const objectSql = (catalog: string, schema: string): string => `(select case
  when e.oid >= 16384 then 'pg_extension/' || e.oid
  when m.oid < 16384 and ${schema} = 'pg_catalog' then '${systemSchema.key}' end
  from (select ${extensionSql(catalog)} as oid) e)`;

const initialSql = (catalog: string, column: string): string => `(select i.initprivs from pg_catalog.pg_init_privs i
  where i.classoid = 'pg_catalog.${catalog}'::regclass and i.objoid = m.oid and i.objsubid = ${column})`;

/** Objects outside of schemas are listed with those of `pg_catalog`; other schemas belong to users. */
function nameOfSchema(catalog: string): string {
  return catalog === 'pg_namespace' ? 'm.nspname' : `'pg_catalog'`;
}

function membersSql({ catalog, target, acl, owner, kind, schema }: MemberKind): string {
  const initial = `coalesce(${initialSql(catalog, '0')}, pg_catalog.acldefault((${kind})::"char", ${owner}))`;
  const schemaName = schema === null ? nameOfSchema(catalog) : 'n.nspname';
  return `
select '${catalog}/' || m.oid as key, ${objectSql(catalog, schemaName)} as object, ${target} as target,
  null as "column", ${privilegesSql(acl, initial, owner)} as privileges
from pg_catalog.${catalog} m ${schema === null ? '' : `join pg_catalog.pg_namespace n on n.oid = ${schema}`}
where ${acl} is not null and ${acl} is distinct from ${initial}`;
}

const columnsSql = `
select 'pg_class/' || m.oid || '.' || a.attnum as key, ${objectSql('pg_class', 'n.nspname')} as object,
  'TABLE ' || format('%I.%I', n.nspname, m.relname) as target, quote_ident(a.attname) as "column",
  ${privilegesSql(`coalesce(a.attacl, pg_catalog.acldefault('c', m.relowner))`, initialSql('pg_class', 'a.attnum'), 'm.relowner')} as privileges
from pg_catalog.pg_class m join pg_catalog.pg_namespace n on n.oid = m.relnamespace
join pg_catalog.pg_attribute a on a.attrelid = m.oid and not a.attisdropped
where a.attacl is distinct from ${initialSql('pg_class', 'a.attnum')}`;

const allSql = `select * from (${[...kinds.map(membersSql), columnsSql].join('\nunion all')}) x where object = any($1)
order by target, "column" nulls first`;

/** @param objects the extensions and {@link systemSchema} whose privileges are read, among others */
export async function readMemberPrivileges(
  client: Client,
  objects: readonly DatabaseObject[],
): Promise<readonly Item[]> {
  const keys = objects.map(({ key }) => key).filter((key) => /^(?:pg_extension|system)\//.test(key));
  if (keys.length === 0) return [];
  const { rows } = await client.query<Member>(allSql, [keys]);
  return rows.map(({ key, object, target, column, privileges }) =>
    createItem({
      key: `member/${key}`,
      object,
      part: `privileges on ${target}${column === null ? '' : ` (${column})`}`,
      requires: [object],
      statements: [],
      grants: objectGrants(target, privileges, column),
    }),
  );
}
