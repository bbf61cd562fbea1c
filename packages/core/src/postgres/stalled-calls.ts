import type { CallQueue } from './call-queue.ts';
import type { CallRequest } from './call-request.ts';
import { clientShare } from './port.ts';
import type { Session } from './session.ts';

/** Milliseconds that a call waits for a connection before responses are ended for it. */
const minWaitMs = 100;
/** Milliseconds without progress after which a response is ended while calls wait. */
const maxStallMs = 2_000;
/** The same for responses past the share of the pool. */
const maxExcessStallMs = 500;
/** A call that has waited for so long has many such responses before it, one after the other. */
const longWaitMs = 1_000;
const maxExcessStallMsAfterLongWait = 100;
/** Milliseconds between two checks while responses exceed the share. */
const checkIntervalMs = 20;

interface StalledCall {
  readonly session: Session;
  readonly call: CallRequest;
}

/**
 * Ends responses whose clients do not read, while other calls wait for their connections: those without progress for two seconds, and earlier
 * those past a share of the pool. The response without progress for the longest time is ended first.
 */
export class StalledCalls {
  readonly #sessions: ReadonlyMap<Session, unknown>;
  readonly #queue: CallQueue;
  readonly #share: number;
  #isScheduled = false;

  /**
   * @param sessions the open sessions of the pool
   * @param queue the calls that wait for one
   * @param size the maximum number of sessions
   */
  constructor(sessions: ReadonlyMap<Session, unknown>, queue: CallQueue, size: number) {
    this.#sessions = sessions;
    this.#queue = queue;
    this.#share = clientShare(size);
  }

  /** Called periodically. @param now `performance.now()` */
  check(now: number): void {
    const waitedMs = now - this.#queue.oldestSince;
    const isAwaited = waitedMs >= minWaitMs;
    const stalled = this.#find().filter(({ session, call }) => {
      // Another pool waits for the connection of a retired session.
      const mustEnd = (isAwaited || session.state.isRetired) && now - call.progressedAt >= maxStallMs;
      if (mustEnd) session.abandon(call);
      return !mustEnd;
    });
    const excess = stalled.length - this.#share;
    if (!isAwaited || excess <= 0) return;
    const maxMs = waitedMs < longWaitMs ? maxExcessStallMs : maxExcessStallMsAfterLongWait;
    for (const { session, call } of stalled.slice(0, excess))
      if (now - call.progressedAt >= maxMs) session.abandon(call);
    this.#checkSoon();
  }

  /** Returns the stalled calls; the one without progress for the longest time comes first. */
  #find(): readonly StalledCall[] {
    const found: StalledCall[] = [];
    for (const session of this.#sessions.keys()) {
      const call = session.stalledCall;
      if (call !== null) found.push({ session, call });
    }
    return found.toSorted((left, right) => left.call.progressedAt - right.call.progressedAt);
  }

  #checkSoon(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setTimeout(() => {
      this.#isScheduled = false;
      this.check(performance.now());
    }, checkIntervalMs).unref();
  }
}
