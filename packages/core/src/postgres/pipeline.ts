import { ProtocolViolation } from './message-parser.ts';
import {
  type Call,
  ColumnMismatch,
  type ConnectionLost,
  DatabaseError,
  type Diagnostics,
  type Statement,
} from './port.ts';
import { MessageWriter } from './message-writer.ts';

/** The messages that are to be sent, and the exchanges whose answers are still to come, in the order of the connection. */
export class Pipeline {
  readonly writer: MessageWriter = new MessageWriter();
  readonly requests: PipelinedRequest[] = [];
  readonly #write: (bytes: Buffer) => void;
  #flushing = false;
  /** The last exchanges whose messages are still in `outgoing`. */
  #unsent = 0;

  constructor(write: (bytes: Buffer) => void) {
    this.#write = write;
  }

  /** Exchanges wait for the end of this round of the event loop: one more travels in the same packet. */
  get isBatching(): boolean {
    return this.#flushing;
  }

  /** How many of the exchanges were sent. */
  get sent(): number {
    return this.requests.length - this.#unsent;
  }

  /** Ends what was written since the last exchange with a Sync of its own. */
  push(exchange: PipelinedRequest): void {
    this.writer.sync();
    if (this.requests.length === 0) exchange.startedAt = performance.now();
    this.requests.push(exchange);
    this.#unsent++;
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => this.flush());
  }

  flush(): void {
    this.#flushing = false;
    if (this.writer.length === 0) return;
    this.#unsent = 0;
    this.#write(this.writer.take());
  }
}

/** The call that an exchange serves, as far as others look after it. */
export interface PendingCall {
  readonly call: Call;
  /** Milliseconds; 0 is without end. */
  readonly timeout: number;
  readonly stalled: boolean;
  /** Its outcome is of no interest any more, and its statement may be cancelled. */
  readonly isObsolete: boolean;
  timedOut: boolean;
}

/** What the end of a connection says of an exchange: its transaction never began, was rolled back, or may have been committed. */
export type TransactionOutcome = 'not begun' | 'rolled back' | 'unknown';

/**
 * FATAL errors that PostgreSQL raises between messages or where a statement may be interrupted, never within a commit: a transaction
 * whose statements were not all answered is rolled back. Shutdown, the timeouts of idle sessions and of transactions.
 */
const rolledBack: ReadonlySet<string> = new Set(['57P01', '57P05', '25P03', '25P04']);

/** What goes out up to one Sync, and what comes back up to one ReadyForQuery. */
export abstract class PipelinedRequest {
  /** When the database began to work on it, by `performance.now()`; set by the session. */
  startedAt = 0;
  /** Which statement of the exchange the incoming messages belong to. */
  protected step = 0;
  protected phase: 'parse' | 'bind' | 'execute' = 'parse';
  protected error: Error | null = null;
  /** An ErrorResponse came: the server skips everything up to the Sync. */
  #refused = false;

  /** Whether a transaction was begun for it. */
  readonly opensTransaction: boolean = false;
  /** The call that it serves; null when it serves the connection. */
  abstract readonly pending: PendingCall | null;
  /** How many statements have to be answered. */
  protected abstract readonly count: number;

  /** Every statement was answered, or one of them refused. Without that a ReadyForQuery belongs to something else. */
  get isComplete(): boolean {
    return this.#refused || this.step === this.count;
  }

  /**
   * What became of it, when it was sent and the connection has ended. PostgreSQL executes one message after the other: behind the
   * exchange in which it said that it ends, nothing was executed.
   * @param index its place among those in flight
   * @param fatal how the server ended the connection
   */
  transactionOutcome(index: number, fatal: Diagnostics | null): TransactionOutcome {
    if (fatal === null || !rolledBack.has(fatal.code)) return 'unknown';
    if (index > 0) return 'not begun';
    // What is missing is the ReadyForQuery alone, before which the commit is; and a procedure may have committed on its way.
    return this.step === this.count || this.pending?.call.atomic === true ? 'unknown' : 'rolled back';
  }

  /** The statement that a RowDescription describes. */
  protected abstract statement(): Statement | undefined;

  parseComplete(): void {
    this.assertPhase('parse', 'ParseComplete');
    this.phase = 'bind';
  }

  bindComplete(): void {
    this.assertPhase('bind', 'BindComplete');
    this.phase = 'execute';
  }

  /** The statement's result columns, none for `NoData`. */
  rowDescription(types: readonly number[]): void {
    const statement = this.statement();
    const expected = statement?.columns;
    if (expected === undefined) return;
    const same =
      expected.length === types.length &&
      expected.every((oids, index) => oids === null || oids.includes(types[index]!));
    if (!same) this.error ??= columnsChanged(statement!.sql, expected, types);
  }

  /**
   * A DataRow whose body begins at `start`. Only a call has a reader of rows.
   * @throws ProtocolViolation for a row that is none of this exchange's
   */
  row(_chunk: Buffer, _start: number, _end: number): void {
    this.assertPhase('execute', 'DataRow');
  }

  /** CommandComplete. */
  statementComplete(): void {
    this.assertPhase('execute', 'CommandComplete');
    this.startStep(this.step + 1);
  }

  errorResponse(diagnostics: Diagnostics): void {
    this.#refused = true;
    this.error ??= this.databaseError(diagnostics);
  }

  notice(_notice: Diagnostics): void {
    // Only a call has a listener.
  }

  /**
   * ReadyForQuery.
   * @param left a setting that was left changed
   */
  abstract readyForQuery(now: number, left: string | null): void;

  /** The connection went away. */
  abstract connectionLost(error: ConnectionLost, fate: TransactionOutcome): void;

  protected databaseError(diagnostics: Diagnostics): DatabaseError {
    return new DatabaseError(diagnostics, this.step, this.phase);
  }

  /** For another run of the same statements. */
  protected restart(): void {
    this.error = null;
    this.#refused = false;
  }

  protected startStep(step: number): void {
    this.step = step;
    this.phase = this.statement()?.name === '' ? 'parse' : 'bind';
  }

  /** A message out of its order means that answers and calls no longer match: an answer could reach another caller. */
  protected assertPhase(phase: PipelinedRequest['phase'], message: string): void {
    if (this.phase !== phase || this.isComplete) throw new ProtocolViolation(`a ${message} out of its order`);
  }
}

/** Statements of the session's own without names, or none at all: then it is done when everything before it is. */
export class MaintenanceRequest extends PipelinedRequest {
  override readonly pending = null;
  protected override readonly count: number;
  readonly #settled: (error: Error | null) => void;

  constructor(count: number, settled: (error: Error | null) => void) {
    super();
    this.count = count;
    this.#settled = settled;
  }

  protected override statement(): undefined {
    return undefined;
  }

  protected override startStep(step: number): void {
    this.step = step;
    this.phase = 'parse';
  }

  override readyForQuery(): void {
    this.#settled(this.error);
  }

  override connectionLost(error: ConnectionLost): void {
    this.#settled(error);
  }
}

/** By the OIDs of the types, as `select oid, typname from pg_type` has them. */
function columnsChanged(
  sql: string,
  expected: NonNullable<Statement['columns']>,
  types: readonly number[],
): ColumnMismatch {
  const wanted = expected.map((oids) => (oids === null ? 'any' : oids.join(' or '))).join(', ');
  return new ColumnMismatch(
    `unexpected result columns: types (${wanted}) were wanted, (${types.join(', ')}) came of ${sql}`,
  );
}
