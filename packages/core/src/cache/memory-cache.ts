import type { Cache, CachedResponse, CacheKey, CacheLookup, CacheMiss } from '../ports/ports.ts';

export interface MemoryCacheOptions {
  readonly maxEntries: number;
  /** Bytes of answers, keys and what it takes to keep them. */
  readonly maxSize: number;
  /** Milliseconds between two times that what has expired is removed. */
  readonly pruneInterval: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

interface Entry {
  /** Made once, so that a look costs nothing but the look. */
  readonly look: CacheLookup;
  readonly routine: string;
  readonly version: string;
  readonly expiresAt: number;
  readonly size: number;
}

/** What an entry takes besides its bytes: objects, and the place in the map. */
const overhead = 400;

/** Keeps answers in this process; the one that was of no use for longest makes room. */
export class MemoryCache implements Cache {
  readonly #options: MemoryCacheOptions;
  readonly #now: () => number;
  /** The order of the map is the order of use. */
  readonly #entries = new Map<string, Entry>();
  /** By routine: there are as many as the gateway has endpoints. */
  readonly #versions = new Map<string, CacheMiss>();
  #invalidations = 0;
  #size = 0;
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(options: MemoryCacheOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** How many entries there are, also those that nobody will be given any more. */
  get entries(): number {
    return this.#entries.size;
  }

  /** Bytes. */
  get size(): number {
    return this.#size;
  }

  get({ routine, text }: CacheKey): CacheLookup {
    const current = this.#versionOf(routine);
    const entry = this.#entries.get(text);
    if (entry === undefined) return current;
    if (!this.#isAlive(entry)) {
      this.#remove(text, entry);
      return current;
    }
    this.#entries.delete(text);
    this.#entries.set(text, entry);
    return entry.look;
  }

  set(
    { routine, text }: CacheKey,
    answer: CachedResponse,
    { version, expires }: { readonly version: string; readonly expires: number | null },
  ): void {
    if (this.#closed || this.#versionOf(routine).version !== version) return;
    const size = overhead + text.length * 2 + answer.body.length + answer.headers.join('').length * 2;
    const former = this.#entries.get(text);
    if (former !== undefined) this.#remove(text, former);
    if (size > this.#options.maxSize || this.#options.maxEntries < 1) return;
    const expiresAt = expires === null ? Number.POSITIVE_INFINITY : answer.storedAt + expires;
    this.#entries.set(text, { look: { response: answer }, routine, version, expiresAt, size });
    this.#size += size;
    this.#makeRoom();
    this.#timer ??= setInterval(() => this.prune(), this.#options.pruneInterval).unref();
  }

  invalidate(routines: readonly string[]): void {
    for (const routine of routines) {
      this.#versions.set(routine, { response: null, version: String(++this.#invalidations) });
    }
  }

  /** Removes what nobody will be given any more. */
  prune(): void {
    for (const [text, entry] of this.#entries) if (!this.#isAlive(entry)) this.#remove(text, entry);
  }

  close(): void {
    this.#closed = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#entries.clear();
    this.#size = 0;
  }

  #versionOf(routine: string): CacheMiss {
    const known = this.#versions.get(routine);
    if (known !== undefined) return known;
    const first = { response: null, version: '0' } as const;
    this.#versions.set(routine, first);
    return first;
  }

  #isAlive({ routine, version, expiresAt }: Entry): boolean {
    return this.#versionOf(routine).version === version && this.#now() < expiresAt;
  }

  #remove(text: string, { size }: Entry): void {
    this.#entries.delete(text);
    this.#size -= size;
  }

  #makeRoom(): void {
    const { maxEntries, maxSize } = this.#options;
    for (const [text, entry] of this.#entries) {
      if (this.#entries.size <= maxEntries && this.#size <= maxSize) return;
      this.#remove(text, entry);
    }
  }
}
