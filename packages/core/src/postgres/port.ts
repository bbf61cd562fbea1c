import type { ConnectionOptions } from 'node:tls';

/** The socket to PostgreSQL: what the rest of the gateway knows of a database. */

/** A statement text with a name of its own; made once, prepared once per connection, run many times. */
export interface Statement {
  readonly sql: string;
  /** Unique in this process; empty for a statement that is not worth keeping (it is parsed at every run). */
  readonly name: string;
  /** OIDs of the parameters' types; PostgreSQL finds out those that are not said. */
  readonly types?: readonly number[];
  /** Per result column: the type OIDs that its reader can take; null takes any. Checked when the statement is prepared. */
  readonly columns?: readonly (readonly number[] | null)[];
}

/** A parameter in PostgreSQL's own text form, or null. Bytes are UTF-8 text too. */
export type Value = string | Uint8Array | null;

/** Receives the rows of one statement as bytes of the wire, without a copy. Nothing of the chunk may be kept. */
export interface RowSink {
  /**
   * One row: the fields stand in `chunk` from `offset`, each as a 32-bit length (-1 for NULL) and as many bytes of text.
   * False asks for a pause after the bytes that are already here; `CallHandle.resume` goes on.
   */
  row(chunk: Uint8Array, offset: number, fields: number): boolean;
  /** A pause in the flow: all bytes that had arrived were handed over. Called only between rows. */
  chunkEnd?(): boolean;
}

export interface Step {
  readonly statement: Statement;
  readonly values: readonly Value[];
  readonly rows?: RowSink;
}

/** Statements that travel in one network round trip and form one implicit transaction. */
export interface Call {
  readonly steps: readonly Step[];
  /** True when the call is known to be quick and small: it may share a busy connection with others of its kind. */
  readonly mayShare: boolean;
  /** Milliseconds that the database will probably need for a call that may share. Default 0: next to nothing. */
  readonly expectedMs?: number;
  /** True: the call may have to wait, as for a row lock. It may go behind others, but no call goes behind it. Default false. */
  readonly mayBlock?: boolean;
  /** True: running the call twice does no harm, so that one whose connection was lost is run again. Default false. */
  readonly idempotent?: boolean;
  /** True: the call may leave something in its session, which is reset before the next call. Default false. */
  readonly altersSession?: boolean;
  /**
   * The role that the call runs under, which one of its settings sets: its statements are parsed and planned under that role too.
   * Null: the role that the session began with, which is set again first. Undefined: no call of this gateway sets a role.
   */
  readonly role?: string | null | undefined;
  /**
   * True: where other statements travel with it, such as settings, in a transaction that is begun and committed for them, so that a
   * procedure cannot end the one in which they hold; nobody goes behind it then. Otherwise in the implicit one, which a procedure
   * may commit up to PostgreSQL 17.
   */
  readonly atomic?: boolean;
  /** The most milliseconds that the call may take once it is sent; 0 means without end. Null: the `statement_timeout` of its session. */
  readonly timeout: number | null;
  /**
   * This, `done`, `failed` and the sink must not throw: whatever one of them throws ends the connection, and with it
   * the calls of others that share it.
   */
  notice?(notice: Notice): void;
  /**
   * Once, when the database has finished the transaction. Nothing else is called after it.
   * @param elapsed milliseconds that the database worked on this call alone
   * @param left a setting that the call has left changed: its connection is not used again
   */
  done(elapsed: number, left: string | null): void;
  /** Once, instead of `done`. A DatabaseError, ConnectionLost, OutcomeUnknown, AcquireTimeout, CallTimeout or Cancelled. */
  failed(error: Error): void;
}

export interface CallHandle {
  /** The sink that answered false can take more. */
  resume(): void;
  /** Nobody waits for the call any more. Its statement is cancelled when that harms nobody else; `failed` still comes. */
  cancel(): void;
}

/** Where a call can be made. */
export interface Runner {
  run(call: Call): CallHandle;
}

/** What somebody who listens to a channel is told. */
export type ChannelEvent =
  | { readonly kind: 'notification'; readonly payload: string }
  /** From now on nothing is missed; something may have been before, or since the connection was lost. */
  | { readonly kind: 'gap' };

/** Rows of values in PostgreSQL's own text form. */
export type TextTable = readonly (readonly (string | null)[])[];

export interface QueryOptions {
  /** OIDs of the values' types; PostgreSQL finds out those that are not said. */
  readonly types?: readonly number[];
  /** Milliseconds, waiting for a connection included. Default 30,000. */
  readonly timeout?: number;
  /** As of a call. */
  readonly altersSession?: boolean;
}

export interface Database extends Runner {
  /**
   * All rows of one statement as text: for start and for maintenance, never for what requests ask for.
   * Rejects with CallTimeout where there is no answer in time, however long the server or the network takes.
   */
  query(sql: string, values?: readonly Value[], options?: QueryOptions): Promise<TextTable>;
  /**
   * Listens to a channel of `NOTIFY`, on one connection for all channels, which is opened again whenever it is lost.
   * @returns stops listening
   * @throws RangeError for a name that no channel can have
   */
  listen(channel: string, hear: (heard: ChannelEvent) => void): () => void;
  /** Lets running calls finish, for some seconds, then closes every connection. */
  close(): Promise<void>;
}

/**
 * A connected `pg` client of the host's, also one of a pool. The gateway speaks on its socket, so that it has to be the
 * JavaScript client (not `pg-native`).
 */
export interface HostClient {
  query(text: string): Promise<unknown>;
}

/** A `pg` pool of the host's. */
export interface DataSource {
  connect(): Promise<HostClient & { release(destroy?: boolean): void }>;
}

/** What the client is made with that opens a connection; a callback of the host's may change it. */
export interface ConnectionConfiguration {
  host: string | undefined;
  port: number | undefined;
  database: string | undefined;
  user: string | undefined;
  password: string | (() => string | Promise<string>) | undefined;
  application_name: string;
  /** Start-up options: `-c name=value …`. */
  options: string | undefined;
  /** Milliseconds. */
  connectionTimeoutMillis: number;
  ssl: boolean | ConnectionOptions;
}

/** The fields of an ErrorResponse or NoticeResponse, by their names in PostgreSQL's documentation. */
export interface Diagnostics {
  readonly severity: string;
  /** SQLSTATE, five characters. */
  readonly code: string;
  readonly message: string;
  readonly detail?: string;
  readonly hint?: string;
  readonly position?: string;
  readonly where?: string;
  readonly schema?: string;
  readonly table?: string;
  readonly column?: string;
  readonly dataType?: string;
  readonly constraint?: string;
  readonly file?: string;
  readonly line?: string;
  readonly routine?: string;
}

export type Notice = Diagnostics;

/** What PostgreSQL answered instead of a result. */
export class DatabaseError extends Error {
  readonly diagnostics: Diagnostics;
  /** Which step of the call it was, and whether its parameters were still being read. */
  readonly step: number;
  readonly phase: 'parse' | 'bind' | 'execute';

  constructor(diagnostics: Diagnostics, step: number, phase: 'parse' | 'bind' | 'execute') {
    super(diagnostics.message);
    this.name = 'DatabaseError';
    this.diagnostics = diagnostics;
    this.step = step;
    this.phase = phase;
  }
}

/**
 * The connection went away, or none could be opened. Transient by nature. A call that fails with it was not executed, or may be
 * executed again without harm.
 */
export class ConnectionLost extends Error {
  override readonly name: string = 'ConnectionLost';
}

/** The connection went away after the call was sent: the database may have committed it. */
export class OutcomeUnknown extends ConnectionLost {
  override readonly name = 'OutcomeUnknown';
}

/**
 * The connection was not opened because a callback of the host, the host's own client, or what the connection string and
 * the server ask of each other did not allow it: no time helps.
 */
export class ConnectionSetupError extends ConnectionLost {
  override readonly name = 'ConnectionSetupError';
}

/** No connection became free within the bound on waiting. */
export class AcquireTimeout extends Error {
  override readonly name = 'AcquireTimeout';
}

/** The call took longer than its timeout; the statement was cancelled. */
export class CallTimeout extends Error {
  override readonly name = 'CallTimeout';
}

/** The call was cancelled by its own caller. */
export class CallCancelled extends Error {
  override readonly name = 'CallCancelled';
}

/** A prepared statement's columns are not what its reader was made for: the routine changed after the catalog was read. */
export class ColumnMismatch extends Error {
  override readonly name = 'ColumnMismatch';
}
