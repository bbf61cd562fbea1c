import { PipelinedRequest, type TransactionOutcome, type PendingCall } from './pipeline.ts';
import { validateDataRow } from './message-parser.ts';
import type { CallSteps } from './connection-mode.ts';
import { isRefusedByGuard } from './known-routines.ts';
import {
  type DescribedColumn,
  type Call,
  type CallHandle,
  type CallPlan,
  CallTimeout,
  ColumnMismatch,
  CallCancelled,
  ConnectionLost,
  DatabaseError,
  type Diagnostics,
  OutcomeUnknown,
  queryCanceled,
  readOnlySqlTransaction,
  RoutineChanged,
  type RowSink,
  type Statement,
  type Step,
} from './port.ts';

/** A class of SQLSTATEs. */
const connectionException = '08';
/** PostgreSQL's function that warns of a commit whose wait for a synchronous standby was cancelled. */
const syncRepWait = 'SyncRepWaitForLSN';
/** PostgreSQL's function that raises the errors of `statement_timeout` and of cancel requests. */
const processInterrupts = 'ProcessInterrupts';
/** The message of PostgreSQL for a cancel request, unless `lc_messages` translates it. */
const cancelledByRequest = 'canceling statement due to user request';
/** A statement that is cancelled after this part of its timeout counts as timed out: the clocks differ a little. */
const timeoutTolerance = 0.9;

/** Milliseconds that the first request may run before the connection takes no more calls. */
const maxShareAgeMs = 20;

export interface CallRequestOptions {
  readonly switchesRole: boolean;
  /** Milliseconds; 0 means no timeout. */
  readonly timeout: number;
  /** Whether a read-only server is no longer suitable, so that a write which it refuses may succeed on another connection. */
  readonly mustAcceptWrites: boolean;
  /** Prepares the statements again after the server has dropped one; called at most once. Null: the error has aborted a transaction. */
  readonly retry: ((request: CallRequest) => void) | null;
}

/** A call in the pipeline. */
export class CallRequest extends PipelinedRequest implements PendingCall {
  readonly call: Call;
  readonly steps: readonly Step[];
  /** Milliseconds; 0 means no timeout. */
  readonly timeout: number;
  /** The number of steps before those of the call. */
  readonly leadingSteps: number;
  override readonly opensTransaction: boolean;
  protected override readonly count: number;
  /** The caller has abandoned the call: its rows are dropped, and it fails with `CallCancelled`. */
  isAbandoned = false;
  /** The statement was cancelled because of the timeout of the call. */
  hasTimedOut = false;
  #isStalled = false;
  /** When the sink has applied back-pressure, by `performance.now()`. */
  #stalledAt = 0;
  /** Whether the time of the call has a part of its client, which has read slowly. */
  #hasStalled = false;
  /** The call runs on another connection: its outcome here is dropped. */
  isRequeued = false;
  /** Whether the first step discards the plans of another role. No call may join before that is done. */
  readonly switchesRole: boolean;
  readonly #mustAcceptWrites: boolean;
  /** Whether the statements are being prepared again, because the server has dropped one. */
  isPreparingAgain = false;
  /** Whether the call was sent with a generic plan: later, the mode of its plan may be another one. */
  hasGenericPlan = false;
  /** The handle that the caller holds. */
  handle: CallHandle | null = null;
  /** The setting that an earlier call left changed: the rows may be wrong and are dropped. */
  taintedBy: string | null = null;
  /** A row or a notice was delivered to the call. */
  #isDelivered = false;
  /** The wait for a synchronous standby was cancelled: the commit is lost if the primary fails now. */
  #isUnreplicated = false;
  /** A row was dropped because the session is tainted. */
  #hasDroppedRows = false;
  /** Null after its only use. */
  #retry: ((request: CallRequest) => void) | null;

  constructor(
    call: Call,
    adapted: CallSteps | null,
    { switchesRole, timeout, mustAcceptWrites, retry }: CallRequestOptions,
  ) {
    super();
    this.call = call;
    this.steps = adapted === null ? call.steps : adapted.steps;
    this.leadingSteps = adapted === null ? 0 : adapted.leadingSteps;
    this.opensTransaction = adapted !== null && adapted.opensTransaction;
    this.count = this.steps.length;
    this.switchesRole = switchesRole;
    this.timeout = timeout;
    this.#mustAcceptWrites = mustAcceptWrites;
    this.#retry = retry;
    this.startStep(0);
  }

  /** Whether the sink applies back-pressure. */
  get isStalled(): boolean {
    return this.#isStalled;
  }

  set isStalled(isStalled: boolean) {
    if (isStalled && !this.#isStalled) this.#stalledAt = performance.now();
    this.#isStalled = isStalled;
    this.#hasStalled ||= isStalled;
  }

  /** The last progress of the client of a stalled call, by `performance.now()`. */
  get progressedAt(): number {
    return Math.max(this.#stalledAt, this.call.reader?.progressedAt ?? 0);
  }

  /** Returns false when the call was already abandoned. */
  abandon(): boolean {
    const before = this.isAbandoned;
    this.isAbandoned = true;
    return !before;
  }

  override get pending(): CallRequest {
    return this;
  }

  /** Whether the outcome is no longer needed, so that the statement may be cancelled. */
  get isObsolete(): boolean {
    return this.isAbandoned || this.hasTimedOut || this.isRequeued;
  }

  /** Whether another call may follow on the connection: this one is short, still needed, and does not wait for locks. */
  override get mayBeFollowed(): boolean {
    if (this.isObsolete || this.isStalled || this.switchesRole) return false;
    const { mayShare, mayBlock, altersSession } = this.call;
    return mayShare && mayBlock !== true && altersSession !== true;
  }

  /** Whether the step that discards the plans of another role was executed. */
  get hasSwitchedRole(): boolean {
    return this.step > (this.opensTransaction ? 1 : 0);
  }

  /** Whether nothing was delivered to the caller, so that another connection can run the call. */
  get isUndelivered(): boolean {
    return !this.#isDelivered && !this.isObsolete;
  }

  protected override statement(): Statement | undefined {
    return this.steps[this.step]?.statement;
  }

  /** The sink of the current statement; null discards its rows. */
  get rows(): RowSink | null {
    if (this.isAbandoned || this.isRequeued || this.taintedBy !== null || this.error !== null) return null;
    return this.steps[this.step]?.rows ?? null;
  }

  override parameterDescription(readTypes: () => readonly number[]): void {
    this.steps[this.step]?.describes?.parameters(readTypes());
  }

  override rowDescription(types: readonly number[], readColumns: () => readonly DescribedColumn[]): void {
    const describes = this.steps[this.step]?.describes;
    if (describes !== undefined) {
      this.assertPhase('bind', 'RowDescription');
      describes.columns(readColumns());
      return this.startStep(this.step + 1);
    }
    super.rowDescription(types, readColumns);
    this.rows?.columns?.(types);
  }

  override row(chunk: Buffer, start: number, end: number): void {
    this.assertPhase('execute', 'DataRow');
    const { rows } = this;
    if (rows === null) {
      this.#hasDroppedRows ||= this.taintedBy !== null && this.steps[this.step]!.rows !== undefined;
      return;
    }
    this.#isDelivered = true;
    const fields = chunk.readUInt16BE(start);
    validateDataRow(chunk, start + 2, end, fields);
    if (!rows.row(chunk, start + 2, fields)) this.isStalled = true;
  }

  override rowMessages(messages: Buffer): number {
    this.assertPhase('execute', 'DataRow');
    const taken = this.rows?.rowMessages?.(messages) ?? 0;
    if (taken > 0) this.#isDelivered = true;
    return taken;
  }

  override statementComplete(): void {
    super.statementComplete();
    this.call.stepEnded?.(this.step - this.leadingSteps - 1);
  }

  override notice(notice: Diagnostics): void {
    this.#isUnreplicated ||= notice.routine === syncRepWait;
    if (this.isAbandoned || this.isRequeued || this.call.notice === undefined) return;
    this.#isDelivered = true;
    this.call.notice(notice, this.step - this.leadingSteps);
  }

  /** Whether the call was executed but its rows were dropped. */
  get isTainted(): boolean {
    return this.#hasDroppedRows && this.error === null;
  }

  /** Reports the time of a call that still runs to its plan. */
  reportRunning(elapsedMs: number): void {
    if (!this.#hasStalled) this.call.plan?.running(elapsedMs, this.hasGenericPlan);
  }

  override readyForQuery(now: number, changedSetting: string | null): void {
    if (this.isRequeued) return;
    if (this.call.plan) this.#reportTime(this.call.plan, now - this.startedAt);
    if (this.isAbandoned) this.call.failed(this.#cancelled(this.#isUnreplicated ? 'unknown' : 'executed'));
    else if (this.error !== null) this.#failOrRetry(this.error, now);
    else if (this.#isUnreplicated)
      this.call.failed(new OutcomeUnknown('no synchronous standby has confirmed the commit'));
    else if (this.#hasDroppedRows) this.call.failed(this.#taintedError());
    else this.call.done(now - this.startedAt, changedSetting);
  }

  #reportTime(plan: CallPlan, elapsedMs: number): void {
    if (this.#hasStalled) return;
    if (this.isAbandoned || this.error !== null) plan.failed(elapsedMs, this.hasGenericPlan);
    else plan.ended(elapsedMs, this.hasGenericPlan);
  }

  /** Whether the call failed because one of its statements has to be prepared again. */
  get hasStaleStatement(): boolean {
    return this.error !== null && isStalePreparedStatement(this.error);
  }

  /** Whether the server refused a write, although it was selected because it accepts writes: it is a standby now. */
  get isOnReadOnlyServer(): boolean {
    const { error } = this;
    if (!this.#mustAcceptWrites || this.call.isReadOnly === true) return false;
    return error instanceof DatabaseError && error.diagnostics.code === readOnlySqlTransaction;
  }

  #failOrRetry(error: Error, now: number): void {
    if (this.isOnReadOnlyServer)
      this.call.failed(new ConnectionLost('the server has become read-only', { cause: error }));
    else if (this.#retry !== null && this.#hasReturnedNoRows() && this.hasStaleStatement)
      this.#retryPrepared(this.#retry!);
    else this.call.failed(this.#timeoutOr(error, now));
  }

  /** Whether the statements, which could not be prepared, may be looked up and prepared once more. */
  takeRetry(error: Error): boolean {
    if (this.#retry === null || this.isObsolete || !isStalePreparedStatement(error)) return false;
    this.#retry = null;
    return true;
  }

  /** Fails the call: its statements could not be prepared, or the call became obsolete in the meantime. */
  prepareFailed(error: Error | null, startedAt: number): void {
    this.startedAt = startedAt;
    this.sentBehind = null;
    this.error = error ?? this.#timeoutError();
    this.#retry = null;
    this.readyForQuery(performance.now(), null);
  }

  override connectionLost(error: ConnectionLost, outcome: TransactionOutcome): void {
    if (this.isRequeued) return;
    if (this.error !== null && isOfLostServer(this.error)) this.error = null;
    if (this.isAbandoned) this.call.failed(this.#cancelled(outcome === 'unknown' ? 'unknown' : 'not executed'));
    else if (this.error !== null) this.call.failed(this.error);
    else if (outcome === 'unknown' && this.call.idempotent !== true)
      this.call.failed(new OutcomeUnknown(error.message, { cause: error }));
    else this.call.failed(error);
  }

  protected override databaseError(diagnostics: Diagnostics): DatabaseError {
    const { step, leadingSteps, phase } = this;
    return new DatabaseError(diagnostics, step - leadingSteps, phase, this.steps[step]?.label ?? null);
  }

  /** @param outcome that of a call without an error of the server */
  #cancelled(outcome: CallCancelled['outcome']): CallCancelled {
    return new CallCancelled('the caller abandoned the call', this.error === null ? outcome : 'not executed');
  }

  #taintedError(): ConnectionLost {
    const reason = `an earlier call on the same connection left ${this.taintedBy} changed`;
    return this.call.idempotent === true ? new ConnectionLost(reason) : new OutcomeUnknown(reason);
  }

  #hasReturnedNoRows(): boolean {
    return this.steps.slice(0, this.step).every((step) => step.rows === undefined);
  }

  #retryPrepared(retry: (request: CallRequest) => void): void {
    this.#retry = null;
    this.isPreparingAgain = true;
    this.restart();
    this.startStep(0);
    retry(this);
  }

  #timeoutOr(error: Error, now: number): Error {
    if (error instanceof DatabaseError && isRefusedByGuard(error.diagnostics)) return this.#routineChanged(error);
    const { timeout, earliestStart } = this;
    const elapsed = this.hasTimedOut ? Infinity : now - earliestStart;
    return isTimeout(error, { timeout, elapsed }) ? this.#timeoutError() : error;
  }

  #routineChanged(error: DatabaseError): Error {
    const guard = this.call.steps[error.step]?.statement.guard;
    return guard === undefined ? error : new RoutineChanged(guard.signature, 'was created anew', true);
  }

  #timeoutError(): CallTimeout {
    return new CallTimeout(`no answer within ${this.timeout} ms`);
  }
}

/**
 * Returns whether an error is that of the `statement_timeout` of a call, or of the cancel request of a call that took too long. The SQLSTATE of both
 * is that of any other cancel request. The message tells them apart; where it is translated, and for a shorter `statement_timeout` of the
 * database's own code, the time decides.
 * @param time `timeout` is 0 without a timeout; `elapsed` is at least the time of the statement, and infinite after the cancel request of the
 *   gateway; both in milliseconds
 */
export function isTimeout(
  error: Error,
  { timeout, elapsed }: { readonly timeout: number; readonly elapsed: number },
): error is DatabaseError {
  if (!(error instanceof DatabaseError) || error.diagnostics.code !== queryCanceled) return false;
  if (elapsed === Infinity) return true;
  const { message, routine = processInterrupts } = error.diagnostics;
  if (message === cancelledByRequest || routine !== processInterrupts) return false;
  return timeout > 0 && elapsed >= timeout * timeoutTolerance;
}

/**
 * Returns whether an error before the end of a connection may be that of a connection pooler which has lost the server, and says nothing about the
 * statement. PgBouncer sends "server conn crashed?" with the severity of a failed statement, and in the middle of the message that it was passing on:
 * columns that do not match may be the text of its error.
 */
function isOfLostServer(error: Error): boolean {
  if (error instanceof ColumnMismatch) return true;
  if (!(error instanceof DatabaseError)) return false;
  const { code, message } = error.diagnostics;
  // A call that has got no connection of the pooler was not executed.
  return code.startsWith(connectionException) && message !== 'query_wait_timeout';
}

/**
 * Returns whether the server has deallocated the statement (26000), its plan has other result columns now (0A000), the type of a parameter
 * was dropped (an internal error, whose message is not translated), or its routine was created anew. PostgreSQL detects all of them before
 * the statement runs, so that it is safe to prepare and run it again.
 */
function isStalePreparedStatement(error: Error): boolean {
  if (!(error instanceof DatabaseError)) return false;
  const { code, routine, message } = error.diagnostics;
  if (isRefusedByGuard(error.diagnostics)) return true;
  if (error.phase !== 'bind') return false;
  if (code === 'XX000') return message.startsWith('cache lookup failed for type');
  return code === '26000' || (code === '0A000' && routine === 'RevalidateCachedQuery');
}

/**
 * Returns whether a short call may join the pipeline.
 * @param now `performance.now()`
 */
export function canAppendCall(requests: readonly PipelinedRequest[], now: number): boolean {
  const first = requests[0];
  if (first !== undefined && now - first.startedAt > maxShareAgeMs) return false;
  for (const request of requests) if (!request.mayBeFollowed) return false;
  return true;
}

/** Returns the call that holds its connection because its client does not read; null for none. */
export function findStalledCall(requests: readonly PipelinedRequest[]): CallRequest | null {
  const [first] = requests;
  return requests.length === 1 && first instanceof CallRequest && first.isStalled && !first.isObsolete ? first : null;
}
