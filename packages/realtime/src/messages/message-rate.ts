import { maxMessagesPerSecond } from '../limits.ts';

/** Counts the messages of one sender: as many at once as in a second, which come back evenly. */
export class MessageRate {
  #available: number = maxMessagesPerSecond;
  /** By `performance.now()`. */
  #countedAt: number;

  constructor(now: number) {
    this.#countedAt = now;
  }

  /** @returns false beyond the limit */
  take(now: number): boolean {
    const gained = ((now - this.#countedAt) * maxMessagesPerSecond) / 1_000;
    this.#available = Math.min(maxMessagesPerSecond, this.#available + gained);
    this.#countedAt = now;
    if (this.#available < 1) return false;
    this.#available--;
    return true;
  }
}

const maxSenders = 10_000;

/** The rates of senders without a connection, those that have sent last. */
export class MessageRates {
  readonly #rates = new Map<string, MessageRate>();

  /** @returns false beyond the limit */
  take(sender: string, now: number): boolean {
    const rate = this.#rates.get(sender) ?? new MessageRate(now);
    this.#rates.delete(sender);
    this.#rates.set(sender, rate);
    if (this.#rates.size > maxSenders) this.#rates.delete(this.#rates.keys().next().value!);
    return rate.take(now);
  }
}
