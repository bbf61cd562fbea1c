import type { Cache, CachedResponse, CacheKey, CacheLookup, CacheState } from '../ports/ports.ts';
import { toError } from '../to-error.ts';

/** The start of the versions that this class makes. A response that carries one is not stored. */
const ownVersion = 'pgway:failed:';

/**
 * A cache of the host whose methods neither throw nor reject: an error must not fail a request, least of all after its call was
 * committed. Routines that could not be invalidated have no entries until they could.
 */
export class GuardedCache implements Cache {
  readonly #cache: Cache;
  #report: (state: CacheState) => void = () => undefined;
  #hasFailed = false;
  #failedLookups = 0;
  /** The routines that could not be invalidated; at most one per endpoint. */
  readonly #obsolete = new Set<string>();
  #isRepeating = false;

  constructor(cache: Cache) {
    this.#cache = cache;
  }

  async open(report: (state: CacheState) => void): Promise<void> {
    this.#report = report;
    await this.#cache.open?.(report);
  }

  get(key: CacheKey): CacheLookup | Promise<CacheLookup> {
    if (this.#obsolete.size > 0 && this.#obsolete.has(key.routine)) {
      this.#repeatInvalidation();
      return this.#miss();
    }
    try {
      const found = this.#cache.get(key);
      if (found instanceof Promise) return this.#awaitLookup(found);
      this.#succeeded();
      return found;
    } catch (error) {
      this.#failed(error);
      return this.#miss();
    }
  }

  async #awaitLookup(pending: Promise<CacheLookup>): Promise<CacheLookup> {
    try {
      const found = await pending;
      this.#succeeded();
      return found;
    } catch (error) {
      this.#failed(error);
      return this.#miss();
    }
  }

  /** The version is unique: a request must not join a call that began before an invalidation. */
  #miss(): CacheLookup {
    this.#failedLookups += 1;
    return { response: null, version: `${ownVersion}${this.#failedLookups}` };
  }

  set(key: CacheKey, response: CachedResponse, how: Parameters<Cache['set']>[2]): void | Promise<void> {
    if (how.version.startsWith(ownVersion)) return;
    try {
      const pending = this.#cache.set(key, response, how);
      if (pending instanceof Promise) return pending.catch((error: unknown) => this.#failed(error));
    } catch (error) {
      this.#failed(error);
    }
  }

  invalidate(routines: readonly string[], scope?: 'process'): void | Promise<void> {
    const repeated = [...this.#obsolete];
    const names = repeated.length === 0 ? routines : [...new Set([...repeated, ...routines])];
    try {
      // Those that are repeated may concern all processes.
      const pending = this.#cache.invalidate(names, repeated.length === 0 ? scope : undefined);
      if (pending instanceof Promise) {
        return pending.then(
          () => this.#invalidated(repeated),
          (error: unknown) => this.#notInvalidated(names, error),
        );
      }
      this.#invalidated(repeated);
    } catch (error) {
      this.#notInvalidated(names, error);
    }
  }

  #invalidated(repeated: readonly string[]): void {
    for (const routine of repeated) this.#obsolete.delete(routine);
    this.#succeeded();
  }

  #notInvalidated(routines: readonly string[], error: unknown): void {
    for (const routine of routines) this.#obsolete.add(routine);
    this.#failed(error);
  }

  /** Requests do not wait for it: a cache that fails may take long. */
  #repeatInvalidation(): void {
    if (this.#isRepeating) return;
    this.#isRepeating = true;
    void Promise.resolve(this.invalidate([])).then(() => (this.#isRepeating = false));
  }

  #failed(error: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#report({ unavailable: toError(error) });
  }

  #succeeded(): void {
    if (!this.#hasFailed || this.#obsolete.size > 0) return;
    this.#hasFailed = false;
    this.#report({ unavailable: null });
  }

  close(): void | Promise<void> {
    return this.#cache.close();
  }
}
