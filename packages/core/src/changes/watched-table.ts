import { Problem } from '../http/problem.ts';
import type { Database } from '../postgres/port.ts';
import { tableKey } from './key-changes.ts';

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

type TableName = { readonly schema: string; readonly name: string };

/** Returns null for a table that does not exist. */
async function readWatchedTable(
  database: Database,
  { schema, name }: TableName,
  publication: string,
): Promise<WatchedTable | null> {
  const [row] = await database.query(tableSql, [schema, name, publication]);
  if (row === undefined) return null;
  return { id: row[0]!, mayRepeatKeys: row[1] === 't', isPublished: row[2] === 't' };
}

/** The tables of all groups. */
export class WatchedTables {
  readonly #database: Database;
  readonly #publication: string;
  readonly #names = new Map<string, TableName>();
  /** Tables that may have been defined again. */
  readonly #stale = new Set<string>();
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

  /** @throws Problem for a table whose changes are not published */
  async watch(table: TableName): Promise<void> {
    const key = tableKey(table);
    if (this.byKey.has(key) && !this.#stale.has(key)) return;
    if (await this.#read(key, table)) return;
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
    const lost = new Set<string>();
    for (const key of this.#stale) if (!(await this.#read(key, this.#names.get(key)!))) lost.add(key);
    return lost;
  }

  /** Returns whether the table is published. */
  async #read(key: string, name: TableName): Promise<boolean> {
    const table = await readWatchedTable(this.#database, name, this.#publication);
    this.#stale.delete(key);
    if (table?.isPublished !== true) {
      this.byKey.delete(key);
      return false;
    }
    this.#names.set(key, name);
    this.byKey.set(key, table);
    return true;
  }
}
