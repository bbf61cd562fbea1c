/** Row changes as their readers see them: the differences between snapshots of the database, read under the role and settings of a caller. */
import type { TableName } from '../catalog/table-name.ts';
import type { ResultColumn } from '../endpoints/endpoint.ts';
import type { ChangeOperation } from '../endpoints/row-changes.ts';

export type { ChangeOperation };

/**
 * The rows of one table or view that a subscription is about. Plain data that a channel between processes can carry. Its SQL consists of
 * names of the catalog and texts of the gateway; everything of a client is in `values`.
 */
export interface ChangeQuery {
  /** The published table whose changed keys select rows. For a view, the table that its key comes from. */
  readonly relation: { readonly schema: string; readonly name: string };
  /** The columns of the published table that identify a row, in the order of `$1`, `$2`, … Its replica identity contains them. */
  readonly keyColumns: readonly string[];
  /**
   * A SELECT that returns a row for each key that has one which the caller may read. `$1` to `$n` are arrays with a key column each. The
   * columns are the number of the key from 1 on, then those of `keys`, then those of `columns`.
   */
  readonly sql: string;
  /** `$n+1`, …: the values of the filters. */
  readonly values: readonly (string | null)[];
  /** How the columns of the key are written as JSON, for deletes. */
  readonly keys: readonly ResultColumn[];
  /** How the row is written as JSON. */
  readonly columns: readonly ResultColumn[];
  /** Whether functions that the query may call alter the settings of its transaction, or write, so that no other caller may share it. */
  readonly altersTransaction: boolean;
  /** Whether they alter the session. */
  readonly altersSession: boolean;
  /** Whether the rows are read with the rights of the table's owner, so that policies count only if they are forced. Default false. */
  readonly readsAsOwner?: boolean;
}

/** The caller under which rows are read. */
export interface ChangeIdentity {
  /** Null: that of the connection; undefined: calls of the gateway set no role. */
  readonly role: string | null | undefined;
  /** Settings of each transaction, the role among them. */
  readonly settings: readonly (readonly [name: string, value: string])[];
  /** Equal for callers that may share events: the settings without what differs between two tokens of one caller. */
  readonly key: string;
}

/** A subscription, as plain data. Equal ones share lookups and events. */
export interface ChangeRequest {
  readonly query: ChangeQuery;
  readonly identity: ChangeIdentity;
  readonly operations: readonly ChangeOperation[];
  /** Whether updates and deletes have the row before the change. */
  readonly withOld: boolean;
  /** Whether an update of a row whose columns are the same before and after is an event. */
  readonly withUnchanged: boolean;
  /** Only keys with this value in a column of the replica identity are looked up; null: all. */
  readonly route: { readonly column: string; readonly value: string | null } | null;
  /** Tables whose changes the subscriber learns of as a gap: the query reads them, too. */
  readonly gapOn: readonly { readonly schema: string; readonly name: string }[];
  /**
   * A SELECT whose rows, with the columns of `query.columns`, are read in the snapshot that the subscription begins with, and again after
   * a gap; null: none.
   */
  readonly snapshot: { readonly sql: string; readonly values: readonly (string | null)[] } | null;
  /** The id of the last event that the subscriber has; null: it begins now. */
  readonly lastEventId: string | null;
}

/**
 * Why a subscriber may have missed changes:
 * - `too-long-away`: the events after its last one are not kept any more
 * - `other-instance`: its last event is not one of this server
 * - `other-stream`: its last event is one of another query or identity
 * - `connection-lost`: the server lost its connection to the log
 * - `schema-changed`: the table was redefined or rewritten
 * - `too-many-changes`: a transaction changed more rows than the limit
 * - `lookup-timeout`, `lookup-failed`: the rows could not be read
 * - `related-change`: a table of `gapOn` has changed
 */
export type ChangeGapReason =
  | 'too-long-away'
  | 'other-instance'
  | 'other-stream'
  | 'connection-lost'
  | 'schema-changed'
  | 'too-many-changes'
  | 'lookup-timeout'
  | 'lookup-failed'
  | 'related-change';

/** A change of a row. Members with bytes are JSON objects. */
export interface RowChange {
  /** `<timeline>-<position of the cut>.<number in the cut>-<server and group>`: later ids compare greater as text. */
  readonly id: string;
  readonly operation: ChangeOperation | 'truncate';
  /** When the last transaction that changed the row was committed: ISO 8601 with microseconds, in UTC. */
  readonly commitTimestamp: string;
  /** The row as GET returns it, after an insert or update; else null. */
  readonly record: Uint8Array | null;
  /** The key after a delete. For an update or delete of a subscription with `withOld`, the row before it. Else null. */
  readonly old: Uint8Array | null;
}

/**
 * A message for the subscribers of a group, which all get the same object: what is made of it can be kept by it, as in a WeakMap. Plain data
 * that a channel between processes can carry.
 * - `begin`: the differences after this id follow. The first message, unless the subscription continues an earlier one
 * - `changes`: all changes of one cut, the state after which is that of a snapshot
 * - `gap`: changes may be missing. With a snapshot, `rows` with `isReset` follow
 * - `rows`: the rows of the snapshot, as JSON objects
 */
export type ChangeMessage =
  | { readonly kind: 'begin'; readonly id: string }
  | { readonly kind: 'changes'; readonly id: string; readonly changes: readonly RowChange[] }
  | { readonly kind: 'gap'; readonly id: string; readonly reason: ChangeGapReason }
  | { readonly kind: 'rows'; readonly id: string; readonly rows: readonly Uint8Array[]; readonly isReset: boolean };

/**
 * Why a subscription has ended:
 * - `forbidden`: PostgreSQL refuses the caller
 * - `schema-changed`: the query does not fit the database any more; a gap precedes it
 * - `closing`: the server stops
 */
export type ChangeEnd = 'forbidden' | 'schema-changed' | 'closing';

/** Receives the messages of a subscription, in order. Neither method may throw. */
export interface ChangeListener {
  message(message: ChangeMessage): void;
  /** Called once, as the last callback, unless the subscription was cancelled. */
  ended(reason: ChangeEnd): void;
}

export interface ChangeSubscription {
  /** The last id that the group has passed, for heartbeats. Nothing of the subscriber is missing before it. */
  readonly lastId: string;
  cancel(): void;
}

/** Use of row changes, for metrics. Counters begin at the start. */
export interface ChangeStatistics {
  /** Whether the log is read. */
  readonly isOpen: boolean;
  /** Bytes of the log behind the position of the latest cut; null while the log is not read. */
  readonly lagBytes: number | null;
  /** Milliseconds since the snapshot of the latest cut was taken; null without one. */
  readonly cutAgeMs: number | null;
  readonly subscribers: number;
  readonly groups: number;
  readonly cuts: number;
  /** Reads of rows by a group. */
  readonly lookups: number;
  /** Events that subscribers got, one for each receiver. */
  readonly deliveries: number;
  readonly gaps: Readonly<Partial<Record<ChangeGapReason, number>>>;
}

/**
 * What has changed in watched tables since the report before it. A table is named by `tableKey`. Plain data that a channel between
 * processes can carry.
 */
export interface TableReport {
  /** The tables that transactions have changed, or that may have changed; null: any of them. */
  readonly changed: readonly string[] | null;
  /** The tables whose changes the log does not have at present. */
  readonly unknown: readonly string[];
  /** Every change that was committed before this time is in this report or in an earlier one. Milliseconds since 1970. */
  readonly until: number;
}

/** The row changes of a database. */
export interface ChangeFeed {
  /**
   * Resolves when the subscription is part of a cut: its listener has received `begin`, or what follows its last event.
   * @throws DatabaseError that PostgreSQL refuses the query with; Problem `changes-unavailable` while the log cannot be read
   */
  subscribe(request: ChangeRequest, listener: ChangeListener): Promise<ChangeSubscription>;
  /**
   * Reports the tables that committed transactions have changed, when readers can see it: rows, truncations, and changes of the definition,
   * also those of partitions and inheriting tables. While the log is read, a report comes at least every two seconds. In the first one, and
   * after each interruption, any table may have changed. The listener may not throw.
   * @returns a function that ends the reports
   */
  watchTables(tables: readonly TableName[], listener: (report: TableReport) => void): () => void;
  statistics(): ChangeStatistics;
  close(): Promise<void>;
}
