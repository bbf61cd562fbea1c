import type { TransactionSteps } from './connection-mode.ts';
import { toPgClient } from './pg-client.ts';
import type { Call, CallHandle, HostClient, Runner, Step, Transaction, TransactionOptions } from './port.ts';
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
export function beginOnClient(input: ClientTransactionInput, options: TransactionOptions): Promise<Transaction> {
  return CallTransaction.begin(new ClientTransactionConnection(input, options), options);
}

class ClientTransactionConnection implements TransactionConnection {
  readonly steps: TransactionSteps;
  /** The timeout of each call is set by its caller. */
  readonly statementTimeout = 0;
  readonly #input: ClientTransactionInput;
  readonly #running = new Set<CallHandle>();

  constructor(input: ClientTransactionInput, { restoreSettings }: TransactionOptions) {
    this.#input = input;
    const isOpen = (toPgClient(input.client)._txStatus ?? 'I') !== 'I';
    const steps = isOpen ? savepoint : ownTransaction;
    this.steps = restoreSettings === null ? steps : { ...steps, commit: [restoreSettings, ...steps.commit] };
  }

  run(call: Call): CallHandle {
    const end = (): void => void this.#running.delete(handle);
    const handle = this.#input.runner.run({
      ...call,
      done: (elapsed, changedSetting) => {
        end();
        call.done(elapsed, changedSetting);
      },
      failed: (error) => {
        end();
        call.failed(error);
      },
    });
    this.#running.add(handle);
    return handle;
  }

  abort(rollback: Omit<Call, 'done' | 'failed'>): void {
    for (const handle of this.#running) handle.cancel();
    const { runner, release } = this.#input;
    // The client runs it when the cancelled calls have ended.
    runner.run({ ...rollback, done: () => release(), failed: (error) => release(error) });
  }

  release(error?: Error): void {
    this.#input.release(error);
  }
}
