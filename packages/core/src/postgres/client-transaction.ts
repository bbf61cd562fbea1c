import type { TransactionSteps } from './connection-mode.ts';
import { toPgClient } from './pg-client.ts';
import {
  type Call,
  type CallHandle,
  ConnectionLost,
  type HostClient,
  type Runner,
  type Step,
  type Transaction,
  type TransactionOptions,
} from './port.ts';
import { CallTransaction, type TransactionConnection } from './transaction.ts';

const step = (sql: string): Step => ({ statement: { name: '', sql }, values: [] });

const ownTransaction: TransactionSteps = {
  begin: [step('begin')],
  commit: [step('commit')],
  rollback: [step('rollback')],
};

/** Within a transaction of the host, which continues afterwards. */
const savepoint: TransactionSteps = {
  begin: [step('savepoint pgway_upload')],
  commit: [step('release savepoint pgway_upload')],
  rollback: [step('rollback to savepoint pgway_upload'), step('release savepoint pgway_upload')],
};

/** A client of the host for one transaction of the gateway. */
export interface ClientTransactionInput {
  readonly client: HostClient;
  readonly runner: Runner;
  readonly release: (error?: Error) => void;
}

/**
 * Begins a transaction on a client of the host: a savepoint when the host has begun one.
 * @throws as `Call.failed`; the client is then released
 */
export async function beginOnClient(input: ClientTransactionInput, options: TransactionOptions): Promise<Transaction> {
  try {
    await completeQueries(input.runner);
  } catch (error) {
    input.release(error as Error);
    throw error;
  }
  return CallTransaction.begin(new ClientTransactionConnection(input, options), options);
}

/** Waits for the queries that the host has queued: one of them may be its `BEGIN`. */
function completeQueries(runner: Runner): Promise<void> {
  return new Promise((resolve, reject) => {
    runner.run({ steps: [], mayShare: false, timeout: 0, done: () => resolve(), failed: reject });
  });
}

class ClientTransactionConnection implements TransactionConnection {
  readonly steps: TransactionSteps;
  /** The timeout of each call is set by its caller. */
  readonly statementTimeout = 0;
  readonly #input: ClientTransactionInput;
  #isRunning = false;

  constructor(input: ClientTransactionInput, { restoreSettings }: TransactionOptions) {
    this.#input = input;
    const steps = this.#status('I') === 'I' ? ownTransaction : savepoint;
    this.steps = restoreSettings === null ? steps : { ...steps, commit: [restoreSettings, ...steps.commit] };
  }

  /** `pg` deprecates queries that wait in its queue. */
  get mustWait(): boolean {
    return this.#isRunning;
  }

  get inTransaction(): boolean {
    return this.#status('T') !== 'I';
  }

  run(call: Call): CallHandle {
    this.#isRunning = true;
    return this.#input.runner.run({
      ...call,
      done: (elapsed, changedSetting) => {
        this.#isRunning = false;
        call.done(elapsed, changedSetting);
      },
      failed: (error) => {
        this.#isRunning = false;
        call.failed(error);
      },
    });
  }

  rollBack(rollback: Omit<Call, 'done' | 'failed'>, ended: () => void): void {
    const { runner, release } = this.#input;
    const end = (error?: Error): void => {
      release(error);
      ended();
    };
    const failed = (cause: Error): void =>
      end(new ConnectionLost(`the transaction could not be rolled back: ${cause.message}`, { cause }));
    runner.run({ ...rollback, done: () => end(), failed });
  }

  release(error?: Error): void {
    this.#input.release(error);
  }

  /** Returns the transaction status; old versions of `pg` do not have it. */
  #status(fallback: string): string {
    return toPgClient(this.#input.client)._txStatus ?? fallback;
  }
}
