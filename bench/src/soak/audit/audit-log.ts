import { Violations } from '../guarantees.ts';

/** The guarantees of writes while processes are killed and connections are cut. */
export const auditGuarantees = {
  acknowledged: 'every acknowledged write is in the database, once',
  refused: 'no write that was answered with an error is in the database',
  unknown: 'no write without an answer is in the database twice, and no batch in part',
  repeated: 'every write with a key is acknowledged when it is repeated',
  'own-response': 'every acknowledgement is that of its request',
  running: 'the server serves until it is killed or stopped, and starts again',
} as const;

export type AuditGuarantee = keyof typeof auditGuarantees;

/** `unknown`: no answer, or `outcome-unknown`. `refused`: any other error. */
export type WriteOutcome = 'acknowledged' | 'refused' | 'unknown';

interface Write {
  /** A batch has several. */
  readonly ids: readonly string[];
  readonly description: string;
  outcome: WriteOutcome;
}

/** An id in the database with the number of its rows. */
export interface StoredId {
  readonly id: string;
  readonly count: number;
}

/** All writes with their outcomes, to be compared with the rows of the database. */
export class AuditLog {
  readonly violations: Violations<AuditGuarantee> = new Violations();
  readonly #writes: Write[] = [];

  get count(): number {
    return this.#writes.length;
  }

  /** Returns a function that sets the outcome of the write, which is unknown until then. */
  begin(ids: readonly string[], description: string): (outcome: WriteOutcome) => void {
    const write: Write = { ids, description, outcome: 'unknown' };
    this.#writes.push(write);
    return (outcome) => void (write.outcome = outcome);
  }

  totals(): Readonly<Record<WriteOutcome, number>> {
    const totals = { acknowledged: 0, refused: 0, unknown: 0 };
    for (const { outcome } of this.#writes) totals[outcome]++;
    return totals;
  }

  verify(rows: readonly StoredId[]): void {
    const stored = new Map(rows.map(({ id, count }) => [id, count]));
    for (const write of this.#writes) {
      const counts = write.ids.map((id) => stored.get(id) ?? 0);
      for (const id of write.ids) stored.delete(id);
      if (!isAllowed(write.outcome, counts)) {
        this.violations.add(
          write.outcome,
          `${write.description} [${write.ids.join(', ')}] has ${counts.join(', ')} rows`,
        );
      }
    }
    for (const id of stored.keys()) this.violations.add('unknown', `${id} is in the database and was never sent`);
  }
}

/** @param counts the rows of each id of a write */
function isAllowed(outcome: WriteOutcome, counts: readonly number[]): boolean {
  const has = (count: number): boolean => counts.every((actual) => actual === count);
  if (outcome === 'unknown') return has(0) || has(1);
  return has(outcome === 'acknowledged' ? 1 : 0);
}
