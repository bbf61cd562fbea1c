import type { Database } from '../postgres/port.ts';

/** A table whose changed keys are looked up. */
export interface WatchedTable {
  /** OID. */
  readonly id: string;
  /** Whether a deferrable constraint allows two rows with one key within a transaction. */
  readonly mayRepeatKeys: boolean;
  readonly isPublished: boolean;
}

const tableSql = `select c.oid,
  exists (select from pg_catalog.pg_constraint as k where k.conrelid operator(pg_catalog.=) c.oid and k.condeferrable
    and k.contype in ('p', 'u')),
  exists (select from pg_catalog.pg_publication_tables as p where p.pubname operator(pg_catalog.=) $3
    and p.schemaname operator(pg_catalog.=) n.nspname and p.tablename operator(pg_catalog.=) c.relname)
from pg_catalog.pg_class as c join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) c.relnamespace
where n.nspname operator(pg_catalog.=) $1 and c.relname operator(pg_catalog.=) $2 and c.relkind in ('r', 'p')`;

/** Returns null for a table that does not exist. */
export async function readWatchedTable(
  database: Database,
  { schema, name }: { readonly schema: string; readonly name: string },
  publication: string,
): Promise<WatchedTable | null> {
  const [row] = await database.query(tableSql, [schema, name, publication]);
  if (row === undefined) return null;
  return { id: row[0]!, mayRepeatKeys: row[1] === 't', isPublished: row[2] === 't' };
}
