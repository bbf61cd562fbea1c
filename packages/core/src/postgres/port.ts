import type { ConnectionOptions } from 'node:tls';
import type { Diagnostics, Notice } from './diagnostics.ts';
import type { RoutineGuard } from './routine-guard.ts';

export type { Diagnostics, Notice, RoutineGuard };
export {
  AcquireTimeout,
  CallCancelled,
  CallTimeout,
  ColumnMismatch,
  ConnectionLost,
  ConnectionSetupError,
  DatabaseError,
  LocatedError,
  OutcomeUnknown,
  queryCanceled,
  readOnlySqlTransaction,
  RoutineChanged,
} from './errors.ts';

/** The database port: the interface of this module to the rest of the gateway. */

/** A statement that is prepared once per connection and run many times. */
export interface Statement {
  readonly sql: string;
  /** Unique in this process. An empty name means an unnamed statement, which is parsed at every run. */
  readonly name: string;
  /** The OIDs of the parameter types; PostgreSQL infers the missing ones. */
  readonly types?: readonly number[];
  /** The type OIDs that each result column may have; null allows any. Checked when the statement is prepared. */
  readonly columns?: readonly (readonly number[] | null)[];
  /** The names of the result columns; absent: any. Checked when the statement is prepared. */
  readonly columnNames?: readonly string[];
  /** Where the main query begins in `sql`, behind the queries of WITH. Absent: `sql` can be a query of WITH as a whole. */
  readonly mainStart?: number;
  /** Absent: the routine that the name resolves to is called. */
  readonly guard?: RoutineGuard;
  /** Which parameters have values in the binary format, such as the bytes of a `bytea`; absent: none. */
  readonly binary?: readonly boolean[];
  /** Whether the statement is closed at the end of its `Transaction`, because its name is not used again. Default false. */
  readonly isTemporary?: boolean;
}

/**
 * A parameter in the text format of PostgreSQL, or null. Bytes hold UTF-8 text too, or the binary format where the statement says it.
 * They must not change before the call is complete.
 */
export type Value = string | Uint8Array | null;

/** Receives the rows of one statement as bytes of the protocol, without a copy. The chunk is valid only during the call. */
export interface RowSink {
  /** The bytes of rows that it holds; absent: none, or few. */
  readonly heldBytes?: number;
  /** Receives the type OIDs of the columns, before the rows. Only for unnamed statements. */
  columns?(types: readonly number[]): void;
  /**
   * Receives one row. Its fields begin at `offset`, each as a 32-bit length (-1 for NULL) and the bytes of its text.
   * @returns false to pause the connection after the bytes that have arrived; `CallHandle.resume` continues
   */
  row(chunk: Uint8Array, offset: number, fields: number): boolean;
  /**
   * Receives complete DataRow messages with their headers, two or more. Optional: it replaces `row` for those that it takes.
   * @returns the bytes of the messages that it took; `row` receives the next one
   */
  rowMessages?(messages: Uint8Array): number;
  /** Called between rows, when all bytes that have arrived are processed; false pauses as in `row`. */
  chunkEnd?(): boolean;
}

/** The client of a call whose rows are sent while they arrive. */
export interface RowReader {
  /** When the client has last taken bytes, by `performance.now()`; 0 before. */
  readonly progressedAt: number;
}

export interface Step {
  readonly statement: Statement;
  readonly values: readonly Value[];
  readonly rows?: RowSink;
  /** Tells the step from the others of its call: an error of the step has it. */
  readonly label?: string;
  /** The unnamed statement of the step is parsed and described, and not run. */
  readonly describes?: StatementDescription;
  /** Whether PostgreSQL sends its answer at once, and not with those of later steps. Default false. */
  readonly flushes?: boolean;
}

/** Receives what PostgreSQL says of a statement that it has parsed. */
export interface StatementDescription {
  /** The type OIDs of `$1`, `$2`, … */
  parameters(types: readonly number[]): void;
  /** The columns of its rows; empty for a statement without rows. */
  columns(columns: readonly DescribedColumn[]): void;
}

/** A column of RowDescription. */
export interface DescribedColumn {
  readonly name: string;
  /** The OID of its type. */
  readonly type: number;
  /** The OID of the table that its values come from as they are; 0: none. */
  readonly table: number;
  /** The number of the column in that table; 0: none. */
  readonly attribute: number;
}

/** The plans of a call, and the receiver of its times. */
export interface CallPlan {
  /** Whether PostgreSQL uses a generic plan for all values (`plan_cache_mode`); otherwise it chooses (`auto`). */
  readonly isGeneric: boolean;
  /**
   * The call has returned its rows.
   * @param elapsedMs as for `Call.done`
   * @param wasGeneric `isGeneric` at the time when the call was sent
   */
  ended(elapsedMs: number, wasGeneric: boolean): void;
  /** The call runs for so long. */
  running(elapsedMs: number, wasGeneric: boolean): void;
  /** The call has failed, or was abandoned and has ended. */
  failed(elapsedMs: number, wasGeneric: boolean): void;
}

export type IsolationLevel = 'read committed' | 'repeatable read' | 'serializable';

/** Identifies a client: its connection if it carries several calls at a time, else its network, as `clientNetwork` returns it. */
export type ClientKey = object | string;

/** Statements that run in one network round trip and one transaction. */
export interface Call {
  readonly steps: readonly Step[];
  /** Whether the call is short: it may join the pipeline of a busy connection with other short calls. */
  readonly mayShare: boolean;
  /** The expected milliseconds of a call that may share. Default 0. */
  readonly expectedMs?: number;
  /** Whether the call may wait for locks: no call follows it in a pipeline. Default false. */
  readonly mayBlock?: boolean;
  /** Whether the call may run again after its connection was lost. Default false. */
  readonly idempotent?: boolean;
  /** Whether one of its steps makes the transaction read-only: a refused write says nothing of the server. Default false. */
  readonly isReadOnly?: boolean;
  /** Whether the call may alter its session, which is then reset before the next call. Default false. */
  readonly altersSession?: boolean;
  /** Whether a call that may alter its session may leave statements of `PREPARE` there. Default true. */
  readonly mayPrepare?: boolean;
  /** Whether the last numbers of sequences in the session, of earlier callers, are discarded before the call. */
  readonly discardsSequences?: boolean;
  /**
   * The role of the call, which one of its steps sets; its statements are parsed and planned under that role.
   * Null: the initial role of the session. Undefined: no call of this gateway sets a role.
   */
  readonly role?: string | null | undefined;
  /**
   * Whether a call with several statements runs in an explicit transaction, so that a procedure cannot commit and lose its settings.
   * In the implicit transaction, a procedure may commit (up to PostgreSQL 17).
   */
  readonly atomic?: boolean;
  /** The isolation level of an atomic call; absent: `default_transaction_isolation` of the session. */
  readonly isolation?: IsolationLevel;
  /** The exported snapshot that an atomic call at `repeatable read` reads, made by PostgreSQL. */
  readonly snapshot?: string;
  /** The client that reads the rows. Absent: `CallHandle.resume` alone shows its progress. */
  readonly reader?: RowReader;
  /** The client of the call: its calls wait behind those of others while it reads nothing of one of them. */
  readonly client?: ClientKey | undefined;
  /** Milliseconds after the call is sent; 0 means no timeout. Null: the `statement_timeout` of its session. */
  readonly timeout: number | null;
  /** Null: the `plan_cache_mode` of the session at its start. Default null. */
  readonly plan?: CallPlan | null;
  /**
   * Receives a notice of the call. Neither this callback nor `done`, `failed` or the sink may throw: an exception closes the
   * connection, with all calls that share it.
   * @param step the index of the step that has raised it
   */
  notice?(notice: Notice, step: number): void;
  /** Called when a step has ended, with its index. */
  stepEnded?(step: number): void;
  /**
   * Invoked once, as the last callback, after the end of the transaction.
   * @param elapsedMs the milliseconds for which the call was the first of its pipeline
   * @param changedSetting a setting that the call has left changed; its connection is not used again
   */
  done(elapsedMs: number, changedSetting: string | null): void;
  /**
   * Invoked once, in place of `done`, with a DatabaseError, ConnectionLost, OutcomeUnknown, AcquireTimeout, CallTimeout,
   * CallCancelled or ColumnMismatch.
   */
  failed(error: Error): void;
}

export interface CallHandle {
  /** Continues after the sink has returned false. */
  resume(): void;
  /** Abandons the call. The statement is cancelled unless other calls share the connection; `failed` is still invoked. */
  cancel(): void;
}

/** Runs calls: a pool, or a connection of the host. */
export interface Runner {
  run(call: Call): CallHandle;
}

/** Runs the calls of one request on one connection, which belongs to the request until it is released. */
export interface ExclusiveRunner extends Runner {
  /** Runs a call that is not the last one: the connection is released only if it fails. */
  readonly withoutRelease: Runner;
}

/** The beginning of a transaction with several round trips. */
export interface TransactionOptions {
  /** Makes the settings of the transaction. */
  readonly settings: Step | null;
  /** Restores the settings before the commit, because a transaction of the host continues after it; null elsewhere. */
  readonly restoreSettings: Step | null;
  /** As in `Call`. One of the settings sets the role. */
  readonly role: string | null | undefined;
  readonly isolation?: IsolationLevel;
  readonly altersSession: boolean;
  /** Milliseconds for each statement; null: the `statement_timeout` of the session. */
  readonly timeout: number | null;
  /** Abandons `begin` while it waits for a connection. */
  readonly signal?: AbortSignal;
  notice?(notice: Notice): void;
}

/** A transaction with several round trips, on a connection that serves no other call until its end. */
export interface Transaction {
  /**
   * Runs steps behind those that were sent before, in one round trip. Calls may overlap: they run in order.
   * @throws as `Call.failed`; the transaction has then ended, and later calls fail with the same error
   */
  run(steps: readonly Step[]): Promise<void>;
  /** Runs the last call of the transaction when the calls before it have ended, and commits in the same round trip. */
  readonly commit: ExclusiveRunner;
  /** Ends the transaction unless it has ended: cancels running statements and rolls back. Resolves when the connection is free. */
  rollback(): Promise<void>;
}

/** Begins transactions with several round trips. */
export interface TransactionSource {
  /**
   * Begins a transaction on a connection of its own.
   * @throws AcquireTimeout, ConnectionLost, DatabaseError, CallCancelled after the signal
   */
  begin(options: TransactionOptions): Promise<Transaction>;
}

/** An event of a channel. */
export type ChannelEvent =
  | { readonly kind: 'notification'; readonly payload: string }
  /** Listening has (re)started: earlier notifications may be lost, later ones are not. */
  | { readonly kind: 'gap' };

/** Rows of values in the text format of PostgreSQL. */
export type TextTable = readonly (readonly (string | null)[])[];

export interface QueryOptions {
  /** The OIDs of the parameter types; PostgreSQL infers the missing ones. */
  readonly types?: readonly number[];
  /** Milliseconds, including the wait for a connection. Default 30,000. */
  readonly timeout?: number;
  /** As in `Call`. */
  readonly altersSession?: boolean;
}

/** A connection that the host provides for one request. */
export interface ProvidedRunner extends ExclusiveRunner, TransactionSource {}

/** The state of a connection pool. */
export interface PoolStatistics {
  /** The maximum number of connections. */
  readonly size: number;
  /** Open connections. */
  readonly open: number;
  /** Open connections that execute no call. */
  readonly idle: number;
  /** Calls that wait for a connection. */
  readonly waiting: number;
  /** The maximum number of waiting calls; further ones fail at once. */
  readonly maxWaiting: number;
  /** Calls that got no connection in time, or found too many calls waiting, since the start. */
  readonly acquireTimeouts: number;
  /** Calls that have waited for a connection and got one, since the start. */
  readonly waits: number;
  /** Milliseconds that these calls have waited together. */
  readonly waitMs: number;
}

export interface Database extends Runner, TransactionSource {
  /** The maximum number of connections. */
  readonly size: number;
  statistics(): PoolStatistics;
  /**
   * Returns all rows of one statement as text; for start-up and maintenance, not for requests.
   * Rejects with CallTimeout when no response arrives in time, even on a dead connection.
   */
  query(sql: string, values?: readonly Value[], options?: QueryOptions): Promise<TextTable>;
  /**
   * Listens to a channel of `NOTIFY`. All channels share one connection, which is reopened after a loss.
   * @returns a function that stops listening
   * @throws RangeError for an invalid channel name
   */
  listen(channel: string, listener: (event: ChannelEvent) => void): () => void;
  /** Closes all connections, those in use after their calls: they may lead to a server that others do not lead to any more. */
  disconnect(): void;
  /** Waits some seconds for running calls, then closes all connections. */
  close(): Promise<void>;
}

/** Returns the connections that uploads may hold while they wait for their clients, and so may responses: half of a pool, at least one. */
export function clientShare(size: number): number {
  return Math.max(1, Math.floor(size / 2));
}

/** A position in the write-ahead log of the primary. Its members are hexadecimal digits of fixed length, which compare like numbers. */
export interface WalPosition {
  /** 8 digits. A new timeline begins when a standby is promoted. */
  readonly timeline: string;
  /** 16 digits. */
  readonly lsn: string;
}

/** The committed changes that a read has to include. */
export interface ReadRequirement {
  /** Those before this time, by `performance.now()`. */
  readonly committedBefore: number;
  /** Those up to this position; null: none. */
  readonly position: WalPosition | null;
}

/** A streaming replica of the main database. */
export interface Replica {
  /** `host:port`. */
  readonly name: string;
  readonly database: Database;
  /** Why it gets no calls now; null: it gets calls. */
  readonly unusableReason: string | null;
  /** Records that a call has failed, and runs on the primary. A lost connection takes the replica out for some seconds. */
  handleFailure(error: unknown): void;
  statistics(): ReplicaStatistics;
}

/** The state of a replica. */
export interface ReplicaStatistics {
  /** `host:port`. */
  readonly replica: string;
  /** Why it gets no calls now; null: it gets calls. */
  readonly unusableReason: string | null;
  /** Milliseconds since the latest time up to which the replica is known to have all changes; null: unknown. */
  readonly lagMs: number | null;
  /** Calls that it got, since the start. */
  readonly calls: number;
  /** Calls that failed there and ran again on the primary, since the start. */
  readonly repeatedCalls: number;
}

/** The replicas that serve reads. */
export interface Replicas {
  /** Returns the next replica in turn that meets the requirement and the lag bound; null when no replica does. */
  select(requirement: ReadRequirement): Replica | null;
  /** Returns a position that includes everything committed so far; null when the primary does not answer soon. */
  readPosition(): Promise<WalPosition | null>;
  readonly all: readonly Replica[];
  /** Reads that ran on the primary because no replica was usable or recent enough, since the start. */
  readonly readsOnPrimary: number;
}

/**
 * A connected `pg` client of the host, standalone or from a pool. The gateway uses its socket, so that it must be the
 * JavaScript client (not `pg-native`).
 */
export interface HostClient {
  query(text: string): Promise<unknown>;
}

/** A `pg` pool of the host. */
export interface DataSource {
  connect(): Promise<HostClient & { release(destroy?: boolean): void }>;
}

/** The configuration of a `pg` client that opens a connection; a callback of the host may change it. */
export interface ConnectionConfiguration {
  host: string | undefined;
  port: number | undefined;
  database: string | undefined;
  user: string | undefined;
  password: string | (() => string | Promise<string>) | undefined;
  application_name: string;
  /** The start-up parameter `options`: `-c name=value …`. */
  options: string | undefined;
  /** Milliseconds. */
  connectionTimeoutMillis: number;
  ssl: boolean | ConnectionOptions;
}
