import type { Database } from '../../postgres/port.ts';
import type { IdempotencyStore } from './compile-idempotency.ts';

/** Keys per statement: each deletes for a short time only. */
const batchSize = 1_000;
/** Statements in a row. The next call with a key continues, so that more keys cannot come than go. */
const maxBatches = 10;

/** Deletes expired keys after calls with a key, in transactions of its own. */
export class KeyPruner {
  readonly #prune: string;
  readonly #intervalMs: number;
  readonly #onFailure: (error: Error) => void;
  /** By `performance.now()`. */
  readonly #nextAt = new WeakMap<Database, number>();

  constructor({ prune, pruneIntervalMs }: IdempotencyStore, onFailure: (error: Error) => void) {
    this.#prune = `select ${prune}(${batchSize})`;
    this.#intervalMs = pruneIntervalMs;
    this.#onFailure = onFailure;
  }

  /** Deletes expired keys of the database if the interval has passed, without a wait. */
  afterCall(database: Database): void {
    const now = performance.now();
    if (now < (this.#nextAt.get(database) ?? 0)) return;
    this.#nextAt.set(database, now + this.#intervalMs);
    this.#run(database).catch((error: unknown) => this.#onFailure(error as Error));
  }

  async #run(database: Database): Promise<void> {
    for (let batch = 0; batch < maxBatches; batch++) {
      const [row] = await database.query(this.#prune);
      if (Number(row?.[0]) < batchSize) return;
    }
    this.#nextAt.delete(database);
  }
}
