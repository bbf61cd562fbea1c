import type { TableReport } from '../ports/changes.ts';
import type { Cut } from './cut.ts';
import { tableKey, type TableName } from '../catalog/table-name.ts';
import type { CutChanges } from './key-changes.ts';
import type { WatchedTables } from './watched-table.ts';

interface Watcher {
  readonly keys: readonly string[];
  readonly listener: (report: TableReport) => void;
  /** Whether changes may be missing since the last report. */
  hasMissed: boolean;
  /** Whether its tables have been read. */
  isReady: boolean;
}

/** Milliseconds until a table whose changes the log does not have is looked for again. */
const retryMs = 5_000;

/** Reports which tables have changed to those that ask for no rows. */
export class TableWatchers {
  readonly #tables: WatchedTables;
  readonly #watchers = new Set<Watcher>();
  readonly #names = new Map<string, TableName>();
  /** The state of each table in the last cut, as `Cut.definitions` has it. Null: the log did not have its changes then. */
  #states = new Map<string, string | null>();
  readonly #triedAt = new Map<string, number>();

  constructor(tables: WatchedTables) {
    this.#tables = tables;
  }

  get isEmpty(): boolean {
    return this.#watchers.size === 0;
  }

  add(tables: readonly TableName[], listener: Watcher['listener']): () => void {
    const watcher: Watcher = { keys: [...new Set(tables.map(tableKey))], listener, hasMissed: true, isReady: false };
    for (const table of tables) this.#names.set(tableKey(table), table);
    this.#watchers.add(watcher);
    return () => {
      this.#watchers.delete(watcher);
      const used = new Set([...this.#watchers].flatMap(({ keys }) => keys));
      for (const key of watcher.keys) if (!used.has(key)) this.#forget(key);
    };
  }

  #forget(key: string): void {
    this.#names.delete(key);
    this.#states.delete(key);
    this.#triedAt.delete(key);
  }

  /** Reads tables that are new, and those that the log did not have. @throws the error of the database */
  async refresh(): Promise<void> {
    const now = performance.now();
    const watchers = [...this.#watchers];
    for (const [key, table] of this.#names) {
      const isKnown = this.#tables.byKey.get(key)?.isFollowed === true;
      if (isKnown || now - (this.#triedAt.get(key) ?? Number.NEGATIVE_INFINITY) < retryMs) continue;
      this.#triedAt.set(key, now);
      this.#tables.mark(key);
      await this.#tables.tryWatch(table);
    }
    for (const watcher of watchers) watcher.isReady = true;
  }

  /** Transactions are missing. */
  lose(): void {
    for (const watcher of this.#watchers) watcher.hasMissed = true;
    this.#triedAt.clear();
  }

  /** @param changes those of the transactions that the cut shows, and the one before it does not */
  report(changes: CutChanges, cut: Cut): void {
    if (this.isEmpty) return;
    const changed = this.#findChanged(changes, cut);
    const until = cut.takenAtTime;
    for (const watcher of this.#watchers) {
      const { keys, hasMissed, isReady, listener } = watcher;
      if (!isReady) continue;
      watcher.hasMissed = false;
      listener({
        changed: hasMissed ? null : keys.filter((key) => changed.has(key)),
        unknown: keys.filter((key) => this.#states.get(key) === null),
        until,
      });
    }
  }

  #findChanged(changes: CutChanges, cut: Cut): ReadonlySet<string> {
    const changed = new Set<string>();
    const states = new Map<string, string | null>();
    for (const key of this.#names.keys()) {
      const table = this.#tables.byKey.get(key);
      const found = table?.isFollowed === true ? cut.definitions.tables.get(table.id) : undefined;
      const state = found === undefined ? null : JSON.stringify(found);
      states.set(key, state);
      const hasNewState = this.#states.get(key) !== state;
      // The log does not show which of its changes are missing now, nor which tables inherit from it.
      if (hasNewState && table !== undefined) this.#tables.mark(key);
      if (hasNewState || table?.members.some((member) => changes.has(member)) === true) changed.add(key);
    }
    this.#states = states;
    return changed;
  }
}
