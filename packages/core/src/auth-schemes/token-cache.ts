import { hash } from 'node:crypto';
import { ExpiringMap } from '../cache/expiring-map.ts';

/** Seconds after which a cached token is verified again, so that a removed key does not stay valid here. */
const maxCacheSeconds = 600;

/** Caches the results of token verifications. Keys are digests: a copy of the memory contains no valid token. */
const maxEntries = 5_000;

export class TokenCache<Value> {
  readonly #entries: ExpiringMap<Value>;
  readonly #now: () => number;

  /** @param now milliseconds since 1970 */
  constructor(now: () => number) {
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
