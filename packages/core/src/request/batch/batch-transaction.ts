import {
  type Call,
  CallCancelled,
  type CallHandle,
  type Database,
  type DatabaseError,
  type IsolationLevel,
  type Step,
  type Transaction,
} from '../../postgres/port.ts';
import { idempotencyStates } from '../../endpoints/idempotency-store.ts';
import { mergeCalls } from '../../postgres/merge-calls.ts';
import { Problem } from '../../http/problem.ts';
import { isErrorOf, labelled, settingsStep } from '../call-steps.ts';
import { restoreSettings, saveSettings } from './kept-settings.ts';

/** The error that has ended the transaction of a batch. */
export interface TransactionFailure {
  readonly error: Error;
  /** The position of the request whose call has failed; null: unknown, or none of them. */
  readonly item: number | null;
}

export interface BatchTransactionOptions {
  /** Null: that of the session. */
  readonly isolation: IsolationLevel | null;
  /** Milliseconds; for calls without a timeout of their own. */
  readonly timeout: number;
  /** As in `Call`. */
  readonly altersSession: boolean;
  /** Whether calls may leave a role or settings to the calls behind them, which must not get them. */
  readonly altersTransaction: boolean;
  /** The first step of the transaction, which claims an idempotency key: its error prevents all calls. Null: no key. */
  readonly claim: Step | null;
}

interface QueuedCall {
  readonly call: Call;
  /** Null: a call of the batch itself. */
  readonly item: number | null;
}

/** The one transaction of a batch. Its calls wait until they are sent together, in one round trip. */
export class BatchTransaction {
  readonly #database: Database;
  readonly #options: BatchTransactionOptions;
  readonly #abort = new AbortController();
  #waiting: QueuedCall[] = [];
  /** Null while all calls may be sent with the commit. */
  #transaction: Transaction | null = null;
  #running: CallHandle | null = null;
  /** That of all calls. Null before the first one. */
  #role: Pick<Call, 'role'> | null = null;
  #startedAt: number | null = null;
  /** The longest timeout of the calls, in milliseconds; 0 means no timeout. */
  #timeout = 1;
  #failure: TransactionFailure | null = null;
  /** Whether the commit has been sent. */
  hasSentCommit = false;
  #claimError: DatabaseError | null = null;

  constructor(database: Database, options: BatchTransactionOptions) {
    this.#database = database;
    this.#options = options;
  }

  /** Null while the transaction can go on. */
  get failure(): TransactionFailure | null {
    return this.#failure;
  }

  /** Null unless the key could not be claimed. */
  get claimError(): DatabaseError | null {
    return this.#claimError;
  }

  /** Whether a batch with the key has succeeded before. */
  get isRepeated(): boolean {
    return this.#claimError?.diagnostics.code === idempotencyStates.repeated;
  }

  /** As in `Call`; that of all calls. */
  get role(): Call['role'] {
    return this.#role?.role;
  }

  /** Adds a call to the next round trip. */
  enqueue(call: Call, item: number): CallHandle {
    const { altersTransaction, timeout } = this.#options;
    const steps = altersTransaction ? [...call.steps, restoreSettings] : call.steps;
    this.#waiting.push({ call: { ...call, steps, timeout: call.timeout ?? timeout }, item });
    const resume = (): void => this.#running?.resume();
    // The other calls of the round trip go on. A cancelled response discards its rows, for which PostgreSQL must not wait.
    return { resume, cancel: resume };
  }

  /** Runs the calls that wait, and leaves the transaction open. Their errors are in `failure`. */
  async flush(): Promise<void> {
    if (this.#waiting.length === 0 || this.#failure !== null) return this.#dropWaiting();
    if (!this.#checkRole()) return;
    try {
      if (this.#transaction === null) {
        this.#transaction = await this.#begin();
        this.#enqueueClaim();
      }
    } catch (error) {
      return this.#fail(error as Error, null);
    }
    const { withoutRelease } = this.#transaction.commit;
    await this.#send((call) => withoutRelease.run(call), false);
  }

  /**
   * Runs the calls that wait, and commits in the same round trip. The error is in `failure`.
   * @param last a further step of a transaction that has begun; null: none
   */
  async commit(last: Step | null): Promise<void> {
    if (this.#failure !== null) return this.#dropWaiting();
    const transaction = this.#transaction;
    if (last !== null && transaction !== null) this.#waiting.push({ call: this.#ownCall(last), item: null });
    if (transaction === null && this.#waiting.length === 0) return;
    if (!this.#checkRole()) return;
    this.hasSentCommit = true;
    await this.#send((call) => (transaction?.commit ?? this.#database).run(call), transaction === null);
  }

  /** Rolls back what was not committed. */
  async rollback(): Promise<void> {
    this.#dropWaiting();
    await this.#transaction?.rollback();
  }

  /** Ends the transaction: the client has disconnected. */
  cancel(): void {
    const error = new CallCancelled('the client disconnected');
    this.#abort.abort(error);
    this.#failure ??= { error, item: null };
    this.#running?.cancel();
  }

  async #begin(): Promise<Transaction> {
    const { role } = this;
    const { isolation, altersSession } = this.#options;
    return this.#database.begin({
      settings: typeof role === 'string' ? settingsStep([['role', role]]) : null,
      restoreSettings: null,
      role,
      ...(isolation === null ? {} : { isolation }),
      altersSession,
      timeout: null,
      signal: this.#abort.signal,
    });
  }

  #enqueueClaim(): void {
    const { claim } = this.#options;
    if (claim === null) return;
    const failed = (error: Error): void => {
      if (isErrorOf('claim', error)) this.#claimError = error;
    };
    this.#waiting.unshift({ call: { ...this.#ownCall(labelled(claim, 'claim')), failed }, item: null });
  }

  /** Returns a call of the batch itself, under the role of the others. Its error is that of the transaction. */
  #ownCall(step: Step): Call {
    return {
      steps: [step],
      mayShare: false,
      role: this.role,
      timeout: null,
      done: () => undefined,
      failed: () => undefined,
    };
  }

  #send(run: (call: Call) => CallHandle, atomic: boolean): Promise<void> {
    const isFirst = this.#startedAt === null;
    this.#startedAt ??= performance.now();
    if (isFirst && this.#options.altersTransaction) {
      this.#waiting.unshift({ call: this.#ownCall(saveSettings), item: null });
    }
    const queued = this.#waiting;
    this.#waiting = [];
    for (const { call, item } of queued) {
      if (item !== null) this.#extendTimeout(call.timeout!);
    }
    return new Promise((resolve) => {
      const calls = queued.map(({ call }) => call);
      const merged = mergeCalls(calls, {
        atomic,
        isolation: this.#options.isolation,
        altersSession: this.#options.altersSession,
        timeout: this.#remainingMs(),
        done: resolve,
        failed: (error, index) => {
          this.#failure = { error, item: index === null ? null : queued[index]!.item };
          resolve();
        },
      });
      this.#running = run(merged);
    });
  }

  #extendTimeout(timeout: number): void {
    this.#timeout = timeout === 0 || this.#timeout === 0 ? 0 : Math.max(this.#timeout, timeout);
  }

  #remainingMs(): number {
    return this.#timeout === 0 ? 0 : Math.max(1, this.#timeout - (performance.now() - this.#startedAt!));
  }

  /** All calls need one role: PostgreSQL checks some privileges only when it plans a statement. */
  #checkRole(): boolean {
    for (const { call, item } of this.#waiting) {
      this.#role ??= call;
      if (this.#role.role === call.role) continue;
      const detail = 'It would run under another database role than the requests before it; send it alone.';
      this.#fail(new Problem('not-in-batch', { detail }), item);
      return false;
    }
    return true;
  }

  #fail(error: Error, item: number | null): void {
    this.#failure ??= { error, item };
    this.#dropWaiting();
  }

  #dropWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { call, item } of waiting) {
      const isCulprit = this.#failure !== null && (this.#failure.item === null || this.#failure.item === item);
      call.failed(isCulprit ? this.#failure!.error : new CallCancelled('another request of the batch has failed'));
    }
  }
}
