import type { OpenSession } from './session-opener.ts';
import type { Session } from './session.ts';

/**
 * Milliseconds that a connection may stay idle while other pools wait. The calls of one request, or of the start of a tenant, follow each
 * other: a new connection for each of them costs more.
 */
const idleMs = 25;

/** The connections of one pool. */
interface Share {
  /** Open connections, and those that are being opened. */
  held: number;
  readonly sessions: Set<Session>;
}

interface Waiter {
  readonly share: Share;
  readonly begin: () => void;
}

/**
 * Limits the connections of several pools together. When all are in use, a pool with fewer connections gets one of a pool with more: an idle one
 * at once, another one when its calls have ended. So each pool gets a connection, whatever the load of the others.
 */
export class ConnectionLimit {
  readonly max: number;
  readonly #shares = new Set<Share>();
  #waiting: Waiter[] = [];
  #used = 0;
  #isScheduled = false;

  constructor(max: number) {
    this.max = max;
  }

  /** The number of open connections, and of those that are being opened. */
  get used(): number {
    return this.#used;
  }

  /** The number of pools that wait for a connection, each as often as it needs one. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Adds a pool. Returns its way to open connections, which waits until there is one for the pool. */
  share(open: OpenSession): OpenSession {
    const share: Share = { held: 0, sessions: new Set() };
    return async (events) => {
      await this.#acquire(share);
      let isReleased = false;
      const release = (): void => {
        if (isReleased) return;
        isReleased = true;
        this.#release(share);
      };
      try {
        const session = await open({
          ...events,
          released: (released) => {
            events.released(released);
            if (this.#waiting.length > 0) this.#scheduleReclaim();
          },
          closed: (closed) => {
            share.sessions.delete(closed);
            events.closed(closed);
            release();
          },
        });
        if (!isReleased) share.sessions.add(session);
        if (this.#waiting.length > 0) this.#scheduleReclaim();
        return session;
      } catch (error) {
        release();
        throw error;
      }
    };
  }

  #acquire(share: Share): Promise<void> {
    if (this.#used < this.max && this.#waiting.length === 0) {
      this.#take(share);
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      this.#waiting.push({ share, begin: resolve });
      this.#scheduleReclaim();
    });
  }

  #take(share: Share): void {
    this.#used++;
    share.held++;
    this.#shares.add(share);
  }

  #release(share: Share): void {
    this.#used--;
    share.held--;
    if (share.held === 0) this.#shares.delete(share);
    const next = this.#next();
    if (next === null || this.#used >= this.max) return;
    this.#waiting.splice(this.#waiting.indexOf(next), 1);
    this.#take(next.share);
    next.begin();
  }

  /** The pool with the fewest connections; among equals, the one that has waited longest. */
  #next(): Waiter | null {
    let best: Waiter | null = null;
    for (const waiter of this.#waiting) if (best === null || waiter.share.held < best.share.held) best = waiter;
    return best;
  }

  #scheduleReclaim(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setTimeout(() => {
      this.#isScheduled = false;
      this.#reclaim();
    }, idleMs);
  }

  /** Asks for as many connections as pools wait for and may have. */
  #reclaim(): void {
    let missing = this.#waiting.length - this.#retiring();
    const least = this.#next()?.share.held ?? 0;
    for (; missing > 0; missing--) {
      const session = this.#surplus(least);
      if (session === null) return;
      session.state.isRetired = true;
      if (session.isIdle) session.end();
    }
  }

  /** The number of connections that close when their calls have ended. */
  #retiring(): number {
    let count = 0;
    for (const { sessions } of this.#shares) for (const { state } of sessions) if (state.isRetired) count++;
    return count;
  }

  /**
   * Returns a connection of the pool with the most of them: an idle one of any pool, or one in use of a pool that keeps at least as many as the
   * waiting pool then has. A pool without a connection gets the only one of another pool, after its calls.
   */
  #surplus(least: number): Session | null {
    const shares = [...this.#shares].toSorted((one, other) => other.held - one.held);
    for (const { sessions } of shares) {
      for (const session of sessions) if (session.isIdle && !session.state.isRetired) return session;
    }
    for (const { held, sessions } of shares) {
      const mayGive = least === 0 ? held >= 1 : held >= least + 2;
      if (!mayGive) return null;
      for (const session of sessions) if (!session.state.isRetired) return session;
    }
    return null;
  }
}
