import { ExpiringMap } from './expiring-map.ts';

/**
 * Which refresh token of a session is the next to be used, as far as this instance has seen. It knows nothing of what happened
 * on other instances or before a restart, and forgets the oldest session when it is full: a reuse there is not noticed.
 */
export class RefreshRecord {
  readonly #next: ExpiringMap<number>;

  /**
   * @param limit sessions
   * @param now milliseconds since 1970
   */
  constructor(limit: number, now: () => number) {
    this.#next = new ExpiringMap(limit, now);
  }

  /** False: this one, or a later one, was used before. */
  advance(session: string, generation: number, expires: number): boolean {
    const next = this.#next.get(session) ?? generation;
    if (generation < next) return false;
    this.#next.set(session, generation + 1, expires * 1000);
    return true;
  }
}
