import type { TableName } from '../../catalog/table-name.ts';
import { queryCatalog } from '../../catalog/query-catalog.ts';
import { arrayLiteral } from '../../postgres/literal.ts';
import type { Database } from '../../postgres/port.ts';
import { logFactsSql } from './log-facts.sql.ts';

/** The publication that gateways read. */
export const publicationName = 'pgway_changes';

/** How the log identifies the rows of a table or partition. */
export interface IdentityFacts extends TableName {
  /** `pg_class.relpersistence`; null: the table does not exist. */
  readonly persistence: 'p' | 'u' | 't' | null;
  /** `pg_class.relreplident`. */
  readonly identity: 'd' | 'n' | 'f' | 'i' | null;
  /** Null for `full`, and for none. */
  readonly identityColumns: readonly string[] | null;
}

/** A table that row changes are read of. */
export interface TableFacts extends IdentityFacts {
  /** `pg_class.relkind`; null: the table does not exist. */
  readonly kind: 'r' | 'p' | 'v' | 'm' | 'f' | null;
  /** The parent of a partition. */
  readonly partitionOf: string | null;
  readonly primaryKey: readonly string[] | null;
  /** A unique index that could be the replica identity. */
  readonly usableIndex: string | null;
  readonly hasPolicies: boolean | null;
  /** The columns of its key whose equality is not leakproof. */
  readonly leakingColumns: readonly string[] | null;
  /** The partitions that have rows; null without one. */
  readonly parts: readonly IdentityFacts[] | null;
  /** The tables that inherit from it, and from those. Null: none. */
  readonly heirs: readonly TableName[] | null;
  /** Whether the publication names the table itself. */
  readonly isMember: boolean;
  /** Whether the publication has its changes under its name. */
  readonly isPublished: boolean;
  /** Null: all of them. */
  readonly publishedColumns: readonly string[] | null;
  readonly rowFilter: string | null;
}

/** What row changes need of a database, as its catalog has it. */
export interface LogFacts {
  /** `server_version_num`. */
  readonly version: number;
  readonly isStandby: boolean;
  readonly walLevel: string;
  readonly user: string;
  readonly mayReplicate: boolean;
  /** `synchronous_standby_names`. */
  readonly standbyNames: string;
  readonly senders: number;
  readonly usedSenders: number;
  readonly slots: number;
  readonly usedSlots: number;
  /** Null: it does not exist. */
  readonly publication: {
    readonly allTables: boolean;
    readonly viaRoot: boolean;
    readonly operations: readonly string[];
  } | null;
  /** In the order of the request. */
  readonly tables: readonly TableFacts[];
  /** All tables of the publication. */
  readonly published: readonly TableName[];
}

/** Reads the facts about these tables. @throws DatabaseError */
export async function readLogFacts(database: Database, tables: readonly TableName[]): Promise<LogFacts> {
  const [row] = await queryCatalog(database, logFactsSql, [
    publicationName,
    arrayLiteral(tables.map(({ schema }) => schema)),
    arrayLiteral(tables.map(({ name }) => name)),
  ]);
  return JSON.parse(row![0]!) as LogFacts;
}
