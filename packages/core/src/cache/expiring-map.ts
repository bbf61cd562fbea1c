interface Entry<Value> {
  readonly value: Value;
  readonly expires: number;
}

/**
 * A map with expiring entries that evicts the least recently used one. `lru-cache` does not fit: it reads a lifetime of 0 as "never
 * expires", keeps entries up to and including their end, and allocates for its maximum at once (4 MB for 100,000 sessions).
 */
export class ExpiringMap<Value> {
  /** In the order of use, the least recently used entry first. */
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #maxEntries: number;
  readonly #now: () => number;

  /** @param now milliseconds */
  constructor(maxEntries: number, now: () => number) {
    this.#maxEntries = maxEntries;
    this.#now = now;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    if (this.#now() >= entry.expires) return undefined;
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** @param expires milliseconds, by the clock of the map */
  set(key: string, value: Value, expires: number): void {
    this.#entries.delete(key);
    this.update(key, value, expires);
  }

  /** As `set`, for the key of the last `get`: it is the most recently used one already. */
  update(key: string, value: Value, expires: number): void {
    if (this.#maxEntries < 1) return;
    const { size } = this.#entries;
    this.#entries.set(key, { value, expires });
    if (this.#entries.size === size) return;
    this.#removeExpired();
    if (this.#entries.size > this.#maxEntries) this.#entries.delete(this.#entries.keys().next().value!);
  }

  /** Removes expired entries that are next to be evicted, as many as were added and one more: the map shrinks after a peak. */
  #removeExpired(): void {
    let remaining = 2;
    for (const [key, { expires }] of this.#entries) {
      if (remaining-- === 0 || this.#now() < expires) return;
      this.#entries.delete(key);
    }
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }
}
