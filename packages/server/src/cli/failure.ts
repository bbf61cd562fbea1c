import { OptionsError, StartError } from '@pgway/core';
import { ConfigurationError } from '../config/configuration-error.ts';
import { WorkerStartError } from '../workers/worker-errors.ts';
import { errorMessage } from '../expected-error.ts';

/** The end of a program that failed. */
export interface Failure {
  readonly text: string;
  /** 2 for errors of the configuration, 1 for others. */
  readonly exitCode: number;
}

/** @param pgVariables the libpq variables that named the database */
export function describeFailure(error: unknown, pgVariables: readonly string[]): Failure {
  return { text: `pgway: ${errorMessage(error)}${databaseHint(error, pgVariables)}\n`, exitCode: exitCodeOf(error) };
}

function exitCodeOf(error: unknown): number {
  if (error instanceof WorkerStartError) return error.exitCode;
  return error instanceof ConfigurationError || error instanceof OptionsError ? 2 : 1;
}

/** Names the libpq variables that selected the database: they may be set by accident. */
function databaseHint(error: unknown, pgVariables: readonly string[]): string {
  const isStartError = error instanceof WorkerStartError ? error.isStartError : error instanceof StartError;
  if (!isStartError || pgVariables.length === 0) return '';
  return `; the database comes from ${pgVariables.join(', ')}; pass --connectionString=… to use another one`;
}
