import { PipelinedRequest, type TransactionOutcome, type PendingCall } from './pipeline.ts';
import { validateDataRow } from './message-parser.ts';
import type { CallSteps } from './connection-mode.ts';
import {
  type Call,
  type CallHandle,
  CallTimeout,
  CallCancelled,
  ConnectionLost,
  DatabaseError,
  type Diagnostics,
  OutcomeUnknown,
  type RowSink,
  type Statement,
  type Step,
} from './port.ts';

const queryCanceled = '57014';
/** A statement cancelled after this part of its timeout was cancelled by the timeout: clocks differ a little. */
const timeoutTolerance = 0.9;

/** Milliseconds that the call at the head may run before the connection takes no more calls. */
const oldestHead = 20;

export interface CallRequestOptions {
  readonly switchesRole: boolean;
  /** Milliseconds; 0 is without end. */
  readonly timeout: number;
  /** Takes over when a prepared statement turned out to be gone: once. */
  readonly retry: (run: CallRequest) => void;
}

/** One call of the port. */
export class CallRequest extends PipelinedRequest implements PendingCall {
  readonly call: Call;
  readonly steps: readonly Step[];
  /** Milliseconds; 0 is without end. */
  readonly timeout: number;
  /** How many steps stand before the call's own. */
  readonly leadingSteps: number;
  override readonly opensTransaction: boolean;
  protected override readonly count: number;
  /** No caller waits any more: rows are dropped, and the outcome is told as `Cancelled`. */
  isAbandoned = false;
  /** The statement was cancelled because of the call's timeout. */
  timedOut = false;
  /** The sink asked for a pause. */
  stalled = false;
  /** The call is being run again elsewhere: its outcome here is dropped. */
  isRequeued = false;
  /** Its first step drops the plans of another role: until that is done, no call of its own role may count on it. */
  readonly switchesRole: boolean;
  /** Its statements are prepared again, because the server did not know one of them any more. */
  isPreparingAgain = false;
  /** What its caller holds of it. */
  handle: CallHandle | null = null;
  /** The setting that a call before this one left changed: rows are not what they should be, and are dropped. */
  taintedBy: string | null = null;
  /** A row or a notice has reached the call. */
  #begun = false;
  /** A row was dropped because the session was changed. */
  #dropped = false;
  /** Takes over when a prepared statement turned out to be gone: once. */
  #retry: ((run: CallRequest) => void) | null;

  constructor(call: Call, adapted: CallSteps | null, { switchesRole, timeout, retry }: CallRequestOptions) {
    super();
    this.call = call;
    this.steps = adapted === null ? call.steps : adapted.steps;
    this.leadingSteps = adapted === null ? 0 : adapted.leadingSteps;
    this.opensTransaction = adapted !== null && adapted.begun;
    this.count = this.steps.length;
    this.switchesRole = switchesRole;
    this.timeout = timeout;
    this.#retry = retry;
    this.startStep(0);
  }

  /** False: it was abandoned before. */
  abandon(): boolean {
    const before = this.isAbandoned;
    this.isAbandoned = true;
    return !before;
  }

  override get pending(): CallRequest {
    return this;
  }

  /** Its outcome is of no interest any more, and its statement may be cancelled. */
  get isObsolete(): boolean {
    return this.isAbandoned || this.timedOut || this.isRequeued;
  }

  /** Whether a call may go behind it on the connection: it has to be quick, wanted, and must not wait for others. */
  get mayBeFollowed(): boolean {
    if (this.isObsolete || this.stalled || this.switchesRole) return false;
    const { mayShare, mayBlock, altersSession } = this.call;
    return mayShare && mayBlock !== true && altersSession !== true;
  }

  /** The step that drops the plans of another role was executed. */
  get hasSwitchedRole(): boolean {
    return this.step > (this.opensTransaction ? 1 : 0);
  }

  /** Nothing of the call's has reached its caller: it can be run elsewhere as if it had never been here. */
  get isUndelivered(): boolean {
    return !this.#begun && !this.isObsolete;
  }

  protected override statement(): Statement | undefined {
    return this.steps[this.step]?.statement;
  }

  /** The sink of the statement whose rows are coming; null discards them. */
  get rows(): RowSink | null {
    if (this.isAbandoned || this.isRequeued || this.taintedBy !== null || this.error !== null) return null;
    return this.steps[this.step]?.rows ?? null;
  }

  override row(chunk: Buffer, start: number, end: number): void {
    this.assertPhase('execute', 'DataRow');
    const { rows } = this;
    if (rows === null) {
      this.#dropped ||= this.taintedBy !== null && this.steps[this.step]!.rows !== undefined;
      return;
    }
    this.#begun = true;
    const fields = chunk.readUInt16BE(start);
    validateDataRow(chunk, start + 2, end, fields);
    if (!rows.row(chunk, start + 2, fields)) this.stalled = true;
  }

  override notice(notice: Diagnostics): void {
    if (this.isAbandoned || this.isRequeued || this.call.notice === undefined) return;
    this.#begun = true;
    this.call.notice(notice);
  }

  /** The call was executed, but its rows were dropped. */
  get isTainted(): boolean {
    return this.#dropped && this.error === null;
  }

  override readyForQuery(now: number, left: string | null): void {
    if (this.isRequeued) return;
    if (this.isAbandoned) this.call.failed(new CallCancelled('the caller went away'));
    else if (this.error !== null) this.#refusedWith(this.error, now);
    else if (this.#dropped) this.call.failed(this.#spoiledError());
    else this.call.done(now - this.startedAt, left);
  }

  #refusedWith(error: Error, now: number): void {
    const stale = this.#retry !== null && this.#nothingWasGiven() && preparedStatementIsStale(error);
    if (stale) this.#again(this.#retry!);
    else this.call.failed(this.#explained(error, now));
  }

  /** Its statements could not be prepared, or its caller is gone now that they are. */
  prepareFailed(error: Error | null, startedAt: number): void {
    this.startedAt = startedAt;
    this.error = error ?? this.#late();
    this.#retry = null;
    this.readyForQuery(performance.now(), null);
  }

  override connectionLost(error: ConnectionLost, fate: TransactionOutcome): void {
    if (this.isRequeued) return;
    if (this.isAbandoned) this.call.failed(new CallCancelled('the caller went away'));
    else if (this.error !== null) this.call.failed(this.error);
    else if (fate === 'unknown' && this.call.idempotent !== true)
      this.call.failed(new OutcomeUnknown(error.message, { cause: error }));
    else this.call.failed(error);
  }

  protected override databaseError(diagnostics: Diagnostics): DatabaseError {
    return new DatabaseError(diagnostics, this.step - this.leadingSteps, this.phase);
  }

  #spoiledError(): ConnectionLost {
    const reason = `a call before it on its connection has left ${this.taintedBy} changed`;
    return this.call.idempotent === true ? new ConnectionLost(reason) : new OutcomeUnknown(reason);
  }

  #nothingWasGiven(): boolean {
    return this.steps.slice(0, this.step).every((step) => step.rows === undefined);
  }

  #again(retry: (run: CallRequest) => void): void {
    this.#retry = null;
    this.isPreparingAgain = true;
    this.restart();
    this.startStep(0);
    retry(this);
  }

  #explained(error: Error, now: number): Error {
    if (!(error instanceof DatabaseError) || error.diagnostics.code !== queryCanceled) return error;
    const { timeout } = this;
    const ours = this.timedOut || (timeout > 0 && now - this.startedAt >= timeout * timeoutTolerance);
    return ours ? this.#late() : error;
  }

  #late(): CallTimeout {
    return new CallTimeout(`no answer within ${this.timeout} ms`);
  }
}

/**
 * The statement was deallocated behind our back, or its plan can no longer give the columns it was prepared with. Both
 * are found out before anything of the statement has run, so that it is safe to prepare and run it again.
 */
function preparedStatementIsStale(error: Error): boolean {
  if (!(error instanceof DatabaseError) || error.phase !== 'bind') return false;
  const { code, routine } = error.diagnostics;
  return code === '26000' || (code === '0A000' && routine === 'RevalidateCachedQuery');
}

/** Whether a short call may go behind those that are in flight, at this time of `performance.now()`. */
export function mayBeFollowed(exchanges: readonly PipelinedRequest[], now: number): boolean {
  const head = exchanges[0];
  if (head !== undefined && now - head.startedAt > oldestHead) return false;
  for (const exchange of exchanges) if (!(exchange instanceof CallRequest) || !exchange.mayBeFollowed) return false;
  return true;
}
