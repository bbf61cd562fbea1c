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

/** The checks that have found a call without progress since this time. */
interface ProgressCount {
  readonly progressedAt: number;
  readonly checks: number;
}

/**
 * Ends responses whose clients do not read, while other calls wait for their connections: those without progress for two seconds, and earlier
 * those past a share of the pool. The response without progress for the longest time is ended first.
 */
export class StalledCalls {
  readonly #sessions: ReadonlyMap<Session, unknown>;
  readonly #queue: CallQueue;
  readonly #share: number;
  readonly #unchanged = new WeakMap<CallRequest, ProgressCount>();
  #isScheduled = false;
  #isEnding = false;

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
    if (this.#isEnding) return;
    for (const { call } of this.#find()) this.#countUnchanged(call);
    if (this.#findLate(now).length === 0) return;
    this.#isEnding = true;
    // When this process was slow, sockets report only after timers that their clients have read.
    afterPendingEvents(() => {
      this.#isEnding = false;
      for (const { session, call } of this.#findLate(performance.now())) session.abandon(call);
    });
  }

  /** Returns the calls whose responses end now. */
  #findLate(now: number): readonly StalledCall[] {
    const waitedMs = now - this.#queue.oldestSince;
    const isAwaited = waitedMs >= minWaitMs;
    const [late, stalled]: [StalledCall[], StalledCall[]] = [[], []];
    for (const found of this.#find()) {
      // Another pool waits for the connection of a retired session.
      const isNeeded = isAwaited || found.session.state.isRetired;
      (isNeeded && now - found.call.progressedAt >= maxStallMs ? late : stalled).push(found);
    }
    const excess = stalled.length - this.#share;
    if (!isAwaited || excess <= 0) return late;
    this.#checkSoon();
    const maxMs = waitedMs < longWaitMs ? maxExcessStallMs : maxExcessStallMsAfterLongWait;
    return [...late, ...stalled.slice(0, excess).filter(({ call }) => this.#hasStopped(call, maxMs, now))];
  }

  /** In a process that is busy, time passes between two events of a client that reads: so many checks have to pass as well. */
  #hasStopped(call: CallRequest, maxMs: number, now: number): boolean {
    const checks = this.#unchanged.get(call)?.checks ?? 0;
    return now - call.progressedAt >= maxMs && checks >= maxMs / checkIntervalMs;
  }

  #countUnchanged(call: CallRequest): void {
    const before = this.#unchanged.get(call);
    const { progressedAt } = call;
    this.#unchanged.set(call, { progressedAt, checks: before?.progressedAt === progressedAt ? before.checks + 1 : 0 });
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

/** Invokes the callback when the events of sockets that wait have been handled, and those that follow from them. */
function afterPendingEvents(callback: () => void): void {
  setImmediate(() => setImmediate(callback));
}
