import { type TestDatabase, useDatabase } from '@pgway/testing';
import { afterAll, beforeAll } from 'vitest';
import type { UploadTransaction } from '../../src/ports/upload-handler.ts';
import { connectDatabase } from '../../src/postgres/connect-database.ts';
import { parseConnectionString } from '../../src/postgres/connection-string.ts';
import type { Database, Runner } from '../../src/postgres/port.ts';
import { query } from '../../src/postgres/query.ts';

export interface UploadDatabase {
  readonly database: TestDatabase;
  /** Runs work in a transaction of the gateway's only connection, which is committed unless the work fails. */
  readonly inTransaction: <Result>(work: (transaction: UploadTransaction) => Promise<Result>) => Promise<Result>;
  /** Returns the rows of a statement on the gateway's only connection. */
  readonly query: Database['query'];
}

/** Creates a database for the tests of a file, with the objects that `sql` creates. */
export function useUploadDatabase(sql: string): UploadDatabase {
  const objects = useDatabase(sql);
  let database: Database;
  beforeAll(() => {
    database = connectDatabase(parseConnectionString(objects.connectionString), {
      poolSize: 1,
      acquireTimeout: 10_000,
      statementTimeout: 30_000,
      shareConnections: true,
      planCacheMode: 'auto',
      pooler: 'session',
      preparedStatements: true,
      onNotice: () => undefined,
      onConnectionError: () => undefined,
    });
  });
  afterAll(async () => database.close());
  return {
    database: objects,
    query: (text, values) => database.query(text, values),
    inTransaction: (work) => runInTransaction(database, work),
  };
}

async function runInTransaction<Result>(
  database: Database,
  work: (transaction: UploadTransaction) => Promise<Result>,
): Promise<Result> {
  const options = { settings: null, restoreSettings: null, role: undefined, altersSession: false, timeout: null };
  const transaction = await database.begin(options);
  try {
    const runner: Runner = transaction.commit.withoutRelease;
    const result = await work({
      query: (sql, values = []) => query(runner, { sql, values }),
      run: (steps) => transaction.run(steps),
    });
    await query(transaction.commit, { sql: 'select', values: [] });
    return result;
  } finally {
    void transaction.rollback();
  }
}
