import { findObstacles, type ChangesObstacle } from '../changes/preconditions/find-obstacles.ts';
import type { TableName } from '../catalog/table-name.ts';
import { readLogFacts } from '../changes/preconditions/log-facts.ts';
import type { Observer } from '../ports/ports.ts';
import type { Database } from '../postgres/port.ts';

/** Milliseconds between two checks while streams are open. */
const checkIntervalMs = 60_000;
/** Milliseconds after a check, in which a refused client does not cause another one. */
const recheckMs = 1_000;

export interface ChangesChecksOptions {
  readonly database: Database;
  readonly observe: Observer;
  /** Whether the log is read, whose slot and connection are then in use. */
  readonly isReading: () => boolean;
  /** Whether streams are open. */
  readonly isUsed: () => boolean;
}

/** Checks what row changes need of the database: at each load, and once a minute while streams are open. */
export class ChangesChecks {
  readonly #options: ChangesChecksOptions;
  readonly #timer: NodeJS.Timeout;
  #tables: readonly TableName[] = [];
  #obstacles: readonly ChangesObstacle[] = [];
  #checkedAt = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | null = null;

  constructor(options: ChangesChecksOptions) {
    this.#options = options;
    this.#timer = setInterval(() => {
      if (options.isUsed()) void this.check();
    }, checkIntervalMs);
    this.#timer.unref();
  }

  /** Sets the tables whose changes are streamed, and checks them. */
  update(tables: readonly TableName[]): void {
    this.#tables = [...new Map(tables.map((table) => [JSON.stringify([table.schema, table.name]), table])).values()];
    void this.check();
  }

  /** Returns why changes of a table cannot be read, as the last check has found it; null: nothing is known against it. */
  find({ schema, name }: TableName): string | null {
    const found = this.#obstacles.find(
      ({ severity, table }) =>
        severity === 'error' && (table === null || (table.schema === schema && table.name === name)),
    );
    // A client waits until it is mended.
    if (found !== undefined && performance.now() - this.#checkedAt > recheckMs) void this.check();
    return found?.message ?? null;
  }

  /** Reads the catalog. Each obstacle is reported once, and again after it was away. Further calls during a check return the same promise. */
  check(): Promise<void> {
    this.#running ??= this.#check().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #check(): Promise<void> {
    const { database, observe, isReading } = this.#options;
    try {
      const facts = await readLogFacts(database, this.#tables);
      const known = new Set(this.#obstacles.map(({ message }) => message));
      this.#obstacles = findObstacles(facts, { isReading: isReading() });
      for (const { code, message } of this.#obstacles) {
        if (!known.has(message))
          observe({ kind: 'start-warning', code: `changes-${code}`, message: `changes: ${message}` });
      }
    } catch {
      // Without a connection, the reader of the log reports its own failure.
    }
    this.#checkedAt = performance.now();
  }
}
