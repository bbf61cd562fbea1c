import pg from 'pg';

import { parentOf, usageOf } from './process-usage.ts';
import { benchSchemaSql } from './schema.sql.ts';
import { startTemporaryServer } from './temporary-server.ts';

export interface BenchDatabase {
  readonly connectionString: string;
  /** The value of `server_version`. */
  readonly version: string;
  /** Returns the statements of other clients that are running, with their wait events. */
  activity(): Promise<readonly Activity[]>;
  /** Returns the microseconds of CPU of all processes of an embedded server; null for another server, and without `/proc`. */
  cpu(): number | null;
  close(): Promise<void>;
}

export interface Activity {
  readonly state: string;
  readonly waitEvent: string | null;
}

interface Server {
  readonly connectionString: string;
  readonly isEmbedded: boolean;
  stop(): Promise<void>;
}

// All competitors keep their connections.
const embeddedSettings = { max_connections: '500' };

/** Creates a database with the schema of the bench on the server, or on a temporary embedded one. */
export async function openDatabase(
  serverUrl: string | null,
  rows: number,
  genericPlans = false,
): Promise<BenchDatabase> {
  const server =
    serverUrl === null
      ? { ...(await startTemporaryServer(embeddedSettings)), isEmbedded: true }
      : { connectionString: serverUrl, isEmbedded: false, stop: async () => {} };
  try {
    return await createDatabase(server, rows, genericPlans);
  } catch (error) {
    await server.stop();
    throw error;
  }
}

let created = 0;

/** The statement that ends the readers of a database's slots, and waits for ten seconds at most: such a database cannot be dropped. */
function endSlotsSql(name: string): string {
  return `do $$ begin
    for attempt in 1..100 loop
      perform pg_terminate_backend(active_pid) from pg_replication_slots where database = '${name}' and active_pid is not null;
      exit when not found;
      perform pg_sleep(0.1);
    end loop;
  end $$`;
}

async function createDatabase(server: Server, rows: number, genericPlans: boolean): Promise<BenchDatabase> {
  const name = `pgway_bench_${process.pid}_${++created}`;
  const connectionString = withDatabase(server.connectionString, name);
  await runSql(server.connectionString, `create database ${name}`);
  const drop = async (): Promise<void> => {
    await runSql(server.connectionString, endSlotsSql(name));
    await runSql(server.connectionString, `drop database if exists ${name} with (force)`);
  };
  try {
    await runSql(connectionString, benchSchemaSql(rows));
    if (genericPlans) {
      await runSql(connectionString, `alter database ${name} set plan_cache_mode = 'force_generic_plan'`);
    }
    const client = await connect(connectionString);
    const version = await client.query<{ server_version: string }>('show server_version');
    const pid = server.isEmbedded ? await readServerPid(client) : null;
    return {
      connectionString,
      version: version.rows[0]?.server_version ?? 'unknown',
      activity: () => readActivity(client),
      cpu: () => (pid === null ? null : (usageOf(pid)?.cpu ?? null)),
      async close() {
        // Ctrl+C stops an embedded server too: the drop may fail, and the folder must still be removed.
        try {
          await client.end();
          await drop();
        } finally {
          await server.stop();
        }
      },
    };
  } catch (error) {
    await drop().catch(() => {}); // the first error is the cause
    throw error;
  }
}

/** Returns the process that has started the one of the connection. */
async function readServerPid(client: pg.Client): Promise<number | null> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return parentOf(rows[0]!.pid);
}

async function readActivity(client: pg.Client): Promise<readonly Activity[]> {
  const { rows } = await client.query<Activity>(
    `select state, wait_event as "waitEvent" from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend' and state <> 'idle'`,
  );
  return rows;
}

export async function runSql(connectionString: string, sql: string): Promise<void> {
  const client = await connect(connectionString);
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  client.on('error', () => {}); // the next query reports a lost connection
  await client.connect();
  return client;
}

function withDatabase(connectionString: string, name: string): string {
  const url = new URL(connectionString);
  url.pathname = `/${name}`;
  return url.href;
}
