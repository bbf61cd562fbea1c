import { hash } from 'node:crypto';

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

/** The longest that a token is believed without another look at it, so that a key that was removed does not live on here. */
const longestTrust = 600;

/** What tokens were found to say. The tokens themselves are not kept: a copy of our memory signs nobody in. */
export class TokenCache<Value> {
  readonly #known: ExpiringMap<Value>;
  readonly #now: () => number;

  /**
   * @param limit the most tokens that are remembered; 0: none
   * @param now milliseconds since 1970
   */
  constructor(limit: number, now: () => number) {
    this.#known = new ExpiringMap(limit, now);
    this.#now = now;
  }

  get(token: string): Value | undefined {
    return this.#known.get(digest(token));
  }

  /** @param expires seconds since 1970 */
  set(token: string, value: Value, expires: number): void {
    this.#known.set(digest(token), value, Math.min(expires * 1000, this.#now() + longestTrust * 1000));
  }

  delete(token: string): void {
    this.#known.delete(digest(token));
  }
}

function digest(token: string): string {
  return hash('sha256', token, 'base64');
}
