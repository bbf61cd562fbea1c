import { chmod, copyFile, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@pgway/embedded';
import { Client } from 'pg';
import { packageOfRun } from './postgres-packages.ts';
import { isRunning } from './processes.ts';

/** A PostgreSQL server of its own for one test file, which streams to replicas. */
export interface PrimaryServer {
  /** The superuser in the database `postgres`. */
  readonly connectionString: string;
  query(sql: string): Promise<readonly Record<string, unknown>[]>;
  /** Copies the data directory of the running server, and starts a hot standby on the copy. */
  startReplica(settings?: Readonly<Record<string, string>>): Promise<ReplicaServer>;
  /** Kills the server, as a crash does. */
  kill(): Promise<void>;
  /** Starts the server again after `kill`, on another port. */
  restart(): Promise<void>;
  /** Stops all servers and removes their files. */
  stop(): Promise<void>;
}

/** A hot standby. */
export interface ReplicaServer {
  /** With the port of the current run. */
  readonly connectionString: string;
  query(sql: string): Promise<readonly Record<string, unknown>[]>;
  /** Kills the server, as a crash does. */
  kill(): Promise<void>;
  /** Starts the server again after `kill`, on another port. */
  restart(): Promise<void>;
}

type Settings = Readonly<Record<string, string>>;

const replicationSettings: Settings = {
  wal_level: 'replica',
  max_wal_senders: '10',
  wal_keep_size: '256MB',
  hot_standby: 'on',
  autovacuum: 'off',
  jit: 'off',
  // Replicas notice the loss of the primary, and its return, at once.
  wal_receiver_timeout: '5s',
  wal_retrieve_retry_interval: '100ms',
};

/** Starts a primary. Its replicas need `settings` too where PostgreSQL requires it, such as `max_connections`. */
export async function startPrimary(settings: Settings = {}): Promise<PrimaryServer> {
  const running: TestServer[] = [];
  const primary = await TestServer.start(await newDirectory(), { ...replicationSettings, ...settings });
  running.push(primary);
  return {
    get connectionString() {
      return primary.connectionString;
    },
    query: (sql) => runQuery(primary.connectionString, sql),
    startReplica: async (own = {}) => {
      const directory = await newDirectory();
      await copyCluster(primary, directory);
      const { hostname, port, username, password } = new URL(primary.connectionString);
      const source = `host=${hostname} port=${port} user=${username} password=${password}`;
      const replica = await TestServer.start(directory, {
        ...replicationSettings,
        ...settings,
        primary_conninfo: source,
        ...own,
      });
      running.push(replica);
      return {
        get connectionString() {
          return replica.connectionString;
        },
        query: (sql) => runQuery(replica.connectionString, sql),
        kill: () => replica.kill(),
        restart: () => replica.restart(),
      };
    },
    kill: () => primary.kill(),
    restart: () => primary.restart(),
    stop: async () => {
      await Promise.all(running.map((server) => server.stop()));
    },
  };
}

type Postgres = Awaited<ReturnType<typeof startPostgres>>;

class TestServer {
  readonly directory: string;
  readonly #settings: Settings;
  #server: Postgres;

  private constructor(directory: string, settings: Settings, server: Postgres) {
    this.directory = directory;
    this.#settings = settings;
    this.#server = server;
  }

  static async start(directory: string, settings: Settings): Promise<TestServer> {
    return new TestServer(directory, settings, await launch(directory, settings));
  }

  get connectionString(): string {
    return this.#server.connectionString;
  }

  async kill(): Promise<void> {
    const [pid] = (await readFile(join(this.directory, 'cluster', 'postmaster.pid'), 'utf8')).split('\n');
    process.kill(Number(pid), 'SIGKILL');
    while (isRunning(Number(pid))) await new Promise((resolve) => setTimeout(resolve, 10));
    // Releases the directory for the next start.
    await this.#server.stop();
  }

  async restart(): Promise<void> {
    this.#server = await launch(this.directory, this.#settings);
  }

  async stop(): Promise<void> {
    await this.#server.stop();
    await rm(this.directory, { recursive: true, force: true });
  }
}

async function launch(directory: string, settings: Settings): Promise<Postgres> {
  const packageDirectory = await packageOfRun();
  const pack = packageDirectory === undefined ? {} : { packageDirectory };
  return startPostgres({ dataDirectory: directory, durable: false, settings, ...pack });
}

function newDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'pgway-replication-'));
}

/** A base backup through SQL: the npm packages of PostgreSQL do not contain `pg_basebackup`. */
async function copyCluster({ connectionString, directory }: TestServer, target: string): Promise<void> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    const { rows } = await client.query<{ server_version_num: string }>('show server_version_num');
    const isOld = Number(rows[0]!.server_version_num) < 150_000;
    await client.query(isOld ? `select pg_start_backup('copy', true, false)` : `select pg_backup_start('copy', true)`);
    const cluster = join(target, 'cluster');
    await mkdir(cluster, { mode: 0o700 });
    await cp(join(directory, 'cluster'), cluster, {
      recursive: true,
      // Files of the running server.
      filter: (path) => !/postmaster\.(pid|opts)$|pg_internal\.init$/.test(path) && !/\/pg_wal\/[^/]+$/.test(path),
    });
    const stopped = await client.query<{ labelfile: string }>(
      isOld ? 'select labelfile from pg_stop_backup(false, false)' : 'select labelfile from pg_backup_stop(false)',
    );
    await mkdir(join(cluster, 'pg_wal', 'archive_status'), { recursive: true });
    await writeFile(join(cluster, 'backup_label'), stopped.rows[0]!.labelfile);
    await writeFile(join(cluster, 'standby.signal'), '');
    await copyFile(join(directory, 'password'), join(target, 'password'));
    await chmod(join(target, 'password'), 0o600);
  } finally {
    await client.end();
  }
}

async function runQuery(connectionString: string, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows as Record<string, unknown>[];
  } finally {
    await client.end();
  }
}
