import { hash } from 'node:crypto';

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
    if (this.#maxEntries < 1) return;
    this.#entries.set(key, { value, expires });
    if (this.#entries.size > this.#maxEntries) this.#entries.delete(this.#entries.keys().next().value!);
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }
}

/** Seconds after which a cached token is verified again, so that a removed key does not stay valid here. */
const maxCacheSeconds = 600;

/** Caches the results of token verifications. Keys are digests: a copy of the memory contains no valid token. */
export class TokenCache<Value> {
  readonly #entries: ExpiringMap<Value>;
  readonly #now: () => number;

  /**
   * @param maxEntries 0: nothing is cached
   * @param now milliseconds since 1970
   */
  constructor(maxEntries: number, now: () => number) {
    this.#entries = new ExpiringMap(maxEntries, now);
    this.#now = now;
  }

  get(token: string): Value | undefined {
    return this.#entries.get(digest(token));
  }

  /** @param expires seconds since 1970 */
  set(token: string, value: Value, expires: number): void {
    this.#entries.set(digest(token), value, Math.min(expires * 1000, this.#now() + maxCacheSeconds * 1000));
  }

  delete(token: string): void {
    this.#entries.delete(digest(token));
  }
}

function digest(token: string): string {
  return hash('sha256', token, 'base64');
}
