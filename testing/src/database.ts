import { randomBytes } from 'node:crypto';
import { Pool, type QueryResultRow } from 'pg';
import { afterAll, beforeAll, inject } from 'vitest';

/** A database for one test or one test file. */
export interface TestDatabase {
  readonly connectionString: string;
  /** Runs SQL as the superuser and returns the rows with values as `pg` parses them. */
  query(sql: string, params?: readonly unknown[]): Promise<readonly QueryResultRow[]>;
  /** Ends every session in the database and drops it. */
  drop(): Promise<void>;
}

/**
 * Creates an empty database and runs the SQL in it, which may be many statements. Roles belong to the whole server: tests
 * give them random names and drop them.
 */
export async function freshDatabase(sql = ''): Promise<TestDatabase> {
  const server = serverConnectionString();
  const name = `pgway_test_${randomBytes(8).toString('hex')}`;
  // Copies files: the default of PostgreSQL 15 and newer writes all pages to the WAL, and DROP DATABASE writes them again.
  const strategy = serverVersion() >= 15 ? 'STRATEGY file_copy' : '';
  await administrator().query(`CREATE DATABASE ${name} TEMPLATE ${inject('postgres').template} ${strategy}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const connectionString = url.href;
  const pool = new Pool({ connectionString, max: 4, allowExitOnIdle: true });
  // Tests may terminate the backends of idle connections.
  pool.on('error', () => undefined);
  const database: TestDatabase = {
    connectionString,
    query: async (text, params) => (await pool.query(text, params === undefined ? undefined : [...params])).rows,
    drop: async () => {
      await pool.end();
      await administrator().query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
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

/** Creates a database for the tests of the file or `describe`. Its properties are valid inside tests. */
export function useDatabase(sql = ''): TestDatabase {
  let database: TestDatabase | undefined;
  const current = (): TestDatabase => {
    if (database === undefined) throw new Error('use the database of useDatabase() inside tests only');
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

/** Returns the superuser's connection string. All test files share its database: use it for locks between them. */
export function serverConnectionString(): string {
  return inject('postgres').connectionString;
}

/** Returns the major version of the server, such as 18. */
export function serverVersion(): number {
  return inject('postgres').major;
}

let administratorPool: Pool | undefined;

/** One connection for all files of a worker. */
function administrator(): Pool {
  administratorPool ??= new Pool({
    connectionString: serverConnectionString(),
    max: 1,
    idleTimeoutMillis: 0,
    allowExitOnIdle: true,
  }).on('error', () => undefined);
  return administratorPool;
}
