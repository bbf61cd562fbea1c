import { tableKey, type TableName } from './table-name.ts';
import { arrayLiteral } from '../postgres/literal.ts';
import type { Database } from '../postgres/port.ts';
import { filterCondition, filterValues } from './filters.sql.ts';
import { queryCatalog } from './query-catalog.ts';
import type { Filters } from './options.ts';
import { inUserSchema } from './user-schema.sql.ts';

/** Catalog queries for start-up warnings: unknown schemas, unsupported objects, missing privileges. */

const schemasSql = 'select nspname from pg_namespace order by 1';

/** Returns the names of all schemas. */
export async function readSchemaNames(database: Database): Promise<readonly string[]> {
  const rows = await queryCatalog(database, schemasSql, []);
  return rows.map(([name]) => name!);
}

/** The reason why an object with an `HTTP` line is not an endpoint. */
export type UnsupportedObjectKind = 'aggregate' | 'window' | 'language' | 'partition' | 'table';

export interface UnsupportedObject {
  readonly kind: UnsupportedObjectKind;
  /** The qualified name; for a routine, with its arguments. */
  readonly signature: string;
  readonly comment: string;
  /** The language of a routine, the parent of a partition; null for a table. */
  readonly detail: string | null;
}

const unsupportedObjectsSql = `select case p.prokind when 'a' then 'aggregate' when 'w' then 'window' else 'language' end,
    format('%s.%s(%s)', n.nspname, p.proname, pg_get_function_arguments(p.oid)), d.description, l.lanname
  from pg_proc p
    join pg_namespace n on n.oid = p.pronamespace
    join pg_language l on l.oid = p.prolang
    join pg_description d on d.objoid = p.oid and d.classoid = 'pg_proc'::regclass and d.objsubid = 0
  where (p.prokind in ('a', 'w') or l.lanname in ('internal', 'c'))
    and d.objoid = any (array(select u.oid from pg_proc u where ${inUserSchema('u.pronamespace')}))
    and d.description ~* 'http'
    and ${filterCondition('n.nspname::text', 'p.proname::text')}
    and not exists (
      select from pg_depend e where e.classid = 'pg_proc'::regclass and e.objid = p.oid and e.deptype = 'e')
union all
  select case when c.relispartition then 'partition' else 'table' end, format('%s.%s', n.nspname, c.relname), d.description,
    i.inhparent::regclass::text
  from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    left join pg_inherits i on i.inhrelid = c.oid and c.relispartition
    join pg_description d on d.objoid = c.oid and d.classoid = 'pg_class'::regclass and d.objsubid = 0
  where c.relkind in ('r', 'p', 'v', 'm', 'f') and d.description ~* 'http'
    and d.objoid = any (array(select u.oid from pg_class u where ${inUserSchema('u.relnamespace')}))
    and ${filterCondition('n.nspname::text', 'c.relname::text')}
    and not exists (
      select from pg_depend e where e.classid = 'pg_class'::regclass and e.objid = c.oid and e.deptype = 'e')
order by 2`;

/** Returns objects with "http" in their comment that no source lists. */
export async function readUnsupportedObjects(
  database: Database,
  filters: Filters,
): Promise<readonly UnsupportedObject[]> {
  const rows = await queryCatalog(database, unsupportedObjectsSql, filterValues(filters));
  return rows.map(([kind, signature, comment, detail]) => ({
    kind: kind as UnsupportedObjectKind,
    signature: signature!,
    comment: comment!,
    detail: detail ?? null,
  }));
}

/** The privileges that a role lacks. */
export interface MissingPrivileges {
  /** The role; null when it does not exist. */
  readonly role: string | null;
  /** The role of the connection if it is not a member of the role, so that it cannot switch to it; else null. */
  readonly nonMember: string | null;
  /** Schemas without USAGE. */
  readonly schemas: ReadonlySet<string>;
  /** Routines without EXECUTE, by `routineKey`. */
  readonly routines: ReadonlySet<string>;
  /** The privileges that it has on no column of a table or view, by `tableKey`: `select`, `insert`, `update`, `delete`. */
  readonly tables: ReadonlyMap<string, readonly string[]>;
  /** Tables whose row level security shows the role no row, as they have no policy, by `tableKey`. */
  readonly withoutPolicies: ReadonlySet<string>;
}

/** What the endpoints of a gateway use. */
export interface PublishedObjects {
  readonly schemas: readonly string[];
  readonly tables: readonly TableName[];
}

/** Returns the key of a routine from schema, name and the OIDs of its input types. */
export function routineKey(schema: string, name: string, types: readonly number[]): string {
  return JSON.stringify([schema, name, types.join(' ')]);
}

const roleSql = `select rolname, case when not pg_has_role(session_user, oid, 'member') then session_user end
  from pg_roles where rolname = coalesce($1::name, current_user)`;

const privilegesSql = `select n.nspname, null, null
  from pg_namespace n
  where n.nspname = any ($2::name[]) and not has_schema_privilege($1::name, n.oid, 'usage')
union all
  select n.nspname, p.proname, p.proargtypes::text
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace
  where n.nspname = any ($2::name[]) and not has_function_privilege($1::name, p.oid, 'execute')`;

const tablePrivilegesSql = `select n.nspname, c.relname, array_to_string(array(
    select privilege from unnest(array['select', 'insert', 'update', 'delete']) with ordinality needed (privilege, number)
    where not case when privilege = 'delete' then has_table_privilege($1::name, c.oid, privilege)
      else has_any_column_privilege($1::name, c.oid, privilege) end
    order by number), ' '),
    case when c.relrowsecurity and not r.rolsuper and not r.rolbypassrls
      and (c.relforcerowsecurity or not pg_has_role(r.oid, c.relowner, 'usage'))
      and not exists (select from pg_policy p where p.polrelid = c.oid) then 'closed' else '' end
  from pg_roles r cross join pg_class c join pg_namespace n on n.oid = c.relnamespace
  where r.rolname = $1::name and c.relkind in ('r', 'p', 'v', 'm', 'f') and (n.nspname::text, c.relname::text) in (select * from unnest($2::text[], $3::text[]))`;

/**
 * Returns the privileges that a role lacks on schemas, on the routines in them, and on tables.
 * @param role null: the role of the connection
 */
export async function readMissingPrivileges(
  database: Database,
  role: string | null,
  { schemas, tables }: PublishedObjects,
): Promise<MissingPrivileges> {
  const [found] = await queryCatalog(database, roleSql, [role]);
  if (found === undefined) {
    const none = { schemas: new Set<string>(), routines: new Set<string>(), withoutPolicies: new Set<string>() };
    return { role: null, nonMember: null, tables: new Map(), ...none };
  }
  const [name, nonMember] = found;
  const rows = await queryCatalog(database, privilegesSql, [name!, arrayLiteral(schemas)]);
  const columns = [arrayLiteral(tables.map(({ schema }) => schema)), arrayLiteral(tables.map((table) => table.name))];
  const ofTables = tables.length === 0 ? [] : await queryCatalog(database, tablePrivilegesSql, [name!, ...columns]);
  return {
    role: name!,
    nonMember: nonMember!,
    schemas: new Set(rows.flatMap(([schema, routine]) => (routine === null ? [schema!] : []))),
    routines: new Set(
      rows.flatMap(([schema, routine, types]) => (routine === null ? [] : [JSON.stringify([schema, routine, types])])),
    ),
    withoutPolicies: new Set(
      ofTables.flatMap(([schema, table, , rows]) =>
        rows === 'closed' ? [tableKey({ schema: schema!, name: table! })] : [],
      ),
    ),
    tables: new Map(
      ofTables.flatMap(([schema, table, lacks]) =>
        lacks === '' ? [] : [[tableKey({ schema: schema!, name: table! }), lacks!.split(' ')] as const],
      ),
    ),
  };
}
