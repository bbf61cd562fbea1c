import type { Duplex } from 'node:stream';
import { ProtocolViolation } from './message-parser.ts';
import {
  type DescribedColumn,
  type Call,
  ColumnMismatch,
  type ConnectionLost,
  DatabaseError,
  type Diagnostics,
  type Statement,
} from './port.ts';
import { MessageWriter } from './message-writer.ts';

/** The outgoing messages, and the requests whose responses are outstanding, in the order of the connection. */
export class Pipeline {
  readonly writer: MessageWriter = new MessageWriter();
  readonly requests: PipelinedRequest[] = [];
  readonly #write: (bytes: Uint8Array | readonly Uint8Array[]) => void;
  #flushing = false;
  /** The number of requests at the end whose messages are still in `writer`. */
  #unsent = 0;

  constructor(write: (bytes: Uint8Array | readonly Uint8Array[]) => void) {
    this.#write = write;
  }

  /** Whether requests wait for the end of this event loop turn; another request joins their packet. */
  get isBatching(): boolean {
    return this.#flushing;
  }

  /** The number of requests that were sent. */
  get sent(): number {
    return this.requests.length - this.#unsent;
  }

  /** Adds a request: ends the messages that were written for it with a Sync. */
  push(request: PipelinedRequest): void {
    this.writer.sync();
    const [first] = this.requests;
    if (first === undefined) request.startedAt = performance.now();
    request.sentBehind = first === undefined ? null : first.startedAt;
    this.requests.push(request);
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

export function writeMessages(socket: Duplex, bytes: Uint8Array | readonly Uint8Array[]): void {
  if (bytes instanceof Uint8Array) {
    socket.write(bytes);
    return;
  }
  // One system call for all chunks.
  socket.cork();
  for (const chunk of bytes) socket.write(chunk);
  socket.uncork();
}

/** A call in the pipeline, as the canceller and the pool see it. */
export interface PendingCall {
  readonly call: Call;
  /** Milliseconds; 0 means no timeout. */
  readonly timeout: number;
  readonly isStalled: boolean;
  /** Whether the outcome is no longer needed, so that the statement may be cancelled. */
  readonly isObsolete: boolean;
  hasTimedOut: boolean;
  reportRunning(elapsedMs: number): void;
}

/** The outcome of the transaction of a request whose connection was lost. */
export type TransactionOutcome = 'not started' | 'rolled back' | 'unknown';

/**
 * FATAL errors after which an unfinished transaction is rolled back: shutdown and the timeouts of idle sessions and of transactions.
 * PostgreSQL never raises them within a commit.
 */
const rolledBack: ReadonlySet<string> = new Set(['57P01', '57P05', '25P03', '25P04']);

/** The messages up to one Sync, and their responses up to one ReadyForQuery. */
export abstract class PipelinedRequest {
  /** The time at which the database began to work on the request, by `performance.now()`; set by the session. */
  startedAt = 0;
  /** The start of the first request in the pipeline when this one was added behind it; null: it was added to an empty pipeline. */
  sentBehind: number | null = null;
  /** The index of the statement that the incoming messages belong to. */
  protected step = 0;
  protected phase: 'parse' | 'bind' | 'execute' = 'parse';
  protected error: Error | null = null;
  /** Whether an ErrorResponse arrived: the server then skips all messages up to the Sync. */
  #hasFailed = false;

  /** Whether the request begins a transaction of its own. */
  readonly opensTransaction: boolean = false;
  /** The call of the request; null for a maintenance request. */
  abstract readonly pending: PendingCall | null;
  /** The number of statements. */
  protected abstract readonly count: number;

  /** A time before which the database has not begun. `startedAt` is later when this process was slow to read the response before. */
  get earliestStart(): number {
    return this.sentBehind ?? this.startedAt;
  }

  /** Whether a short call may follow on the connection. */
  get mayBeFollowed(): boolean {
    return false;
  }

  /** Whether every statement is complete or one has failed. An earlier ReadyForQuery is a protocol violation. */
  get isComplete(): boolean {
    return this.#hasFailed || this.step === this.count;
  }

  /**
   * Returns the outcome of a request that was sent before the connection was lost. PostgreSQL executes messages in order: requests behind
   * the one with the FATAL error were not executed.
   * @param index the position in the pipeline
   * @param fatal the FATAL error of the server; null for none
   */
  transactionOutcome(index: number, fatal: Diagnostics | null): TransactionOutcome {
    if (fatal === null || !rolledBack.has(fatal.code)) return 'unknown';
    if (index > 0) return 'not started';
    // After the last statement, PostgreSQL may have committed before its ReadyForQuery. A procedure may commit earlier.
    return this.step === this.count || this.pending?.call.atomic === true ? 'unknown' : 'rolled back';
  }

  /** Returns the statement of the current step. */
  protected abstract statement(): Statement | undefined;

  parseComplete(): void {
    this.assertPhase('parse', 'ParseComplete');
    this.phase = 'bind';
  }

  bindComplete(): void {
    this.assertPhase('bind', 'BindComplete');
    this.phase = 'execute';
  }

  /** ParameterDescription. Only a step that describes its statement reads it. */
  parameterDescription(_readTypes: () => readonly number[]): void {
    // The types of a prepared statement are those that its text implies.
  }

  /** RowDescription or NoData, with the type OIDs of the result columns. */
  rowDescription(types: readonly number[], readColumns: () => readonly DescribedColumn[]): void {
    const statement = this.statement();
    const expected = statement?.columns;
    if (expected === undefined) return;
    const same =
      expected.length === types.length &&
      expected.every((oids, index) => oids === null || oids.includes(types[index]!));
    if (!same) this.error ??= columnsChanged(statement!.sql, describeTypes(expected, types), this.isRunning);
    if (statement!.columnNames === undefined) return;
    const names = readColumns().map(({ name }) => name);
    if (statement!.columnNames.some((name, index) => name !== names[index]))
      this.error ??= columnsChanged(
        statement!.sql,
        [statement!.columnNames.join(', '), names.join(', ')],
        this.isRunning,
      );
  }

  /** Whether the request runs its statements, and does not only prepare them. */
  protected get isRunning(): boolean {
    return true;
  }

  /**
   * A DataRow whose body begins at `start`. Only calls have a sink for rows.
   * @throws ProtocolViolation for an unexpected row
   */
  row(_chunk: Buffer, _start: number, _end: number): void {
    this.assertPhase('execute', 'DataRow');
  }

  /**
   * Two or more complete DataRow messages.
   * @returns the bytes of the messages that the sink took; `row` gets the others
   */
  rowMessages(_messages: Buffer): number {
    return 0;
  }

  /** CommandComplete. */
  statementComplete(): void {
    this.assertPhase('execute', 'CommandComplete');
    this.startStep(this.step + 1);
  }

  errorResponse(diagnostics: Diagnostics): void {
    this.#hasFailed = true;
    this.error ??= this.databaseError(diagnostics);
  }

  notice(_notice: Diagnostics): void {
    // Only calls receive notices.
  }

  /**
   * ReadyForQuery.
   * @param changedSetting a setting that the request left changed
   */
  abstract readyForQuery(now: number, changedSetting: string | null): void;

  /** Reports that the connection was lost. */
  abstract connectionLost(error: ConnectionLost, outcome: TransactionOutcome): void;

  protected databaseError(diagnostics: Diagnostics): DatabaseError {
    return new DatabaseError(diagnostics, this.step, this.phase, null);
  }

  /** Prepares the request for another execution of the same statements. */
  protected restart(): void {
    this.error = null;
    this.#hasFailed = false;
  }

  protected startStep(step: number): void {
    this.step = step;
    this.phase = this.statement()?.name === '' ? 'parse' : 'bind';
  }

  /** Throws for a message out of order: a response could otherwise reach the wrong caller. */
  protected assertPhase(phase: PipelinedRequest['phase'], message: string): void {
    if (this.phase !== phase || this.isComplete) throw new ProtocolViolation(`an unexpected ${message}`);
  }
}

/** Unnamed statements of the session itself. Without statements, it completes when all requests before it are complete. */
export class MaintenanceRequest extends PipelinedRequest {
  override readonly pending = null;
  protected override readonly count: number;
  readonly #onDone: (error: Error | null) => void;

  constructor(count: number, onDone: (error: Error | null) => void) {
    super();
    this.count = count;
    this.#onDone = onDone;
  }

  protected override statement(): undefined {
    return undefined;
  }

  protected override startStep(step: number): void {
    this.step = step;
    this.phase = 'parse';
  }

  override readyForQuery(): void {
    this.#onDone(this.error);
  }

  override connectionLost(error: ConnectionLost): void {
    this.#onDone(error);
  }
}

/** Describes types by their OIDs (`pg_type.oid`). */
function describeTypes(expected: NonNullable<Statement['columns']>, types: readonly number[]): ExpectedAndReceived {
  const expectedTypes = expected.map((oids) => (oids === null ? 'any' : oids.join(' or '))).join(', ');
  return [`types (${expectedTypes})`, `(${types.join(', ')})`];
}

type ExpectedAndReceived = readonly [expected: string, received: string];

function columnsChanged(sql: string, [expected, received]: ExpectedAndReceived, hasRun: boolean): ColumnMismatch {
  return new ColumnMismatch(
    `unexpected result columns: expected ${expected}, received ${received} from ${sql}`,
    sql,
    hasRun,
  );
}

/** Back-pressure on the server: pauses the socket while the sink accepts no rows. */
export class SocketFlow {
  readonly #socket: Duplex;
  isPaused = false;

  constructor(socket: Duplex) {
    this.#socket = socket;
  }

  pause(): void {
    if (this.isPaused) return;
    this.isPaused = true;
    this.#socket.pause();
  }

  resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.#socket.resume();
  }
}
