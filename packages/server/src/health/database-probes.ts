import type { DatabaseProbe } from '@pgway/core';

/** Milliseconds that a result is reused, so that many callers cannot load the database. */
const maxAgeMs = 1000;

/** Shares a query of the databases among concurrent callers, and its result for a second. */
export class DatabaseProbes {
  readonly #probe: () => Promise<readonly DatabaseProbe[]>;
  #latest: Promise<readonly DatabaseProbe[]> | null = null;
  /** In the time of `performance.now()`; infinite during a query. */
  #validUntil = 0;

  constructor(probe: () => Promise<readonly DatabaseProbe[]>) {
    this.#probe = probe;
  }

  read(): Promise<readonly DatabaseProbe[]> {
    if (this.#latest !== null && performance.now() < this.#validUntil) return this.#latest;
    this.#validUntil = Number.POSITIVE_INFINITY;
    this.#latest = this.#probe().finally(() => (this.#validUntil = performance.now() + maxAgeMs));
    return this.#latest;
  }
}
