import type { SoakDatabase } from './database.ts';
import type { GuaranteeName, Violations } from './guarantees.ts';
import type { User } from './users.ts';

/**
 * The outcome of a write according to its response. `unknown`: the connection was lost or the client disconnected, so that the write
 * may be committed. `not-sent`: 503 with Retry-After.
 */
type WriteOutcome = 'unknown' | 'acknowledged' | 'not-sent' | 'rejected';

/** How many rows of a write the database may have. */
const rules: Readonly<
  Record<WriteOutcome, { readonly guarantee: GuaranteeName; readonly min: number; readonly max: number }>
> = {
  unknown: { guarantee: 'rejected', min: 0, max: 1 },
  acknowledged: { guarantee: 'acknowledged', min: 1, max: 1 },
  'not-sent': { guarantee: 'try-again', min: 0, max: 0 },
  rejected: { guarantee: 'rejected', min: 0, max: 0 },
};

/** All writes, by their unique id in the database, with the outcome that its response shows. */
export class WriteLog {
  readonly #outcomes: WriteOutcome[] = [];
  readonly #users: User[] = [];

  /** Returns the id of a write that is about to be sent. */
  begin(user: User): number {
    this.#users.push(user);
    return this.#outcomes.push('unknown') - 1;
  }

  end(id: number, outcome: WriteOutcome): void {
    this.#outcomes[id] = outcome;
  }

  /** Compares with the rows of `entry` and returns the number of acknowledged writes. */
  async verify(database: SoakDatabase, violations: Violations): Promise<number> {
    const rows = await database.query<EntryRow>(
      'select id::int, count(*)::int as count, min(owner) as owner, min(role) as role, min(token) as token from entry group by id',
    );
    const found = new Map(rows.map((row) => [row.id, row]));
    let acknowledged = 0;
    for (const [id, outcome] of this.#outcomes.entries()) {
      const row = found.get(id);
      if (outcome === 'acknowledged') acknowledged++;
      this.#compare(id, row, violations);
      found.delete(id);
    }
    for (const id of found.keys()) violations.add('rows', `entry ${id} is in the database and was never sent`);
    return acknowledged;
  }

  #compare(id: number, row: EntryRow | undefined, violations: Violations): void {
    const outcome = this.#outcomes[id]!;
    const user = this.#users[id]!;
    const count = row?.count ?? 0;
    const { guarantee, min, max } = rules[outcome];
    if (count < min || count > max) violations.add(guarantee, `entry ${id} was ${outcome} and has ${count} rows`);
    if (row === undefined) return;
    if (row.owner !== user.id || row.role !== user.role || row.token !== writeToken(id)) {
      const sent = JSON.stringify([writeToken(id), user.id, user.role]);
      violations.add('identity', `entry ${id} was sent as ${sent} and is stored as ${JSON.stringify(row)}`);
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

/** Returns the text of a write. */
export function writeToken(id: number): string {
  return `write-${id}`;
}
