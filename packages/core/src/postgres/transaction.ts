import type { TransactionSteps } from './connection-mode.ts';
import {
  type Call,
  type CallHandle,
  ConnectionLost,
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
  /** Cancels running statements and rolls back. Calls `release` in the end. */
  abort(rollback: Omit<Call, 'done' | 'failed'>): void;
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

  run(call: Call): CallHandle {
    const request = this.#session.run(call);
    return { resume: () => this.#session.resume(request), cancel: () => this.#session.abandon(request) };
  }

  /** Closes a connection with a running statement: a cancel request could hit a later statement. */
  abort(rollback: Omit<Call, 'done' | 'failed'>): void {
    const session = this.#session;
    if (!session.isQuiet) return session.destroy('the transaction was abandoned');
    const failed = (): void => session.destroy('the transaction could not be rolled back');
    session.run({ ...rollback, done: () => session.release(), failed });
  }

  release(): void {
    this.#session.release();
  }
}

/** A transaction of several calls on one connection. */
export class CallTransaction implements Transaction {
  readonly #connection: TransactionConnection;
  readonly #options: TransactionOptions;
  #hasEnded = false;

  private constructor(connection: TransactionConnection, options: TransactionOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  /** @throws as `Call.failed`; the connection is then released */
  static async begin(connection: TransactionConnection, options: TransactionOptions): Promise<Transaction> {
    const transaction = new CallTransaction(connection, options);
    const { settings } = options;
    await transaction.run([...connection.steps.begin, ...(settings === null ? [] : [settings])]);
    return transaction;
  }

  readonly commit: ExclusiveRunner = {
    run: (call) => this.#runLast(call),
    withoutRelease: { run: (call) => this.#send(this.#adapt(call)) },
  };

  run(steps: readonly Step[]): Promise<void> {
    const timeout = (this.#options.timeout ?? this.#connection.statementTimeout) * steps.length;
    return new Promise((resolve, reject) => {
      this.#send(this.#adapt({ steps, mayShare: false, timeout, done: () => resolve(), failed: reject }));
    });
  }

  rollback(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const { timeout } = this.#options;
    this.#connection.abort({ ...this.#common, steps: this.#connection.steps.rollback, mayShare: false, timeout });
  }

  get #common(): Pick<Call, 'altersSession' | 'role' | 'notice'> {
    const { role, altersSession } = this.#options;
    return { role, altersSession, notice: (notice) => this.#options.notice?.(notice) };
  }

  /** Returns the call as part of the transaction: its failure ends the transaction. */
  #adapt(call: Call): Call {
    return {
      ...call,
      ...this.#common,
      // Before the commit, a lost connection has no effect in the database: the error is a transient one.
      idempotent: true,
      failed: (error) => {
        if (error instanceof ConnectionLost) this.#end(error);
        else this.rollback();
        call.failed(error);
      },
    };
  }

  #end(error?: Error): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#connection.release(error);
  }

  #runLast(call: Call): CallHandle {
    return this.#send({
      ...this.#adapt(call),
      steps: [...call.steps, ...this.#connection.steps.commit],
      idempotent: false,
      done: (elapsed, changedSetting) => {
        this.#end();
        call.done(elapsed, changedSetting);
      },
    });
  }

  #send(call: Call): CallHandle {
    if (!this.#hasEnded) return this.#connection.run(call);
    queueMicrotask(() => call.failed(new ConnectionLost('the transaction has ended')));
    return { resume: () => undefined, cancel: () => undefined };
  }
}
