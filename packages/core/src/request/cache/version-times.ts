/**
 * When each version of the cached responses of a routine was first seen. A version is new after an invalidation, and the change that caused
 * it was committed before: a response that is stored under a version has to include what was committed until then.
 */
export class VersionTimes {
  /** By routine, so at most one per endpoint. */
  readonly #latest = new Map<string, { readonly version: string; readonly firstSeen: number }>();

  /** Returns a time by `performance.now()`: now for a new version. */
  firstSeen(routine: string, version: string): number {
    const known = this.#latest.get(routine);
    if (known?.version === version) return known.firstSeen;
    const firstSeen = performance.now();
    this.#latest.set(routine, { version, firstSeen });
    return firstSeen;
  }
}
