import {
  AcquireTimeout,
  type CallHandle,
  ConnectionLost,
  DatabaseError,
  type RowSink,
  type Runner,
  type Value,
} from '../postgres/port.ts';
import type { ExecutableCall } from './build-query.ts';
import { readFields } from '../response/rows.ts';

/** A connection of the host's for one request. */
export interface HostRunner extends Runner {
  /** For a call that another one follows: the host has its connection back only if it fails. */
  readonly withoutRelease: Runner;
}

/**
 * The procedure's own call, when PostgreSQL has to convert what it gives: keeps its row, which becomes the values of another
 * statement. One handle stands for both, whichever of them runs.
 */
export class OutputConversion implements RowSink, CallHandle {
  readonly #call: ExecutableCall;
  /** Takes the converted row. */
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

  /** The call that converts the row, with the settings of the first. */
  get call(): ExecutableCall {
    const { candidate, parameters, values, settings } = this.#call;
    const statement = candidate.conversionStatement(this.#row);
    const owners = this.#row.map(() => null);
    return {
      candidate,
      parameters,
      values,
      settings,
      statement,
      arguments: this.#row,
      valueSources: owners,
      headerQuery: null,
      noRowProblem: null,
    };
  }

  follow(running: CallHandle): void {
    this.#running = running;
    // Its client may have left between the two.
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
 * What the second statement reads is none of the client's: its errors are no refusals of a parameter. And nobody is asked to try again
 * what has been done.
 */
export function toConversionError(error: Error): Error {
  if (error instanceof AcquireTimeout || error instanceof ConnectionLost) {
    return new Error(`the procedure was called, but what it gave could not be converted: ${error.message}`, {
      cause: error,
    });
  }
  return error instanceof DatabaseError ? new DatabaseError(error.diagnostics, error.step, 'execute') : error;
}
