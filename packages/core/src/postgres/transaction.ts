import { removeNames, type TransactionSteps } from './connection-mode.ts';
import {
  type Call,
  CallCancelled,
  type CallHandle,
  ConnectionLost,
  DatabaseError,
  type ExclusiveRunner,
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
  /** Whether the next call has to wait until the calls before it have ended. */
  readonly mustWait: boolean;
  /** Whether the transaction was open after the last call. */
  readonly inTransaction: boolean;
  /** Rolls back when no call runs. Releases the connection, or closes it, and then calls `ended`. */
  rollBack(rollback: Omit<Call, 'done' | 'failed'>, ended: () => void): void;
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

  /** While a call waits for its statements, a call that is sent would run before it. */
  get mustWait(): boolean {
    return this.#session.isPreparing;
  }

  get inTransaction(): boolean {
    return this.#session.inTransaction;
  }

  run(call: Call): CallHandle {
    const request = this.#session.run(call);
    return { resume: () => this.#session.resume(request), cancel: () => this.#session.abandon(request) };
  }

  rollBack(rollback: Omit<Call, 'done' | 'failed'>, ended: () => void): void {
    const session = this.#session;
    session.state.forgetRole();
    const done = (): void => {
      session.release();
      ended();
    };
    const failed = (): void => {
      session.destroy('the transaction could not be rolled back');
      ended();
    };
    session.run({ ...rollback, role: undefined, done, failed });
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
  /** The calls that were sent and have not ended. */
  readonly #running = new Set<TransactionCall>();
  /** The error of calls after the end of the transaction; null before it. */
  #endError: Error | null = null;
  #mustRollBack = false;
  #resolveEnd: () => void = () => undefined;
  /** Resolves when the connection is free. */
  readonly #hasEnded = new Promise<void>((resolve) => (this.#resolveEnd = resolve));

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
    await transaction.rollback();
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

  rollback(): Promise<void> {
    if (this.#endError === null) this.#abort(new CallCancelled('the transaction was rolled back'));
    return this.#hasEnded;
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
    return !this.#connection.mustWait && (!isLast || this.#running.size === 0);
  }

  #start(queued: TransactionCall): void {
    const { call, isLast } = queued;
    const { role, altersSession } = this.#options;
    this.#running.add(queued);
    queued.handle = this.#connection.run({
      ...call,
      steps: isLast ? [...call.steps, ...this.#connection.steps.commit] : call.steps,
      role,
      altersSession: altersSession || call.altersSession === true,
      notice: (notice, step) =>
        call.notice === undefined ? this.#options.notice?.(notice) : call.notice(notice, step),
      // Before the commit, a lost connection has no effect in the database: the error is a transient one.
      idempotent: !isLast,
      done: (elapsed, changedSetting) => {
        this.#running.delete(queued);
        if (isLast) this.#end(new Error('the transaction has ended'));
        else if (!this.#connection.inTransaction) this.#abort(new Error('a statement has ended the transaction'));
        if (isLast || this.#endError === null) call.done(elapsed, changedSetting);
        else call.failed(this.#endError);
        this.#proceed();
      },
      failed: (error) => {
        this.#running.delete(queued);
        if (error instanceof ConnectionLost) this.#end(error, error);
        else if (isLast && error instanceof CallCancelled && error.outcome === 'executed') this.#end(error);
        else this.#abort(error);
        call.failed(isLast ? error : this.#endError!);
        this.#proceed();
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
    this.#resolveEnd();
  }

  #abort(error: Error): void {
    if (this.#endError !== null) return;
    this.#endError = error;
    this.#mustRollBack = true;
    // After an error of the server, the statements behind it fail by themselves.
    if (!(error instanceof DatabaseError)) for (const call of this.#running) call.cancel();
    queueMicrotask(() => this.#proceed());
  }

  /** Starts or fails calls that wait, and rolls back an aborted transaction after its last call. */
  #proceed(): void {
    this.#startWaiting();
    if (!this.#mustRollBack || this.#running.size > 0) return;
    this.#mustRollBack = false;
    const { timeout, altersSession } = this.#options;
    const { rollback: steps } = this.#connection.steps;
    this.#connection.rollBack({ steps, mayShare: false, altersSession, timeout }, this.#resolveEnd);
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
