import type { PipelinedRequest } from './pipeline.ts';
import type { ConnectionLost, Diagnostics } from './port.ts';
import { Run } from './run.ts';

/* Calls that one connection cannot finish, and that another one may. */

/**
 * Runs a call elsewhere; false: nothing else can run it.
 * @param begun its connection was lost while it ran
 */
export type Rerun = (run: Run, begun?: boolean) => boolean;

export interface Loss {
  readonly error: ConnectionLost;
  /** How many of the exchanges had been sent. */
  readonly sent: number;
  /** How the server ended the connection; null when it did not say. */
  readonly fatal: Diagnostics | null;
}

/** The connection has ended: what was not begun, or may be run twice, runs elsewhere; the others are told. */
export function loseAll(exchanges: readonly PipelinedRequest[], { error, sent, fatal }: Loss, again: Rerun): void {
  for (const [index, exchange] of exchanges.entries()) {
    const fate = index >= sent ? 'not begun' : exchange.fate(index, fatal);
    const run = exchange instanceof Run ? exchange : null;
    // One that was rolled back is told so: ending its connection may have been meant to end it.
    const elsewhere = run !== null && run.untouched && (fate === 'not begun' || run.call.idempotent === true);
    // The call itself may have ended the server process: it is not run again and again.
    if (!elsewhere || !again(run, fate !== 'not begun')) exchange.lost(error, fate);
  }
}

/** Calls that wait behind a long one and may be run twice run elsewhere. */
export function moveFollowers(exchanges: readonly PipelinedRequest[], again: Rerun): void {
  for (const exchange of exchanges.slice(1)) {
    if (!(exchange instanceof Run) || !exchange.untouched || exchange.call.idempotent !== true) continue;
    if (again(exchange)) exchange.moved = true;
  }
}

/** A call whose rows were dropped, because one before it had changed the session. */
export function rerunSpoiled(exchange: PipelinedRequest, again: Rerun): boolean {
  if (!(exchange instanceof Run) || !exchange.spoiled) return false;
  return exchange.untouched && exchange.call.idempotent === true && again(exchange);
}
