/** Reads the schema of one of the two databases. */
import type { Client } from 'pg';
import { type DatabaseObject, readObjects } from '../catalog/objects.ts';
import { type Omission, readOmissions } from '../catalog/omissions.ts';
import { inSnapshot } from '../catalog/snapshot.ts';
import { ownEdgeSql } from '../ddl/dependencies.ts';
import type { Item } from '../ddl/item.ts';
import type { Progress } from '../output/progress.ts';
import { type CatalogItems, readItems } from '../ddl/read-definitions.ts';

/** A row of `pg_depend`: `from` depends on `to`. Columns of relations are addresses such as `pg_class/16402.3`. */
export interface Edge {
  readonly from: string;
  readonly to: string;
  readonly type: string;
}

interface ServerRow {
  readonly version: string;
  /** The owner of the schema `public`, unless it is changed. */
  readonly publicOwner: string;
  readonly roles: readonly string[];
  readonly extensions: readonly (readonly [name: string, version: string, schema: string, hasTables: boolean])[];
  /** The extensions that can be created, as `name version`. */
  readonly available: readonly string[];
  /** The pairs of types with a cast, as `source target`, with its method. */
  readonly casts: readonly (readonly [types: string, method: string])[];
  readonly volatileDefaults: readonly string[];
  readonly sequences: readonly (readonly [key: string, lastValue: string])[];
}

interface ExtensionState {
  readonly version: string;
  readonly schema: string;
  readonly hasTables: boolean;
}

export interface Schema extends CatalogItems {
  readonly version: number;
  readonly objects: ReadonlyMap<string, DatabaseObject>;
  readonly edges: readonly Edge[];
  /** The columns that edges name, by the address of the relation. */
  readonly columnAddresses: ReadonlyMap<string, readonly string[]>;
  readonly publicOwner: string;
  /** What the user may not read. */
  readonly omissions: readonly Omission[];
  readonly roles: ReadonlySet<string>;
  /** The text of each comment, by its target. */
  readonly commentTexts: ReadonlyMap<string, string>;
  /** By the quoted name of the extension. */
  readonly extensionVersions: ReadonlyMap<string, ExtensionState>;
  readonly availableExtensions: ReadonlySet<string>;
  /** The method of each cast, by `source target`. */
  readonly casts: ReadonlyMap<string, string>;
  /** The keys of the defaults that call volatile functions. */
  readonly volatileDefaults: ReadonlySet<string>;
  /** The last values of the sequences that are in use, by key. */
  readonly lastValues: ReadonlyMap<string, bigint>;
}

const addressSql = (prefix: string): string =>
  `d.${prefix}classid::regclass::text || '/' || d.${prefix}objid || case when d.${prefix}objsubid <> 0
    and d.${prefix}classid = 'pg_catalog.pg_class'::regclass then '.' || d.${prefix}objsubid else '' end`;

const edgesSql = `
select ${addressSql('')} as from, ${addressSql('ref')} as to, d.deptype::text as type
from pg_catalog.pg_depend d
where d.objid >= 16384 and (d.refobjid >= 16384 or d.refclassid = 'pg_catalog.pg_namespace'::regclass)
  and not (${ownEdgeSql})
union all
select 'pg_type/' || t.typarray, 'pg_type/' || t.oid, 'i' from pg_catalog.pg_type t where t.typarray >= 16384`;

const serverSql = `
select current_setting('server_version_num') as version,
  case when current_setting('server_version_num')::int >= 150000 then 'pg_database_owner'
    else quote_ident(pg_catalog.pg_get_userbyid(10)) end as "publicOwner",
  array(select quote_ident(rolname) from pg_catalog.pg_roles) as roles,
  (select coalesce(json_agg(json_build_array(quote_ident(e.extname), e.extversion, quote_ident(n.nspname),
      exists (select from pg_catalog.pg_depend d join pg_catalog.pg_class c on c.oid = d.objid and c.relkind in ('r', 'p')
        where d.classid = 'pg_catalog.pg_class'::regclass and d.refclassid = 'pg_catalog.pg_extension'::regclass
          and d.refobjid = e.oid and d.deptype = 'e'))), '[]')
    from pg_catalog.pg_extension e join pg_catalog.pg_namespace n on n.oid = e.extnamespace) as extensions,
  array(select quote_ident(name) || ' ' || version from pg_catalog.pg_available_extension_versions) as available,
  (select json_agg(json_build_array(pg_catalog.format_type(castsource, null) || ' ' || pg_catalog.format_type(casttarget, null),
    castmethod)) from pg_catalog.pg_cast) as casts,
  array(select 'pg_attrdef/' || d.oid from pg_catalog.pg_attrdef d
    where exists (select from regexp_matches(d.adbin::text, ':(?:func|opfunc)id (\\d+)', 'g') m
      join pg_catalog.pg_proc p on p.oid = m[1]::oid where p.provolatile = 'v')) as "volatileDefaults",
  (select coalesce(json_agg(json_build_array('pg_class/' || seqrelid, pg_catalog.pg_sequence_last_value(seqrelid)::text)), '[]')
    from pg_catalog.pg_sequence where has_sequence_privilege(seqrelid, 'SELECT,USAGE')
      and pg_catalog.pg_sequence_last_value(seqrelid) is not null) as sequences`;

/** @param side the current schema needs the edges, and the wanted one the dependencies; null: both, as for a copy */
export function readSchema(
  client: Client,
  progress: Progress,
  side: 'current' | 'wanted' | null = null,
): Promise<Schema> {
  return inSnapshot(client, async () => {
    const all = await readObjects(client, progress);
    // A subscription cannot be dropped in a transaction, and its password cannot be read.
    const objects = all.filter(({ kind }) => kind !== 'SUBSCRIPTION');
    const catalog = await readItems(client, objects, progress);
    const edges = side === 'wanted' ? [] : await readEdges(client);
    const { rows } = await client.query<ServerRow>(serverSql);
    const server = rows[0]!;
    return {
      ...catalog,
      dependencies: side === 'current' ? new Map() : catalog.dependencies,
      version: Math.trunc(Number(server.version) / 10_000),
      objects: new Map(objects.map((object) => [object.key, object])),
      edges,
      columnAddresses: columnAddresses(edges, catalog.items),
      publicOwner: server.publicOwner,
      omissions: await readOmissions(client),
      commentTexts: new Map([...catalog.comments.values()].flat().map(({ target, text }) => [target, text])),
      roles: new Set(server.roles),
      extensionVersions: new Map(
        server.extensions.map(([name, version, schema, hasTables]) => [name, { version, schema, hasTables }]),
      ),
      availableExtensions: new Set(server.available),
      casts: new Map(server.casts),
      volatileDefaults: new Set(server.volatileDefaults),
      lastValues: new Map(server.sequences.map(([key, value]) => [key, BigInt(value)])),
    };
  });
}

/** Each address has one text, as a database with thousands of tables has many edges. */
async function readEdges(client: Client): Promise<readonly Edge[]> {
  const query = { text: edgesSql, rowMode: 'array' } as const;
  const { rows } = await client.query<[from: string, to: string, type: string]>(query);
  const texts = new Map<string, string>();
  const unique = (text: string): string => {
    const known = texts.get(text);
    if (known === undefined) texts.set(text, text);
    return known ?? text;
  };
  return rows.map(([from, to, type]) => ({ from: unique(from), to: unique(to), type: unique(type) }));
}

/** Columns of tables are elements; those of views and types go with them. */
function columnAddresses(edges: readonly Edge[], items: readonly Item[]): ReadonlyMap<string, readonly string[]> {
  const whole = items.filter(({ structure }) => structure?.kind === 'view' || structure?.kind === 'composite');
  const relations = new Set(whole.flatMap(({ addresses }) => addresses.map(({ key }) => key)));
  const found = new Map<string, Set<string>>();
  for (const address of edges.flatMap(({ from, to }) => [from, to])) {
    const dot = address.indexOf('.');
    if (dot === -1) continue;
    const relation = address.slice(0, dot);
    if (!relations.has(relation)) continue;
    found.set(relation, (found.get(relation) ?? new Set()).add(address));
  }
  return new Map([...found].map(([relation, addresses]) => [relation, [...addresses]]));
}
