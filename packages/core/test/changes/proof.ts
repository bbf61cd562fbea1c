import type { TestDatabase } from '@pgway/testing';
import { Client } from 'pg';
import type { ChangeEngine } from '../../src/changes/change-engine.ts';
import type { ChangeMessage, ChangeRequest } from '../../src/ports/changes.ts';
import { column, queryOf, requestOf } from './engine-support.ts';

export const proofSql = `
  create table item (id integer primary key, tenant integer not null, number integer not null, title text);
  alter table item enable row level security;
  create policy tenants on item using (tenant::text = current_setting('app.tenant', true));
  grant select on item to public;
  create publication pgway_changes for table item;
  insert into item select n, n % 3 + 1, n, 'item ' || n from generate_series(1, 100) as n;
`;

export interface ProofResult {
  readonly comparisons: number;
  readonly wrong: number;
  /** Inserts of known rows, updates and deletes of unknown ones. */
  readonly impossible: number;
  readonly transactions: number;
  readonly gaps: number;
}

/** A deterministic sequence. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

/** Writes transactions with several rows, savepoints, rollbacks, changed keys, deletes and inserts of the same key. */
async function write(database: TestDatabase, seed: number, setup: string, goOn: () => boolean): Promise<number> {
  const client = new Client({ connectionString: database.connectionString });
  await client.connect();
  const random = createRandom(seed);
  const id = (): number => 1 + random(120);
  let count = 0;
  if (setup !== '') await client.query(setup);
  const statement = (): string => {
    switch (random(6)) {
      case 0:
        return `insert into item values (${id()}, ${1 + random(3)}, ${random(1000)}, 'new') on conflict (id) do nothing`;
      case 1:
        return `delete from item where id = ${id()}`;
      case 2:
        return `update item set tenant = ${1 + random(3)} where id = ${id()}`;
      case 3:
        return `update item set id = ${id()} where id = ${id()}`;
      default:
        return `update item set number = ${random(1000)} where id in (${id()}, ${id()})`;
    }
  };
  while (goOn()) {
    try {
      await client.query('begin');
      for (let left = 1 + random(5); left > 0; left--) await runWithSavepoint(client, statement(), random(5) === 0);
      await client.query(random(6) === 0 ? 'rollback' : 'commit');
      count++;
    } catch {
      await client.query('rollback').catch(() => undefined);
    }
  }
  await client.end();
  return count;
}

async function runWithSavepoint(client: Client, statement: string, rollsBack: boolean): Promise<void> {
  await client.query('savepoint s');
  const hasFailed = await client.query(statement).then(
    () => false,
    () => true,
  );
  if (hasFailed || rollsBack) await client.query('rollback to savepoint s');
}

interface Checkpoint {
  readonly id: string;
  readonly rows: ReadonlyMap<string, string>;
}

/** Applies messages as a client does. */
class Follower {
  rows = new Map<string, string>();
  checkpoints: Checkpoint[] = [];
  impossible = 0;
  gaps = 0;

  message(message: ChangeMessage): void {
    if (message.kind === 'gap') this.gaps++;
    if (message.kind === 'rows') this.rows = rowsOf(message.rows);
    if (message.kind === 'changes')
      for (const { operation, record, old } of message.changes) {
        const bytes = record ?? old;
        const key = keyOf(bytes!);
        if (this.rows.has(key) === (operation === 'insert')) this.impossible++;
        if (record === null) this.rows.delete(key);
        else this.rows.set(key, textOf(record));
      }
    if (message.kind !== 'begin') this.checkpoints.push({ id: message.id, rows: new Map(this.rows) });
  }

  /** Returns the rows after everything up to an id, and forgets what is before. */
  rowsAt(id: string): ReadonlyMap<string, string> | null {
    const index = this.checkpoints.findLastIndex((checkpoint) => checkpoint.id <= id);
    if (index === -1) return null;
    this.checkpoints = this.checkpoints.slice(index);
    return this.checkpoints[0]!.rows;
  }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}

function keyOf(bytes: Uint8Array): string {
  return /^\{"id":(\d+)/.exec(textOf(bytes))![1]!;
}

function areEqual(left: ReadonlyMap<string, string>, right: ReadonlyMap<string, string>): boolean {
  return left.size === right.size && [...left].every(([key, row]) => right.get(key) === row);
}

function rowsOf(rows: readonly Uint8Array[]): Map<string, string> {
  return new Map(rows.map((row) => [keyOf(row), textOf(row)]));
}

const columns = [
  column('id', 'number'),
  column('tenant', 'number'),
  column('number', 'number'),
  column('title', 'string'),
];

/** A tenant and a filter, with its snapshot. */
export function itemRequest(role: string, tenant: number, filter: string): ChangeRequest {
  const settings = [
    ['role', role],
    ['app.tenant', String(tenant)],
  ] as const;
  const list = columns.map(({ name }) => `"r"."${name}"`).join(', ');
  return requestOf(queryOf('item', columns, { filter }), {
    identity: { role, settings, key: JSON.stringify(settings) },
    snapshot: { sql: `select ${list} from "public"."item" as "r" where ${filter}`, values: [] },
  });
}

export interface ProofOptions {
  readonly role: string;
  readonly seed: number;
  /** Comparisons after which the writers stop. */
  readonly comparisons: number;
  /** Whether to stop at the first difference. */
  readonly stopsWhenWrong: boolean;
  /** SQL of each writer. */
  readonly setup?: string;
}

/**
 * Writes while three tenants with two filters follow the changes. Subscribers that begin at each cut have the table as their caller reads
 * it in that snapshot, byte for byte: the rows of those that began earlier must be the same.
 */
export async function runProof(
  database: TestDatabase,
  engine: ChangeEngine,
  { role, seed, comparisons, stopsWhenWrong, setup = '' }: ProofOptions,
): Promise<ProofResult> {
  const result = { comparisons: 0, wrong: 0, impossible: 0, transactions: 0, gaps: 0 };
  const goOn = (): boolean => result.comparisons < comparisons && !(stopsWhenWrong && result.wrong > 0);
  const requests = [1, 2, 3].flatMap((tenant) =>
    ['true', '"r"."number" < 500'].map((filter) => itemRequest(role, tenant, filter)),
  );
  const writers = [1, 2, 3, 4].map((index) => write(database, seed * 10 + index, setup, goOn));
  await Promise.all(
    requests.map(async (request) => {
      const follower = new Follower();
      const followed = await engine.subscribe(request, {
        message: (message) => follower.message(message),
        ended: (reason) => {
          throw new Error(reason);
        },
      });
      while (goOn()) {
        const rows = await new Promise<ChangeMessage & { readonly kind: 'rows' }>((resolve, reject) => {
          const message = (received: ChangeMessage): void => {
            if (received.kind === 'rows') resolve(received);
          };
          engine
            .subscribe(request, { message, ended: () => reject(new Error('ended')) })
            .then((subscription) => setImmediate(() => subscription.cancel()), reject);
        });
        const known = follower.rowsAt(rows.id);
        if (known === null) continue;
        result.comparisons++;
        if (!areEqual(rowsOf(rows.rows), known)) result.wrong++;
      }
      followed.cancel();
      result.impossible += follower.impossible;
      result.gaps += follower.gaps;
    }),
  );
  result.transactions = (await Promise.all(writers)).reduce((sum, count) => sum + count, 0);
  return result;
}
