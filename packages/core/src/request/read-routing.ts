import {
  AcquireTimeout,
  CallCancelled,
  CallTimeout,
  DatabaseError,
  type Replica,
  type Replicas,
  readOnlySqlTransaction,
} from '../postgres/port.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { ExecutableCall } from './build-query.ts';
import type { Consistency } from './consistency.ts';

/** The choice between the primary and its replicas, for the endpoints of one load. */
export interface ReadRouting {
  readonly replicas: Replicas;
  /** When the endpoints were read, by `performance.now()`. A replica needs the changes of the schema before that. */
  readonly loadedAt: number;
  /** A call that only reads, by its declaration, can run on the primary only. */
  onReplicaRefused(endpoint: Endpoint, replica: string, error: DatabaseError): void;
}

export interface Read {
  readonly call: ExecutableCall;
  /** The consistency that the request asks for; absent: the primary. */
  readonly consistency?: Consistency | null;
  /** As in `ExecutionInput`. */
  readonly usesPrimary?: boolean;
  /** The result has to include what was committed before this time, by `performance.now()`. Absent: any time. */
  readonly committedBefore?: number;
}

/** Returns the replica that a call runs on; null: the primary. */
export function selectReplica(
  { replicas, loadedAt }: ReadRouting,
  { call, consistency = null, usesPrimary = false, committedBefore = loadedAt }: Read,
): Replica | null {
  if (consistency === null || !call.candidate.canUseReplica || usesPrimary) return null;
  const { level, position } = consistency;
  if (level === 'strong') return null;
  return replicas.select({ committedBefore: Math.max(committedBefore, loadedAt), position });
}

/**
 * Returns whether a call that has failed on a replica runs again on the primary. Any error of PostgreSQL may come from the lag of the
 * replica or from being one, such as a missing function, a recovery conflict, or a write.
 */
export function runsAgainOnPrimary(error: unknown, replica: Replica): boolean {
  if (error instanceof CallCancelled || error instanceof CallTimeout) return false;
  // Further calls would only overload the primary too, unless the replica has failed.
  return !(error instanceof AcquireTimeout) || replica.unusableReason !== null;
}

/**
 * SQLSTATEs of what a standby cannot do: writes and locks (25006), unlogged tables and serializable transactions (0A000), and what needs a
 * server that is not in recovery (55000).
 */
const refusals: ReadonlySet<string> = new Set([readOnlySqlTransaction, '0A000', '55000']);

/** Whether the server has refused the call because it is a replica, so that calls of its endpoint run on the primary from now on. */
export function isRefusal(error: unknown): error is DatabaseError {
  if (!(error instanceof DatabaseError)) return false;
  const { code, routine } = error.diagnostics;
  // A changed result type has the code 0A000 too.
  return refusals.has(code) && routine !== 'RevalidateCachedQuery';
}
