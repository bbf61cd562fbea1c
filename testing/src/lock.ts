import { Client } from 'pg';

/** An advisory lock that a test holds: what a statement waits for until the test has done what it wants to do meanwhile. */
export interface HeldLock {
  /** How many statements wait for it now. */
  waiting(): Promise<number>;
  release(): Promise<void>;
}

/** Waits for the advisory lock with this key in the database of the connection string, and holds it until `release`. */
export async function holdLock(connectionString: string, key: number): Promise<HeldLock> {
  const client = new Client({ connectionString });
  // Cut off when the database is dropped before the release.
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
