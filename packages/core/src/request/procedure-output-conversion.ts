import {
  AcquireTimeout,
  type CallHandle,
  ConnectionLost,
  DatabaseError,
  type RowSink,
  type Value,
} from '../postgres/port.ts';
import type { ExecutableCall } from './build-query.ts';
import { readFields } from '../response/rows.ts';

/**
 * The first of two calls for a procedure whose output PostgreSQL has to convert. Keeps the output row, which becomes the values
 * of a second statement. As a handle it controls the call that is running.
 */
export class OutputConversion implements RowSink, CallHandle {
  readonly #call: ExecutableCall;
  /** Receives the converted row. */
  readonly sink: RowSink;
  #row: readonly Value[] = [];
  #running: CallHandle | null = null;
  #cancelled = false;

  constructor(call: ExecutableCall, sink: RowSink) {
    this.#call = call;
    this.sink = sink;
  }

  row(chunk: Uint8Array, offset: number, fields: number): boolean {
    this.#row = readFields(chunk, offset, fields).map((field) => (field === null ? null : Buffer.from(field)));
    return true;
  }

  /** The second call, with the settings of the first. */
  get call(): ExecutableCall {
    const { candidate, parameters, values, settings } = this.#call;
    const statement = candidate.conversionStatement(this.#row);
    const valueSources = this.#row.map(() => null);
    return {
      candidate,
      parameters,
      values,
      settings,
      statement,
      arguments: this.#row,
      valueSources,
      headerQuery: null,
      noRowProblem: null,
      rowResponse: null,
      isReadOnly: false,
      mayCache: true,
      toError: null,
    };
  }

  attach(running: CallHandle): void {
    this.#running = running;
    // The client may have disconnected between the two calls.
    if (this.#cancelled) running.cancel();
  }

  resume(): void {
    this.#running?.resume();
  }

  cancel(): void {
    this.#cancelled = true;
    this.#running?.cancel();
  }
}

/**
 * Hides what would blame the client or invite a retry: the values of the second statement are not the client's, and the
 * procedure has already run.
 */
export function toConversionError(error: Error): Error {
  if (error instanceof AcquireTimeout || error instanceof ConnectionLost) {
    return new Error(`the procedure ran, but its output could not be converted: ${error.message}`, { cause: error });
  }
  return error instanceof DatabaseError ? error.with({ phase: 'execute' }) : error;
}
