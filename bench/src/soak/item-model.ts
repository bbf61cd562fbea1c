import type { SoakDatabase } from './database.ts';
import type { Violations } from './promises.ts';
import type { User } from './users.ts';

export interface Item {
  readonly id: number;
  readonly owner: User;
  value: string;
}

/** The rows of `item` that one client has written, as its answers tell. */
export class ItemModel {
  readonly live: Map<number, Item> = new Map();
  /** Rows of writes with an unknown outcome, which are not used again: one of these values, undefined for no row. */
  readonly #uncertain = new Map<number, readonly (string | undefined)[]>();
  #ids: number;

  constructor(client: number) {
    this.#ids = client * 10_000_000 + 1;
  }

  nextId(): number {
    return this.#ids++;
  }

  uncertain(id: number, ...possible: readonly (string | undefined)[]): void {
    this.live.delete(id);
    this.#uncertain.set(id, possible);
  }

  isUncertain(id: number): boolean {
    return this.#uncertain.has(id);
  }

  of(owner: User): readonly Item[] {
    return [...this.live.values()].filter((item) => item.owner === owner);
  }

  /** Compares with the rows in the database, and takes away those that it knows of. */
  verify(rows: Map<number, string>, violations: Violations): void {
    for (const { id, value } of this.live.values()) {
      if (rows.get(id) !== value) {
        violations.add('rows', `item ${id} is ${String(rows.get(id))}; its acknowledged value is ${value}`);
      }
      rows.delete(id);
    }
    for (const [id, possible] of this.#uncertain) {
      if (!possible.includes(rows.get(id))) {
        violations.add('rows', `item ${id} is ${String(rows.get(id))}, none of ${possible.map(String).join(', ')}`);
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
  const stored = await database.query<{ id: number; value: string }>('select id::int, value from item');
  const rows = new Map(stored.map(({ id, value }) => [id, value]));
  for (const model of models) model.verify(rows, violations);
  for (const [id, value] of rows) violations.add('rows', `item ${id} (${value}) is there, and should not be`);
}
