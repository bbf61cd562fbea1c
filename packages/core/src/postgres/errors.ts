import type { Diagnostics } from './diagnostics.ts';

/** SQLSTATE of a statement that was cancelled, as by `statement_timeout`. */
export const queryCanceled = '57014';
/** SQLSTATE of a write in a read-only transaction. */
export const readOnlySqlTransaction = '25006';

/** SQLSTATEs of a prepared statement that exists already, and of one that does not exist. */
const ofPreparedStatements: ReadonlySet<string> = new Set(['42P05', '26000']);

/**
 * A connection names each statement once and keeps it: another client of the same server connection has prepared this one, or the server connection
 * is another one now.
 */
function isOfSharedConnection({ code, message }: Diagnostics): boolean {
  return ofPreparedStatements.has(code) && message.includes('"pgway_') && !message.endsWith(sharedConnectionNote);
}

const sharedConnectionNote =
  ': a pooler in transaction mode, such as PgBouncer, shares the connection; set pooler to transaction, and preparedStatements to false if the pooler has none';

/** An ErrorResponse of PostgreSQL. */
export class DatabaseError extends Error {
  readonly diagnostics: Diagnostics;
  /** The index of the failed step. */
  readonly step: number;
  readonly phase: 'parse' | 'bind' | 'execute';
  /** The label of the failed step; null: it has none, or the connection has added it. */
  readonly label: string | null;

  constructor(diagnostics: Diagnostics, step: number, phase: DatabaseError['phase'], label: string | null) {
    const message = `${diagnostics.message}${isOfSharedConnection(diagnostics) ? sharedConnectionNote : ''}`;
    super(message);
    this.name = 'DatabaseError';
    this.diagnostics = { ...diagnostics, message };
    this.step = step;
    this.phase = phase;
    this.label = label;
  }

  /** Returns the error of the same step with other members. */
  with({
    diagnostics = this.diagnostics,
    step = this.step,
    phase = this.phase,
  }: Partial<Pick<DatabaseError, 'diagnostics' | 'step' | 'phase'>>): DatabaseError {
    return new DatabaseError(diagnostics, step, phase, this.label);
  }
}

/** An error of the database about a part of the request, such as one row of a file or of a body. */
export class LocatedError extends DatabaseError {
  /** The members of the response that name the part: `file`, `sheet` and `row`, or `pointer`. */
  readonly location: Readonly<Record<string, string | number>>;

  constructor({ diagnostics, step, phase, label }: DatabaseError, location: LocatedError['location']) {
    super(diagnostics, step, phase, label);
    this.name = 'LocatedError';
    this.location = location;
  }
}

/**
 * The connection was lost, or none could be opened. A transient error: the call was not executed, or is idempotent.
 */
export class ConnectionLost extends Error {
  override readonly name: string = 'ConnectionLost';
}

/** The connection was lost after the call was sent: the database may have committed it. */
export class OutcomeUnknown extends ConnectionLost {
  override readonly name = 'OutcomeUnknown';
}

/**
 * The connection could not be opened for a permanent reason: a failed callback or an unsuitable client of the host, or
 * incompatible settings of the connection string and the server.
 */
export class ConnectionSetupError extends ConnectionLost {
  override readonly name = 'ConnectionSetupError';
}

/** No connection became free within the acquire timeout. */
export class AcquireTimeout extends Error {
  override readonly name = 'AcquireTimeout';
}

/** The call exceeded its timeout; the statement was cancelled. */
export class CallTimeout extends Error {
  override readonly name = 'CallTimeout';
}

/** The caller abandoned the call. */
export class CallCancelled extends Error {
  override readonly name = 'CallCancelled';
  /** `unknown`: the connection was lost after the call was sent. */
  readonly outcome: 'not executed' | 'executed' | 'unknown';

  constructor(message: string, outcome: CallCancelled['outcome'] = 'not executed') {
    super(message);
    this.outcome = outcome;
  }
}

/** The result columns of a statement have changed since the catalog was read. */
export class ColumnMismatch extends Error {
  override readonly name = 'ColumnMismatch';
  /** The text of the statement; null: another check has found the difference. */
  readonly sql: string | null;
  /** Whether the statement may have run: its columns were checked with its result. */
  readonly hasRun: boolean;

  constructor(message: string, sql: string | null = null, hasRun = true) {
    super(message);
    this.sql = sql;
    this.hasRun = hasRun;
  }
}

/** The routine of an endpoint was dropped or created anew since the catalog was read. Its call did not run. */
export class RoutineChanged extends Error {
  override readonly name = 'RoutineChanged';
  /** That of the guard. */
  readonly signature: string;
  /** Whether another attempt can find out that its comment is the same. */
  readonly mayBeSame: boolean;

  constructor(signature: string, reason: string, mayBeSame = false) {
    super(`${signature} ${reason}`);
    this.signature = signature;
    this.mayBeSame = mayBeSame;
  }
}
