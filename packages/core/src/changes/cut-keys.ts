import type { ChangeRequest } from '../ports/changes.ts';
import { type ChangedKey, changedKeys, type TableChanges } from './key-changes.ts';
import { SelectedKeys } from './selected-keys.ts';
import type { WatchedTable } from './watched-table.ts';

type Route = NonNullable<ChangeRequest['route']>;

/** The changed keys of one table in one cut, which its groups share. */
export class CutKeys {
  readonly #changes: TableChanges;
  readonly #table: WatchedTable;
  /** By the columns of the key. */
  readonly #keys = new Map<string, SelectedKeys | null>();
  /** By the columns of the key and the column of the route. */
  readonly #routed = new Map<string, ReadonlyMap<string | null, SelectedKeys> | null>();

  constructor(changes: TableChanges, table: WatchedTable) {
    this.#changes = changes;
    this.#table = table;
  }

  /** Returns the keys that a group looks up; null: the replica identity lacks a column. */
  select(columns: readonly string[], route: Route | null): SelectedKeys | null {
    const name = columns.join('\0');
    let keys = this.#keys.get(name);
    if (keys === undefined) this.#keys.set(name, (keys = this.#read(columns)));
    if (keys === null || route === null) return keys;
    const routeName = `${name}\0\0${route.column}`;
    let routed = this.#routed.get(routeName);
    if (routed === undefined) this.#routed.set(routeName, (routed = this.#index(keys, route.column)));
    return routed === null ? null : (routed.get(route.value) ?? new SelectedKeys([]));
  }

  #read(columns: readonly string[]): SelectedKeys | null {
    const indexes = columns.map((column) => this.#changes.columns.indexOf(column));
    if (indexes.includes(-1)) return null;
    return new SelectedKeys(changedKeys(this.#changes, indexes, this.#table.mayRepeatKeys));
  }

  /** A row that moved from one value to another has changed for both. */
  #index({ keys }: SelectedKeys, column: string): ReadonlyMap<string | null, SelectedKeys> | null {
    const index = this.#changes.columns.indexOf(column);
    if (index === -1) return null;
    const routed = new Map<string | null, ChangedKey[]>();
    for (const key of keys) {
      for (const value of new Set(key.identities.map((identity) => identity[index] ?? null))) {
        const known = routed.get(value);
        if (known === undefined) routed.set(value, [key]);
        else known.push(key);
      }
    }
    return new Map([...routed].map(([value, own]) => [value, new SelectedKeys(own)]));
  }
}
