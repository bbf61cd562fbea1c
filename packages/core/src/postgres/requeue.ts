import type { PipelinedRequest } from './pipeline.ts';
import type { ConnectionLost, Diagnostics } from './port.ts';
import { CallRequest } from './call-request.ts';

/**
 * Runs a call on another connection; returns false when none can run it.
 * @param hadStarted the connection was lost while the call ran
 */
export type Requeue = (request: CallRequest, hadStarted?: boolean) => boolean;

export interface ConnectionLoss {
  readonly error: ConnectionLost;
  /** The number of requests that had been sent. */
  readonly sent: number;
  /** The FATAL error of the server; null for none. */
  readonly fatal: Diagnostics | null;
}

/** Moves the calls of a lost connection that did not start or are idempotent to other connections, and fails the rest. */
export function settleLostRequests(
  requests: readonly PipelinedRequest[],
  { error, sent, fatal }: ConnectionLoss,
  requeue: Requeue,
): void {
  for (const [index, request] of requests.entries()) {
    const outcome = index >= sent ? 'not started' : request.transactionOutcome(index, fatal);
    const callRequest = request instanceof CallRequest ? request : null;
    // A rolled-back call that is not idempotent fails: the connection may have been terminated to stop this call.
    const canRequeue =
      callRequest !== null &&
      callRequest.isUndelivered &&
      (outcome === 'not started' || callRequest.call.idempotent === true);
    // The call itself may have crashed the server process; `hadStarted` limits its retries.
    if (!canRequeue || !requeue(callRequest, outcome !== 'not started')) request.connectionLost(error, outcome);
  }
}

/** Milliseconds that the first request runs before the idempotent calls behind it move to other connections. */
const requeueAfterMs = 100;

/**
 * Moves idempotent calls that wait behind a long one to other connections.
 * @param now `performance.now()`
 */
export function requeueFollowers(requests: readonly PipelinedRequest[], now: number, requeue: Requeue): void {
  const [first] = requests;
  if (first === undefined || now - first.startedAt <= requeueAfterMs) return;
  for (const request of requests.slice(1)) {
    if (!(request instanceof CallRequest) || !request.isUndelivered || request.call.idempotent !== true) continue;
    if (requeue(request)) request.isRequeued = true;
  }
}

/** Runs a call again whose rows were dropped because an earlier call had changed the session; false when it cannot. */
export function requeueTainted(request: PipelinedRequest, requeue: Requeue): boolean {
  if (!(request instanceof CallRequest) || !request.isTainted) return false;
  return request.isUndelivered && request.call.idempotent === true && requeue(request);
}
