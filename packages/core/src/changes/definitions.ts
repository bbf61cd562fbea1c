import { arrayLiteral } from '../postgres/literal.ts';

/** The state of a table. Two states are compared as texts. */
export interface TableState {
  /** Its files, which a rewrite or truncation changes, those of its partitions and of inheriting tables, and its place in the publication. */
  readonly storage: string;
  /** The names and owners of these tables, whether policies apply to the owners, and a hash of the columns. */
  readonly definition: string;
  /** The row security and the policies of these tables, and the functions that the policies call. */
  readonly policies: string;
  /** Whether the policies of one of them apply to its owner. */
  readonly isForced: boolean;
}

/** The state of tables and roles that decides which rows a caller sees. The log does not announce its changes. */
export interface Definitions {
  /** The timeline of the server, 8 hexadecimal digits: a promoted standby has another one than the primary that it replaces. */
  readonly timeline: string;
  /** By OID. */
  readonly tables: ReadonlyMap<string, TableState>;
  /** The attributes and memberships of roles, by name; of superusers the attributes alone. */
  readonly roles: ReadonlyMap<string, string>;
}

/** Tables and roles whose definitions are read. */
export interface DefinitionSubjects {
  /** OIDs. */
  readonly tables: readonly string[];
  /** Names. */
  readonly roles: readonly string[];
}

/** The table and the role of a lookup. */
export interface LookupSubject {
  /** OID. */
  readonly table: string;
  /** Name. */
  readonly role: string;
  /** Whether the lookup reads with the rights of the table's owner. */
  readonly readsAsOwner: boolean;
}

/** Returns whether both definitions are of one server, and have the same role, and the same table but for its storage. */
export function haveSameDefinition(
  a: Definitions,
  b: Definitions,
  { table, role, readsAsOwner }: LookupSubject,
): boolean {
  const [before, after] = [a.tables.get(table), b.tables.get(table)];
  return (
    a.timeline === b.timeline &&
    before?.definition === after?.definition &&
    (before?.policies === after?.policies || (readsAsOwner && before?.isForced !== true)) &&
    a.roles.get(role) === b.roles.get(role)
  );
}

/** Returns whether rows that were read between both definitions were read under one of them. */
export function areSame(a: Definitions, b: Definitions, subject: LookupSubject): boolean {
  const { table } = subject;
  return a.tables.get(table)?.storage === b.tables.get(table)?.storage && haveSameDefinition(a, b, subject);
}

/** Returns the values of `$1` to `$3` of `definitionsSql`. */
export function definitionValues({ tables, roles }: DefinitionSubjects, publication: string): readonly string[] {
  return [arrayLiteral(tables), publication, arrayLiteral(roles)];
}

/** Returns three expressions, whose texts `parseDefinitions` reads. */
export function definitionsSql(serverVersion: number): string {
  const places = [
    { catalog: 'pg_publication_rel', publication: 'prpubid', member: 'prrelid', of: 'm.oid' },
    ...(serverVersion >= 15
      ? [{ catalog: 'pg_publication_namespace', publication: 'pnpubid', member: 'pnnspid', of: 'm.relnamespace' }]
      : []),
  ];
  const members = places
    .map(
      ({ catalog, publication, member, of }) => `(
        select pg_catalog.concat(':', e.oid, ':', e.xmin)
        from pg_catalog.${catalog} as e join pg_catalog.pg_publication as p on p.oid operator(pg_catalog.=) e.${publication}
        where p.pubname operator(pg_catalog.=) $2 and e.${member} operator(pg_catalog.=) ${of})`,
    )
    .join(', ');
  return `pg_catalog.substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_flush_lsn()), 1, 8),
  (select pg_catalog.json_object_agg(c.oid, (
      with recursive tree (oid) as (
          select c.oid
        union
          select h.inhrelid from tree join pg_catalog.pg_inherits as h on h.inhparent operator(pg_catalog.=) tree.oid)
      select pg_catalog.json_build_array(
        pg_catalog.concat(
          (select pg_catalog.concat(p.oid, ':', p.xmin) from pg_catalog.pg_publication as p where p.pubname operator(pg_catalog.=) $2),
          pg_catalog.string_agg(pg_catalog.concat(',', m.oid, ':', m.relfilenode, ${members}), '' order by m.oid)),
        pg_catalog.concat((
          select pg_catalog.hashtextextended(pg_catalog.string_agg(
            pg_catalog.concat(a.attnum, ':', a.atttypid, ':', a.atttypmod, ':', a.attname), ',' order by a.attnum), 0)
          from pg_catalog.pg_attribute as a where a.attrelid operator(pg_catalog.=) c.oid and a.attnum operator(pg_catalog.>) 0),
        pg_catalog.string_agg(pg_catalog.concat(',', m.oid, ':', pg_catalog.quote_ident(m.relname), '.', (
          select pg_catalog.quote_ident(n.nspname) from pg_catalog.pg_namespace as n where n.oid operator(pg_catalog.=) m.relnamespace), ':', m.relowner, m.relforcerowsecurity), '' order by m.oid)),
        pg_catalog.string_agg(pg_catalog.concat(',', m.oid, ':', m.relrowsecurity, (
          select pg_catalog.string_agg(pg_catalog.concat(':', y.oid, ':', y.xmin, (
            select pg_catalog.string_agg(pg_catalog.concat('/', f.oid, ':', f.xmin), '' order by f.oid)
            from pg_catalog.pg_depend as d join pg_catalog.pg_proc as f on f.oid operator(pg_catalog.=) d.refobjid
            where d.classid operator(pg_catalog.=) 'pg_catalog.pg_policy'::pg_catalog.regclass and d.objid operator(pg_catalog.=) y.oid
              and d.refclassid operator(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass)), '' order by y.oid)
          from pg_catalog.pg_policy as y where y.polrelid operator(pg_catalog.=) m.oid)), '' order by m.oid),
        pg_catalog.bool_or(m.relforcerowsecurity))
      -- The limit keeps the planner, which expects hundreds of members, from reading all of pg_class.
      from tree cross join lateral (
        select k.* from pg_catalog.pg_class as k where k.oid operator(pg_catalog.=) tree.oid limit 1) as m))
    from pg_catalog.pg_class as c where c.oid operator(pg_catalog.=) any ($1::pg_catalog.oid[])),
  (select pg_catalog.json_object_agg(r.rolname, pg_catalog.concat(r.oid, r.rolsuper, r.rolbypassrls, r.rolinherit, g.grants))
    from pg_catalog.pg_roles as r left join (
      with recursive held (root, oid) as (
          -- A superuser may read everything, whatever roles are granted to it.
          select h.oid, h.oid from pg_catalog.pg_roles as h where h.rolname operator(pg_catalog.=) any ($3::pg_catalog.name[]) and not h.rolsuper
        union
          select held.root, a.roleid from held join pg_catalog.pg_auth_members as a on a.member operator(pg_catalog.=) held.oid)
      select held.root, pg_catalog.string_agg(
          pg_catalog.concat(',', a.member, ':', a.roleid, ':', a.xmin), '' order by a.member, a.roleid, a.xmin::pg_catalog.text) as grants
      from held join pg_catalog.pg_auth_members as a on a.member operator(pg_catalog.=) held.oid group by held.root
    ) as g on g.root operator(pg_catalog.=) r.oid
    where r.rolname operator(pg_catalog.=) any ($3::pg_catalog.name[]))`;
}

type TableRow = readonly [storage: string, definition: string, policies: string, isForced: boolean];

export function parseDefinitions([timeline, tables, roles]: readonly (string | null)[]): Definitions {
  const states = JSON.parse(tables ?? '{}') as Record<string, TableRow>;
  return {
    timeline: timeline!,
    tables: new Map(
      Object.entries(states).map(([id, [storage, definition, policies, isForced]]) => [
        id,
        { storage, definition, policies, isForced },
      ]),
    ),
    roles: new Map(Object.entries(JSON.parse(roles ?? '{}') as Record<string, string>)),
  };
}
