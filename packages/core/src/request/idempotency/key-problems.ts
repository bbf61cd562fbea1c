import { idempotencyStates } from '../../endpoints/idempotency-store.ts';
import { Problem } from '../../http/problem.ts';
import type { DatabaseError, OutcomeUnknown } from '../../postgres/port.ts';

const retryAfter: readonly string[] = ['retry-after', '1'];

export function missingKey(): Problem {
  return new Problem('missing-idempotency-key', {
    detail:
      'Send the header Idempotency-Key with a new random value for each operation, such as a UUID, and the same value when you repeat the request.',
  });
}

/** A repeated request finds out. */
export function unknownOutcome(cause: OutcomeUnknown): Problem {
  return new Problem('outcome-unknown', {
    detail: 'Send the request again with the same Idempotency-Key: it runs only if the call has not taken effect.',
    headers: retryAfter,
    cause,
  });
}

/** SQLSTATEs of a store that is missing or that the role may not use. */
const storeStates: ReadonlySet<string> = new Set(['3F000', '42501', '42883', '42P01', '42703']);

/** Returns the problem of a key that could not be claimed; the error itself for any other reason. */
export function toClaimError(cause: DatabaseError): Error {
  switch (cause.diagnostics.code) {
    case idempotencyStates.reused:
      return new Problem('idempotency-key-reused', {
        detail: 'Use a new Idempotency-Key for each operation, and repeat a request unchanged.',
        cause,
      });
    case idempotencyStates.running:
      return new Problem('idempotency-key-in-use', {
        detail: 'A request with this Idempotency-Key is running; send it again when that has ended.',
        headers: retryAfter,
        cause,
      });
    default:
      return storeStates.has(cause.diagnostics.code) ? new Problem('idempotency-unavailable', { cause }) : cause;
  }
}

/** Returns the problem of a stored response that cannot be sent; the error itself for any other reason. */
export function toReadError(cause: DatabaseError): Error {
  if (cause.diagnostics.code !== idempotencyStates.unavailable) return cause;
  return new Problem('stored-response-unavailable', {
    detail:
      'The request with this Idempotency-Key has succeeded and does not run again. Its response was too large to be stored, or the endpoint has changed since.',
    cause,
  });
}
