import type { SoakDatabase } from './database.ts';
import type { GuaranteeName, Violations } from './guarantees.ts';
import type { User } from './users.ts';

/**
 * What the client was told of a write. `unknown`: nothing, since it was lost or the client left; it may be in the database,
 * once. `not-sent`: "try again".
 */
type WriteOutcome = 'unknown' | 'acknowledged' | 'not-sent' | 'refused';

/** How often a write may be in the database. */
const rules: Readonly<
  Record<WriteOutcome, { readonly promise: GuaranteeName; readonly least: number; readonly most: number }>
> = {
  unknown: { promise: 'refused', least: 0, most: 1 },
  acknowledged: { promise: 'acknowledged', least: 1, most: 1 },
  'not-sent': { promise: 'try-again', least: 0, most: 0 },
  refused: { promise: 'refused', least: 0, most: 0 },
};

/** Every write by its number, which is its unique id in the database, and what its client was told. */
export class WriteLog {
  readonly #fates: WriteOutcome[] = [];
  readonly #users: User[] = [];

  /** Returns the id of a write that is about to be sent. */
  begin(user: User): number {
    this.#users.push(user);
    return this.#fates.push('unknown') - 1;
  }

  end(id: number, fate: WriteOutcome): void {
    this.#fates[id] = fate;
  }

  /** Compares with the rows of `entry` and returns the number of acknowledged writes. */
  async verify(database: SoakDatabase, violations: Violations): Promise<number> {
    const rows = await database.query<EntryRow>(
      'select id::int, count(*)::int as count, min(owner) as owner, min(role) as role, min(token) as token from entry group by id',
    );
    const found = new Map(rows.map((row) => [row.id, row]));
    let acknowledged = 0;
    for (const [id, fate] of this.#fates.entries()) {
      const row = found.get(id);
      if (fate === 'acknowledged') acknowledged++;
      this.#compare(id, row, violations);
      found.delete(id);
    }
    for (const id of found.keys()) violations.add('rows', `entry ${id} is in the database and was never sent`);
    return acknowledged;
  }

  #compare(id: number, row: EntryRow | undefined, violations: Violations): void {
    const fate = this.#fates[id]!;
    const user = this.#users[id]!;
    const count = row?.count ?? 0;
    const { promise, least, most } = rules[fate];
    if (count < least || count > most) violations.add(promise, `entry ${id} was ${fate} and is there ${count} times`);
    if (row === undefined) return;
    if (row.owner !== user.id || row.role !== user.role || row.token !== writeToken(id)) {
      const sent = JSON.stringify([writeToken(id), user.id, user.role]);
      violations.add('identity', `entry ${id} was sent as ${sent} and is there as ${JSON.stringify(row)}`);
    }
  }
}

interface EntryRow {
  readonly id: number;
  readonly count: number;
  readonly owner: string | null;
  readonly role: string;
  readonly token: string;
}

/** The text that goes with a write. */
export function writeToken(id: number): string {
  return `write-${id}`;
}
