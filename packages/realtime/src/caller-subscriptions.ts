import { maxCallerSubscriptions } from './limits.ts';
import { Refusal } from './refusal.ts';

/** Counts the different subscriptions of each caller: PostgreSQL reads a changed row once for each of them. */
export class CallerSubscriptions {
  readonly #max: number;
  /** By caller, and by what equal subscriptions have in common. */
  readonly #counts = new Map<string, Map<string, number>>();

  constructor(max: number = maxCallerSubscriptions) {
    this.#max = max;
  }

  /**
   * Counts a subscription until the returned function is called.
   * @param caller as `callerKey` returns it
   * @throws Refusal for one that differs from too many others
   */
  add(caller: string, key: string): () => void {
    const counts = this.#counts.get(caller) ?? new Map<string, number>();
    const count = counts.get(key) ?? 0;
    if (count === 0 && counts.size >= this.#max)
      throw new Refusal(
        `You watch ${this.#max} different combinations of table, filter and columns, which is the maximum; leave a channel, or use fewer filters`,
      );
    counts.set(key, count + 1);
    this.#counts.set(caller, counts);
    let isCounted = true;
    return () => {
      if (isCounted) this.#remove(caller, key);
      isCounted = false;
    };
  }

  #remove(caller: string, key: string): void {
    const counts = this.#counts.get(caller)!;
    const count = counts.get(key)! - 1;
    if (count > 0) counts.set(key, count);
    else counts.delete(key);
    if (counts.size === 0) this.#counts.delete(caller);
  }
}
