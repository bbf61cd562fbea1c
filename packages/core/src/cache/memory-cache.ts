import type {
  Cache,
  CachedResponse,
  CacheHit,
  CacheKey,
  CacheLookup,
  CacheMiss,
  CacheStatistics,
} from '../ports/ports.ts';

export interface MemoryCacheOptions {
  readonly maxEntries: number;
  /** Bytes of all entries with their keys and overhead. */
  readonly maxSize: number;
  /** Milliseconds between two removals of expired entries. */
  readonly pruneInterval: number;
  /** Returns milliseconds since 1970. Default `Date.now`. */
  readonly now?: () => number;
}

interface Entry {
  /** Created once, so that a lookup allocates nothing. */
  readonly hit: CacheHit;
  readonly routine: string;
  readonly version: string;
  readonly expiresAt: number;
  readonly size: number;
  /** Whether a request has used the entry since the last eviction came to it. */
  isUsed: boolean;
}

/** Estimated bytes of an entry's objects and its slot in the map. */
const overhead = 400;

/** Creates the cache that a gateway uses by default. */
export function memoryCache(options: MemoryCacheOptions): Cache {
  return new MemoryCache(options);
}

/**
 * A cache in the memory of this process. It evicts entries that were not used lately, by second chance: an entry that was used since the last
 * eviction came to it moves to the end instead. An exact order of use would move an entry at every hit, which costs more than the rest of it.
 */
export class MemoryCache implements Cache {
  readonly #options: MemoryCacheOptions;
  readonly #now: () => number;
  /** The next one to evict is first. */
  readonly #entries = new Map<string, Entry>();
  /** By routine, so at most one per endpoint. */
  readonly #misses = new Map<string, CacheMiss>();
  #invalidations = 0;
  #size = 0;
  #evictions = 0;
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(options: MemoryCacheOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** The number of entries, with expired and invalidated ones. */
  get entries(): number {
    return this.#entries.size;
  }

  /** Bytes. */
  get size(): number {
    return this.#size;
  }

  get({ routine, text }: CacheKey): CacheLookup {
    const miss = this.#miss(routine);
    const entry = this.#entries.get(text);
    if (entry === undefined) return miss;
    if (!this.#isValid(entry)) {
      this.#remove(text, entry);
      return miss;
    }
    entry.isUsed = true;
    return entry.hit;
  }

  set(
    { routine, text }: CacheKey,
    response: CachedResponse,
    { version, expires }: { readonly version: string; readonly expires: number | null },
  ): void {
    if (this.#closed || this.#miss(routine).version !== version) return;
    const size = overhead + text.length * 2 + response.body.length + response.headers.join('').length * 2;
    const previous = this.#entries.get(text);
    if (previous !== undefined) this.#remove(text, previous);
    if (size > this.#options.maxSize || this.#options.maxEntries < 1) return;
    const expiresAt = expires === null ? Number.POSITIVE_INFINITY : response.storedAt + expires;
    this.#evictFor(size);
    this.#entries.set(text, { hit: { response }, routine, version, expiresAt, size, isUsed: false });
    this.#size += size;
    this.#timer ??= setInterval(() => this.prune(), this.#options.pruneInterval).unref();
  }

  invalidate(routines: readonly string[]): void {
    for (const routine of routines) {
      this.#misses.set(routine, { response: null, version: String(++this.#invalidations) });
    }
  }

  statistics(): CacheStatistics {
    return { entries: this.#entries.size, bytes: this.#size, evictions: this.#evictions };
  }

  /** Removes expired and invalidated entries. */
  prune(): void {
    for (const [text, entry] of this.#entries) if (!this.#isValid(entry)) this.#remove(text, entry);
  }

  close(): void {
    this.#closed = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#entries.clear();
    this.#size = 0;
  }

  #miss(routine: string): CacheMiss {
    const known = this.#misses.get(routine);
    if (known !== undefined) return known;
    const first = { response: null, version: '0' } as const;
    this.#misses.set(routine, first);
    return first;
  }

  #isValid({ routine, version, expiresAt }: Entry): boolean {
    return this.#miss(routine).version === version && this.#now() < expiresAt;
  }

  #remove(text: string, { size }: Entry): void {
    this.#entries.delete(text);
    this.#size -= size;
  }

  /** Makes room for an entry, before it is added: the new one is not used yet. */
  #evictFor(size: number): void {
    const { maxEntries, maxSize } = this.#options;
    for (const [text, entry] of this.#entries) {
      if (this.#entries.size < maxEntries && this.#size + size <= maxSize) return;
      if (entry.isUsed) {
        entry.isUsed = false;
        this.#entries.delete(text);
        this.#entries.set(text, entry);
      } else {
        this.#remove(text, entry);
        this.#evictions++;
      }
    }
  }
}
