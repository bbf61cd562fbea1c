import type { PipelinedRequest } from './pipeline.ts';

/** Milliseconds that the server has to act on a cancel request or a Terminate message before the connection is dropped. */
export const gracePeriodMs = 5_000;
/** Milliseconds until an ineffective cancel request is repeated; doubled each time. */
const firstRepeatMs = 250;

/** The view of a session that cancelling needs. */
export interface Cancellable {
  /** The pipeline; the first request is running. */
  readonly requests: readonly PipelinedRequest[];
  /** Whether the requests belong to one transaction: the error of a cancelled one fails those behind it. */
  readonly isTransaction: () => boolean;
  /** Sends a CancelRequest; resolves when the server has closed its connection. */
  readonly sendCancelRequest: () => Promise<void>;
  /** Invokes the callback when all pending requests are complete. */
  readonly afterPending: (onDone: () => void) => void;
  readonly disconnect: (reason: string) => void;
}

/**
 * Cancels obsolete calls. A cancel request hits the statement that runs when it arrives. It is sent only while the obsolete call
 * is alone in the pipeline.
 */
export class Canceller {
  readonly #session: Cancellable;
  #pending = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(session: Cancellable) {
    this.#session = session;
  }

  /** Whether a cancel request is under way. Until it has arrived, no other statement may be sent. */
  get isPending(): boolean {
    return this.#pending > 0;
  }

  /** Cancels the running call when it is obsolete and alone in the pipeline, or with its transaction. */
  cancelIfAlone(): void {
    const { requests, isTransaction, disconnect } = this.#session;
    const isAlone = requests.length === 1 || isTransaction();
    if (this.#pending > 0 || !isAlone || !requests[0]?.pending?.isObsolete) return;
    this.#timer = setTimeout(() => disconnect('the server did not act on a cancel request'), gracePeriodMs);
    this.#cancel(requests[0], firstRepeatMs);
  }

  /**
   * Cancels the running call after its timeout.
   * @returns the milliseconds since the timeout; 0 before it
   */
  cancelExpired(now: number): number {
    const first = this.#session.requests[0];
    const pending = first?.pending;
    if (first === undefined || !pending) return 0;
    pending.reportRunning(now - first.startedAt);
    if (pending.timeout === 0 || pending.isStalled) return 0;
    // The server enforces statement_timeout first. This timeout is for a server that does not respond.
    const overdue = now - first.startedAt - pending.timeout;
    if (overdue < Math.min(1_000, pending.timeout)) return 0;
    pending.hasTimedOut = true;
    this.cancelIfAlone();
    return overdue;
  }

  #cancel(request: PipelinedRequest, repeatMs: number): void {
    const { requests, isTransaction, sendCancelRequest, afterPending, disconnect } = this.#session;
    this.#pending++;
    sendCancelRequest().then(
      () => {
        // A late cancel signal must find the session idle: no call is sent before the callback.
        afterPending(() => {
          if (--this.#pending === 0) clearTimeout(this.#timer);
        });
        // The server ignores a cancel request that arrives before its statement.
        const repeatCancel = (): void => {
          const [first] = requests;
          if (first === request || (isTransaction() && first?.pending?.isObsolete)) this.#cancel(first, repeatMs * 2);
        };
        setTimeout(repeatCancel, repeatMs).unref();
      },
      (error: Error) => {
        clearTimeout(this.#timer);
        disconnect(`the cancel request failed: ${error.message}`);
      },
    );
  }
}
