import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import pg from 'pg';

import { schemaSql } from './schema.sql.ts';

export interface BenchDatabase {
  readonly connectionString: string;
  /** As `server_version` says it. */
  readonly version: string;
  /** Statements that clients other than the bench itself run at this moment, and what each waits for. */
  activity(): Promise<readonly Activity[]>;
  close(): Promise<void>;
}

export interface Activity {
  readonly state: string;
  readonly waitEvent: string | null;
}

interface Server {
  readonly connectionString: string;
  stop(): Promise<void>;
}

/** A database of our own with the bench's schema: on the server given, else on an embedded one that is gone afterwards. */
export async function openDatabase(given: string | null, rows: number): Promise<BenchDatabase> {
  const server = given === null ? await startOwnServer() : { connectionString: given, stop: async () => {} };
  try {
    return await createDatabase(server, rows);
  } catch (error) {
    await server.stop();
    throw error;
  }
}

async function startOwnServer(): Promise<Server> {
  // Loaded only when needed: a bench against a given server runs on platforms that no embedded PostgreSQL is built for.
  const { startPostgres } = await import('@pgway/embedded');
  const folder = await mkdtemp(join(tmpdir(), 'pgway-bench-'));
  const removeFolder = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    // As root the server runs as another user, who must be able to pass through.
    await chmod(folder, 0o711);
    const server = await startPostgres({ dataDirectory: join(folder, 'data'), durable: false });
    return {
      connectionString: server.connectionString,
      async stop() {
        try {
          await server.stop();
        } finally {
          await removeFolder();
        }
      },
    };
  } catch (error) {
    await removeFolder();
    throw error;
  }
}

async function createDatabase(server: Server, rows: number): Promise<BenchDatabase> {
  const name = `pgway_bench_${process.pid}`;
  const connectionString = withDatabase(server.connectionString, name);
  await runOn(server.connectionString, `create database ${name}`);
  const drop = (): Promise<void> => runOn(server.connectionString, `drop database if exists ${name} with (force)`);
  try {
    await runOn(connectionString, schemaSql(rows));
    const client = await connect(connectionString);
    const version = await client.query<{ server_version: string }>('show server_version');
    return {
      connectionString,
      version: version.rows[0]?.server_version ?? 'unknown',
      activity: () => readActivity(client),
      async close() {
        // Ctrl-C reaches an embedded server too: there may be nothing left to drop, but still something to clear away.
        try {
          await client.end();
          await drop();
        } finally {
          await server.stop();
        }
      },
    };
  } catch (error) {
    await drop().catch(() => {}); // the first error is the one to tell
    throw error;
  }
}

async function readActivity(client: pg.Client): Promise<readonly Activity[]> {
  const { rows } = await client.query<Activity>(
    `select state, wait_event as "waitEvent" from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend' and state <> 'idle'`,
  );
  return rows;
}

async function runOn(connectionString: string, sql: string): Promise<void> {
  const client = await connect(connectionString);
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  client.on('error', () => {}); // a lost connection is told by the next query
  await client.connect();
  return client;
}

function withDatabase(connectionString: string, name: string): string {
  const url = new URL(connectionString);
  url.pathname = `/${name}`;
  return url.href;
}
