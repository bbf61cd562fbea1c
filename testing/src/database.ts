import { randomBytes } from 'node:crypto';
import { Client, Pool, type QueryResultRow } from 'pg';
import { afterAll, beforeAll, inject } from 'vitest';

/** A database that belongs to one test or one test file. */
export interface TestDatabase {
  readonly connectionString: string;
  /** Runs SQL as the superuser in this database and gives the rows, values as `pg` parses them. */
  query(sql: string, params?: readonly unknown[]): Promise<readonly QueryResultRow[]>;
  /** Cuts off every session in it and removes it. */
  drop(): Promise<void>;
}

/**
 * Creates an empty database of its own (about 60 ms) and runs the SQL in it, which may be many statements. Roles are not
 * part of a database: whoever creates some gives them random names and drops them.
 */
export async function freshDatabase(sql = ''): Promise<TestDatabase> {
  const { connectionString: server } = inject('postgres');
  const name = `pgway_test_${randomBytes(8).toString('hex')}`;
  await once(server, `CREATE DATABASE ${name} TEMPLATE template0`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const connectionString = url.href;
  const pool = new Pool({ connectionString, max: 4, allowExitOnIdle: true });
  // Cut off by drop(), or by a test that kills sessions.
  pool.on('error', () => undefined);
  const database: TestDatabase = {
    connectionString,
    query: async (text, params) => (await pool.query(text, params === undefined ? undefined : [...params])).rows,
    drop: async () => {
      await pool.end();
      await once(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
  try {
    if (sql !== '') await database.query(sql);
    return database;
  } catch (error) {
    await database.drop();
    throw error;
  }
}

/** A fresh database for the tests of the file (or of the `describe` it stands in). Its properties are valid inside tests. */
export function useDatabase(sql = ''): TestDatabase {
  let database: TestDatabase | undefined;
  const current = (): TestDatabase => {
    if (database === undefined) throw new Error('the database of useDatabase() is there inside tests only');
    return database;
  };
  beforeAll(async () => {
    database = await freshDatabase(sql);
  });
  afterAll(async () => {
    await database?.drop();
    database = undefined;
  });
  return {
    get connectionString() {
      return current().connectionString;
    },
    query: (text, params) => current().query(text, params),
    drop: () => current().drop(),
  };
}

/** The superuser's way to the server of this run. What is done there is seen by all test files: for locks between them. */
export function serverConnectionString(): string {
  return inject('postgres').connectionString;
}

/** The major version of the server of this run, such as 18. */
export function serverVersion(): number {
  return inject('postgres').major;
}

async function once(connectionString: string, sql: string): Promise<void> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
