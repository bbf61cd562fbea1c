import { AcquireTimeout, ConnectionLost, DatabaseError } from '../postgres/port.ts';
import { Problem } from '../http/problem.ts';

/** The outcome of a login attempt; `aborted` when the credentials were not checked. */
export type LoginOutcome = 'succeeded' | 'failed' | 'aborted';

/**
 * Returns the outcome of an attempt that an error has ended. An attempt is aborted when the error is independent of the credentials:
 * no connection, a FATAL error, which no routine can raise, or no capacity (503). Any other error counts as a failure, because
 * routines refuse credentials by raising errors or by running into a timeout.
 */
export function errorToLoginOutcome(error: unknown): LoginOutcome {
  if (error instanceof ConnectionLost || error instanceof AcquireTimeout) return 'aborted';
  if (error instanceof Problem) return error.status === 503 ? 'aborted' : 'failed';
  return error instanceof DatabaseError && isFatal(error) ? 'aborted' : 'failed';
}

function isFatal({ diagnostics: { severity } }: DatabaseError): boolean {
  return severity === 'FATAL' || severity === 'PANIC';
}
