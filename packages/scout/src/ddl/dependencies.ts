import type { Client } from 'pg';
import type { Dependencies, Item } from './item.ts';

interface Edge {
  readonly from: string;
  readonly to: string;
  /** The type of the dependency in `pg_depend`. */
  readonly type: string;
}

/** Triggers of foreign keys and TOAST tables go with their constraint or table, and nothing depends on them. */
export const ownEdgeSql = `d.classid = 'pg_catalog.pg_trigger'::regclass and d.refclassid = 'pg_catalog.pg_constraint'::regclass
  or d.deptype = 'i' and d.classid = 'pg_catalog.pg_class'::regclass and exists (
    select from pg_catalog.pg_class t where t.oid = d.objid and t.relkind = 't')`;

/** Indexes of partitions are attached later, so that their dependencies on the index of the parent (`P`, `S`) do not matter. */
const edgesSql = `
select d.classid::regclass::text || '/' || d.objid as from, d.refclassid::regclass::text || '/' || d.refobjid as to, d.deptype::text as type
from pg_catalog.pg_depend d
where d.deptype not in ('P', 'S') and d.refobjid >= 16384 and d.objid >= 16384 and d.refclassid <> 'pg_catalog.pg_namespace'::regclass
  and not (${ownEdgeSql})
union all
select 'pg_type/' || t.typarray, 'pg_type/' || t.oid, 'array'
from pg_catalog.pg_type t where t.typarray >= 16384`;

export interface CatalogDependencies {
  readonly dependencies: Dependencies;
  /** `ALTER … DEPENDS ON EXTENSION`, by the key of the item. */
  readonly extensions: ReadonlyMap<string, readonly string[]>;
}

/** Reads which catalog rows depend on others. Rows that no item defines are replaced by what they depend on. */
export async function readDependencies(client: Client, items: readonly Item[]): Promise<CatalogDependencies> {
  const { rows } = await client.query<Edge>(edgesSql);
  const byAddress = new Map(items.flatMap((item) => item.addresses.map(({ key }) => [key, item] as const)));
  const edges = new Map<string, string[]>();
  const extensions = new Map<string, string[]>();
  for (const { from, to, type } of rows) {
    const item = byAddress.get(from);
    if (type === 'x') addExtension(extensions, item, byAddress.get(to));
    else if (!isOwnedSequence(type, item)) add(edges, from, to);
  }
  const dependencies = new Map([...byAddress.keys()].map((key) => [key, known(key, edges, byAddress)]));
  return { dependencies, extensions };
}

/** A sequence depends on the column that owns it, and the default of the column on the sequence. */
function isOwnedSequence(type: string, item: Item | undefined): boolean {
  return type === 'a' && targetOf(item)?.startsWith('SEQUENCE ') === true;
}

function addExtension(extensions: Map<string, string[]>, item: Item | undefined, extension: Item | undefined): void {
  if (item === undefined || extension === undefined) return;
  add(extensions, item.key, `ALTER ${targetOf(item)} DEPENDS ON ${targetOf(extension)}`);
}

function targetOf(item: Item | undefined): string | null {
  return item?.addresses[0]?.target ?? null;
}

function add(map: Map<string, string[]>, key: string, value: string): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

/** Returns the addresses that a row depends on, through rows without an item. */
function known(
  key: string,
  edges: ReadonlyMap<string, readonly string[]>,
  byAddress: ReadonlyMap<string, Item>,
): readonly string[] {
  const found = new Set<string>();
  const seen = new Set<string>([key]);
  const open = [...(edges.get(key) ?? [])];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    if (byAddress.has(next)) found.add(next);
    else open.push(...(edges.get(next) ?? []));
  }
  return [...found].toSorted();
}
