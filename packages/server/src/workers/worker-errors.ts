import { ExpectedError } from '../expected-error.ts';
import type { StartFailure } from './topics.ts';

/** A worker could not start, for a reason that the next one would find too. The message is for the terminal. */
export class WorkerStartError extends ExpectedError {
  override readonly name = 'WorkerStartError';
  override readonly hasLines = true;
  readonly exitCode: number;
  readonly isStartError: boolean;

  constructor({ message, exitCode, isStartError }: StartFailure) {
    super(message);
    this.exitCode = exitCode;
    this.isStartError = isStartError;
  }
}

/** A worker has exited at its start without a reason. */
export class WorkerCrash extends ExpectedError {
  override readonly name = 'WorkerCrash';
}
