/** Milliseconds within which a lookup has to end so that other groups may wait for it. */
const quickMs = 100;
/** Milliseconds for which a group has transactions of its own after it has failed, or was in a transaction that has. */
const aloneMs = 60_000;

/** The time and the failures of a group's lookups. They decide whether the group shares a transaction with others. */
export class LookupCost {
  /** Milliseconds of a lookup; null: not known. */
  #ms: number | null = null;
  /** By `performance.now()`. */
  #aloneUntil = Number.NEGATIVE_INFINITY;

  /** @param ms as measured, or the share of the lookup in the time of its transaction */
  measured(ms: number): void {
    this.#ms = ms;
  }

  /** The lookup has not ended in time. */
  timedOut(): void {
    this.#ms = Number.POSITIVE_INFINITY;
  }

  /** The lookup has failed, or was in a transaction that has failed: other groups do not wait for it for some time. */
  failed(now: number = performance.now()): void {
    this.#aloneUntil = now + aloneMs;
  }

  get ms(): number | null {
    return this.#ms;
  }

  get isSlow(): boolean {
    return this.#ms !== null && this.#ms >= quickMs;
  }

  /** Whether other groups may follow it in one transaction. @param mayBeUnknown whether they may before its first lookup */
  mayShare(mayBeUnknown: boolean, now: number = performance.now()): boolean {
    if (this.isSlow || now < this.#aloneUntil) return false;
    return this.#ms !== null || mayBeUnknown;
  }
}
