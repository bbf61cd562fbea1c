import type { WalPosition } from './port.ts';
import type { PrimaryState } from './replica-checks.ts';

/** The maximum number of entries, so that a long lag bound does not need much memory. */
const maxEntries = 200;

interface Entry {
  /** By `performance.now()`, before the position was read. */
  readonly at: number;
  readonly position: WalPosition;
}

/** The write positions of the primary in the recent past: tells up to which time a replica has all changes. */
export class PrimaryLog {
  /** Oldest first, of one timeline. */
  readonly #entries: Entry[] = [];
  readonly #minDistanceMs: number;
  #latest: PrimaryState | null = null;

  /** @param spanMs the time that it covers, in milliseconds */
  constructor(spanMs: number) {
    this.#minDistanceMs = spanMs / maxEntries;
  }

  /** The state that was added last. */
  get latest(): PrimaryState | null {
    return this.#latest;
  }

  /**
   * Adds a state of the primary.
   * @param at the time before it was read, by `performance.now()`
   * @returns whether it is of another cluster or timeline than the one before, so that earlier positions say nothing
   */
  add(state: PrimaryState, at: number): boolean {
    const { system, position } = state;
    const hasChanged = this.#latest?.system !== system || this.#latest.position.timeline !== position.timeline;
    const entries = this.#entries;
    if (hasChanged) entries.length = 0;
    // The last entry is replaced while it is close to the one before it.
    const before = entries.at(-2);
    if (before !== undefined && at - before.at < this.#minDistanceMs) entries.pop();
    entries.push({ at, position });
    if (entries.length > maxEntries) entries.shift();
    this.#latest = state;
    return hasChanged;
  }

  /** Returns the latest known time before which every committed change is in a copy that has replayed the log up to a position. */
  completeUntil({ lsn }: WalPosition): number {
    return this.#entries.findLast(({ position }) => position.lsn <= lsn)?.at ?? Number.NEGATIVE_INFINITY;
  }
}
