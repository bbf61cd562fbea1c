/** The guarantees that must hold under load. */
export const guarantees = {
  'own-response': 'every response belongs to its request',
  identity: 'role and user of every call are those of its caller',
  privileges: 'privileges and row level security are those of the caller',
  acknowledged: 'every acknowledged write is in the database, once',
  'try-again': 'no write that got Retry-After was committed',
  rejected: 'no rejected write was committed, and no write twice',
  unavailable:
    'a lost call gets 503: with Retry-After when it was not sent, else with outcome-unknown, which a read never gets',
  'no-500': 'no 500 except those that a routine raised',
  status: 'every error has the status and code of its cause',
  'in-time': 'every request ends in time',
  whole: 'no response ends early except streams whose connection was lost',
  answered: 'at least 80 % of the calls of every operation get a response in spite of lost connections',
  'session-state': 'no call sees session state of another one',
  cache: 'no cached response is older than an acknowledged write of its client',
  events: 'a stream has all events of its call, and no others',
  rows: 'rows of tables have the values that were written last',
  memory: 'the memory of the gateway is flat after the warm-up',
  connections: 'after the load every connection of the gateway is free, and nothing runs',
  process: 'the gateway starts, survives and closes',
} as const;

export type GuaranteeName = keyof typeof guarantees;

const maxExamples = 5;
const maxExampleLength = 1500;

/** Counts the violations of each guarantee, and stores the first examples. */
export class Violations<Name extends string = GuaranteeName> {
  readonly #found = new Map<Name, { count: number; readonly examples: string[] }>();

  add(name: Name, example: string): void {
    const found = this.#found.get(name) ?? { count: 0, examples: [] };
    found.count++;
    if (found.examples.length < maxExamples) {
      const text = example.replaceAll(/\p{Cc}/gu, '\u{fffd}');
      found.examples.push(text.length > maxExampleLength ? `${text.slice(0, maxExampleLength)}…` : text);
    }
    this.#found.set(name, found);
  }

  count(name: Name): number {
    return this.#found.get(name)?.count ?? 0;
  }

  examples(name: Name): readonly string[] {
    return this.#found.get(name)?.examples ?? [];
  }

  get total(): number {
    return [...this.#found.values()].reduce((sum, { count }) => sum + count, 0);
  }
}
