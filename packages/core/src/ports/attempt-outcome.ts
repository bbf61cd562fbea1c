import { AcquireTimeout, ConnectionLost, DatabaseError } from '../postgres/port.ts';
import { Problem } from '../http/problem.ts';

/** What an attempt to sign in has come to. */
export type LoginOutcome = 'succeeded' | 'failed' | 'withdrawn';

/**
 * The outcome of an attempt that an error has ended. Only an error that says nothing of the credentials withdraws it: the database
 * could not be reached or ended the connection (FATAL, which no routine can raise), or the gateway had no capacity (503). Any other
 * one is a failed attempt, because a routine may refuse credentials by raising an error, by running into one, or by taking its time.
 */
export function errorToLoginOutcome(error: unknown): LoginOutcome {
  if (error instanceof ConnectionLost || error instanceof AcquireTimeout) return 'withdrawn';
  if (error instanceof Problem) return error.status === 503 ? 'withdrawn' : 'failed';
  return error instanceof DatabaseError && isFatal(error) ? 'withdrawn' : 'failed';
}

function isFatal({ diagnostics: { severity } }: DatabaseError): boolean {
  return severity === 'FATAL' || severity === 'PANIC';
}
