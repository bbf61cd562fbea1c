import { tableKey } from '../catalog/table-name.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { TableReport } from '../ports/changes.ts';
import type { Cache, Observer } from '../ports/ports.ts';
import type { Changes } from './open-changes.ts';

/** Milliseconds after which a report is too old: changes may have been committed that it does not have. */
const maxAgeMs = 5_000;

/** Invalidates cached responses when tables change, and knows whether it has the changes of a table. */
export class TableFollower {
  readonly #changes: Changes;
  readonly #cache: Cache;
  readonly #observe: Observer;
  /** The routines of cached endpoints by table, whose keys are those of `tableKey`. */
  #routines: ReadonlyMap<string, ReadonlySet<string>> = new Map();
  /** The tables as JSON. */
  #watched = '[]';
  #stop: (() => void) | null = null;
  /** By `Date.now()`. */
  #expiresAt = 0;
  #unknown: ReadonlySet<string> = new Set();
  /** The numbers of invalidations that have not ended, by table. */
  readonly #invalidating = new Map<string, number>();

  constructor(changes: Changes, cache: Cache, observe: Observer) {
    this.#changes = changes;
    this.#cache = cache;
    this.#observe = observe;
  }

  /** @throws StartError without a connection that reads the log */
  update(endpoints: readonly Endpoint[]): void {
    const routines = new Map<string, Set<string>>();
    for (const { cache, schema, name } of endpoints) {
      for (const key of cache?.untilChangesOf?.map(tableKey) ?? [])
        routines.set(key, (routines.get(key) ?? new Set()).add(`${schema}.${name}`));
    }
    this.#routines = routines;
    const watched = JSON.stringify([...routines.keys()].toSorted());
    if (watched === this.#watched) return;
    this.close();
    this.#watched = watched;
    if (routines.size === 0) return;
    const tables = [...routines.keys()].map((key) => {
      const [schema, name] = JSON.parse(key) as [string, string];
      return { schema, name };
    });
    this.#stop = this.#changes.open().watchTables(tables, (report) => this.#receive(report));
  }

  /**
   * Whether all responses of the routine that changes of these tables concern have been invalidated, but for changes of the last seconds. An
   * endpoint is not known before the first `update` with it.
   */
  isCurrent(routine: string, tables: readonly string[]): boolean {
    if (Date.now() > this.#expiresAt) return false;
    return tables.every(
      (key) =>
        this.#routines.get(key)?.has(routine) === true && !this.#unknown.has(key) && !this.#invalidating.has(key),
    );
  }

  close(): void {
    this.#stop?.();
    this.#stop = null;
    this.#expiresAt = 0;
  }

  #receive({ changed, unknown, until }: TableReport): void {
    const keys = changed ?? [...this.#routines.keys()];
    const routines = [...new Set(keys.flatMap((key) => [...(this.#routines.get(key) ?? [])]))];
    if (routines.length > 0) this.#invalidate(keys, routines);
    this.#warn(unknown.filter((key) => !this.#unknown.has(key)));
    this.#unknown = new Set(unknown);
    this.#expiresAt = until + maxAgeMs;
  }

  #invalidate(keys: readonly string[], routines: readonly string[]): void {
    // Each process gets the reports.
    const pending = this.#cache.invalidate(routines, 'process');
    if (pending === undefined) return;
    for (const key of keys) this.#invalidating.set(key, (this.#invalidating.get(key) ?? 0) + 1);
    void pending.finally(() => {
      for (const key of keys) {
        const count = this.#invalidating.get(key)! - 1;
        if (count === 0) this.#invalidating.delete(key);
        else this.#invalidating.set(key, count);
      }
    });
  }

  #warn(keys: readonly string[]): void {
    if (keys.length === 0) return;
    const names = keys.map((key) => (JSON.parse(key) as [string, string]).join('.'));
    const message = `cached: responses until changes of ${names.join(', ')} are not cached, because the log does not have all of these changes; run: pgway install changes ${names.join(' ')}`;
    this.#observe({ kind: 'start-warning', code: 'cached-changes', message });
  }
}
