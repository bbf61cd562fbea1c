import type { Session } from './session.ts';

/** Smaller pools reserve no connection for calls that do not block. */
const minSizeForReserve = 4;

type Sessions = ReadonlyMap<Session, unknown>;

/** Whether a further call that may block leaves a connection for calls that do not. */
export function mayBlock(sessions: Sessions, size: number): boolean {
  if (size < minSizeForReserve) return true;
  let blocking = 0;
  for (const session of sessions.keys()) if (session.mayBlock) blocking++;
  return blocking < size - 1;
}

/**
 * Whether a further transaction leaves a connection that no transaction has. A request may need one during its transaction, as for the
 * authentication of a later request of a batch: transactions that have all connections would wait for each other.
 */
export function mayReserve(sessions: Sessions, size: number): boolean {
  let reserved = 0;
  for (const session of sessions.keys()) if (session.isReserved) reserved++;
  return size === 1 || reserved < size - 1;
}
