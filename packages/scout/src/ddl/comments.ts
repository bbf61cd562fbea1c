/** Comments and security labels of objects and columns. */
import type { Client } from 'pg';
import type { Item } from './item.ts';
import { quoteLiteral } from './sql-text.ts';

interface CommentRow {
  readonly key: string;
  /** Null for a comment of the object itself. */
  readonly column: string | null;
  readonly text: string;
  /** The quoted provider of a security label. */
  readonly provider: string;
}

export interface Comment {
  /** As in `COMMENT ON`. */
  readonly target: string;
  readonly text: string;
}

/** @param text null removes the comment */
export function commentStatement({ target, text }: { readonly target: string; readonly text: string | null }): string {
  return `COMMENT ON ${target} IS ${text === null ? 'NULL' : quoteLiteral(text)}`;
}

/** The comments of the catalogs that items define. Comments of columns have the oid of their relation. Large objects
 * may have any oid. */
const commentsSql = `
select d.classoid::regclass::text || '/' || d.objoid as key, quote_ident(a.attname) as column, d.description as text, '' as provider
from pg_catalog.pg_description d
left join pg_catalog.pg_attribute a on d.classoid = 'pg_catalog.pg_class'::regclass and a.attrelid = d.objoid
  and a.attnum = d.objsubid and d.objsubid <> 0
where d.objoid >= 16384 or d.classoid = 'pg_catalog.pg_largeobject'::regclass or (d.classoid = 'pg_catalog.pg_namespace'::regclass and d.objoid = pg_catalog.to_regnamespace('public')
  and d.description <> 'standard public schema')
order by d.objoid, d.objsubid`;

const labelsSql = `
select l.classoid::regclass::text || '/' || l.objoid as key, quote_ident(a.attname) as column, l.label as text,
  quote_ident(l.provider) as provider
from pg_catalog.pg_seclabel l
left join pg_catalog.pg_attribute a on l.classoid = 'pg_catalog.pg_class'::regclass and a.attrelid = l.objoid
  and a.attnum = l.objsubid and l.objsubid <> 0
order by l.objoid, l.objsubid, l.provider collate "C"`;

/** Returns the comments by the key of the item. */
export async function readComments(
  client: Client,
  items: readonly Item[],
): Promise<ReadonlyMap<string, readonly Comment[]>> {
  return byItem(items, (await client.query<CommentRow>(commentsSql)).rows, ({ text }, target) => ({ target, text }));
}

/** Returns the statements of security labels by the key of the item. */
export async function readSecurityLabels(
  client: Client,
  items: readonly Item[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const { rows } = await client.query<CommentRow>(labelsSql);
  return byItem(
    items,
    rows,
    ({ provider, text }, target) => `SECURITY LABEL FOR ${provider} ON ${target} IS ${quoteLiteral(text)}`,
  );
}

function byItem<Result>(
  items: readonly Item[],
  rows: readonly CommentRow[],
  create: (row: CommentRow, target: string) => Result,
): ReadonlyMap<string, readonly Result[]> {
  const byAddress = new Map(
    items.flatMap((item) => item.addresses.map(({ key, target }) => [key, { item, target }] as const)),
  );
  const found = new Map<string, Result[]>();
  for (const row of rows) {
    const { key, column } = row;
    const address = byAddress.get(key);
    const target = column === null ? (address?.target ?? null) : columnTarget(address?.item, column);
    if (address === undefined || target === null) continue;
    const list = found.get(address.item.key) ?? [];
    list.push(create(row, target));
    found.set(address.item.key, list);
  }
  return found;
}

/** Returns `COLUMN public.film.title` for a column of `TABLE public.film`. */
function columnTarget(item: Item | undefined, column: string): string | null {
  const target = item?.addresses[0]?.target ?? null;
  const name =
    target === null ? null : /^(?:TABLE|FOREIGN TABLE|VIEW|MATERIALIZED VIEW|TYPE) ([^]*)$/.exec(target)?.[1];
  return name === undefined || name === null ? null : `COLUMN ${name}.${column}`;
}
