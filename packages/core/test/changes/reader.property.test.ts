import { cases } from '@pgway/testing';
import fc from 'fast-check';
import type { Client } from 'pg';
import { beforeAll, expect, test } from 'vitest';
import type { CommittedTransaction } from '../../src/postgres/replication/change-reader.ts';
import { openSession, openTestReader, type TestReader, useLogicalServer } from './support.ts';

/* Random transactions of several sessions: the keys that the reader has reported are those of the table, after each commit. */

const server = useLogicalServer({ logical_decoding_work_mem: '64kB' });
const sessionCount = 3;
/** The keys of a session, so that sessions do not wait for each other. */
const keysOfSession = 1000;

beforeAll(async () => {
  await server.query(`
    create table film (id integer primary key, title text);
    create publication pgway_changes for table film;
  `);
});

type Control = 'savepoint' | 'release' | 'rollback to' | 'commit' | 'rollback' | 'decode';

type Step =
  | { readonly kind: 'insert' | 'delete' | 'update'; readonly first: number; readonly count: number }
  | { readonly kind: 'move'; readonly from: number; readonly to: number }
  | { readonly kind: Control };

const key = fc.integer({ min: 0, max: keysOfSession - 1 });
const firstKey = fc.oneof(key, fc.integer({ min: 0, max: 99 }));
const count = fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 600, max: 900 }));
const range = { first: firstKey, count };
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('insert' as const), ...range }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('delete' as const, 'update' as const), ...range }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('move' as const), from: key, to: key }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('savepoint' as const, 'savepoint' as const, 'release' as const, 'rollback to' as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('commit' as const, 'commit' as const, 'rollback' as const) }),
  },
);
/** Changes that a rollback to a savepoint undoes after they were decoded: PostgreSQL sends none that it knows to be undone. */
const undone = fc
  .array(step as fc.Arbitrary<Step>, { minLength: 1, maxLength: 3 })
  .map((steps): Step[] => [{ kind: 'savepoint' }, ...steps, { kind: 'decode' }, { kind: 'rollback to' }]);
const plan = fc.array(
  fc.record({
    session: fc.integer({ min: 0, max: sessionCount - 1 }),
    steps: fc.oneof(
      (step as fc.Arbitrary<Step>).map((only) => [only]),
      undone,
    ),
  }),
  { minLength: 5, maxLength: 30 },
);

/** A session whose transaction is open, with its savepoints. */
class Writer {
  readonly #client: Client;
  readonly #base: number;
  #savepoints = 0;

  constructor(client: Client, index: number) {
    this.#client = client;
    this.#base = index * keysOfSession;
  }

  async begin(): Promise<void> {
    this.#savepoints = 0;
    await this.#client.query('begin');
  }

  /** Runs a step; returns whether it has committed. */
  async run(step: Step): Promise<boolean> {
    switch (step.kind) {
      case 'commit':
      case 'rollback':
        await this.#client.query(step.kind);
        await this.begin();
        return step.kind === 'commit';
      case 'decode':
        return false;
      case 'savepoint':
        await this.#client.query(`savepoint s${++this.#savepoints}`);
        return false;
      case 'release':
      case 'rollback to':
        if (this.#savepoints > 0) await this.#client.query(`${step.kind} s${this.#savepoints}`);
        if (step.kind === 'release' && this.#savepoints > 0) this.#savepoints--;
        return false;
      default:
        await this.#client.query(this.#change(step));
        return false;
    }
  }

  #change(step: Exclude<Step, { readonly kind: Control }>): string {
    if (step.kind === 'move') {
      const [from, to] = [this.#base + step.from, this.#base + step.to];
      return `update film set id = ${to} where id = ${from} and not exists (select from film where id = ${to})`;
    }
    const first = this.#base + step.first;
    const last = Math.min(first + step.count, this.#base + keysOfSession) - 1;
    switch (step.kind) {
      case 'insert':
        return `insert into film select n, repeat('x', 100) from generate_series(${first}, ${last}) n on conflict do nothing`;
      case 'update':
        return `update film set title = title || 'y' where id between ${first} and ${last}`;
      case 'delete':
        return `delete from film where id between ${first} and ${last}`;
    }
  }
}

/** Applies a transaction to the keys and returns them. Throws for a change that does not fit them. */
function apply(keys: Set<string>, { changes, truncated }: CommittedTransaction): ReadonlySet<string> {
  if (truncated.length > 0) keys.clear();
  for (const { operation, key, oldKey } of changes) {
    const [id, oldId] = [key[0]!, (oldKey ?? key)[0]!];
    if (operation !== 'insert' && !keys.delete(oldId)) throw new Error(`${operation} of the unknown key ${oldId}`);
    if (operation !== 'delete' && keys.has(id)) throw new Error(`${operation} of the known key ${id}`);
    if (operation !== 'delete') keys.add(id);
  }
  return keys;
}

test('the keys after each commit are those of the table', async () => {
  const reader = await openTestReader(server);
  const clients = await Promise.all(Array.from({ length: sessionCount }, () => openSession(server)));
  const property = fc.asyncProperty(plan, async (parts) => {
    await server.query('truncate film');
    await reader.caughtUp();
    reader.transactions.length = 0;
    const writers = clients.map((client, index) => new Writer(client, index));
    for (const writer of writers) await writer.begin();
    const states: string[] = [];
    const ends = writers.map((_, session) => ({ session, steps: [{ kind: 'commit' } as const] }));
    for (const { session, steps } of [...parts, ...ends]) {
      for (const next of steps) {
        if (next.kind === 'decode') await decode(reader);
        else if (await writers[session]!.run(next)) states.push(await readKeys());
      }
    }
    for (const client of clients) await client.query('rollback');
    await reader.caughtUp();
    const keys = new Set<string>();
    const seen = ['', ...reader.transactions.map((transaction) => textOf(apply(keys, transaction)))];
    // A commit without changes is no transaction.
    expect(withoutRepeats(seen)).toEqual(withoutRepeats(['', ...states]));
    expect(reader.failures).toEqual([]);
  });
  await fc.assert(property, { numRuns: cases(100) });
});

/** Waits until the changes of open transactions were decoded. */
async function decode(reader: TestReader): Promise<void> {
  // A commit flushes the log.
  await server.query(`select pg_logical_emit_message(true, '', '')`);
  await reader.caughtUp();
}

async function readKeys(): Promise<string> {
  const rows = await server.query('select id::text as id from film');
  return textOf(new Set(rows.map(({ id }) => id as string)));
}

function textOf(keys: ReadonlySet<string>): string {
  return [...keys].toSorted().join(',');
}

function withoutRepeats(states: readonly string[]): readonly string[] {
  return states.filter((state, index) => state !== states[index - 1]);
}
