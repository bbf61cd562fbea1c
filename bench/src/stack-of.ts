import { toError } from '@pgway/core/internal';

/** Returns the stack of a thrown value, or its message if it has none. */
export function stackOf(thrown: unknown): string {
  const { stack, message } = toError(thrown);
  return stack ?? message;
}
