/**
 * Settings that affect the text of results or the role of statements. PostgreSQL reports their changes in ParameterStatus
 * messages: manual, "Asynchronous Operations".
 */
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
  // Reported since PostgreSQL 18.
  'search_path',
];

/**
 * Tracks which settings of a session differ from their initial values. Transaction-local changes are reverted at the end of the
 * transaction; other changes would affect the next caller.
 */
export class ParameterStatusTracker {
  readonly #initialValues: ReadonlyMap<string, string>;
  readonly #changed = new Set<string>();

  /** @param values the initial values of the first `trackedParameters`, in their order; further ones are not tracked */
  constructor(values: readonly (string | null)[] = []) {
    this.#initialValues = new Map(values.map((value, index) => [trackedParameters[index]!, value ?? '']));
  }

  /** Reads a ParameterStatus whose body begins at `start`: name and value, each terminated by a zero byte. */
  update(chunk: Buffer, start: number): void {
    const zero = chunk.indexOf(0, start);
    const name = chunk.toString('latin1', start, zero);
    const initialValue = this.#initialValues.get(name);
    if (initialValue === undefined) return;
    if (chunk.toString('utf8', zero + 1, chunk.indexOf(0, zero + 1)) === initialValue) this.#changed.delete(name);
    else this.#changed.add(name);
  }

  /** A parameter that differs from its initial value; null for none. */
  get changedParameter(): string | null {
    // Every call reads this: no iterator is created for the usual empty set.
    return this.#changed.size === 0 ? null : this.#changed.values().next().value!;
  }
}
