import type { SoakDatabase } from './database.ts';
import type { Violations } from './guarantees.ts';
import type { User } from './users.ts';

export interface Item {
  readonly id: number;
  readonly owner: User;
  value: string;
}

interface StoredItem {
  readonly id: number;
  readonly value: string;
  readonly owner: string;
}

/** The rows of `item` that a client has written, according to the responses. */
export class ItemModel {
  readonly live: Map<number, Item> = new Map();
  /** The possible values of rows after writes with an unknown outcome; undefined for no row. Such rows are not used again. */
  readonly #uncertain = new Map<number, readonly (string | undefined)[]>();
  #ids: number;

  constructor(client: number) {
    this.#ids = client * 10_000_000 + 1;
  }

  nextId(): number {
    return this.#ids++;
  }

  markUncertain(id: number, ...possible: readonly (string | undefined)[]): void {
    this.live.delete(id);
    this.#uncertain.set(id, possible);
  }

  isUncertain(id: number): boolean {
    return this.#uncertain.has(id);
  }

  itemsOf(owner: User): readonly Item[] {
    return [...this.live.values()].filter((item) => item.owner === owner);
  }

  /** Compares the model with the rows of the database, and removes its rows from the map. */
  verify(rows: Map<number, StoredItem>, violations: Violations): void {
    for (const { id, value, owner } of this.live.values()) {
      const row = rows.get(id);
      if (row?.value !== value) {
        violations.add('rows', `item ${id} is ${String(row?.value)}; its acknowledged value is ${value}`);
      }
      if (row !== undefined && row.owner !== owner.id) {
        violations.add('identity', `item ${id} of ${String(owner.id)} belongs to ${row.owner}`);
      }
      rows.delete(id);
    }
    for (const [id, possible] of this.#uncertain) {
      const value = rows.get(id)?.value;
      if (!possible.includes(value)) {
        violations.add('rows', `item ${id} is ${String(value)}, expected one of ${possible.map(String).join(', ')}`);
      }
      rows.delete(id);
    }
  }
}

/** Compares the rows of the table with the models of all clients. */
export async function verifyItems(
  database: SoakDatabase,
  models: Iterable<ItemModel>,
  violations: Violations,
): Promise<void> {
  const stored = await database.query<StoredItem>('select id::int, value, owner from item');
  const rows = new Map(stored.map((item) => [item.id, item]));
  for (const model of models) model.verify(rows, violations);
  for (const { id, value } of rows.values()) violations.add('rows', `item ${id} (${value}) should not exist`);
}
