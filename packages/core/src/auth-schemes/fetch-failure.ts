import { toError } from '../to-error.ts';

/** Returns why `fetch` failed: the message or code of the cause, as its own message is "fetch failed". */
export function fetchFailure(error: unknown): string {
  const { cause, message } = toError(error);
  if (!(cause instanceof Error)) return message;
  if (cause.message !== '') return cause.message;
  return 'code' in cause ? String(cause.code) : message;
}
