import { Problem } from '../http/problem.ts';

export const retryAfter: readonly string[] = ['retry-after', '5'];

/** Returns the problem of a subscriber that cannot begin now. */
export function unavailable(cause?: Error): Problem {
  return new Problem('changes-unavailable', { headers: retryAfter, ...(cause === undefined ? {} : { cause }) });
}
