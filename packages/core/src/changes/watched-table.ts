import { Problem } from '../http/problem.ts';
import type { Database } from '../postgres/port.ts';
import { tableKey, type TableName } from '../catalog/table-name.ts';

/** A table whose changed keys are looked up. */
export interface WatchedTable {
  /** OID. */
  readonly id: string;
  /** Whether a deferrable constraint allows two rows with one key within a transaction. */
  readonly mayRepeatKeys: boolean;
  readonly isPublished: boolean;
  /** The tables whose changes are its changes, by what `tableKey` returns: it and those that inherit from it. */
  readonly members: readonly string[];
  /** Whether the log has every change of all members. */
  readonly isFollowed: boolean;
}

/** A condition: whether the publication has all changes of the rows of a table. */
const isWholly = (schema: string, name: string): string => `exists (
  select from pg_catalog.pg_publication_tables as u join pg_catalog.pg_publication as p on p.pubname operator(pg_catalog.=) u.pubname
  where p.pubname operator(pg_catalog.=) $3 and u.schemaname operator(pg_catalog.=) ${schema} and u.tablename operator(pg_catalog.=) ${name}
    and p.pubinsert and p.pubupdate and p.pubdelete and p.pubtruncate
    -- The column exists since PostgreSQL 15.
    and pg_catalog.to_jsonb(u) operator(pg_catalog.->>) 'rowfilter' is null)`;

const tableSql = `select c.oid,
  exists (select from pg_catalog.pg_constraint as k where k.conrelid operator(pg_catalog.=) c.oid and k.condeferrable
    and k.contype in ('p', 'u')),
  exists (select from pg_catalog.pg_publication_tables as p where p.pubname operator(pg_catalog.=) $3
    and p.schemaname operator(pg_catalog.=) n.nspname and p.tablename operator(pg_catalog.=) c.relname),
  (with recursive tree (oid) as (
      select c.oid
    union
      select h.inhrelid from tree join pg_catalog.pg_inherits as h on h.inhparent operator(pg_catalog.=) tree.oid)
    select pg_catalog.json_build_array(
      pg_catalog.json_agg(pg_catalog.json_build_array(s.nspname, m.relname)) filter (where not m.relispartition or m.oid operator(pg_catalog.=) c.oid),
      pg_catalog.bool_and(m.relkind in ('r', 'p') and m.relpersistence operator(pg_catalog.=) 'p'
        and (m.relispartition and m.oid operator(pg_catalog.<>) c.oid or ${isWholly('s.nspname', 'm.relname')})))
    from tree join pg_catalog.pg_class as m on m.oid operator(pg_catalog.=) tree.oid
      join pg_catalog.pg_namespace as s on s.oid operator(pg_catalog.=) m.relnamespace)
from pg_catalog.pg_class as c join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) c.relnamespace
where n.nspname operator(pg_catalog.=) $1 and c.relname operator(pg_catalog.=) $2 and c.relkind in ('r', 'p')`;

/** Returns null for a table that does not exist. */
async function readWatchedTable(
  database: Database,
  { schema, name }: TableName,
  publication: string,
): Promise<WatchedTable | null> {
  const [row] = await database.query(tableSql, [schema, name, publication]);
  if (row === undefined) return null;
  const [members, isFollowed] = JSON.parse(row[3]!) as [[schema: string, name: string][], boolean];
  return {
    id: row[0]!,
    mayRepeatKeys: row[1] === 't',
    isPublished: row[2] === 't',
    members: members.map(([memberSchema, memberName]) => tableKey({ schema: memberSchema, name: memberName })),
    isFollowed,
  };
}

/** The tables of all groups. */
export class WatchedTables {
  readonly #database: Database;
  readonly #publication: string;
  readonly #names = new Map<string, TableName>();
  /** Tables that may have been defined again. */
  readonly #stale = new Set<string>();
  /** Tables that are not published any more, since the last `refresh`. */
  #lost = new Set<string>();
  /** By what `tableKey` returns. */
  readonly byKey: Map<string, WatchedTable> = new Map();

  constructor(database: Database, publication: string) {
    this.#database = database;
    this.#publication = publication;
  }

  /** Returns the OIDs. */
  ids(): readonly string[] {
    return [...this.byKey.values()].map(({ id }) => id);
  }

  /** Returns whether changes of the table are published. */
  async tryWatch(table: TableName): Promise<boolean> {
    const key = tableKey(table);
    return (this.byKey.has(key) && !this.#stale.has(key)) || this.#read(key, table);
  }

  /** @throws Problem for a table whose changes are not published */
  async watch(table: TableName): Promise<void> {
    if (await this.tryWatch(table)) return;
    const name = `${table.schema}.${table.name}`;
    throw new Problem('changes-unavailable', {
      detail: `The publication "${this.#publication}" does not have the table "${name}"; run pgway install changes ${name}.`,
      headers: ['retry-after', '5'],
    });
  }

  /** Marks a table that may have been defined again. */
  mark(key: string): void {
    this.#stale.add(key);
  }

  markAll(): void {
    for (const key of this.byKey.keys()) this.#stale.add(key);
  }

  /** Reads the marked tables again. Returns the keys of those that are not published any more. */
  async refresh(): Promise<ReadonlySet<string>> {
    for (const key of this.#stale) await this.#read(key, this.#names.get(key)!);
    const lost = this.#lost;
    this.#lost = new Set();
    return lost;
  }

  /** Returns whether the table is published. */
  async #read(key: string, name: TableName): Promise<boolean> {
    this.#names.set(key, name);
    const table = await readWatchedTable(this.#database, name, this.#publication);
    this.#stale.delete(key);
    if (table?.isPublished !== true) {
      if (this.byKey.delete(key)) this.#lost.add(key);
      this.#names.delete(key);
      return false;
    }
    this.#lost.delete(key);
    this.byKey.set(key, table);
    return true;
  }
}
