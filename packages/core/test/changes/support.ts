import { type PrimaryServer, startPrimary } from '@pgway/testing';
import { Client } from 'pg';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { parseConnectionString } from '../../src/postgres/connection-string.ts';
import {
  type ChangeReader,
  type ChangeReaderOptions,
  type CommittedTransaction,
  openChangeReader,
} from '../../src/postgres/replication/change-reader.ts';

/** Starts a server with `wal_level = logical` for the tests of the file. */
export function useLogicalServer(settings: Readonly<Record<string, string>> = {}): PrimaryServer {
  let server: PrimaryServer | undefined;
  const current = (): PrimaryServer => {
    if (server === undefined) throw new Error('use the server of useLogicalServer() inside tests only');
    return server;
  };
  beforeAll(async () => {
    server = await startPrimary({
      wal_level: 'logical',
      synchronous_commit: 'on',
      max_prepared_transactions: '10',
      ...settings,
    });
  });
  afterAll(() => server?.stop());
  return {
    get connectionString() {
      return current().connectionString;
    },
    query: (sql) => current().query(sql),
    startReplica: (own) => current().startReplica(own),
    kill: () => current().kill(),
    restart: () => current().restart(),
    stop: () => current().stop(),
  };
}

export interface TestReader {
  readonly reader: ChangeReader;
  /** In the order of their commits. */
  readonly transactions: CommittedTransaction[];
  readonly failures: Error[];
  /** Waits until everything that was committed before the call has arrived. */
  readonly caughtUp: () => Promise<readonly CommittedTransaction[]>;
}

/** Opens a reader that closes after the test. */
export async function openTestReader(
  server: Pick<PrimaryServer, 'connectionString' | 'query'>,
  options: Partial<ChangeReaderOptions> = {},
): Promise<TestReader> {
  const transactions: CommittedTransaction[] = [];
  const failures: Error[] = [];
  const reader = await openChangeReader({
    connection: parseConnectionString(server.connectionString),
    publication: 'pgway_changes',
    maxKeys: 50_000,
    onTransaction: (transaction) => transactions.push(transaction),
    onFailure: (error) => failures.push(error),
    ...options,
  });
  onTestFinished(() => reader.close());
  return {
    reader,
    transactions,
    failures,
    caughtUp: async () => {
      await reader.reach(await insertPosition(server));
      return transactions;
    },
  };
}

/** Returns the insert position of the log. */
export async function insertPosition(server: Pick<PrimaryServer, 'query'>): Promise<bigint> {
  const [row] = await server.query(`select pg_current_wal_insert_lsn() - '0/0' as "position"`);
  return BigInt(row!['position'] as string);
}

/** Opens a session that closes after the test. */
export async function openSession({ connectionString }: Pick<PrimaryServer, 'connectionString'>): Promise<Client> {
  const client = new Client({ connectionString });
  client.on('error', () => undefined);
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** Returns the changes as text, such as `update film [1] was [2]`. */
export function changesAsText({ changes }: CommittedTransaction): readonly string[] {
  return changes.map(({ operation, relation, key, oldKey }) => {
    const before = oldKey === undefined ? '' : ` was ${JSON.stringify(oldKey)}`;
    return `${operation} ${relation.name} ${JSON.stringify(key)}${before}`;
  });
}
