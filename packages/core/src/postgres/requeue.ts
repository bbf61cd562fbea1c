import type { PipelinedRequest } from './pipeline.ts';
import type { ConnectionLost, Diagnostics } from './port.ts';
import { CallRequest } from './call-request.ts';

/* Calls that one connection cannot finish, and that another one may. */

/**
 * Runs a call elsewhere; false: nothing else can run it.
 * @param begun its connection was lost while it ran
 */
export type Requeue = (run: CallRequest, begun?: boolean) => boolean;

export interface ConnectionLoss {
  readonly error: ConnectionLost;
  /** How many of the exchanges had been sent. */
  readonly sent: number;
  /** How the server ended the connection; null when it did not say. */
  readonly fatal: Diagnostics | null;
}

/** The connection has ended: what was not begun, or may be run twice, runs elsewhere; the others are told. */
export function settleLostRequests(
  exchanges: readonly PipelinedRequest[],
  { error, sent, fatal }: ConnectionLoss,
  again: Requeue,
): void {
  for (const [index, exchange] of exchanges.entries()) {
    const fate = index >= sent ? 'not begun' : exchange.transactionOutcome(index, fatal);
    const run = exchange instanceof CallRequest ? exchange : null;
    // One that was rolled back is told so: ending its connection may have been meant to end it.
    const elsewhere = run !== null && run.isUndelivered && (fate === 'not begun' || run.call.idempotent === true);
    // The call itself may have ended the server process: it is not run again and again.
    if (!elsewhere || !again(run, fate !== 'not begun')) exchange.connectionLost(error, fate);
  }
}

/** Calls that wait behind a long one and may be run twice run elsewhere. */
export function requeueFollowers(exchanges: readonly PipelinedRequest[], again: Requeue): void {
  for (const exchange of exchanges.slice(1)) {
    if (!(exchange instanceof CallRequest) || !exchange.isUndelivered || exchange.call.idempotent !== true) continue;
    if (again(exchange)) exchange.isRequeued = true;
  }
}

/** A call whose rows were dropped, because one before it had changed the session. */
export function requeueTainted(exchange: PipelinedRequest, again: Requeue): boolean {
  if (!(exchange instanceof CallRequest) || !exchange.isTainted) return false;
  return exchange.isUndelivered && exchange.call.idempotent === true && again(exchange);
}
