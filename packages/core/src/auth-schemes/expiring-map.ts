interface Entry<Value> {
  readonly value: Value;
  readonly until: number;
}

/** A map with a bound: an entry lives until its time, or until it is the one that was not used for longest. */
export class ExpiringMap<Value> {
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #limit: number;
  readonly #now: () => number;

  /**
   * @param limit the most entries that are kept
   * @param now milliseconds
   */
  constructor(limit: number, now: () => number) {
    this.#limit = limit;
    this.#now = now;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    if (this.#now() >= entry.until) return undefined;
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** @param until milliseconds, by the clock of the map */
  set(key: string, value: Value, until: number): void {
    this.#entries.delete(key);
    if (this.#limit < 1) return;
    this.#entries.set(key, { value, until });
    if (this.#entries.size <= this.#limit) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      return;
    }
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }
}
