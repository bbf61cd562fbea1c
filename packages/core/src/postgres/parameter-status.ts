/** On which it depends what answers look like, and as whom statements run. PostgreSQL tells of each of them when it changes. */
export const trackedParameters: readonly string[] = [
  'client_encoding',
  'DateStyle',
  'IntervalStyle',
  'TimeZone',
  'is_superuser',
  'session_authorization',
  'default_transaction_read_only',
  'standard_conforming_strings',
  'application_name',
  // From PostgreSQL 18 on.
  'search_path',
];

/**
 * Which of a session's settings are not as they were when it began. What a transaction has set for itself alone is back by its end;
 * what is not would be there for the next caller.
 */
export class ParameterStatusTracker {
  readonly #began: ReadonlyMap<string, string>;
  readonly #changed = new Set<string>();

  /** @param values of the first of `reportedNames`, in their order; of the others nothing is known, and nobody looks after them */
  constructor(values: readonly (string | null)[] = []) {
    this.#began = new Map(values.map((value, index) => [trackedParameters[index]!, value ?? '']));
  }

  /** A ParameterStatus, whose body begins at `start`: name and value, each up to a zero. */
  update(chunk: Buffer, start: number): void {
    const zero = chunk.indexOf(0, start);
    const name = chunk.toString('latin1', start, zero);
    const began = this.#began.get(name);
    if (began === undefined) return;
    if (chunk.toString('utf8', zero + 1, chunk.indexOf(0, zero + 1)) === began) this.#changed.delete(name);
    else this.#changed.add(name);
  }

  /** One that is not as it was; null when all are. */
  get changedParameter(): string | null {
    // Every call asks, and hardly ever is there one.
    return this.#changed.size === 0 ? null : this.#changed.values().next().value!;
  }
}
