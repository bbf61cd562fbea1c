import { Client } from 'pg';

/** An advisory lock that a test holds, so that a statement waits until the test releases it. */
export interface HeldLock {
  /** Returns the number of statements that wait for the lock. */
  waiting(): Promise<number>;
  release(): Promise<void>;
}

/** Acquires the advisory lock with this key in the database of the connection string, and holds it until `release`. */
export async function holdLock(connectionString: string, key: number): Promise<HeldLock> {
  const client = new Client({ connectionString });
  // Dropping the database before `release` ends the connection.
  client.on('error', () => undefined);
  await client.connect();
  await client.query('select pg_advisory_lock($1)', [key]);
  return {
    waiting: async () => {
      const { rows } = await client.query<{ count: number }>(
        `select count(*)::int from pg_locks where locktype = 'advisory' and not granted and objid = $1
           and database = (select oid from pg_database where datname = current_database())`,
        [key],
      );
      return rows[0]!.count;
    },
    release: () => client.end(),
  };
}
