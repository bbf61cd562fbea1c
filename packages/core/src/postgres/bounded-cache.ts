export interface CacheLimits {
  readonly entries: number;
  /** The sum of the sizes of all entries. */
  readonly size: number;
}

interface CachedEntry<Entry> {
  readonly entry: Entry;
  readonly size: number;
}

/** The part of the limits that entries which were used again may take. */
const usedAgainShare = 0.75;

/**
 * A cache within limits of number and size. Entries that were used once are evicted before those that were used again: clients that send
 * ever new keys evict the entries of each other, and not those of frequent requests.
 */
export class BoundedCache<Entry> {
  readonly #limits: CacheLimits;
  /** In the order of use: the first one is evicted first. */
  readonly #usedOnce = new Segment<Entry>();
  readonly #usedAgain = new Segment<Entry>();
  /** Evictions since an entry was demoted. */
  #evictions = 0;
  /** The entry that was used last, which is already the last one of its segment; null after an addition. */
  #last: readonly [key: string, entry: Entry] | null = null;

  constructor(limits: CacheLimits) {
    this.#limits = limits;
  }

  get entries(): number {
    return this.#usedOnce.entries + this.#usedAgain.entries;
  }

  get size(): number {
    return this.#usedOnce.size + this.#usedAgain.size;
  }

  get(key: string): Entry | undefined {
    if (this.#last !== null && this.#last[0] === key) return this.#last[1];
    const cached = this.#usedAgain.take(key) ?? this.#usedOnce.take(key);
    if (cached === undefined) return undefined;
    this.#usedAgain.add(key, cached);
    while (this.#usedAgain.exceeds(this.#limits, usedAgainShare)) this.#demote();
    this.#last = [key, cached.entry];
    return cached.entry;
  }

  /** Adds an entry under a new key, unless it is larger than all entries may be. */
  add(key: string, entry: Entry, size: number): void {
    this.#last = null;
    if (size > this.#limits.size) return;
    this.#usedOnce.add(key, { entry, size });
    // The new entry is the last one of its segment.
    while (this.entries > this.#limits.entries || this.size > this.#limits.size) this.#evict();
  }

  #evict(): void {
    if (this.#usedOnce.entries === 1) {
      this.#usedAgain.takeFirst();
      return;
    }
    this.#usedOnce.takeFirst();
    // Entries that are not used any more make way for new ones.
    if (++this.#evictions >= this.#limits.entries && this.#usedAgain.entries > 0) this.#demote();
  }

  #demote(): void {
    this.#evictions = 0;
    this.#usedOnce.add(...this.#usedAgain.takeFirst());
  }
}

class Segment<Entry> {
  readonly #cached = new Map<string, CachedEntry<Entry>>();
  #size = 0;

  get entries(): number {
    return this.#cached.size;
  }

  get size(): number {
    return this.#size;
  }

  exceeds({ entries, size }: CacheLimits, share: number): boolean {
    return this.#cached.size > entries * share || this.#size > size * share;
  }

  add(key: string, cached: CachedEntry<Entry>): void {
    this.#cached.set(key, cached);
    this.#size += cached.size;
  }

  take(key: string): CachedEntry<Entry> | undefined {
    const cached = this.#cached.get(key);
    if (cached === undefined) return undefined;
    this.#cached.delete(key);
    this.#size -= cached.size;
    return cached;
  }

  takeFirst(): readonly [key: string, cached: CachedEntry<Entry>] {
    const key = this.#cached.keys().next().value!;
    return [key, this.take(key)!];
  }
}
