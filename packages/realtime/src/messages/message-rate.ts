/** Counts the messages of one sender: as many at once as in a second, which come back evenly. */
export class MessageRate {
  readonly #perSecond: number;
  #available: number;
  /** By `performance.now()`. */
  #countedAt: number;

  constructor(perSecond: number, now: number) {
    this.#perSecond = perSecond;
    this.#available = perSecond;
    this.#countedAt = now;
  }

  /** @returns false beyond the limit */
  take(now: number): boolean {
    const gained = ((now - this.#countedAt) * this.#perSecond) / 1_000;
    this.#available = Math.min(this.#perSecond, this.#available + gained);
    this.#countedAt = now;
    if (this.#available < 1) return false;
    this.#available--;
    return true;
  }
}

const maxSenders = 10_000;

/** The rates of callers, those that have sent last. */
export class MessageRates {
  readonly #perSecond: number;
  readonly #rates = new Map<string, MessageRate>();

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  /**
   * @param sender as `callerKey` returns it
   * @returns false beyond the limit
   */
  take(sender: string, now: number): boolean {
    const rate = this.#rates.get(sender) ?? new MessageRate(this.#perSecond, now);
    this.#rates.delete(sender);
    this.#rates.set(sender, rate);
    if (this.#rates.size > maxSenders) this.#rates.delete(this.#rates.keys().next().value!);
    return rate.take(now);
  }
}
