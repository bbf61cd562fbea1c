import { type Call, type ClientKey, clientShare } from './port.ts';

/** Milliseconds that a call waits for a connection before responses are ended for it. */
const minWaitMs = 100;
/** Milliseconds without progress after which a response is ended while calls wait. */
const maxStallMs = 2_000;
/** The same for responses past the share of the pool. */
const maxExcessStallMs = 500;
/** A client that reads may need so many times the longest time that it has needed before. */
const paceFactor = 4;
/** After such a wait, responses whose clients have read nothing have no share: many more of them may wait, one after the other. */
const longWaitMs = 1_000;
/** Milliseconds between two checks while calls wait. */
const checkIntervalMs = 20;
/** Between two checks, at most so much time counts: the events of sockets are handled once between them, however late the second one is. */
const maxCountedMs = 2 * checkIntervalMs;

/** Milliseconds in which a client counts as one that reads nothing after such a response was ended: its next one does not wait at once. */
const endedMs = 1_000;

const none: ReadonlySet<ClientKey> = new Set();

/** A call that holds its connection because its client does not read. */
export interface StalledCall {
  /** When the client has last taken bytes, or the response has begun to wait for it; by `performance.now()`. */
  readonly progressedAt: number;
  readonly call: Pick<Call, 'client'>;
}

export interface StallingSession<C extends StalledCall> {
  readonly stalledCall: C | null;
  readonly state: { readonly isRetired: boolean };
  abandon(call: C): void;
}

/** The progress of a stalled call, as the checks have measured it. */
interface Watch {
  progressedAt: number;
  /** Milliseconds without progress. */
  stalledMs: number;
  /** The longest time without progress that progress has followed; null: none has been seen. */
  longestMs: number | null;
}

export interface WaitingCalls {
  /** @see CallQueue.oldestSince */
  oldestSince(unread?: ReadonlySet<ClientKey>, own?: ClientKey): number;
}

interface WatchedCall<C extends StalledCall> extends Watch {
  readonly session: StallingSession<C>;
  readonly call: C;
}

/**
 * Ends responses whose clients do not read, while other calls wait for their connections. A client reads as long as its socket drains at its own
 * pace: a response ends when checks have seen no progress for two seconds, or, past a share of the pool, for half a second and four times the
 * longest time that its client has needed before. Time in which the process handled no events does not count. Calls of a client that has read
 * nothing end its own responses alone.
 */
export class StalledCalls<C extends StalledCall> {
  readonly #sessions: ReadonlyMap<StallingSession<C>, unknown>;
  readonly #queue: WaitingCalls;
  readonly #share: number;
  readonly #watches = new WeakMap<C, Watch>();
  /** The clients that had read nothing of a response when it was ended, with the time. */
  readonly #ended = new Map<ClientKey, number>();
  #checkedAt = 0;
  #isScheduled = false;
  #isEnding = false;

  /**
   * @param sessions the open sessions of the pool
   * @param queue the calls that wait for one
   * @param size the maximum number of sessions
   */
  constructor(sessions: ReadonlyMap<StallingSession<C>, unknown>, queue: WaitingCalls, size: number) {
    this.#sessions = sessions;
    this.#queue = queue;
    this.#share = clientShare(size);
  }

  /** Called periodically. @param now `performance.now()` */
  check(now: number): void {
    const countedMs = Math.min(now - this.#checkedAt, maxCountedMs);
    this.#checkedAt = now;
    for (const [client, at] of this.#ended) if (now - at >= endedMs) this.#ended.delete(client);
    const stalled = this.#watch(countedMs);
    if (stalled.length > 0 && now - this.#queue.oldestSince() >= minWaitMs) this.#checkSoon();
    if (this.#isEnding || this.#selectLate(stalled, now).length === 0) return;
    this.#isEnding = true;
    // When this process was slow, sockets report only after timers that their clients have read.
    afterPendingEvents(() => {
      this.#isEnding = false;
      for (const { session, call, longestMs } of this.#selectLate(this.#watch(0), now)) {
        const { client } = call.call;
        if (longestMs === null && client !== undefined) this.#ended.set(client, now);
        session.abandon(call);
      }
    });
  }

  /** Returns the clients that have read nothing of a response, which waits for them or has just been ended. */
  unread(): ReadonlySet<ClientKey> {
    let clients = this.#ended.size === 0 ? undefined : new Set(this.#ended.keys());
    for (const { stalledCall: call } of this.#sessions.keys()) {
      if (call !== null && isUnread(call.call, this.#watches.get(call))) (clients ??= new Set()).add(call.call.client!);
    }
    return clients ?? none;
  }

  /** Returns the stalled calls; the one without progress for the longest time comes first. */
  #watch(countedMs: number): readonly WatchedCall<C>[] {
    const stalled: WatchedCall<C>[] = [];
    for (const session of this.#sessions.keys()) {
      const call = session.stalledCall;
      if (call !== null) stalled.push({ session, call, ...this.#count(call, countedMs) });
    }
    return stalled.toSorted((left, right) => left.progressedAt - right.progressedAt);
  }

  #count(call: C, countedMs: number): Watch {
    const { progressedAt } = call;
    const watch = this.#watches.get(call);
    if (watch === undefined) {
      const first = { progressedAt, stalledMs: 0, longestMs: null };
      this.#watches.set(call, first);
      return first;
    }
    if (watch.progressedAt === progressedAt) {
      watch.stalledMs += countedMs;
    } else {
      watch.longestMs = Math.max(watch.longestMs ?? 0, watch.stalledMs);
      watch.progressedAt = progressedAt;
      watch.stalledMs = 0;
    }
    return watch;
  }

  /** Returns the calls whose responses end now. */
  #selectLate(stalled: readonly WatchedCall<C>[], now: number): readonly WatchedCall<C>[] {
    const unread = this.unread();
    const waitedMs = ({ call }: WatchedCall<C>): number => now - this.#queue.oldestSince(unread, call.call.client);
    const isAwaited = (call: WatchedCall<C>): boolean => waitedMs(call) >= minWaitMs;
    // Another pool waits for the connection of a retired session.
    const late = stalled.filter(
      (call) => call.stalledMs >= maxStallMs && (call.session.state.isRetired || isAwaited(call)),
    );
    const others = stalled.filter((call) => !late.includes(call));
    const excess = others.length - this.#share;
    const isExcess = (call: WatchedCall<C>, index: number): boolean =>
      index < excess || (call.longestMs === null && waitedMs(call) >= longWaitMs);
    return [...late, ...others.filter((call, index) => hasStopped(call) && isAwaited(call) && isExcess(call, index))];
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

/** Returns whether the client of a stalled call has read nothing. The network of several clients counts only after a while. */
function isUnread({ client }: Pick<Call, 'client'>, watch: Watch | undefined): boolean {
  if (client === undefined || (watch?.longestMs ?? null) !== null) return false;
  return typeof client === 'object' || (watch !== undefined && watch.stalledMs >= minWaitMs);
}

/** Returns whether the client of a response past the share no longer reads at its pace. */
function hasStopped({ stalledMs, longestMs }: Watch): boolean {
  return stalledMs >= Math.max(maxExcessStallMs, paceFactor * (longestMs ?? 0));
}

/** Invokes the callback when the events of sockets that wait have been handled, and those that follow from them. */
function afterPendingEvents(callback: () => void): void {
  setImmediate(() => setImmediate(callback));
}
