import { hash } from 'node:crypto';

import { ExpiringMap } from './expiring-map.ts';

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
