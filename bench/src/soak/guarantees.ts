/** What must hold under load; each is passed or failed as a whole. */
export const guarantees = {
  'own-answer': 'every answer belongs to its own request',
  identity: 'role and user of every call are those of its caller',
  privileges: 'privileges and row level security are those of the caller',
  acknowledged: 'every acknowledged write is in the database, once',
  'try-again': 'no write answered with "try again" was committed',
  refused: 'no refused write was committed, and no write twice',
  unavailable:
    'a lost call is answered 503: with Retry-After when it was not sent, else with outcome-unknown; never a read',
  'no-500': 'no 500 but those that a routine raised',
  status: 'every error has the status and code of its cause',
  'in-time': 'every request ends in time',
  whole: 'no answer is cut off but streams whose connection was lost',
  answered: 'of every operation, eight in ten are answered in spite of lost connections',
  'session-state': 'no call sees what another one left in its session',
  cache: 'no cached answer is older than an acknowledged write of its reader',
  events: 'a stream has all events of its own call, and no others',
  rows: 'rows of tables are what their writes made of them',
  memory: 'the memory of the gateway is flat after the warm-up',
  connections: 'after the load every connection of the gateway is free, and nothing runs',
  process: 'the gateway starts, survives and closes',
} as const;

export type GuaranteeName = keyof typeof guarantees;

const keptExamples = 5;
const longestExample = 1500;

/** Counts how often a promise was broken, and keeps the first examples. */
export class Violations {
  readonly #found = new Map<GuaranteeName, { count: number; readonly examples: string[] }>();

  add(name: GuaranteeName, example: string): void {
    const found = this.#found.get(name) ?? { count: 0, examples: [] };
    found.count++;
    if (found.examples.length < keptExamples) {
      const text = example.replaceAll(/\p{Cc}/gu, '\u{fffd}');
      found.examples.push(text.length > longestExample ? `${text.slice(0, longestExample)}…` : text);
    }
    this.#found.set(name, found);
  }

  count(name: GuaranteeName): number {
    return this.#found.get(name)?.count ?? 0;
  }

  examples(name: GuaranteeName): readonly string[] {
    return this.#found.get(name)?.examples ?? [];
  }

  get total(): number {
    return [...this.#found.values()].reduce((sum, { count }) => sum + count, 0);
  }
}
