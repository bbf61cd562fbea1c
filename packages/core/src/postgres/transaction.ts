import { removeNames, type TransactionSteps } from './connection-mode.ts';
import {
  type Call,
  CallCancelled,
  type CallHandle,
  ConnectionLost,
  DatabaseError,
  type ExclusiveRunner,
  OutcomeUnknown,
  type Runner,
  type Step,
  type Transaction,
  type TransactionOptions,
} from './port.ts';
import type { Session } from './session.ts';

/** A connection that a transaction has for itself. */
export interface TransactionConnection extends Runner {
  readonly steps: TransactionSteps;
  /** Milliseconds that a statement may take; 0 means no timeout. */
  readonly statementTimeout: number;
  /** Whether a call waits for its statements. A call that is sent now would run before it. */
  readonly isPreparing: boolean;
  /** Whether the transaction was open after the last call. */
  readonly inTransaction: boolean;
  /**
   * Rolls back. Calls `release` in the end, or closes the connection.
   * @param cancels whether statements run that have to be cancelled
   */
  abort(rollback: Omit<Call, 'done' | 'failed'>, cancels: boolean): void;
  /** Called once, when the transaction has ended. */
  release(error?: Error): void;
}

/** A session of the pool, reserved for one transaction. */
export class SessionConnection implements TransactionConnection {
  readonly steps: TransactionSteps;
  readonly #session: Session;

  constructor(session: Session, options: TransactionOptions) {
    this.#session = session;
    this.steps = session.reserve(options);
  }

  get statementTimeout(): number {
    return this.#session.state.statementTimeout;
  }

  get isPreparing(): boolean {
    return this.#session.isPreparing;
  }

  get inTransaction(): boolean {
    return this.#session.inTransaction;
  }

  run(call: Call): CallHandle {
    const request = this.#session.run(call);
    return { resume: () => this.#session.resume(request), cancel: () => this.#session.abandon(request) };
  }

  /** Closes a connection with a running statement: a cancel request could hit a later statement. */
  abort(rollback: Omit<Call, 'done' | 'failed'>, cancels: boolean): void {
    const session = this.#session;
    // A call that is being prepared would run after the rollback.
    if (cancels || session.isPreparing) return session.destroy('the transaction was abandoned');
    session.state.forgetRole();
    const failed = (): void => session.destroy('the transaction could not be rolled back');
    session.run({ ...rollback, role: undefined, done: () => session.release(), failed });
  }

  release(): void {
    this.#session.release();
  }
}

/** A transaction of several calls on one connection. */
export class CallTransaction implements Transaction {
  readonly #connection: TransactionConnection;
  readonly #options: TransactionOptions;
  /** The calls that were not sent yet, in order. */
  readonly #waiting: TransactionCall[] = [];
  /** The number of calls that were sent and have not ended. */
  #running = 0;
  /** The error of calls after the end of the transaction; null before it. */
  #endError: Error | null = null;

  private constructor(connection: TransactionConnection, options: TransactionOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  /** @throws as `Call.failed`; the connection is then released */
  static async begin(connection: TransactionConnection, options: TransactionOptions): Promise<Transaction> {
    const transaction = new CallTransaction(connection, options);
    const { settings, signal } = options;
    // Without names: a failure because of a stale prepared statement could not be retried.
    await transaction.run(removeNames([...connection.steps.begin, ...(settings === null ? [] : [settings])]));
    if (signal?.aborted !== true) return transaction;
    transaction.rollback();
    throw new CallCancelled('the caller abandoned the transaction');
  }

  readonly commit: ExclusiveRunner = {
    run: (call) => this.#enqueue(call, true),
    withoutRelease: { run: (call) => this.#enqueue(call, false) },
  };

  run(steps: readonly Step[]): Promise<void> {
    const timeout = (this.#options.timeout ?? this.#connection.statementTimeout) * steps.length;
    return new Promise((resolve, reject) => {
      this.#enqueue({ steps, mayShare: false, timeout, done: () => resolve(), failed: reject }, false);
    });
  }

  rollback(): void {
    if (this.#endError === null) this.#abort(new CallCancelled('the transaction was rolled back'));
  }

  #enqueue(call: Call, isLast: boolean): CallHandle {
    const queued = new TransactionCall(call, isLast, () => this.#cancelWaiting(queued));
    this.#waiting.push(queued);
    // Asynchronously: the caller has no handle before this function returns.
    queueMicrotask(() => this.#startWaiting());
    return queued;
  }

  #startWaiting(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (this.#endError === null && !this.#mayStart(next)) return;
      this.#waiting.shift();
      if (this.#endError === null) this.#start(next);
      else next.call.failed(this.#endError);
    }
  }

  /** The last call would commit what is left of a transaction whose statement has failed before. */
  #mayStart({ isLast }: TransactionCall): boolean {
    return !this.#connection.isPreparing && (!isLast || this.#running === 0);
  }

  #start(queued: TransactionCall): void {
    const { call, isLast } = queued;
    const { role, altersSession } = this.#options;
    this.#running++;
    queued.handle = this.#connection.run({
      ...call,
      steps: isLast ? [...call.steps, ...this.#connection.steps.commit] : call.steps,
      role,
      altersSession: altersSession || call.altersSession === true,
      notice: (notice) => (call.notice === undefined ? this.#options.notice?.(notice) : call.notice(notice)),
      // Before the commit, a lost connection has no effect in the database: the error is a transient one.
      idempotent: !isLast,
      done: (elapsed, changedSetting) => {
        this.#running--;
        if (isLast) this.#end(new Error('the transaction has ended'));
        else if (!this.#connection.inTransaction) this.#abort(new Error('a statement has ended the transaction'));
        if (isLast || this.#endError === null) call.done(elapsed, changedSetting);
        else call.failed(this.#endError);
        this.#startWaiting();
      },
      failed: (error) => {
        this.#running--;
        if (error instanceof ConnectionLost) this.#end(error, error);
        else if (isLast && error instanceof CallCancelled && error.hasCompleted) this.#end(error);
        else this.#abort(error);
        call.failed(error instanceof OutcomeUnknown ? error : this.#endError!);
        this.#startWaiting();
      },
    });
  }

  #cancelWaiting(queued: TransactionCall): void {
    const index = this.#waiting.indexOf(queued);
    if (index === -1) return;
    this.#waiting.splice(index, 1);
    const error = new CallCancelled('the caller abandoned the call');
    this.#abort(error);
    queued.call.failed(error);
  }

  #end(endError: Error, lost?: ConnectionLost): void {
    if (this.#endError !== null) return;
    this.#endError = endError;
    this.#connection.release(lost);
  }

  #abort(error: Error): void {
    if (this.#endError !== null) return;
    this.#endError = error;
    const { timeout, altersSession } = this.#options;
    // After an error of the server, the statements behind it fail by themselves.
    const cancels = this.#running > 0 && !(error instanceof DatabaseError);
    const { rollback: steps } = this.#connection.steps;
    this.#connection.abort({ steps, mayShare: false, altersSession, timeout }, cancels);
    queueMicrotask(() => this.#startWaiting());
  }
}

/** A call of a transaction, which may have to wait for the calls before it. */
class TransactionCall implements CallHandle {
  readonly call: Call;
  /** Whether the transaction commits after the call. */
  readonly isLast: boolean;
  /** Null while the call waits. */
  handle: CallHandle | null = null;
  readonly #cancelWaiting: () => void;

  constructor(call: Call, isLast: boolean, cancelWaiting: () => void) {
    this.call = call;
    this.isLast = isLast;
    this.#cancelWaiting = cancelWaiting;
  }

  resume(): void {
    this.handle?.resume();
  }

  cancel(): void {
    if (this.handle === null) this.#cancelWaiting();
    else this.handle.cancel();
  }
}
